"""# DNA: genes in a genome, with none to learn from

A gene is read in steps of three letters, codons, on one of the two strands of the DNA.  Genes have
codons that they prefer, so a genome cut into codons looks different in each of the six frames that
a gene can be in: three places to begin, two strands.  The frame is a hidden state that lasts for
the hundreds of codons of a gene.

The data is *Chlamydia trachomatis*, a million letters, cut into codons in three ways.  Pairs of
codons 2, 4, 8 and 16 apart are counted, which show what lasts; a model of seven states is learned,
one for each frame and one to spare, and refined on the sequences.  Then its states are laid beside
the genes that biologists know, which it never saw.  In the picture, shade is the probability of a
frame, and lines are known genes.
"""

import argparse

import matplotlib.pyplot as plt
import numpy as np

from cohmm import PairwiseHMM
from cohmm.datasets.corpora import MissingData, dna
from cohmm.datasets.public_sequences import Gene, Genome
from cohmm.plots import STYLE

parser = argparse.ArgumentParser(description="Genes in a genome, with none to learn from.")
parser.add_argument("--quick", action="store_true", help="a short genome, to see that it runs")
parser.add_argument("--output", default="dna.png", help="where to write the picture")
options = parser.parse_args()
FRAMES = ("forward 0", "forward 1", "forward 2", "reverse 0", "reverse 1", "reverse 2")


def made_up_genome(n_genes: int) -> Genome:
    """Genes on both strands that prefer some codons to others, for where there is no data."""
    rng = np.random.default_rng(0)
    codons = [a + b + c for a in "ACGT" for b in "ACGT" for c in "ACGT"]
    usage = rng.dirichlet(np.full(64, 0.5)) * [
        codon not in ("TAA", "TAG", "TGA") for codon in codons
    ]
    bases, genes = "", []
    for _ in range(n_genes):
        bases += "".join(rng.choice(list("ACGT"), rng.integers(100, 900)))
        gene = "".join(rng.choice(codons, rng.integers(100, 600), p=usage / usage.sum()))
        forward = bool(rng.random() < 0.5)
        genes.append(Gene(len(bases), len(bases) + len(gene), forward))
        bases += gene if forward else gene.translate(str.maketrans("ACGT", "TGCA"))[::-1]
    return Genome("made up", bases, tuple(genes))


try:
    genome = dna("chlamydia")
    print("data: the genome of Chlamydia trachomatis")
except MissingData:
    genome = made_up_genome(200 if options.quick else 900)
    print("data: made up, as dna.tar.gz was not found (see COHMM_DATA)")
bases = genome.bases[: 300_000 if options.quick else None]
codons = np.array([bases[i : i + 3] for i in range(len(bases) - 2)])
readings = [codons[first::3] for first in range(3)]
print(f"{len(bases):,} bases, three readings of {len(readings[0]):,} codons")

model = PairwiseHMM(7, lags=(2, 4, 8, 16), tol=1e-2, random_state=0).fit(readings)
states = np.empty(len(codons), int)
for first, reading in enumerate(readings):
    states[first::3] = model.decode(reading, algorithm="map")[1]

known = np.full(len(codons), 6)  # the frame of the codon that begins here; 6: in no gene
for start, stop, forward in genome.genes:
    places = np.arange(start, min(stop, len(codons)))
    known[places] = (places - start) % 3 if forward else 3 + (stop - places) % 3
shared = np.zeros((7, 7), int)
np.add.at(shared, (states, known), 1)
frame = shared[:, :6].argmax(axis=1)  # what each state stands for
right = (frame[states] == known)[known < 6].mean()
print(f"{(known < 6).mean():.0%} of the codons are in {len(genome.genes)} known genes")
print(f"{right:.1%} of those are in a state of their strand and frame; by chance it would be 17%")
for state in np.argsort(frame, kind="stable"):
    top = np.argsort(-model.emissionprob_[state])[:4]
    words = " ".join(model.vocabulary_[n] for n in top)
    lasts = 1 / (1 - model.transmat_[state, state])
    print(f"state {state}: {FRAMES[frame[state]]}, lasts {lasts:>3.0f} codons, most often {words}")

with plt.rc_context(STYLE):
    figure, ax = plt.subplots(figsize=(7.2, 2.6), layout="constrained")
    probability = model.predict_proba(readings[0][:10_000])
    shown = np.array([probability[:, frame == lane].sum(axis=1) for lane in range(6)])
    ax.imshow(
        shown,
        cmap="Blues",
        vmin=0,
        aspect="auto",
        extent=(0, 30, 5.5, -0.5),
        interpolation="nearest",
    )
    for start, stop, forward in genome.genes:
        lane = -start % 3 if forward else 3 + stop % 3
        if start < 30_000:
            ax.plot([start / 1000, stop / 1000], [lane + 0.42] * 2, color="#d55e00", lw=2)
    ax.set(xlabel="place in the genome, thousand bases", xlim=(0, 30))
    ax.set_yticks(range(6), FRAMES)
    figure.savefig(options.output, dpi=160)

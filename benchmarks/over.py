"""How often the intervals of `HTMM.over` hold the truth, by the size of the group.

    python benchmarks/over.py             # 40 corpora, some minutes
    python benchmarks/over.py --quick

Every corpus has groups of 2 to 2,000 documents, with shares of their own: a document's are
Dirichlet around those of its group, and its topics a sticky chain.  Lengths are log-normal, 60
words in the median.  Documents are read by the true topics, and by those that are learned from
the corpus, matched to the true ones; topics that were not found, those further from the truth than
a total variation of 0.2, are left out and counted.  The truth of a share is that of its group; a
mean run is one of a model's reading, so that its truth is counted in 2,000 further documents of
the group, and not for the largest, which have not many fewer.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np

from cohmm import HTMM, Documents
from cohmm.datasets.synthetic_topics import random_topics
from cohmm.model.markov_chain import match_rows
from cohmm.model.topic_model import TopicModel
from cohmm.topics.over_time import TopicsOver, groups_of, topics_over

SIZES = (2, 3, 5, 10, 30, 100, 300, 2000)
K, V = 8, 1500
SWITCH = 0.15
SPREAD = 2.0  # the sum of the Dirichlet's parameters: a document has few of the topics
FURTHER = 2000
NEAR = 0.2
LEVEL = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one corpus of small groups")
    parser.add_argument("--corpora", type=int, default=40)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    corpora = 1 if arguments.quick else arguments.corpora
    sizes = SIZES[:-4] if arguments.quick else SIZES
    counts = sum(coverage(sizes, seed) for seed in range(corpora))  # (4, G, 2)
    with np.errstate(invalid="ignore"):
        held = counts[..., 0] / counts[..., 1]
    found = counts[1, 0, 1] / corpora
    print(
        f"{corpora} corpora, {found:.1f} of {K} topics found; {LEVEL:.0%} intervals: how often "
        "they hold the truth\n"
    )
    print("| documents | share, topics known | share, learned | mean run, known | learned |")
    print("|---:|---:|---:|---:|---:|")
    for size, row in zip(sizes, held.T, strict=True):
        cells = ("" if np.isnan(share) else f"{share:.3f}" for share in row)
        print(f"| {size:,} | {' | '.join(cells)} |")


def coverage(sizes: tuple[int, ...], seed: int) -> np.ndarray:
    """Intervals that hold the truth, and all, (4, G, 2): shares and runs, known and learned."""
    rng = np.random.default_rng(seed)
    components = random_topics(K, V, random_state=rng)
    base = rng.dirichlet(np.ones(K), size=len(sizes))
    which = np.repeat(np.arange(len(sizes)), sizes)
    further = np.repeat(np.flatnonzero(np.array(sizes) < FURTHER / 10), FURTHER)
    documents, others = (drawn(components, base[groups], rng) for groups in (which, further))
    model = HTMM(K, random_state=seed).fit(documents)
    prior = SPREAD * base.mean(axis=0)
    known = TopicModel(components, prior / prior.sum(), prior, documents.vocabulary, switch=SWITCH)
    known = known.as_chain("sticky", switch=SWITCH)
    order = match_rows(components, model.components_)
    far = np.abs(components[order] - model.components_).sum(axis=1) / 2 > NEAR
    rows = []
    for topics, shares, left_out in (
        (known, base, []),
        (model._model(), base[:, order], far),
    ):
        found = over(topics, documents, which)
        runs = np.full(base.shape, np.nan)
        runs[: further[-1] + 1] = over(topics, others, further).run
        for truth, low, high in (
            (shares.copy(), found.share_low, found.share_high),
            (runs, found.run_low, found.run_high),
        ):
            truth[:, left_out] = np.nan
            rows.append(held(truth, low, high))
    return np.array([rows[0], rows[2], rows[1], rows[3]])


def over(topics: TopicModel, documents: Documents, which: np.ndarray) -> TopicsOver:
    return topics_over(topics, documents, groups_of(which, documents), level=LEVEL)


def held(truth: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How many intervals of every group hold the truth, and how many there are, (G, 2)."""
    known = np.isfinite(low) & np.isfinite(truth)
    return np.stack([((low <= truth) & (truth <= high)).sum(axis=1), known.sum(axis=1)], axis=1)


def drawn(components: np.ndarray, base: np.ndarray, rng: np.random.Generator) -> Documents:
    """Documents whose shares are Dirichlet around ``base``, (D, K), as sticky chains."""
    d = len(base)
    lengths = np.maximum(rng.lognormal(np.log(60), 0.7, size=d).astype(int), 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    gammas = rng.gamma(SPREAD * base + 1e-6)
    below = np.cumsum(gammas / gammas.sum(axis=1, keepdims=True), axis=1)
    rows = np.repeat(np.arange(d), lengths)
    topics = (below[rows] < rng.random((len(rows), 1))).sum(axis=1).clip(max=K - 1)
    anew = rng.random(len(rows)) < SWITCH
    anew[offsets[:-1]] = True
    topics = topics[np.maximum.accumulate(np.where(anew, np.arange(len(rows)), 0))]
    words = np.empty(len(rows), np.int64)
    for k in range(K):
        of = np.flatnonzero(topics == k)
        words[of] = rng.choice(V, size=len(of), p=components[k])
    return Documents(words, offsets, tuple(f"w{v}" for v in range(V)))


if __name__ == "__main__":
    main()

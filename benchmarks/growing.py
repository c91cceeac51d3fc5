"""Topics that grow: batches of documents by ``partial_fit``, beside one fit of all of them.

    python benchmarks/growing.py            # the table of docs/steering.md
    python benchmarks/growing.py --quick    # a small corpus, to see that it runs

Nine documents in ten are learned from, in the order of the corpus, in batches; the others are held
out.  Words are those in five documents or more, of all documents so far.  Perplexity is of the
held-out documents, word by word, with the vocabulary of the one fit; "apart" says how much higher
(or lower) it is where documents came in batches.  CPU seconds are of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from cohmm import HTMM, threads
from cohmm.datasets.corpora import sotu
from cohmm.datasets.synthetic_topics import sample_htmm
from text_corpora import octis

MIN_DF = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=list(CORPORA)[:3])
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--batches", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        arguments.corpus, arguments.topics, arguments.batches = ["quick"], 3, 4
    print("| corpus | documents | how | words | perplexity | apart | NPMI | CPU s |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    with threads(1):
        for name in arguments.corpus:
            table(name, CORPORA[name](), arguments.topics, arguments.batches)


def table(name: str, texts: list[str], k: int, n_batches: int) -> None:
    held_out = np.random.default_rng(0).random(len(texts)) < 0.1
    train = [text for text, out in zip(texts, held_out, strict=True) if not out]
    test = [text for text, out in zip(texts, held_out, strict=True) if out]
    batches = [
        [train[d] for d in part] for part in np.array_split(np.arange(len(train)), n_batches)
    ]
    ways: dict[str, Callable[[], HTMM]] = {
        "one fit": lambda: model(k).fit(train),
        f"{n_batches} batches": lambda: grown(model(k), batches),
        f"{n_batches} batches, from files": lambda: from_files(model(k), batches),
    }
    least = None
    for way, learn in ways.items():
        began = time.process_time()
        topics = learn()
        seconds = time.process_time() - began
        perplexity, npmi = topics.perplexity(test), topics.coherence("npmi", train)
        least = perplexity if least is None else least
        cells = [name, f"{len(train):,}", way, f"{len(topics.vocabulary_):,}", f"{perplexity:.1f}"]
        cells += [f"{perplexity / least - 1:+.1%}", f"{npmi:.3f}", f"{seconds:.1f}"]
        print("| " + " | ".join(cells) + " |", flush=True)


def model(k: int) -> HTMM:
    return HTMM(k, min_df=MIN_DF, stop_words="english", random_state=0)


def grown(topics: HTMM, batches: list[list[str]]) -> HTMM:
    for batch in batches:
        topics.partial_fit(batch)
    return topics


def from_files(topics: HTMM, batches: list[list[str]]) -> HTMM:
    """As `grown`, but documents of earlier batches are not there: a file has their counts."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "topics.cohmm"
        for batch in batches:
            topics.partial_fit(batch).save(path, counts=True)
            topics = HTMM.load(path)
    return topics


def quick() -> list[str]:
    documents = sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0).documents
    return [" ".join(documents.words(d)) for d in range(len(documents))]


CORPORA: dict[str, Callable[[], list[str]]] = {
    "BBC": lambda: list(octis("BBC_News").texts),
    "State of the Union": lambda: list(sotu().texts),
    "M10 titles": lambda: list(octis("M10").texts),
    "quick": quick,
}

if __name__ == "__main__":
    main()

"""Topics: ours and its rivals on the same documents, the same split, scored by the same code.

    python benchmarks/topics.py --steps rows            # the tables of docs/results.md, hours
    python benchmarks/topics.py --quick                 # a small corpus, to see that it runs
    python benchmarks/topics.py --corpus r52 --topics 20 --seeds 0 --models htmm lda-tomotopy
    python benchmarks/topics.py --time                  # seconds by the clock, on all cores

Nine documents in ten are learned from; the others are held out.  What is measured is said in
`cohmm.topics.compare`: perplexities are exact, of held-out documents word by word, of their second
halves given the first, and of training documents (the paper's).  A bag of words has no chain: its
own rows are scored as such, and again inside the sticky chain, with a rate of switching learned
for it.  Seconds are of the processors, of all threads, so that a busy machine does not matter.

Every row is written to a folder of steps as it is found, so that a run can be resumed.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cohmm import HTMM, Documents, read_documents, threads
from cohmm.datasets.corpora import cachopo, reuters_documents, sotu
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.lda import lda
from cohmm.topics.compare import HELD_OUT, MEASURES, RIVALS, Judged, part

COLUMNS = {  # of the table: the heading, and how it is written
    "coherence": ("coherence", "{:.0f}"),
    "npmi": ("NPMI", "{:.3f}"),
    "npmi-median": ("median NPMI", "{:.3f}"),
    "diversity": ("diversity", "{:.3f}"),
    "perplexity": ("word by word", "{:.0f}"),
    "completion": ("completion", "{:.0f}"),
    "training": ("training", "{:.0f}"),
    "chained": ("in the sticky chain", "{:.0f}"),
    "twins": ("twins", "{:.1f}"),
    "converged": ("converged", "{:.0%}"),
    "seconds": ("CPU s", "{:.1f}"),
}
INSTALLED = [name for name, rival in RIVALS.items() if rival.is_installed]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=["reuters", "r52"])
    parser.add_argument("--topics", nargs="+", type=int, default=[10, 20, 50, 100])
    parser.add_argument("--seeds", nargs="+", type=int, default=[3, 4, 5])
    parser.add_argument("--models", nargs="+", choices=list(RIVALS), default=INSTALLED)
    parser.add_argument("--time", action="store_true", help="time ours and LDA, and nothing else")
    parser.add_argument("--steps", type=Path, help="folder of rows found before, and of new ones")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        arguments.corpus, arguments.topics, arguments.seeds = ["quick"], [3], [0]
    for name in arguments.corpus:
        documents = CORPORA[name]()
        if arguments.time or arguments.quick:
            times(name, documents, 3 if arguments.quick else 50)
        if arguments.time:
            continue
        for k in arguments.topics:
            table(name, documents, k, arguments.seeds, arguments.models, arguments.steps)


def times(name: str, documents: Documents, k: int, workers: int = 2) -> None:
    """From words to topics, and from topics to the mixtures of all documents."""
    with threads(workers):
        topics = HTMM(k, random_state=0)
        topics.fit(documents.select(np.arange(len(documents) // 5)))  # compiles everything
        calls: dict[str, Callable[[], object]] = {
            "HTMM, to topics": lambda: topics.fit(documents),
            "HTMM, transform": lambda: topics.transform(documents),
            "LDA tomotopy, 300 iterations, to topics": lambda: lda(
                documents, k, max_iter=300, workers=workers, random_state=0
            ),
        }
        print(f"{name}: {documents!r}, K = {k}, {workers} threads\n")
        print("| | seconds | CPU s |")
        print("|---|---:|---:|")
        for label, call in calls.items():
            clock, cpu = time.perf_counter(), time.process_time()
            call()
            clock, cpu = time.perf_counter() - clock, time.process_time() - cpu
            print(f"| {label} | {clock:.1f} | {cpu:.1f} |", flush=True)
    print()


def table(
    name: str,
    documents: Documents,
    k: int,
    seeds: list[int],
    models: list[str],
    steps: Path | None,
) -> None:
    print(f"{name}: {documents!r}, K = {k}, means of seeds {', '.join(map(str, seeds))}\n")
    print("| model | " + " | ".join(heading for heading, _ in COLUMNS.values()) + " |")
    print("|---|" + "---:|" * len(COLUMNS))
    for model in models:
        rows = [row(name, documents, k, seed, model, steps) for seed in seeds]
        cells = [
            form.format(np.mean([found[column] for found in rows]))
            for column, (_, form) in COLUMNS.items()
        ]
        print(f"| {RIVALS[model].label} | " + " | ".join(cells) + " |", flush=True)
    print()


def row(
    name: str, documents: Documents, k: int, seed: int, model: str, steps: Path | None
) -> dict[str, float]:
    """One model on one split: found before, or found now and written down."""
    file = None if steps is None else steps / f"{name}-{k}-{seed}-{model}.json"
    if file is not None and file.is_file():
        return json.loads(file.read_text())  # type: ignore[no-any-return]
    train, held_out = part(documents, HELD_OUT, seed)
    rival = RIVALS[model]
    began = time.process_time()
    fit = rival.learn(train, k, random_state=seed)
    found = {"seconds": time.process_time() - began, "converged": float(bool(fit.converged))}
    judged = Judged(fit, train, held_out, rival.chain)
    found |= {column: MEASURES[column](judged) for column in COLUMNS if column in MEASURES}
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


CORPORA: dict[str, Callable[[], Documents]] = {
    "reuters": reuters_documents,
    "r52": lambda: read_documents(cachopo("r52").texts, analyzer=str.split, min_df=5),
    "sotu": lambda: read_documents(sotu().texts, stop_words="english", min_df=5),
    "quick": lambda: (
        sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0).documents
    ),
}

if __name__ == "__main__":
    main()

"""Topics against the labels of documents: a linear classifier on their shares, and clusters.

    python benchmarks/labels.py --steps rows      # the table of docs/results.md
    python benchmarks/labels.py --quick           # a small corpus, to see that it runs

Topics are learned from the training part of a corpus without its labels, a classifier from the
shares of topics in these documents and their labels; the table is of the test part (BBC, DBLP and
M10: what OCTIS has for validation and test).  Measures are said in `cohmm.topics.labels`; means of
the seeds.  The shares of every model are found by the same code, each with the chain that is its
own: HTMM's is sticky, the others are bags of words.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cohmm import Documents, read_documents
from cohmm.datasets.corpora import cachopo
from cohmm.datasets.data_files import Corpus
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.compare import RIVALS
from cohmm.topics.labels import label_scores
from text_corpora import octis

MODELS = ["htmm", "lda-tomotopy", "plsa"]
COLUMNS = {"accuracy": "accuracy", "purity": "purity", "nmi": "NMI"}


class Labelled(NamedTuple):
    train: Documents
    train_labels: list[str]
    test: Documents
    test_labels: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--corpus", nargs="+", choices=list(CORPORA), default=list(CORPORA)[:4])
    parser.add_argument("--topics", nargs="+", type=int, default=[20, 50])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--models", nargs="+", choices=list(RIVALS), default=MODELS)
    parser.add_argument("--steps", type=Path, help="folder of rows found before, and of new ones")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        arguments.corpus, arguments.topics, arguments.seeds = ["quick"], [3], [0]
    print(f"Means of seeds {', '.join(map(str, arguments.seeds))}\n")
    print("| corpus | K | model | " + " | ".join(COLUMNS.values()) + " | CPU s |")
    print("|---|---:|---|" + "---:|" * (len(COLUMNS) + 1))
    for name in arguments.corpus:
        corpus = CORPORA[name]()
        for k in arguments.topics:
            for model in arguments.models:
                rows = [
                    row(name, corpus, k, seed, model, arguments.steps) for seed in arguments.seeds
                ]
                cells = [f"{np.mean([one[column] for one in rows]):.3f}" for column in COLUMNS]
                cells.append(f"{np.mean([one['cpu'] for one in rows]):.1f}")
                cells = [name, str(k), RIVALS[model].label, *cells]
                print("| " + " | ".join(cells) + " |", flush=True)
    print()


def row(
    name: str, corpus: Labelled, k: int, seed: int, model: str, steps: Path | None
) -> dict[str, float]:
    """One model: found before, or found now and written down."""
    file = None if steps is None else steps / f"labels-{name}-{k}-{seed}-{model}.json"
    if file is not None and file.is_file():
        return json.loads(file.read_text())  # type: ignore[no-any-return]
    rival = RIVALS[model]
    began = time.process_time()
    fit = rival.learn(corpus.train, k, random_state=seed)
    cpu = time.process_time() - began
    chains = fit.as_chain(rival.chain)
    scores = label_scores(
        chains.infer(corpus.train).shares,
        corpus.train_labels,
        chains.infer(corpus.test).shares,
        corpus.test_labels,
    )
    found = scores._asdict() | {"cpu": cpu}
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found))
    return found


def labelled(load: Callable[..., Corpus], name: Any) -> Labelled:
    """The parts of a corpus whose words are between blanks, in the words of the training part."""
    train, test = load(name, "train"), load(name, "test")
    documents = read_documents(train.texts, analyzer=str.split, min_df=2)
    return Labelled(
        documents,
        [label for (label,) in train.labels],
        read_documents(test.texts, analyzer=str.split, vocabulary=documents.vocabulary),
        [label for (label,) in test.labels],
    )


def quick() -> Labelled:
    sample = sample_htmm(200, n_components=3, n_words=90, length=30, random_state=0)
    labels = [f"topic {k}" for k in sample.proportions.argmax(axis=1)]
    train, test = np.arange(140), np.arange(140, 200)
    return Labelled(
        sample.documents.select(train), labels[:140], sample.documents.select(test), labels[140:]
    )


CORPORA: dict[str, Callable[[], Labelled]] = {
    "bbc": lambda: labelled(octis, "BBC_News"),
    "dblp": lambda: labelled(octis, "DBLP"),
    "m10": lambda: labelled(octis, "M10"),
    "r8": lambda: labelled(cachopo, "r8"),
    "quick": quick,
}

if __name__ == "__main__":
    main()

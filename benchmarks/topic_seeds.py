"""Seed words: do topics that were named come back with their names, for any seed?

    python benchmarks/topic_seeds.py               # Reuters, ten topics of three words each
    python benchmarks/topic_seeds.py --quick       # documents of known topics

A named topic has come back if it is the one in which its words are most probable, taken together,
and two of them at least are among its twenty most distinctive words.  "same words" is the share of
these twenty that another seed gives as well, averaged over pairs of seeds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations

import numpy as np

from cohmm import HTMM, Documents
from cohmm.datasets.corpora import reuters_documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents

REUTERS = {
    "grain": ["wheat", "corn", "grain"],
    "oil": ["oil", "crude", "barrels"],
    "gold": ["gold", "ounces", "mining"],
    "interest rates": ["rate", "prime", "discount"],
    "currencies": ["dollar", "yen", "currency"],
    "coffee": ["coffee", "cocoa", "sugar"],
    "takeovers": ["acquire", "merger", "tender"],
    "dividends": ["dividend", "record", "payable"],
    "trade": ["trade", "tariffs", "imports"],
    "ships": ["ship", "port", "vessels"],
}
TOP = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small corpus, to see that it runs")
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.quick:
        documents, seed_words = quick()
        table(documents, seed_words, 12, 2)
    else:
        table(reuters_documents(), REUTERS, arguments.topics, arguments.seeds)


def quick() -> tuple[Documents, dict[str, list[str]]]:
    """The demo's documents, and words of three of its topics."""
    model = demo_model()
    documents, _ = sample_documents(model, 300, length=60, random_state=0)
    own = model.emissionprob / model.emissionprob.sum(axis=0)
    ranked = np.argsort(-model.emissionprob * (own > 0.9), axis=1)[:3, :3]
    return documents, {
        f"topic {k}": [model.vocabulary[code] for code in row] for k, row in enumerate(ranked)
    }


def table(documents: Documents, seed_words: dict[str, list[str]], k: int, seeds: int) -> None:
    began = time.process_time()
    models = [
        HTMM(k, seed_words=seed_words, random_state=seed).fit(documents) for seed in range(seeds)
    ]
    seconds = (time.process_time() - began) / seeds
    print(f"{documents!r}, K = {k}, {seeds} seeds, {seconds:.1f} CPU s a fit\n")
    print("| topic | its words | came back | same words | most distinctive words |")
    print("|---|---|---:|---:|---|")
    for name, words in seed_words.items():
        codes = [documents.vocabulary.index(word) for word in words]
        tops = []
        back = 0
        for model in models:
            number = model.labels_.index(name)
            top = model.top_words(TOP, "relevance")[number]
            tops.append(set(top))
            best = int(model.components_[:, codes].sum(axis=1).argmax())
            back += best == number and len({*words} & {*top}) >= 2
        same = np.mean([len(a & b) / TOP for a, b in combinations(tops, 2)])
        shown = " ".join(models[0].top_words(6, "relevance")[models[0].labels_.index(name)])
        print(
            f"| {name} | {' '.join(words)} | {back} of {seeds} | {same:.2f} | {shown} |", flush=True
        )


if __name__ == "__main__":
    main()

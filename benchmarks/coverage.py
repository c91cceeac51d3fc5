"""How often intervals hold the truth: coverage of nominal 90 % over many data sets.

    python benchmarks/coverage.py                        # N=16: about ten minutes
    python benchmarks/coverage.py --large 2              # N=100, T=1e6 too: a CPU minute each
    python benchmarks/coverage.py --topics 8             # topics alone
    python benchmarks/coverage.py --quick
    python benchmarks/coverage.py --table pairs --data-sets 20 --first 100

Every data set is one real chain sampled from a model of its own.  Coverage is the share of true
probabilities that lie in their intervals, averaged over data sets, states matched: of transitions,
of emissions that are not zero, of those that are.  Where a fit says itself that an entry is not
determined, it is left out; "left out" is their share.  Pairs are asked of models that they
determine: those that are learned from their own exact pair law (both errors below .01); "not" has
the others.
Seconds are of CPU, one thread: the fit, and `standard_errors` with `interval`.

Topics (`--topics 8`): corpora of `sample_htmm` with ten topics of a thousand words; coverage of the
ten most probable words of every topic, and of transitions of the corpus, to other topics and to
itself.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from cohmm import HMM, HTMM, Cooccurrence, PairwiseHMM, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.datasets.synthetic_topics import random_topics, sample_htmm
from cohmm.learn import min_volume
from cohmm.model.markov_chain import match_rows

LEVEL = 0.9
RECOVERED = 0.01  # total variation


class Case(NamedTuple):
    name: str
    n_symbols: int
    n_components: int
    length: int
    truth: Callable[[int], HMM]


SMALL = [
    Case("separable, half stays", 16, 4, 10**5, lambda s: separable_hmm(16, 4, 0.5, s)),
    Case("half zeros", 16, 4, 10**5, lambda s: random_hmm(16, 4, 0.5, 0.0, s)),
    Case("dense, half stays", 16, 4, 10**5, lambda s: random_hmm(16, 4, 0.0, 0.5, s)),
]
LARGE = Case("half zeros, .8 stays", 100, 20, 10**6, lambda s: random_hmm(100, 20, 0.5, 0.8, s))
QUICK = Case("separable, half stays", 8, 2, 5000, lambda s: separable_hmm(8, 2, 0.5, s))
METHODS: dict[str, dict[str, Any]] = {
    "refined": {},
    "pairs": {"refine": False},
    "pairs, lags 1 to 3": {"refine": False, "lags": (1, 2, 3)},
    "triples": {"refine": "triples"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--data-sets", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first data set")
    parser.add_argument("--large", type=int, default=0, help="data sets of N=100, K=20, T=1e6")
    parser.add_argument("--table", choices=METHODS)
    parser.add_argument("--topics", type=int, default=0, help="corpora of each size, and no more")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    if arguments.topics or arguments.quick:
        topics(
            range(arguments.first, arguments.first + (arguments.topics or 1)),
            (100,) if arguments.quick else (1000, 4000),
        )
        if not arguments.quick:
            return
    seeds = range(
        arguments.first, arguments.first + (2 if arguments.quick else arguments.data_sets)
    )
    large = range(arguments.first, arguments.first + arguments.large)
    print(f"coverage of {LEVEL:.0%} intervals\n")
    print(
        "| model | N | K | T | data sets | fit | transitions | emissions | zeros | left out "
        "| s, fit | s, errors |"
    )
    print("|---|---:|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for method, options in METHODS.items():
        if arguments.table not in (None, method):
            continue
        for case in [QUICK] if arguments.quick else SMALL:
            if not method.startswith("pairs"):
                row(case, method, options, seeds)
                continue
            chosen, others = split(case, seeds)
            row(case, method, options, chosen)
            row(case._replace(name=f"{case.name}: not"), method, options, others)
        if large and method in ("refined", "pairs"):
            row(LARGE, method, options, large)


def split(case: Case, seeds: Sequence[int]) -> tuple[list[int], list[int]]:
    """The data sets whose model pairs determine, and the others."""
    chosen, others = [], []
    for seed in seeds:
        truth = case.truth(seed)
        law = Cooccurrence.from_probability(truth.pair_probability())
        found = min_volume(law, case.n_components, random_state=0).model.distance(truth)
        (chosen if max(found) < RECOVERED else others).append(seed)
    return chosen, others


def row(case: Case, method: str, options: dict[str, Any], seeds: Sequence[int]) -> None:
    if not len(seeds):
        return
    with warnings.catch_warnings(), threads(1):
        warnings.simplefilter("ignore")
        runs = np.array([one(case, options, seed) for seed in seeds])
    filled = ~np.isnan(runs)
    means = np.where(filled, runs, 0).sum(axis=0) / np.maximum(filled.sum(axis=0), 1)
    shares = [
        f"{mean:.3f}" if any_there else "-"
        for mean, any_there in zip(means[:4], filled.any(axis=0), strict=False)
    ]
    print(
        f"| {case.name} | {case.n_symbols} | {case.n_components} | {case.length:.0e} "
        f"| {len(seeds)} | {method} | {' | '.join(shares)} | {means[4]:.2f} | {means[5]:.2f} |",
        flush=True,
    )


def one(case: Case, options: dict[str, Any], seed: int) -> list[float]:
    """Coverage of transitions, emissions and zeros, the share left out, and both times."""
    truth = case.truth(seed)
    X = truth.sample(case.length, random_state=seed)[0]
    began = time.process_time()
    model = PairwiseHMM(
        case.n_components, n_features=case.n_symbols, random_state=0, **options
    ).fit(X)
    fitted = time.process_time()
    errors = model.standard_errors()
    low, high = errors.interval(LEVEL)
    done = time.process_time()
    truth = truth.with_states(match_rows(truth.emissionprob, model.emissionprob_))
    inside, known = {}, {}
    for table in ("transmat", "emissionprob"):
        p = getattr(truth, table)
        inside[table] = (getattr(low, table) <= p) & (p <= getattr(high, table))
        known[table] = ~np.isnan(getattr(errors, table))
    some = truth.emissionprob > 0
    left_out = 1 - np.mean(np.concatenate([k.ravel() for k in known.values()]))
    return [
        share(inside["transmat"][known["transmat"]]),
        share(inside["emissionprob"][known["emissionprob"] & some]),
        share(inside["emissionprob"][known["emissionprob"] & ~some]),
        float(left_out),
        fitted - began,
        done - fitted,
    ]


def topics(seeds: range, sizes: tuple[int, ...]) -> None:
    print(f"coverage of {LEVEL:.0%} intervals of topics\n")
    print(
        "| documents | corpora | top words | transitions to others | to itself | s, fit "
        "| s, errors |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for size in sizes:
        with threads(1):
            means = np.mean([one_corpus(size, seed) for seed in seeds], axis=0)
        shares = " | ".join(f"{mean:.3f}" for mean in means[:3])
        print(f"| {size} | {len(seeds)} | {shares} | {means[3]:.2f} | {means[4]:.2f} |", flush=True)
    print()


def one_corpus(size: int, seed: int) -> list[float]:
    """Coverage of top words, of transitions to other topics and to itself, and both times."""
    components = random_topics(10, 1000, random_state=seed)
    sample = sample_htmm(size, components=components, random_state=seed)
    many = sample_htmm(20_000, components=components, random_state=seed + 1)
    within = np.ones(len(many.topics) - 1, bool)
    within[many.documents.offsets[1:-1] - 1] = False
    moves = np.zeros((10, 10))
    np.add.at(moves, (many.topics[:-1][within], many.topics[1:][within]), 1)
    moves /= moves.sum(axis=1, keepdims=True)
    began = time.process_time()
    model = HTMM(10, random_state=0).fit(sample.documents)
    fitted = time.process_time()
    low, high = model.standard_errors().interval(LEVEL)
    done = time.process_time()
    order = match_rows(components, model.components_)
    truth, moves = components[order], moves[np.ix_(order, order)]
    top = np.argsort(-model.components_, axis=1)[:, :10]
    words = (low.components <= truth) & (truth <= high.components)
    inside = (low.transitions <= moves) & (moves <= high.transitions)
    itself = np.eye(10, dtype=bool)
    return [
        share(np.take_along_axis(words, top, axis=1)),
        share(inside[~itself]),
        share(inside[itself]),
        fitted - began,
        done - fitted,
    ]


def share(which: np.ndarray) -> float:
    return float(which.mean()) if which.size else np.nan


if __name__ == "__main__":
    main()

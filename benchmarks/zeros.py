"""What is gained where emissions have zeros, and what is lost where they have none.

    python benchmarks/zeros.py                      # all tables, an hour
    python benchmarks/zeros.py --quick              # one small case each
    python benchmarks/zeros.py --table dense --instances 10

Errors are the paper's: mean total variation of emissions and of transitions, states matched,
averaged over instances, each a real chain sampled from a random model.  CPU seconds, of one thread,
are from the data (or from its pair counts, where the method is of pairs alone) to the model.
"zeros" says how often the default preferred zeros.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np

from cohmm import HMM, Sequences, count_pairs, threads
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import pairwise

PIECE = 10**7  # symbols that are sampled at once


class Case(NamedTuple):
    n_symbols: int
    n_components: int
    zeros: float
    length: int


METHODS: dict[str, dict[str, dict[str, Any]]] = {
    "defaults": {"plain": {"sparsity": 0.0}, "default": {}},
    "dense": {"plain": {"sparsity": 0.0}, "default": {}},
    "pairs": {"plain": {"sparsity": 0.0, "refine": False}, "default": {"refine": False}},
    "triples": {"plain": {"sparsity": 0.0, "refine": "triples"}, "default": {"refine": "triples"}},
}
CASES = {
    "defaults": [Case(100, 20, 0.5, 10**6), Case(100, 20, 0.5, 10**7)],
    "dense": [
        Case(n_symbols, k, 0.0, length)
        for n_symbols, k in ((16, 4), (100, 20))
        for length in (10**4, 10**5, 10**6)
    ],
    "pairs": [Case(100, 20, zeros, length) for zeros in (0.5, 0.0) for length in (10**7, 10**8)],
    "triples": [Case(100, 20, 0.5, 10**8)],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first instance")
    parser.add_argument("--longest", type=float, default=1e8, help="leave out longer chains")
    parser.add_argument("--shortest", type=float, default=0, help="and shorter ones")
    parser.add_argument("--table", choices=CASES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(arguments.first, arguments.first + arguments.instances)
    for title, cases in CASES.items():
        if arguments.table in (None, title):
            chosen = [
                case for case in cases if arguments.shortest <= case.length <= arguments.longest
            ]
            if arguments.quick:
                chosen, seeds = [Case(16, 4, cases[0].zeros, 20_000)], range(1)
            table(title, chosen, seeds)


def table(title: str, cases: list[Case], seeds: range) -> None:
    print(f"{title}: means of {len(seeds)} instances\n")
    print("| N | K | zeros | T | method | emission | transition | CPU s | zeros preferred |")
    print("|---:|---:|---:|---:|---|---:|---:|---:|---:|")
    for case in cases:
        runs = [one(case, METHODS[title], seed) for seed in seeds]
        for method in runs[0]:
            emission, transition, seconds, preferred = np.mean(
                [run[method] for run in runs], axis=0
            )
            n, k, zeros, length = case
            print(
                f"| {n} | {k} | {zeros:g} | {length:.0e} | {method} | {emission:.4f} "
                f"| {transition:.4f} | {seconds:.1f} | {preferred * len(seeds):.0f} |",
                flush=True,
            )
    print()


def one(
    case: Case, methods: dict[str, dict[str, Any]], seed: int
) -> dict[str, tuple[float, float, float, bool]]:
    """What every method finds in one chain: errors, seconds, whether it preferred zeros."""
    truth = random_hmm(case.n_symbols, case.n_components, case.zeros, random_state=seed)
    data = sampled(truth, case.length, 1000 + seed)
    results = {}
    for method, options in methods.items():
        evidence = count_pairs(data) if options.get("refine") is False else data
        with threads(1):
            began = time.process_time()
            fit = pairwise(evidence, case.n_components, random_state=0, **options)
            seconds = time.process_time() - began
        preferred = fit.pairs.passes_without_volume if fit.refined is None else fit.refined.sparsity
        results[method] = (*fit.model.distance(truth), seconds, preferred > 0)
    return results


def sampled(truth: HMM, length: int, seed: int) -> Sequences:
    """A chain, in pieces where it is long."""
    pieces = [
        truth.sample(min(PIECE, length - first), random_state=[seed, i] if i else seed)[0]
        for i, first in enumerate(range(0, length, PIECE))
    ]
    lengths = [len(piece) for piece in pieces]
    symbols = np.concatenate([piece.astype(np.int32) for piece in pieces])
    return Sequences.of(symbols, lengths, n_symbols=truth.n_symbols)


if __name__ == "__main__":
    main()

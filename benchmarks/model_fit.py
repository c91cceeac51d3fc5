"""The test of model fit: how often it speaks against right models, and against wrong ones.

    python benchmarks/model_fit.py                # minutes
    python benchmarks/model_fit.py --runs 200     # more sets for every row
    python benchmarks/model_fit.py --quick

Right: chains of K states, learned with K.  Wrong: the same learned with K - 1, and symbols each of
which depends on the two before it, learned with a state for every symbol.  The level is 5 %.
Models are learned from the same data, from pairs and then by maximum likelihood: of triples, which
is quick, or as --refine says.  CPU seconds are of the test alone.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cohmm import Sequences, threads
from cohmm.datasets.synthetic import random_hmm
from cohmm.diagnose.model_fit import LEVEL, model_fit
from cohmm.learn import pairwise


class Case(NamedTuple):
    name: str
    n_symbols: int
    k: int
    length: int
    draw: Callable[[int], np.ndarray]
    learned: int


def chain(n: int, k: int, zeros: float, stay: float, length: int) -> Callable[[int], np.ndarray]:
    def draw(seed: int) -> np.ndarray:
        truth = random_hmm(n, k, zeros, stay, random_state=seed)
        return truth.sample(length, random_state=10_000 + seed)[0]

    return draw


def second_order(n: int, length: int) -> Callable[[int], np.ndarray]:
    def draw(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        steps = rng.dirichlet(np.ones(n), size=(n, n)).cumsum(axis=-1)
        uniforms = rng.random(length)
        symbols = np.zeros(length, np.int32)
        for t in range(2, length):
            symbols[t] = (steps[symbols[t - 2], symbols[t - 1]] < uniforms[t]).sum()
        return np.minimum(symbols, n - 1)

    return draw


def cases(quick: bool) -> list[Case]:
    sizes = [(8, 2, 0.0, 0.5, 2000)] if quick else SIZES
    found = []
    for n, k, zeros, stay, length in sizes:
        name = f"{'half zeros' if zeros else 'dense'}, stay {stay:g}"
        found.append(Case(f"right: {name}", n, k, length, chain(n, k, zeros, stay, length), k))
    for n, k, zeros, stay, length in sizes[:3]:
        name = f"{'half zeros' if zeros else 'dense'}, stay {stay:g}"
        draw = chain(n, k, zeros, stay, length)
        found.append(Case(f"one state too few: {name}", n, k, length, draw, k - 1))
    length = 2000 if quick else 20_000
    return [*found, Case("second order", 4, 4, length, second_order(4, length), 4)]


SIZES = [
    (16, 4, 0.5, 0.5, 20_000),
    (16, 4, 0.0, 0.5, 20_000),
    (50, 8, 0.5, 0.5, 50_000),
    (16, 4, 0.5, 0.0, 100_000),
    (6, 6, 0.0, 0.5, 10_000),  # as many states as symbols, and more
    (4, 6, 0.0, 0.5, 10_000),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--runs", type=int, default=50, help="sets of data for every row")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--refine", choices=("triples", "sequences"), default="triples")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = 2 if arguments.quick else arguments.runs
    print("| data | N | K | T | learned K | sets | refused at 5 % | blamed | CPU s |")
    print("|---|---:|---:|---:|---:|---:|---:|---|---:|")
    right = [0, 0]
    with threads(1):
        for case in cases(arguments.quick):
            n_runs = runs if case.name.startswith("right") else max(runs // 2, 1)
            refused, seconds, blamed = 0, 0.0, dict.fromkeys(("states", "order"), 0)
            for seed in range(arguments.first_seed, arguments.first_seed + n_runs):
                data = Sequences.of(case.draw(seed), n_symbols=case.n_symbols)
                model = pairwise(data, case.learned, refine=arguments.refine, random_state=0).model
                began = time.process_time()
                found = model_fit(model, data, random_state=seed)
                seconds += time.process_time() - began
                refused += found.p_value < LEVEL
                if found.blames:
                    blamed[found.blames] += 1
            if case.name.startswith("right"):
                right = [right[0] + refused, right[1] + n_runs]
            shown = ", ".join(f"{name} {n}" for name, n in blamed.items() if n)
            print(
                f"| {case.name} | {case.n_symbols} | {case.k} | {case.length:.0e} "
                f"| {case.learned} | {n_runs} | {refused} ({refused / n_runs:.0%}) | {shown} "
                f"| {seconds / n_runs:.2f} |",
                flush=True,
            )
    print(f"\nright models refused: {right[0]} of {right[1]} ({right[0] / right[1]:.1%})")


if __name__ == "__main__":
    main()

"""Whether emissions are told apart by their scatter: separable, scattered, not identifiable.

    python benchmarks/identifiability.py             # minutes
    python benchmarks/identifiability.py --learned   # and learned emissions, some minutes more
    python benchmarks/identifiability.py --quick

Exact emissions M of N = 5K symbols, of four kinds: with an anchor for every state; scattered by
construction (for every two states a symbol that both emit, one of them seldom, and dense ones);
with random zeros, half of all; and dense.  What is true is told by an enumeration of all corners of
the dual cone, by code of the benchmark, where there are few (K = 3, and 5 but for scattered), else
by the kind.  Of K = 10 with random zeros nobody knows the truth, and refutations alone are checked;
so there is K = 7 with 24 symbols, whose corners are enumerated by the benchmark, while the library
takes them for too many and searches by linear programs.  Every refutation is checked:
M x >= 0, 1'x = 1, |x| > 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations, islice

import numpy as np

from cohmm import count_pairs, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.diagnose.scatter import scatter
from cohmm.learn import pairwise

KINDS = ("separable", "scattered", "random zeros", "dense")


def emissions(kind: str, k: int, seed: int) -> np.ndarray:
    """(K, N)."""
    if kind == "separable":
        return separable_hmm(5 * k, k, random_state=seed).emissionprob
    if kind == "random zeros":
        return random_hmm(5 * k, k, 0.5, random_state=seed).emissionprob
    if kind == "few symbols":
        return random_hmm(24, k, 0.65, random_state=seed).emissionprob
    if kind == "dense":
        return random_hmm(5 * k, k, 0.0, random_state=seed).emissionprob
    return scattered(k, seed)


def scattered(k: int, seed: int) -> np.ndarray:
    """Rows a e_i + (1 - a) e_j for all i and j, a above 2/3, and dense rows beside them.

    The dual cone of the rows with one a has two kinds of corners: unit vectors, and one that is
    shorter where a > 2/3 (K = 3) or 1/2; more rows, and rows nearer to a unit vector, make it
    smaller.  A last row makes all columns sum to the same, so that none is scaled.
    """
    rng = np.random.default_rng([seed, k])
    rows = []
    for i in range(k):
        for j in range(k):
            if i != j:
                row = np.zeros(k)
                row[i] = rng.uniform(0.7, 0.95)
                row[j] = 1 - row[i]
                rows.append(row)
    rows += list(rng.exponential(size=(2 * k, k)))
    sums = np.sum(rows, axis=0)
    rows.append(sums.max() + 1 - sums)
    m = np.array(rows)
    return (m / m.sum(axis=0)).T


def is_scattered(emissionprob: np.ndarray) -> bool:
    """Whether all corners of {M x >= 0, 1'x = 1} are unit vectors, or shorter."""
    m = (emissionprob / emissionprob.max(axis=0)).T
    k = m.shape[1]
    subsets = combinations(range(len(m)), k - 1)
    while rows := list(islice(subsets, 4000)):
        values, vectors = np.linalg.svd(m[np.array(rows)])[1:]
        x = vectors[:, -1]
        sums = x.sum(axis=1)
        good = (values[:, -1] > 1e-10) & (np.abs(sums) > 1e-12)
        x = x[good] / sums[good, None]
        x = x[(x @ m.T >= -1e-9 * np.abs(x).max(axis=1, initial=1)[:, None]).all(axis=1)]
        squares = (x**2).sum(axis=1)
        unit = np.abs(x).max(axis=1, initial=0) > 1 - 1e-6
        if ((squares > 1 + 1e-7) | ((squares > 1 - 1e-7) & ~unit)).any():
            return False
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few seeds, to see that it runs")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--learned", action="store_true", help="learned emissions as well")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    first = arguments.first_seed
    seeds = range(first, first + (2 if arguments.quick else arguments.seeds))
    print("| K | N | kind | models | scattered | agree | refutations | true | CPU s each |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|---:|")
    for k in (3, 5) if arguments.quick else (3, 5, 10):
        for kind in KINDS:
            exact(k, kind, seeds)
    if not arguments.quick:
        exact(7, "few symbols", seeds[:30])
    if arguments.learned:
        learned(seeds[:10])


def truth_of(kind: str, k: int, emissionprob: np.ndarray) -> bool | None:
    """Whether M is scattered; None where nobody knows."""
    if k == 3 or kind == "few symbols" or (k == 5 and kind != "scattered"):
        return is_scattered(emissionprob)
    if kind == "random zeros":
        return None
    return kind != "dense"


def exact(k: int, kind: str, seeds: range) -> None:
    agree = refuted = true = held = known = 0
    seconds = 0.0
    for seed in seeds:
        emissionprob = emissions(kind, k, seed)
        began = time.process_time()
        result = scatter(emissionprob)
        seconds += time.process_time() - began
        holds = truth_of(kind, k, emissionprob)
        if holds is not None:
            known += 1
            held += holds
            agree += result.refuted != holds and (kind != "separable" or result.verdict == kind)
        if result.direction is not None:
            refuted += 1
            x, m = result.direction, emissionprob.T
            inside = (m @ x >= -1e-9).all() and abs(x.sum() - 1) < 1e-9
            true += bool(inside and x @ x > 1 - 1e-6)
    shown = f"{held} | {agree} of {known} ({agree / known:.0%})" if known else "unknown | "
    print(
        f"| {k} | {emissionprob.shape[1]} | {kind} | {len(seeds)} | {shown} | {refuted} | {true} "
        f"| {seconds / len(seeds):.3f} |",
        flush=True,
    )


def learned(seeds: range) -> None:
    """Learned M with zeros within the noise: a warning, not a verdict."""
    from cohmm.diagnose.separation import zero_thresholds

    print("\n| K | kind | T | models | refuted |\n|---:|---|---:|---:|---:|")
    for k in (4, 8):
        for kind in ("separable", "random zeros", "dense"):
            for length in (10**5, 10**6):
                refuted = 0
                for seed in seeds:
                    truth = {
                        "separable": lambda k=k, seed=seed: separable_hmm(
                            5 * k, k, stay=0.5, random_state=seed
                        ),
                        "random zeros": lambda k=k, seed=seed: random_hmm(
                            5 * k, k, 0.5, stay=0.5, random_state=seed
                        ),
                        "dense": lambda k=k, seed=seed: random_hmm(
                            5 * k, k, 0.0, stay=0.5, random_state=seed
                        ),
                    }[kind]()
                    data = truth.sample(length, random_state=1000 + seed)[0]
                    with threads(1):
                        fit = pairwise(count_pairs(data, n_symbols=5 * k), k, random_state=0)
                    thresholds = zero_thresholds(fit.model, length)
                    refuted += scatter(fit.model.emissionprob, thresholds=thresholds).refuted
                print(f"| {k} | {kind} | {length:.0e} | {len(seeds)} | {refuted} |", flush=True)


if __name__ == "__main__":
    main()

"""Whether emissions are told apart by their scatter: separable, scattered, not identifiable.

    python benchmarks/identifiability.py             # a minute
    python benchmarks/identifiability.py --learned   # and learned emissions, minutes more
    python benchmarks/identifiability.py --quick

Exact emissions M of N = 5K symbols, of four kinds: with an anchor for every state; scattered by
construction (for every two states, symbols that one of them seldom emits, and all others never);
with random zeros, half of all; and dense.  For K = 3 and 5, all corners of the dual cone are
enumerated (by the benchmark, not by the library) and say what is true; for K = 10 the kind
does, and of random zeros the truth is whether AnchorFree gives M back from its span.  Every
refutation is checked: M x >= 0, 1'x = 1, |x| > 1.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import combinations

import numpy as np

from cohmm import count_pairs, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.diagnose.scatter import scatter
from cohmm.learn import pairwise
from cohmm.learn.pairs.anchor_free import anchor_free
from cohmm.model.matching import match_rows

KINDS = ("separable", "scattered", "random zeros", "dense")
RECOVERED = 1e-3  # mean total variation


def emissions(kind: str, k: int, seed: int) -> np.ndarray:
    """(K, N)."""
    if kind == "separable":
        return separable_hmm(5 * k, k, random_state=seed).emissionprob
    if kind == "random zeros":
        return random_hmm(5 * k, k, 0.5, random_state=seed).emissionprob
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


def longest_corner(emissionprob: np.ndarray) -> bool:
    """Whether all corners of {M x >= 0, 1'x = 1} are unit vectors or shorter, one by one."""
    m = emissionprob.T / emissionprob.max(axis=0)[:, None]
    k = m.shape[1]
    for chosen in combinations(range(len(m)), k - 1):
        values, vectors = np.linalg.svd(m[list(chosen)])[1:]
        if values[-1] < 1e-10:
            continue
        x = vectors[-1]
        if abs(x.sum()) < 1e-12:
            continue
        x = x / x.sum()
        if (m @ x < -1e-9 * np.abs(x).max()).any():
            continue
        if x @ x > 1 + 1e-7 or (x @ x > 1 - 1e-7 and np.abs(x).max() < 1 - 1e-6):
            return False
    return True


def recovered(emissionprob: np.ndarray, seed: int) -> bool:
    """Whether AnchorFree gives M back from a basis of its span."""
    m = emissionprob.T
    mixed = m @ np.random.default_rng(seed).normal(size=(m.shape[1], m.shape[1]))
    estimate = anchor_free(np.linalg.qr(mixed)[0], m.mean(axis=1), tol=1e-9).T
    matched = estimate[match_rows(estimate, emissionprob)]
    return float(np.abs(matched - emissionprob).sum() / (2 * len(matched))) < RECOVERED


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
    print("| K | kind | models | truly scattered | agree | refutations | true | CPU s each |")
    print("|---:|---|---:|---:|---:|---:|---:|---:|")
    for k in (3, 5) if arguments.quick else (3, 5, 10):
        # By enumeration, one corner at a time: K = 5 has many of them.
        for kind in KINDS:
            exact(k, kind, seeds[: 20 if k == 5 and kind != "scattered" else None])
    if arguments.learned:
        learned(seeds[:10])


def exact(k: int, kind: str, seeds: range) -> None:
    agree = refuted = true = held = 0
    seconds = 0.0
    for seed in seeds:
        emissionprob = emissions(kind, k, seed)
        began = time.process_time()
        result = scatter(emissionprob)
        seconds += time.process_time() - began
        if k == 3 or (k == 5 and kind != "scattered"):
            holds = longest_corner(emissionprob)
        elif kind == "random zeros":
            holds = recovered(emissionprob, seed)
        else:
            holds = kind != "dense"
        held += holds
        agree += result.refuted != holds and (result.verdict == "separable") == (
            kind == "separable" or all(len(own) for own in result.anchors)
        )
        if result.direction is not None:
            refuted += 1
            x, m = result.direction, emissionprob.T
            inside = (m @ x >= -1e-9).all() and abs(x.sum() - 1) < 1e-9
            true += bool(inside and x @ x > 1 - 1e-6)
    n = len(seeds)
    print(
        f"| {k} | {kind} | {n} | {held} | {agree} ({agree / n:.0%}) | {refuted} | {true} "
        f"| {seconds / n:.3f} |",
        flush=True,
    )


def learned(seeds: range) -> None:
    """Learned M with zeros within the noise: a warning, not a verdict."""
    from cohmm.diagnose.zeros_in_noise import zeros_in_noise

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
                    thresholds = zeros_in_noise(fit.model, length)
                    refuted += scatter(fit.model.emissionprob, thresholds=thresholds).refuted
                print(f"| {k} | {kind} | {length:.0e} | {len(seeds)} | {refuted} |", flush=True)


if __name__ == "__main__":
    main()

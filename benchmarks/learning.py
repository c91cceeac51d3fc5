"""How close the pairwise learner comes to the truth, and what it costs.

    python benchmarks/learning.py             # the tables of docs/results.md, minutes
    python benchmarks/learning.py --quick     # one small case each
    python benchmarks/learning.py --table cost

Errors are the paper's: mean total variation of emissions and of transitions, states matched,
averaged over instances, each a real chain sampled from a random model.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from cohmm import HMM, Cooccurrence, PairwiseHMM, count_pairs, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.pairs.anchor_free import anchor_free
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.spectrum import whitened_basis
from cohmm.model.markov_chain import match_rows, total_variation
from measure import cost

Generator = Callable[[int], HMM]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--instances", type=int, default=10)
    parser.add_argument("--table", choices=["errors", "states", "penalty", "cost", "start"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    quick, wanted = arguments.quick, arguments.table
    instances = 1 if quick else arguments.instances
    if wanted in (None, "errors"):
        errors_table(instances, quick)
    if wanted in (None, "states"):
        states_table(min(instances, 3), quick)
    if wanted in (None, "penalty"):
        penalty_table(min(instances, 5), quick)
    if wanted in (None, "cost"):
        cost_table(quick)
    if wanted in (None, "start"):
        start_table(quick)


def errors_table(instances: int, quick: bool) -> None:
    n, k = (20, 4) if quick else (100, 20)

    def plain(seed: int) -> HMM:
        return random_hmm(n, k, random_state=seed)

    def small(seed: int) -> HMM:
        return separable_hmm(16, 4, random_state=seed)

    def half(seed: int) -> HMM:
        return random_hmm(n, k, stay=0.5, random_state=seed)

    def most(seed: int) -> HMM:
        return random_hmm(n, k, stay=0.8, random_state=seed)

    cases: list[tuple[str, Generator, int, tuple[int, ...], str]] = [
        ("N=100, K=20", plain, 10**6, (1,), ".24 / .28"),
        ("N=100, K=20", plain, 10**7, (1,), ".080 / .085"),
        ("N=100, K=20", plain, 10**8, (1,), ".030 / .030"),
        ("N=100, K=20", plain, 10**6, (1, 2, 3), ""),
        ("N=16, K=4, separable", small, 10**5, (1,), ".060 / .055"),
        ("half stays", half, 10**6, (1,), ""),
        ("half stays", half, 10**6, (1, 2, 3), ".070 / .085"),
        ("four fifths stay", most, 10**6, (1,), ""),
        ("four fifths stay", most, 10**6, (1, 2, 3), ".040 / .045"),
    ]
    print(f"Errors, means of {instances} instances (and the largest)\n")
    print("| model | T | lags | emission | transition | target | passes | CPU s |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    for name, make, length, lags, target in cases[-1:] if quick else cases:
        length = 20_000 if quick else length
        found = [one(make(seed), length, lags, seed) for seed in range(instances)]
        emission, transition, passes, seconds = np.array(found).T
        print(
            f"| {name} | {length:.0e} | {lags} | {emission.mean():.4f} ({emission.max():.4f}) "
            f"| {transition.mean():.4f} ({transition.max():.4f}) | {target} "
            f"| {passes.mean():.0f} | {seconds.mean():.2f} |",
            flush=True,
        )
    print()


def one(truth: HMM, length: int, lags: tuple[int, ...], seed: int) -> tuple[float, ...]:
    y, _ = truth.sample(length, random_state=1000 + seed)
    counts = count_pairs(y, lags=lags, n_symbols=truth.n_symbols)
    began = time.process_time()
    model = PairwiseHMM(truth.n_components, random_state=0).fit_counts(counts)
    seconds = time.process_time() - began
    return *model.model_.distance(truth), float(model.n_iter_), seconds


def states_table(instances: int, quick: bool) -> None:
    print('States found by n_components="auto" (true: 20)\n')
    print("| stay | T | found |")
    print("|---:|---:|---|")
    for stay in (0.0, 0.5, 0.8):
        for length in (20_000,) if quick else (10**5, 10**6, 10**7):
            found = []
            for seed in range(instances):
                truth = random_hmm(100, 20, stay=stay, random_state=seed)
                y, _ = truth.sample(length, random_state=1000 + seed)
                model = PairwiseHMM("auto", max_iter=1, refine=False, random_state=0).fit(y)
                found.append(model.model_.n_components)
            print(f"| {stay} | {length:.0e} | {', '.join(map(str, found))} |", flush=True)
    print()


def penalty_table(instances: int, quick: bool) -> None:
    """Where the default penalty comes from: c / sqrt(T), errors by c."""
    steps = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3)
    print(f"Emission / transition error by penalty c / sqrt(T), means of {instances} instances\n")
    print("| model | T | " + " | ".join(f"c={c}" for c in steps) + " | auto |")
    print("|---|---:|" + "---:|" * (len(steps) + 1))
    cases: list[tuple[str, Generator, int]] = [
        ("N=100, K=20", lambda seed: random_hmm(100, 20, random_state=seed), 10**5),
        ("N=100, K=20", lambda seed: random_hmm(100, 20, random_state=seed), 10**6),
        ("N=100, K=20", lambda seed: random_hmm(100, 20, random_state=seed), 10**7),
        ("half stays", lambda seed: random_hmm(100, 20, stay=0.5, random_state=seed), 10**6),
        ("N=16, K=4", lambda seed: separable_hmm(16, 4, random_state=seed), 10**5),
    ]
    for name, make, length in cases[-1:] if quick else cases:
        rows = []
        for seed in range(instances):
            truth = make(seed)
            y, _ = truth.sample(length, random_state=1000 + seed)
            counts = count_pairs(y, n_symbols=truth.n_symbols)
            choices: list[Any] = [c / np.sqrt(length) for c in steps] + ["auto"]
            fits = [
                PairwiseHMM(
                    truth.n_components, penalty=choice, sparsity=0, random_state=0
                ).fit_counts(counts)
                for choice in choices
            ]
            rows.append([fit.model_.distance(truth) for fit in fits])
        cells = [f"{e:.3f} / {t:.3f}" for e, t in np.mean(rows, axis=0)]
        print(f"| {name} | {length:.0e} | " + " | ".join(cells) + " |", flush=True)
    print()


def cost_table(quick: bool) -> None:
    """All of learning from T = 1e8, against one iteration of EM on T = 1e6."""
    long, short = (10**5, 10**4) if quick else (10**8, 10**6)
    n, k = (20, 4) if quick else (100, 20)
    truth = random_hmm(n, k, random_state=0)
    y, _ = truth.sample(long, random_state=1)
    column = y[:short, None].astype(np.int64)
    theirs = truth.to_hmmlearn()
    with threads(1):
        counting = cost(lambda: count_pairs(y, n_symbols=n), repeats=2)
        learning = {
            what: cost(lambda options=options: learned(counting.value, k, **options), repeats=2).cpu
            for what, options in (
                ("learning from them", {}),
                ("learning from them, sparsity=0", {"sparsity": 0}),
            )
        }
    iteration = cost(lambda: theirs._do_estep(column, None), repeats=2)
    print("Learning, counting included, against one iteration of hmmlearn's EM (scaling)\n")
    print("| what | CPU s | with the counting | hmmlearn / cohmm |")
    print("|---|---:|---:|---:|")
    print(f"| cohmm: counting the pairs of T = {long:.0e} | {counting.cpu:.2f} | | |")
    for what, seconds in learning.items():
        total = counting.cpu + seconds
        print(f"| cohmm: {what} | {seconds:.2f} | {total:.2f} | {iteration.cpu / total:.2f} |")
    print(f"| hmmlearn: one E-step on T = {short:.0e} | {iteration.cpu:.2f} | | |")


def learned(counts: Cooccurrence, n_components: int, **options: float) -> PairwiseHMM:
    return PairwiseHMM(n_components, random_state=0, **options).fit_counts(counts)


def start_table(quick: bool) -> None:
    """AnchorFree by itself, which every fit begins with."""
    print("AnchorFree, from a basis of the range to emissions, one thread\n")
    print("| N | K | pairs | emission error | CPU s |")
    print("|---:|---:|---|---:|---:|")
    sizes = [(40, 5)] if quick else [(100, 20), (300, 30), (1000, 50)]
    for n, k in sizes:
        truth = random_hmm(n, k, random_state=0)
        law = truth.emissionprob.T @ (truth.stationary()[:, None] * truth.transmat)
        length = 20_000 if quick else 10**6
        for name, counts in (
            ("exact", Cooccurrence.from_probability(law @ truth.emissionprob, n_pairs=10**9)),
            (f"{length:.0e}", count_pairs(truth.sample(length, random_state=0)[0])),
        ):
            evidence = PairEvidence.of(counts)
            laws, weights = [evidence.laws[1]], [evidence.weights[1]]
            basis, symbols = whitened_basis(laws, weights, evidence.n_pairs, k)
            with threads(1):
                began = time.process_time()
                m = anchor_free(basis, evidence.frequency[symbols])
                seconds = time.process_time() - began
            emission = np.zeros((k, n))
            emission[:, evidence.seen[symbols]] = m.T
            order = match_rows(emission, truth.emissionprob)
            error = total_variation(emission[order], truth.emissionprob)
            print(f"| {n} | {k} | {name} | {error:.2g} | {seconds:.2f} |", flush=True)
    print()


if __name__ == "__main__":
    main()

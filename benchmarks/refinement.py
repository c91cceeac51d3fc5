"""How close refinement comes to the truth and to maximum likelihood, and what it costs.

    python benchmarks/refinement.py                    # the tables of docs/results.md
    python benchmarks/refinement.py --quick            # one small case each
    python benchmarks/refinement.py --table errors --truth

Errors are the paper's: mean total variation of emissions and of transitions, states matched,
averaged over instances, each a real chain sampled from a random model.  CPU seconds, of one
thread, are those after the pairs, and in the first row those of the pairs.  With ``--truth``,
also the maximum that a run from the truth ends at, and how far below it each one is: slow.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cohmm import HMM, Sequences, count_pairs, threads
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.sequences.baum_welch import baum_welch
from cohmm.learn.sequences.refine import refine
from measure import cost


class Case(NamedTuple):
    name: str
    make: Callable[[int], HMM]
    length: int
    lags: tuple[int, ...] = (1,)


class Result(NamedTuple):
    emission: float
    transition: float
    log_likelihood: float  # nats per symbol
    seconds: float
    passes: float
    converged: float


def _with_more_symbols(seed: int) -> HMM:
    """A model of 150 symbols, and 191 more that no state emits."""
    model = random_hmm(150, 10, stay=0.3, random_state=seed)
    wide = np.pad(model.emissionprob, ((0, 0), (0, 191)))
    return HMM(model.startprob, model.transmat, wide)


ERRORS = [
    Case("N=100, K=20", lambda seed: random_hmm(100, 20, random_state=seed), 10**6),
    Case("N=100, K=20", lambda seed: random_hmm(100, 20, random_state=seed), 10**7),
]
STICKY = [
    Case(
        "half stays",
        lambda seed: random_hmm(100, 20, stay=0.5, random_state=seed),
        10**6,
        (1, 2, 3),
    ),
    Case(
        "four fifths stay",
        lambda seed: random_hmm(100, 20, stay=0.8, random_state=seed),
        10**6,
        (1, 2, 3),
    ),
]
SIZES = [
    Case("N=1000, K=10", lambda seed: random_hmm(1000, 10, random_state=seed), 10**6),
    Case("N=16, K=4, separable", lambda seed: separable_hmm(16, 4, random_state=seed), 10**5),
    Case("N=150, K=10", lambda seed: random_hmm(150, 10, stay=0.3, random_state=seed), 2 * 10**5),
    Case("N=341, of which those occur", _with_more_symbols, 2 * 10**5),
]
QUICK = Case("N=20, K=4", lambda seed: random_hmm(20, 4, stay=0.3, random_state=seed), 20_000)
TABLES = {"errors": ERRORS, "sticky": STICKY, "sizes": SIZES}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--instances", type=int, default=5)
    parser.add_argument("--longest", type=float, default=1e7, help="leave out longer chains")
    parser.add_argument("--truth", action="store_true", help="also start from the truth")
    parser.add_argument("--table", choices=[*TABLES, "baum-welch"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    instances = 1 if arguments.quick else arguments.instances
    for name, cases in TABLES.items():
        if arguments.table in (None, name):
            chosen = [case for case in cases if case.length <= arguments.longest]
            if arguments.quick:
                chosen = [QUICK._replace(lags=chosen[-1].lags)]
            errors_table(name, chosen, instances, arguments.truth)
    if arguments.table in (None, "baum-welch"):
        baum_welch_table(20_000 if arguments.quick else 10**6)


def errors_table(title: str, cases: list[Case], instances: int, from_truth: bool) -> None:
    print(f"Refinement ({title}), means of {instances} instances (and the largest)\n")
    gap = " nats per symbol below the truth-started |" if from_truth else ""
    print(f"| model | T | method | emission | transition |{gap} CPU s | passes | converged |")
    print("|---|---:|---|---:|---:|" + "---:|" * (4 if from_truth else 3))
    for case in cases:
        runs = [one(case, seed, from_truth) for seed in range(instances)]
        for method in runs[0]:
            found = np.array([run[method] for run in runs])
            mean, most = found.mean(axis=0), found.max(axis=0)
            cells = [f"{mean[i]:.4f} ({most[i]:.4f})" for i in (0, 1)]
            if from_truth:
                gaps = [
                    run["from the truth"].log_likelihood - run[method].log_likelihood
                    for run in runs
                ]
                cells.append(f"{np.mean(gaps):.1e} ({max(gaps):.1e})")
            cells += [f"{mean[3]:.1f} ({most[3]:.1f})", f"{mean[4]:.0f}"]
            cells.append(f"{found[:, 5].sum():.0f} of {instances}")
            print(
                f"| {case.name} | {case.length:.0e} | {method} | {' | '.join(cells)} |", flush=True
            )
    print()


def one(case: Case, seed: int, from_truth: bool) -> dict[str, Result]:
    """What every method finds in one chain."""
    truth = case.make(seed)
    k, n = truth.n_components, truth.n_symbols
    data = Sequences.of(truth.sample(case.length, random_state=1000 + seed)[0], n_symbols=n)
    with threads(1):
        began = time.process_time()
        pairs = min_volume(count_pairs(data, lags=case.lags), k, random_state=0)
        seconds = time.process_time() - began
        results = {
            "pairs": result(pairs.model, truth, data, seconds, pairs.n_iter, pairs.converged)
        }

        def refined(method: str, start: HMM, **options: float) -> None:
            began = time.process_time()
            fit = refine(start, data, random_state=0, **options)
            seconds = time.process_time() - began
            results[method] = result(fit.model, truth, data, seconds, fit.n_iter, fit.converged)

        refined("refined", pairs.model)
        refined("refined, sparsity=1", pairs.model, sparsity=1.0)
        if from_truth:
            blurred = 0.999 * truth.emissionprob + 0.001 / n
            start = HMM(truth.stationary(), truth.transmat, blurred)
            refined("from the truth", start, max_iter=200, tol=1e-4)
    return results


def result(
    model: HMM, truth: HMM, data: Sequences, seconds: float, passes: int, converged: bool
) -> Result:
    """Begun anywhere in the chain: where one sequence starts is not what is compared."""
    chain = HMM(model.stationary(), model.transmat, model.emissionprob)
    log_likelihood = chain.log_likelihood(data) / len(data.symbols)
    return Result(*model.distance(truth), log_likelihood, seconds, passes, converged)


def baum_welch_table(length: int, iterations: int = 3) -> None:
    """One iteration of EM, ours and hmmlearn's, from the same start."""
    truth = random_hmm(100, 20, random_state=0)
    y, _ = truth.sample(length, random_state=1000)
    column, data = y[:, None].astype(np.int64), Sequences.of(y, n_symbols=100)
    start = HMM(
        np.full(20, 0.05), 0.5 * truth.transmat + 0.5 / 20, 0.5 * truth.emissionprob + 0.5 / 100
    )

    def theirs(n: int) -> list[float]:
        model = start.to_hmmlearn()
        model.n_iter, model.tol = n, -np.inf
        return list(model.fit(column).monitor_.history)

    def ours(n: int) -> list[float]:
        fit = baum_welch(data, start=start, max_iter=n, tol=0.0)
        return [-length * step.divergence for step in fit.history]

    with threads(1):
        costs = {
            "hmmlearn, scaling": cost(lambda: theirs(1), 2),
            "baum_welch": cost(lambda: ours(1), 2),
        }
        apart = np.abs(np.subtract(theirs(iterations), ours(iterations))).max()
    print(f"One iteration of Baum-Welch, N=100, K=20, T={length:.0e}, one thread\n")
    print("| | CPU s | peak memory, MB |")
    print("|---|---:|---:|")
    for name, found in costs.items():
        print(f"| {name} | {found.cpu:.3f} | {found.memory / 1e6:.0f} |")
    ratio = costs["hmmlearn, scaling"].cpu / costs["baum_welch"].cpu
    print(f"| ratio | {ratio:.1f} | |")
    print(f"\nLargest difference of log-likelihood in {iterations} iterations: {apart:.1e}\n")


if __name__ == "__main__":
    main()

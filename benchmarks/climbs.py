"""Two climbs of the likelihood of windows, from the same start: CPU seconds to the same height.

    python benchmarks/climbs.py                    # the table of docs/results.md
    python benchmarks/climbs.py --quick            # one small case

The first is `cohmm.learn.maximize`: quasi-Newton steps, a curvature from some thousand
windows.  The second is Gauss-Newton with the exact Fisher information (`fisher_scoring.py`).  Both
in the same coordinates, square roots of pi M and pi A, pi = pi A.  The height is the best
that either reaches, less 1e-6 and 1e-8 nats per window.  One thread; with
several ``--turns`` the two alternate, and the quicker of the turns counts.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm import HMM, Triples, Windows, count_pairs, count_triples, count_windows, threads
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import grouped, min_volume
from cohmm.learn.maximize import Prior, StationaryLikelihood, Target, ascend, n_parameters
from cohmm.learn.sqrt_parametrization import n_windows
from cohmm.learn.windows.polyadic import descend
from cohmm.learn.windows.window_law import TripleLaw, WindowLaw, WindowLikelihood
from fisher_scoring import Chain, FisherScoring

GAPS = (1e-6, 1e-8)  # nats per window
OPENING = 0.01  # share of all symbols, and states, in a start: both leave a zero slowly


class Case(NamedTuple):
    n: int
    k: int
    tau: int
    length: int
    passes: int = 300  # of the ascent
    steps: int = 40  # of Gauss-Newton


class Heights(NamedTuple):
    """CPU seconds since the start, and the lowest objective by then."""

    seconds: list[float]
    objectives: list[float]

    def until(self, height: float) -> float:
        reached = [s for s, o in zip(self.seconds, self.objectives, strict=True) if o <= height]
        return reached[0] if reached else np.nan


CASES = [
    Case(100, 20, 1, 10**6),
    Case(100, 20, 1, 10**7),
    Case(10, 5, 2, 10**5, 500, 100),
    Case(10, 5, 2, 10**6, 500, 100),
    Case(6, 10, 2, 10**5, 2000, 300),
    Case(6, 10, 2, 10**6, 2000, 300),
]
QUICK = [Case(5, 3, 2, 10**4, 200, 50), Case(8, 3, 1, 10**4, 100, 40)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small size, to see that it runs")
    parser.add_argument("--instances", type=int, default=2)
    parser.add_argument("--turns", type=int, default=1)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cases, instances = (QUICK, 1) if arguments.quick else (CASES, arguments.instances)
    print("CPU s to come within so many nats per window of the best, ascent / Gauss-Newton\n")
    print("| N | K | tau | T | instance | 1e-6 | 1e-8 | left in the end |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    with threads(1), threadpool_limits(1, "blas"):
        for case in cases:
            for seed in range(instances):
                row(case, seed, arguments.turns)


def row(case: Case, seed: int, turns: int) -> None:
    """One instance, printed."""
    truth = (random_hmm if case.k <= case.n else few_successors)(case.n, case.k, random_state=seed)
    y, _ = truth.sample(case.length, random_state=1000 + seed)
    count = count_triples if case.tau == 1 else count_windows
    evidence = count(y, n_symbols=case.n)
    start = opened(begin(y, evidence, case))
    runs = [
        (by_ascent(evidence, start, case), by_gauss_newton(evidence, start, case))
        for _ in range(turns)
    ]
    best = min(heights.objectives[-1] for run in runs for heights in run)
    cells = []
    for gap in GAPS:
        seconds = [[heights.until(best + gap) for heights in run] for run in runs]
        cells.append(" / ".join(f"{s:.2f}" if s > 0 else "-" for s in np.fmin.reduce(seconds)))
    left = [
        min(heights.objectives[-1] for heights in run) - best for run in zip(*runs, strict=True)
    ]
    cells.append(" / ".join(f"{gap:.0e}" for gap in left))
    print(
        f"| {case.n} | {case.k} | {case.tau} | {case.length:.0e} | {seed} | {' | '.join(cells)} |",
        flush=True,
    )


def few_successors(n_symbols: int, n_components: int, random_state: int) -> HMM:
    """Dense emissions, three random successors per state: what windows can show if K > N."""
    rng = np.random.default_rng(random_state)
    a = np.zeros((n_components, n_components))
    for state, row in enumerate(a):
        others = rng.choice(n_components, 2, replace=False)
        row[[(state + 1) % n_components, *others]] = rng.dirichlet(np.ones(3))
    a /= a.sum(axis=1, keepdims=True)
    emission = rng.dirichlet(np.ones(n_symbols), n_components)
    return HMM(np.full(n_components, 1 / n_components), a, emission)


def begin(y: np.ndarray, evidence: Triples | Windows, case: Case) -> HMM:
    """What the pairs say; where there are more states than symbols, the windows decomposed."""
    if case.k <= case.n:
        return min_volume(count_pairs(y, n_symbols=case.n), case.k, random_state=0).model
    return grouped(evidence, case.k, n_init=1, max_iter=1, random_state=0).model


def opened(model: HMM) -> HMM:
    transmat, emission = (
        (1 - OPENING) * table + OPENING / table.shape[1]
        for table in (model.transmat, model.emissionprob)
    )
    return HMM(model.stationary(), transmat, emission)


def by_ascent(evidence: Triples | Windows, start: HMM, case: Case) -> Heights:
    law = TripleLaw.of(evidence) if case.tau == 1 else WindowLaw.of(evidence)
    windows = evidence.triples if case.tau == 1 else evidence.windows
    shares, rng = evidence.counts / evidence.counts.sum(), np.random.default_rng(0)
    size = n_windows(n_parameters(start))
    target = Target(
        StationaryLikelihood(WindowLikelihood(law)),
        units=case.length,
        symbols=2 * case.tau + 1,
        start_weight=1.0,
        prior=Prior(),
        windows=lambda: windows[rng.choice(len(shares), size, p=shares)].astype(np.int64),
    )
    heights, began = Heights([], []), time.process_time()

    def report(passes: int, objective: float, log_likelihood: float) -> None:
        heights.seconds.append(time.process_time() - began)
        heights.objectives.append(law.negative_entropy + objective)

    ascend(target, start, passes=20, max_iter=case.passes, tol=0.0, report=report)
    return heights


def by_gauss_newton(evidence: Triples | Windows, start: HMM, case: Case) -> Heights:
    law = WindowLaw.of(evidence)
    heights, began = Heights([], []), time.process_time()

    def report(objective: float) -> None:
        heights.seconds.append(time.process_time() - began)
        heights.objectives.append(min([objective, *heights.objectives[-1:]]))

    chain = Chain.of(start.emissionprob[:, law.seen].T, start.transmat)
    problem = FisherScoring(law, report)
    descend(problem, chain, max_iter=case.steps, tol=0.0, patience=1, enough=0.0)
    return heights


if __name__ == "__main__":
    main()

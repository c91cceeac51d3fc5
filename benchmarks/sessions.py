"""The default beside the best of five Baum-Welch starts on short sessions, by held-out likelihood.

    python benchmarks/sessions.py             # ten data sets and msnbc, minutes
    python benchmarks/sessions.py --first-seed 10 --visits 20000   # ten others
    python benchmarks/sessions.py --states    # held-out likelihood by K, and what "auto" takes
    python benchmarks/sessions.py --quick

Sessions have absorbing ends and strict orders, and there are about as many states as symbols: a
landscape with many optima.  Baum-Welch's five starts run to convergence, with pseudo-counts of .01
(without any, much of what is held out would be impossible), and the best of them on the training
data counts.  CPU seconds, of one thread, are given for the default, for the five
starts, and for one start of hmmlearn with 100 iterations.  msnbc is looked for in the folder that
COHMM_DATA names; every fifth of its visits is held out.
"""

from __future__ import annotations

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from hmmlearn.hmm import CategoricalHMM

from cohmm import HMM, PairwiseHMM, Sequences, threads
from cohmm.datasets.data_files import MissingData
from cohmm.datasets.public_sequences import msnbc
from cohmm.datasets.synthetic import random_sessions
from cohmm.learn import baum_welch
from cohmm.learn.sequences.baum_welch import PseudoCounts

SEEDS, SESSIONS = 10, 2000
VISITS = 60_000
STARTS, ITERATIONS = 5, 100
STATES = (4, 7, 10, 13)
PRIOR = PseudoCounts(0.01, 0.01, 0.01)


class Case(NamedTuple):
    name: str
    training: Sequences
    test: Sequences
    k: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sessions, to see that it runs")
    parser.add_argument("--seeds", type=int, default=SEEDS, help="sets of generated sessions")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--visits", type=int, default=VISITS, help="of msnbc; 0 leaves it out")
    parser.add_argument("--states", action="store_true", help="by the number of states instead")
    parser.add_argument("--no-hmmlearn", action="store_true", help="leave its CPU seconds out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)
    quick = arguments.quick
    n, iterations = (60, 2) if quick else (SESSIONS, ITERATIONS)
    first = arguments.first_seed
    cases = [synthetic(seed, n) for seed in range(first, first + (1 if quick else arguments.seeds))]
    try:
        if arguments.visits:
            cases.append(visits(200 if quick else arguments.visits))
    except MissingData as missing:
        print(f"without msnbc: {missing}")
    if not quick:
        compile_all(cases)
    if arguments.states:
        by_states(cases)
        return
    print("| data | T | K | default | best of five | difference | CPU s | five | hmmlearn, one |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    ahead = cheaper = 0
    with threads(1):
        for case in cases:
            ours, seconds = timed(lambda case=case: default(case))
            theirs, five = timed(lambda case=case: best_of_five(case))
            one = np.nan
            if not arguments.no_hmmlearn:
                _, one = timed(lambda case=case: hmmlearn_once(case, iterations))
            ahead += ours >= theirs
            cheaper += seconds < one
            print(
                f"| {case.name} | {len(case.training.symbols):,} | {case.k} | {ours:.4f} "
                f"| {theirs:.4f} | {ours - theirs:+.4f} | {seconds:.2f} | {five:.2f} | {one:.2f} |",
                flush=True,
            )
    print(f"\nat or above the best of five on {ahead} of {len(cases)}; ", end="")
    print(f"cheaper than one start of hmmlearn on {cheaper}")


def by_states(cases: list[Case]) -> None:
    """Held-out likelihood of so many states, up to one for each symbol, and of "auto"."""
    print(
        "| data | T | N | " + " | ".join(f"K = {k}" for k in STATES) + " | K = N | auto | its K |"
    )
    print("|---|---:|---:|" + "---:|" * (len(STATES) + 3))
    with threads(1):
        for case in cases:
            n = len(np.unique(case.training.symbols))
            each = [default(case._replace(k=k)) for k in (*STATES, n)]
            model = PairwiseHMM("auto", random_state=0).fit(case.training).model_
            scores = " | ".join(f"{score:.4f}" for score in (*each, nats(model, case)))
            print(
                f"| {case.name} | {len(case.training.symbols):,} | {n} | {scores} "
                f"| {model.n_components} |",
                flush=True,
            )


def synthetic(seed: int, n: int) -> Case:
    """The first n sessions; as many others, of the same kinds, are held out."""
    both = random_sessions(2 * n, random_state=seed)
    number = np.arange(2 * n)
    return Case(
        f"sessions {seed}", picked(both, number < n), picked(both, number >= n), (10, 14)[seed % 2]
    )


def visits(n: int) -> Case:
    """The first n visits of msnbc, every fifth held out."""
    data, number = msnbc(), np.arange(n)
    return Case("msnbc", picked(data, number % 5 > 0), picked(data, number % 5 == 0), 8)


def picked(data: Sequences, which: np.ndarray) -> Sequences:
    """Some of the first sequences."""
    lengths = data.lengths[: len(which)]
    symbols = data.symbols[: lengths.sum()][np.repeat(which, lengths)]
    return Sequences.of(symbols, lengths[which], n_symbols=data.n_symbols)


def compile_all(cases: list[Case]) -> None:
    """Kernels are compiled for the number of states: not part of what is timed."""
    for k in sorted({case.k for case in cases}):
        small = random_sessions(1000, random_state=0)  # not so few that other kernels serve
        PairwiseHMM(k, random_state=0).fit(small)
        baum_welch(small, k, max_iter=2, random_state=0)


def default(case: Case) -> float:
    return nats(PairwiseHMM(case.k, random_state=0).fit(case.training).model_, case)


def best_of_five(case: Case) -> float:
    fit = baum_welch(case.training, case.k, prior=PRIOR, n_init=STARTS, random_state=0)
    return nats(fit.model, case)


def hmmlearn_once(case: Case, iterations: int) -> None:
    model = CategoricalHMM(case.k, n_iter=iterations, random_state=0, implementation="scaling")
    model.fit(case.training.symbols[:, None].astype(np.int64), case.training.lengths)


def nats(model: HMM, case: Case) -> float:
    return model.log_likelihood(case.test) / len(case.test.symbols)


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    value = call()
    return value, time.process_time() - began


if __name__ == "__main__":
    main()

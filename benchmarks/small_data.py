"""The default beside hmmlearn's best of five starts on little data, by held-out likelihood.

    python benchmarks/small_data.py           # 26 cells, five seeds each, minutes
    python benchmarks/small_data.py --first-seed 5    # five others
    python benchmarks/small_data.py --quick

Every cell is a kind of random model, its size, and a length T of training data: one sequence.
What a model has learned is scored on 20,000 fresh symbols of the truth; a symbol that the training
data does not have is missing there, for both.  hmmlearn's starts, of 100 iterations each, are
chosen among by the likelihood of the training data, as its users do.
"""

from __future__ import annotations

import argparse
import time
import warnings
from itertools import product

import numpy as np
from hmmlearn.hmm import CategoricalHMM

from cohmm import HMM, PairwiseHMM, Sequences, threads
from cohmm.datasets.synthetic import random_hmm

LENGTHS = (200, 500, 2000)
KINDS = {"dense": (0.0, 0.0), "half zeros": (0.5, 0.0), "sticky": (0.5, 0.8)}  # zeros, stay
MODELS = [("dense", 6), ("half zeros", 10), ("sticky", 4), ("sticky", 20)]
CELLS = [
    *((length, k, *model) for length, k, model in product(LENGTHS, (2, 3), MODELS)),
    (500, 2, "dense", 20),
    (500, 3, "half zeros", 20),
]
HELD_OUT = 20_000
STARTS, ITERATIONS = 5, 100
LEVEL = -5e-4  # nats per symbol: a difference above is no loss


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one small cell of each kind")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    cells = CELLS[:3] if arguments.quick else CELLS
    first = arguments.first_seed
    seeds = range(first, first + (1 if arguments.quick else arguments.seeds))
    print("| T | K | N | kind | cohmm | hmmlearn | difference | CPU s | hmmlearn's |")
    print("|---:|---:|---:|---|---:|---:|---:|---:|---:|")
    won, worst = 0, np.inf
    for length, k, kind, n in cells:
        runs = np.array([one(length, k, n, kind, seed) for seed in seeds])
        ours, theirs, our_seconds, their_seconds = runs.mean(axis=0)
        won += ours - theirs > LEVEL
        worst = min(worst, ours - theirs)
        print(
            f"| {length} | {k} | {n} | {kind} | {ours:.4f} | {theirs:.4f} "
            f"| {ours - theirs:+.4f} | {our_seconds:.2f} | {their_seconds:.2f} |",
            flush=True,
        )
    print(f"\nat or above hmmlearn in {won} of {len(cells)} cells; worst {worst:+.4f}")


def one(length: int, k: int, n: int, kind: str, seed: int) -> tuple[float, ...]:
    """Held-out nats per symbol and CPU seconds: ours, hmmlearn's."""
    zeros, stay = KINDS[kind]
    truth = random_hmm(n, k, zeros=zeros, stay=stay, random_state=seed)
    y = truth.sample(length, random_state=1000 + seed)[0]
    seen = np.unique(y)
    test = truth.sample(HELD_OUT, random_state=2000 + seed)[0]
    test = Sequences(np.where(np.isin(test, seen), test, -1), np.array([0, HELD_OUT]), n)
    observed = np.count_nonzero(test.symbols >= 0)
    with threads(1):
        began = time.process_time()
        ours = PairwiseHMM(k, n_features=n, random_state=0).fit(y).model_
        between = time.process_time()
        theirs = best_of_hmmlearn(y, k, n)
        ended = time.process_time()
        scores = [model.log_likelihood(test) / observed for model in (ours, theirs)]
    return *scores, between - began, ended - between


def best_of_hmmlearn(y: np.ndarray, k: int, n: int) -> HMM:
    column = y[:, None].astype(np.int64)
    fits = []
    for start in range(STARTS):
        model = CategoricalHMM(
            k, n_features=n, n_iter=ITERATIONS, random_state=start, implementation="scaling"
        )
        fits.append(model.fit(column))
    return HMM.from_hmmlearn(max(fits, key=lambda model: float(model.score(column))))


if __name__ == "__main__":
    main()

"""Counting and inference beside hmmlearn (scaling), deeptime, NumPy and C, in one process.

    python benchmarks/inference.py            # N=100, K=20: T=1e4, 1e6, 10,000 x 100; other K
    python benchmarks/inference.py --quick    # T=1e4: does it run?

CPU seconds of one thread, the least of several runs; memory is the peak above what was
there before the call.  A ratio is the peer's CPU time over cohmm's: above 1, cohmm is faster.
C is chain_reference.c, compiled for K alone: no missing symbols, no care for underflow.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from deeptime.markov.hmm import DiscreteOutputModel, HiddenMarkovModel, MaximumLikelihoodHMM

from chain_reference import Reference
from cohmm import HMM, count_pairs, threads
from cohmm.data.sequences import Sequences
from cohmm.datasets.synthetic import random_hmm
from measure import Cost, cost

N, K = 100, 20
ZIPF_SYMBOLS, ZIPF_PAIRS = 200_000, 10_000_000
FORWARD, COUNTS, VITERBI = (
    "forward (log-likelihood)", "forward-backward, expected counts", "Viterbi"
)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    quick = parser.parse_args().quick
    hmm = random_hmm(N, K, random_state=0)
    print(f"N={N}, K={K}, one thread\n")
    with threads(1):
        for length in [10_000] if quick else [10_000, 1_000_000]:
            inference_table(hmm, f"T = {length:,}", [length])
        inference_table(hmm, "Sequences of 100", [100] * (100 if quick else 10_000))
        states_table([K] if quick else [4, 20, 50, 100], 20_000 if quick else 1_000_000)
        counting_table(100_000 if quick else ZIPF_PAIRS)


def inference_table(hmm: HMM, title: str, lengths: list[int]) -> None:
    """All peers on the same data; deeptime takes one sequence."""
    y, _ = hmm.sample(sum(lengths), random_state=1)
    data = Sequences.of(y, lengths, n_symbols=N)
    column = y[:, None].astype(np.int64)
    theirs = hmm.to_hmmlearn()
    deep = Deeptime(hmm, y.astype(np.int64)) if len(lengths) == 1 else None
    tasks = ours_and_c(hmm, data)
    peers: dict[str, tuple[Callable[[], Any], str]] = {
        FORWARD: (lambda: theirs.score(column, lengths), "forward"),
        COUNTS: (lambda: e_step(theirs, column, lengths), "forward_backward"),
        VITERBI: (lambda: theirs.decode(column, lengths), "viterbi"),
    }
    for task, (hmmlearn, name) in peers.items():
        tasks[task]["hmmlearn"] = hmmlearn
        if deep is not None:
            tasks[task]["deeptime"] = getattr(deep, name)
    table(title, len(y), tasks)
    check(hmm, theirs, data, column, lengths)


def ours_and_c(hmm: HMM, data: Sequences) -> dict[str, dict[str, Callable[[], Any]]]:
    tasks: dict[str, dict[str, Callable[[], Any]]] = {
        FORWARD: {"cohmm": lambda: hmm.log_likelihood(data)},
        COUNTS: {"cohmm": lambda: hmm.expected_counts(data)},
        VITERBI: {"cohmm": lambda: hmm.decode(data)},
    }
    reference = Reference.of(hmm, data)
    if reference is not None:
        check_c(hmm, data, reference)
        tasks[FORWARD]["C"] = reference.forward
        tasks[COUNTS]["C"] = reference.expected_counts
        tasks[VITERBI]["C"] = reference.viterbi
    return tasks


def e_step(model: Any, column: np.ndarray, lengths: list[int]) -> Any:
    return model._do_estep(column, lengths)


def states_table(sizes: list[int], length: int) -> None:
    """Other numbers of states; hmmlearn on a tenth of the data, as it takes so long."""
    print(f"T = {length:,}, million symbols per second; hmmlearn on a tenth of them\n")
    print("| K | task | cohmm | C | hmmlearn | cohmm / C | cohmm / hmmlearn |")
    print("|---:|---|---:|---:|---:|---:|---:|")
    for k in sizes:
        hmm = random_hmm(N, k, random_state=0)
        y, _ = hmm.sample(length, random_state=1)
        part = y[: length // 10, None].astype(np.int64)
        theirs = hmm.to_hmmlearn()
        peers: dict[str, Callable[[], Any]] = {
            FORWARD: lambda theirs=theirs, part=part: theirs.score(part),
            COUNTS: lambda theirs=theirs, part=part: theirs._do_estep(part, None),
            VITERBI: lambda theirs=theirs, part=part: theirs.decode(part),
        }
        for task, calls in ours_and_c(hmm, Sequences.of(y, n_symbols=N)).items():
            rates = {who: length / cost(call, 7).cpu / 1e6 for who, call in calls.items()}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                rates["hmmlearn"] = len(part) / cost(peers[task], 2).cpu / 1e6
            ours, c = rates["cohmm"], rates.get("C", np.nan)
            print(
                f"| {k} | {task} | {ours:.2f} | {c:.2f} | {rates['hmmlearn']:.3f} "
                f"| {ours / c:.2f} | {ours / rates['hmmlearn']:.1f} |",
                flush=True,
            )
    print()


def check(hmm: HMM, theirs: Any, data: Sequences, column: np.ndarray, lengths: list[int]) -> None:
    """A fast wrong answer is worth nothing."""
    assert np.isclose(hmm.log_likelihood(data), theirs.score(column, lengths), rtol=1e-9)
    assert np.isclose(hmm.decode(data)[0], theirs.decode(column, lengths)[0], rtol=1e-9)
    stats, log_prob = theirs._do_estep(column, lengths)
    ours, counts = hmm.expected_counts(data)
    assert np.isclose(ours, log_prob, rtol=1e-9)
    assert np.allclose(counts.transitions, stats["trans"], rtol=1e-6, atol=1e-6)
    assert np.allclose(counts.emissions, stats["obs"], rtol=1e-6, atol=1e-6)


def check_c(hmm: HMM, data: Sequences, reference: Reference) -> None:
    log_prob, counts = hmm.expected_counts(data)
    theirs = reference.expected_counts()
    for value in (reference.forward(), theirs[0]):
        assert np.isclose(value, log_prob, rtol=1e-9)
    for ours, c in zip(counts, theirs[1:], strict=True):
        assert np.allclose(ours, c, rtol=1e-6, atol=1e-6)
    assert (hmm.decode(data)[1] != reference.viterbi()).mean() < 1e-4  # ties go either way


class Deeptime:
    """deeptime's kernels; its likelihood is taken with the whole of forward-backward."""

    def __init__(self, hmm: HMM, y: np.ndarray):
        self.y = y
        self.model = HiddenMarkovModel(
            hmm.transmat.copy(), DiscreteOutputModel(hmm.emissionprob.copy()), hmm.startprob.copy()
        )
        self.storage = MaximumLikelihoodHMM._HMMModelStorage(
            transition_matrix=hmm.transmat.copy(),
            output_model=DiscreteOutputModel(hmm.emissionprob.copy()),
            initial_distribution=hmm.startprob.copy(),
        )

    def forward(self) -> Any:
        return self.model.compute_observation_likelihood(self.y)

    def viterbi(self) -> Any:
        return self.model.compute_viterbi_paths([self.y])

    def forward_backward(self) -> Any:
        alpha, beta, gamma = (np.zeros((len(self.y), K)) for _ in range(3))
        counts = np.zeros((K, K))
        return MaximumLikelihoodHMM._forward_backward(
            self.storage, self.y, alpha, beta, gamma, counts
        )


def counting_table(n_pairs: int) -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, N, n_pairs + 1).astype(np.int32)
    small = Sequences.of(y, n_symbols=N)
    weights = 1 / np.arange(1, ZIPF_SYMBOLS + 1)
    words = rng.choice(ZIPF_SYMBOLS, n_pairs + 1, p=weights / weights.sum()).astype(np.int32)
    words = rng.permutation(ZIPF_SYMBOLS).astype(np.int32)[words]
    large = Sequences.of(words, n_symbols=ZIPF_SYMBOLS)

    def unique(symbols: np.ndarray, n: int) -> Any:
        return np.unique(symbols[:-1].astype(np.int64) * n + symbols[1:], return_counts=True)

    keys, counts = unique(words, ZIPF_SYMBOLS)
    ours = count_pairs(large)[1]
    assert ours.nnz == len(keys)
    assert np.array_equal(ours.data, counts)
    table(
        f"Counting {n_pairs:,} pairs",
        n_pairs,
        {
            f"pairs of {N} symbols": {
                "cohmm": lambda: count_pairs(small),
                "numpy.unique": lambda: unique(y, N),
            },
            f"pairs of {ZIPF_SYMBOLS:,} symbols, Zipf": {
                "cohmm": lambda: count_pairs(large),
                "numpy.unique": lambda: unique(words, ZIPF_SYMBOLS),
            },
        },
    )


def table(title: str, size: int, tasks: dict[str, dict[str, Callable[[], Any]]]) -> None:
    print(f"{title}\n")
    print("| task | who | CPU s | M symbols/s | peak MB | ratio |")
    print("|---|---|---:|---:|---:|---:|")
    for task, calls in tasks.items():
        costs: dict[str, Cost] = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for who, call in calls.items():
                costs[who] = cost(call, repeats=9 if who in ("cohmm", "C") else 3)
        for who, spent in costs.items():
            ratio = spent.cpu / costs["cohmm"].cpu
            print(
                f"| {task} | {who} | {spent.cpu:.4f} | {size / spent.cpu / 1e6:.2f} "
                f"| {spent.memory / 1e6:.0f} | {ratio:.1f} |"
            )
    print(flush=True)


if __name__ == "__main__":
    main()

"""More states than symbols: which evidence is used, and that it leads to a model."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from cohmm.learn import pairwise
from cohmm.learn.many_states.beyond_pairs import beyond_pairs

RING = HMM(
    [1, 0, 0],
    [[0.8, 0.2, 0], [0, 0.8, 0.2], [0.2, 0, 0.8]],
    [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]],
)


def drawn(length: int) -> Sequences:
    return Sequences.of(RING.sample(length, random_state=0)[0], n_symbols=2)


def test_binary_data_of_three_states() -> None:
    data = drawn(20_000)
    fit = pairwise(data, 3, random_state=0)
    assert fit.began == "windows"
    assert fit.pairs is None
    assert fit.last is fit.refined
    assert fit.model.distance(RING).emission < 0.05
    assert fit.model.log_likelihood(data) >= RING.log_likelihood(data)
    assert "began='windows'" in repr(fit)


def test_what_the_data_bears() -> None:
    rng = np.random.default_rng(0)
    assert beyond_pairs(drawn(500), 3, random_state=0).model.n_components == 3
    few = Sequences.of(rng.integers(0, 10, 300), n_symbols=10)
    assert beyond_pairs(few, 12, random_state=0).began == "random starts"  # 10^5 windows
    short = Sequences.of([[0, 1], [1, 0], [1, 1]] * 30, n_symbols=2)
    assert beyond_pairs(short, 3, random_state=0).began == "random starts"  # no windows of five
    alike = Sequences.of([0] * 50)
    assert beyond_pairs(alike, 2, random_state=0).model.emissionprob.tolist() == [[1.0], [1.0]]


def test_the_estimator() -> None:
    data = drawn(3000)
    model = PairwiseHMM(3, random_state=0).fit(data)
    assert model.pair_fit_ is None
    assert model.predict(data).max() == 2
    assert model.monitor_.converged == model.converged_
    dna = "".join(np.random.default_rng(0).choice(list("ACGT"), 1500))
    letters = PairwiseHMM(8, characters=True, random_state=0).fit(dna)
    assert letters.transmat_.shape == (8, 8)


def test_counts_alone_are_told_that_sequences_are_needed() -> None:
    counts = count_pairs(drawn(1000))
    for learn in (
        lambda: PairwiseHMM(3).fit_counts(counts),
        lambda: PairwiseHMM(3, refine=False).fit(drawn(1000)),
        lambda: pairwise(counts, 3),
    ):
        with pytest.raises(ValueError, match=r"n_components=3 .* 2 symbols: give the sequences"):
            learn()

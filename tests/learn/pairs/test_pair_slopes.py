"""Gradients of the pair law, against differences and sums written out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm import HMM
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.pair_slopes import PairSlopes, fundamental

STEP = 1e-6
LAGS = (1, 3, 4, 7, 26, 27)


def by_differences(model: HMM, lag: int) -> np.ndarray:
    """d log P(a, b) by every entry of A and of M, (N, N, P); rows are not held at one."""
    k = model.n_components
    entries = np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()])
    pi, settled = model.stationary(), fundamental(model)

    def log_law(change: np.ndarray) -> np.ndarray:
        a, m = (part.reshape(k, -1) for part in np.split(entries + change, [k * k]))
        # pi moves with A as it does where rows keep their sums: to first order pi dA Z.
        start = pi + pi @ (a - model.transmat) @ settled
        return np.log(m.T @ np.diag(start) @ np.linalg.matrix_power(a, lag) @ m)

    steps = STEP * np.eye(len(entries))
    return np.stack([(log_law(step) - log_law(-step)) / (2 * STEP) for step in steps], axis=2)


@pytest.mark.parametrize("lag", LAGS)
def test_sums_are_of_gradients(lag: int) -> None:
    model = random_hmm(4, 3, 0.0, random_state=lag)
    counts = np.random.default_rng(0).random((2, 16))
    expected = counts @ by_differences(model, lag).reshape(16, -1)
    found = PairSlopes.of(model, lag).sums(sparse.csr_array(counts))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("lag", LAGS)
def test_curvature_is_their_second_moment(lag: int) -> None:
    model = random_hmm(4, 3, 0.0, random_state=lag)
    gradients = by_differences(model, lag).reshape(16, -1)
    slopes = PairSlopes.of(model, lag)
    np.testing.assert_allclose(slopes.p, model.pair_probability(lag), rtol=1e-10)
    expected = gradients.T @ (slopes.p.reshape(16, 1) * gradients)
    np.testing.assert_allclose(slopes.curvature(), expected, rtol=1e-6, atol=1e-6)


def test_impossible_pairs_say_nothing() -> None:
    model = HMM([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], [[0.6, 0.4, 0.0], [0.0, 0.0, 1.0]])
    slopes = PairSlopes.of(model, 1)
    assert (slopes.inverse == 0).tolist() == (slopes.p == 0).tolist()
    assert np.isfinite(slopes.curvature()).all()


def test_of_a_chain_whose_parts_never_meet() -> None:
    model = HMM([0.5, 0.5], np.eye(2), [[0.6, 0.4], [0.3, 0.7]])
    assert np.isfinite(PairSlopes.of(model, 1).curvature()).all()

"""The one primitive, dense and sparse, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cohmm import HMM, threads
from cohmm.datasets.synthetic import random_hmm
from cohmm.kernels import native, sparse_pass
from cohmm.learn.pairs import pair_law as module
from cohmm.learn.pairs.pair_law import (
    PART,
    DensePairs,
    PairJacobian,
    SparsePairs,
    SparseRows,
    fundamental,
    pair_law,
)

STEP = 1e-6
LAGS = (1, 3, 4, 7, 26, 27)


def random_case(n: int, k: int, seed: int, density: float = 0.3) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    omega = rng.exponential(size=(n, n)) * (rng.random((n, n)) < density)
    m = rng.exponential(size=(n, k))
    theta = rng.exponential(size=(k, k))
    return omega / omega.sum(), m / m.sum(axis=0), theta / theta.sum()


def by_loops(
    omega: np.ndarray, m: np.ndarray, theta: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    n, k = m.shape
    fit, rows, columns = 0.0, np.zeros((n, k)), np.zeros((n, k))
    for a in range(n):
        for b in range(n):
            if omega[a, b] > 0:
                expected = m[a] @ theta @ m[b]
                fit += omega[a, b] * np.log(expected)
                rows[a] += omega[a, b] / expected * m[b]
                columns[b] += omega[a, b] / expected * m[a]
    return fit, rows, columns


@pytest.mark.parametrize("k", [1, 3, 20, 40, 60, 80, 90, 110, 128, 150, 300])
@pytest.mark.parametrize("kind", [DensePairs, SparsePairs])
def test_statistics_agree_with_loops(k: int, kind: type) -> None:
    omega, m, theta = random_case(60, k, seed=k)
    law = pair_law(omega if kind is DensePairs else sparse.csr_array(omega))
    assert isinstance(law, kind)
    fit, rows, columns = by_loops(omega, m, theta)
    found = law.statistics(m, theta)
    precision = 1e-11 if kind is DensePairs else 2e-6  # float64, float32
    assert found.log_fit == pytest.approx(fit, rel=precision)
    np.testing.assert_allclose(found.rows, rows, rtol=precision, atol=1e-12)
    np.testing.assert_allclose(found.columns, columns, rtol=precision, atol=1e-12)
    np.testing.assert_allclose(law.frequency, (omega.sum(0) + omega.sum(1)) / 2, rtol=1e-12)
    assert law.negative_entropy == pytest.approx(
        np.sum(omega[omega > 0] * np.log(omega[omega > 0]))
    )


def test_sparse_pass_is_the_same_for_any_number_of_threads() -> None:
    omega, m, theta = random_case(600, 20, seed=5)
    matrix = sparse.csr_array(omega)
    assert matrix.nnz >= 2 * PART  # so that there are several parts
    results = []
    for n in (1, 2, 4):
        with threads(n):
            results.append(pair_law(matrix).statistics(m, theta))
    for other in results[1:]:
        assert other.log_fit == results[0].log_fit
        np.testing.assert_array_equal(other.rows, results[0].rows)
        np.testing.assert_array_equal(other.columns, results[0].columns)


def test_sparse_pass_stands_tiny_and_huge_probabilities() -> None:
    # Frequencies over twelve orders of magnitude: the lift keeps float32 in range.
    rng = np.random.default_rng(0)
    n, k = 50, 4
    weights = 10.0 ** rng.uniform(-12, 0, n)
    omega = np.outer(weights, weights) * rng.exponential(size=(n, n))
    omega /= omega.sum()
    m = weights[:, None] * rng.exponential(size=(n, k))
    m /= m.sum(axis=0)
    theta = np.full((k, k), 1 / k**2)
    found = pair_law(sparse.csr_array(omega)).statistics(m, theta)
    true = DensePairs(omega).statistics(m, theta)
    assert np.isfinite(found.rows).all()
    np.testing.assert_allclose(found.rows, true.rows, rtol=1e-5)
    assert found.log_fit == pytest.approx(true.log_fit, rel=1e-6)


@pytest.mark.parametrize("k", [1, 16, 17, 100, 128, 129, 300])
def test_table_widths_hold_the_states(k: int) -> None:
    width = sparse_pass.table_width(k)
    assert width >= k
    assert width % sparse_pass.WIDTH == 0
    assert width - k < sparse_pass.WIDTH
    padded = sparse_pass.table(np.ones((2, k)))
    assert padded.shape == (2, width)
    assert padded[:, k:].sum() == 0


def test_the_kernels_logarithm() -> None:
    # One non-zero a row: fit is the logarithm itself.
    values = np.concatenate([10.0 ** np.linspace(-17, 25, 1001), np.linspace(0.5, 2, 1001)])
    n = len(values)
    left = sparse_pass.table(values[:, None])
    right = sparse_pass.table(np.ones((n, 1)))
    out, fit = np.empty((n, 1)), np.empty(n)
    native.sparse_pass(
        np.arange(n + 1), np.arange(n, dtype=np.int32),
        np.ones(n, np.float32), (0, n), left, right, out, fit,
    )  # fmt: skip
    np.testing.assert_allclose(fit, np.log(left[:, 0].astype(float)), rtol=3e-7, atol=2e-7)
    np.testing.assert_allclose(out[:, 0], 1 / values, rtol=1e-6)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_a_pass_is_the_dense_sum(n: int, m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n, m)).astype(float)
    left, right, scale = rng.random((n, k)) + 0.1, rng.random((m, k)) + 0.1, rng.random(n) + 0.5
    rows = SparseRows.of(sparse.csr_array(counts), scale)
    log_fit, sums = rows.divided(sparse_pass.table(left), sparse_pass.table(right), k)
    weights, law = counts * scale[:, None], left @ right.T
    np.testing.assert_allclose(log_fit, (weights * np.log(law)).sum(axis=1), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(sums, (weights / law) @ right, rtol=2e-5)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=40), st.integers(1, 50))
def test_parts_are_all_rows_with_about_equal_work(widths: list[int], part: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PART", part)
        matrix = sparse.csr_array(np.arange(30) < np.array(widths)[:, None], dtype=float)
        parts = SparseRows.of(matrix).parts
    assert [row for first, stop in parts for row in range(first, stop)] == list(range(len(widths)))
    assert len(parts) <= max(1, sum(widths) // part)
    even = sum(widths) / max(1, min(module.PARTS, sum(widths) // part))
    assert all(sum(widths[first:stop]) <= even + 30 or stop == len(widths) for first, stop in parts)


@given(st.integers(1, 9), st.integers(1, 300), st.integers(1, 40), st.integers(0, 10**6))
def test_rows_times_a_matrix_are_those_of_the_dense_one(n: int, m: int, k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = rng.normal(size=(n, m)) * (rng.random((n, m)) < 0.7)
    right = rng.normal(size=(m, k))
    np.testing.assert_allclose(
        SparseRows.of(sparse.csr_array(left)).times(right), left @ right, atol=1e-6 * m
    )


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
    found = PairJacobian.of(model, lag).sums(sparse.csr_array(counts))
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("lag", LAGS)
def test_curvature_is_their_second_moment(lag: int) -> None:
    model = random_hmm(4, 3, 0.0, random_state=lag)
    gradients = by_differences(model, lag).reshape(16, -1)
    slopes = PairJacobian.of(model, lag)
    np.testing.assert_allclose(slopes.p, model.pair_probability(lag), rtol=1e-10)
    expected = gradients.T @ (slopes.p.reshape(16, 1) * gradients)
    np.testing.assert_allclose(slopes.curvature(), expected, rtol=1e-6, atol=1e-6)


def test_impossible_pairs_say_nothing() -> None:
    model = HMM([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], [[0.6, 0.4, 0.0], [0.0, 0.0, 1.0]])
    slopes = PairJacobian.of(model, 1)
    assert (slopes.inverse == 0).tolist() == (slopes.p == 0).tolist()
    assert np.isfinite(slopes.curvature()).all()


def test_of_a_chain_whose_parts_never_meet() -> None:
    model = HMM([0.5, 0.5], np.eye(2), [[0.6, 0.4], [0.3, 0.7]])
    assert np.isfinite(PairJacobian.of(model, 1).curvature()).all()

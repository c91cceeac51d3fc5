"""The long pass over a sparse matrix, against the dense one; and how it is cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from cohmm.kernels import sparse_pass
from cohmm.learn import sparse_rows as module
from cohmm.learn.sparse_rows import SparseRows


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

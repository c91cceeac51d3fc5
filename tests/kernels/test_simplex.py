"""Nearest mixtures: at the optimum by its conditions, and where the answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from cohmm.kernels import native


def by_squares(corners: np.ndarray, targets: np.ndarray, tol=1e-12, max_iter=5000):
    gram = corners @ corners.T
    scale = np.trace(gram) / len(gram)
    out = np.empty((len(targets), len(corners)))
    part = (0, len(targets))
    failed = native.nearest_by_squares(
        gram / scale, targets @ corners.T / scale, part, tol, max_iter, out
    )
    return out, failed


def by_divergence(corners: np.ndarray, targets: np.ndarray, tol=1e-9, max_iter=500):
    rows = sparse.csr_array(targets)
    out = np.empty((len(targets), len(corners)))
    failed = native.nearest_by_divergence(
        np.ascontiguousarray(corners.T),
        rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.data,
        (0, len(targets)), tol, max_iter, out,
    )  # fmt: skip
    return out, failed


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=7), st.integers(1, 3))
def test_the_projection_is_the_nearest_point_of_the_simplex(point: list[int], part: int) -> None:
    point = np.array(point) / part
    out = np.empty((1, len(point)))  # the least |c - point|^2 on the simplex
    native.nearest_by_squares(np.eye(len(point)), point[None], (0, 1), 0.0, 100, out)
    found = out[0]
    assert (found >= 0).all()
    assert found.sum() == pytest.approx(1)
    # nearest: the rest is the same in all entries that are not zero, and no larger elsewhere
    rest = point - found
    shift = rest[found > 0].mean()
    np.testing.assert_allclose(rest[found > 0], shift, atol=1e-12)
    assert (rest <= shift + 1e-12).all()


@pytest.mark.parametrize("nearest", [by_squares, by_divergence])
@pytest.mark.parametrize(("k", "v"), [(1, 5), (2, 6), (6, 60), (20, 300)])
def test_mixtures_are_given_back_with_their_zeros(nearest, k: int, v: int) -> None:
    rng = np.random.default_rng(k)
    corners = rng.dirichlet(np.full(v, 0.3), size=k)
    weights = rng.dirichlet(np.full(k, 0.3), size=40)
    weights[weights < 0.05] = 0
    weights /= weights.sum(axis=1, keepdims=True)
    weights[:k] = np.eye(k)
    found, failed = nearest(corners, weights @ corners, tol=1e-14)
    assert failed == 0
    np.testing.assert_allclose(found, weights, atol=1e-6)


@pytest.mark.parametrize("nearest", [by_squares, by_divergence])
def test_nothing_is_nearer(nearest) -> None:
    rng = np.random.default_rng(0)
    corners = rng.dirichlet(np.full(30, 0.2), size=5)
    targets = rng.dirichlet(np.full(30, 0.2), size=20)
    found, failed = nearest(corners, targets)
    assert failed == 0
    np.testing.assert_allclose(found.sum(axis=1), 1)

    def distance(weights: np.ndarray, target: np.ndarray) -> float:
        mixed = weights @ corners
        if nearest is by_squares:
            return float(((target - mixed) ** 2).sum())
        return float((target * np.log(target / np.maximum(mixed, 1e-300))).sum())

    for target, weights in zip(targets, found, strict=True):
        best = minimize(
            distance, np.full(5, 0.2), (target,), bounds=[(0, 1)] * 5, method="SLSQP",
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        )  # fmt: skip
        assert distance(weights, target) <= best.fun + 1e-8


def test_what_has_not_converged_is_counted() -> None:
    rng = np.random.default_rng(0)
    corners = rng.dirichlet(np.full(30, 0.2), size=5)
    targets = rng.dirichlet(np.full(30, 0.2), size=20)
    for nearest in (by_squares, by_divergence):
        assert nearest(corners, targets, max_iter=1)[1] == 20


def test_a_row_without_entries_is_a_mixture_of_all() -> None:
    found, failed = by_divergence(np.eye(4), np.zeros((1, 4)))
    np.testing.assert_allclose(found, 0.25)
    assert failed == 0

"""AnchorFree, on bases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from cohmm.learn.pairs import anchor_free as module
from cohmm.learn.pairs.anchor_free import AnchorFreeError, anchor_free


def separable(n: int, k: int, seed: int) -> np.ndarray:
    """Emissions (N, K) in which every state has a symbol of its own."""
    rng = np.random.default_rng(seed)
    m = np.vstack([np.eye(k), rng.dirichlet(np.ones(k), n - k)])
    return m / m.sum(axis=0)


@pytest.mark.parametrize(("n", "k"), [(6, 1), (10, 2), (40, 5), (300, 8), (200, 25)])
def test_emissions_from_any_basis_of_their_range(n: int, k: int) -> None:
    m = separable(n, k, seed=k)
    basis = m @ np.random.default_rng(k).normal(size=(k, k))
    found = anchor_free(basis, m.mean(axis=1))
    owner = np.argmax(found[:k], axis=0)  # the anchor of every column
    assert sorted(owner) == list(range(k))
    np.testing.assert_allclose(found, m[:, owner], atol=1e-9)


def test_no_column_can_be_moved_to_a_larger_volume() -> None:
    # Of a noisy basis: at the end each column is the best of its two linear programs.
    rng = np.random.default_rng(0)
    basis = separable(25, 3, seed=1) + 0.02 * rng.random((25, 3))
    q = np.linalg.lstsq(basis, anchor_free(basis, np.full(25, 1 / 25), tol=1e-12), rcond=None)[0]
    for column in range(3):
        cofactors = np.linalg.inv(q)[column]
        for sign in (1, -1):
            best = linprog(
                -sign * cofactors, A_ub=-basis, b_ub=np.zeros(25),
                A_eq=basis.sum(axis=0)[None], b_eq=[1.0], bounds=(None, None),
            )  # fmt: skip
            assert -best.fun <= 1 + 1e-6  # of what the column itself gives


def test_a_range_without_emissions_is_refused() -> None:
    # Of a row and its negative no combination is positive.
    basis = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0], [0.2, 0.1]])
    with pytest.raises(AnchorFreeError, match="admits no emission probabilities"):
        anchor_free(basis, np.full(5, 0.2))


def test_rows_that_are_not_in_the_program_hold_too(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = separable(400, 4, seed=1) + 0.02 * np.random.default_rng(0).random((400, 4))
    all_at_once = anchor_free(basis, np.full(400, 1 / 400))
    monkeypatch.setattr(module, "FIRST_ROWS", 1)
    monkeypatch.setattr(module, "MORE_ROWS", 3)
    np.testing.assert_allclose(anchor_free(basis, np.full(400, 1 / 400)), all_at_once, atol=1e-9)

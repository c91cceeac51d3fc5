"""AnchorFree, on bases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from cohmm import count_pairs
from cohmm.learn import min_volume
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


@pytest.mark.parametrize("basis", [np.ones((5, 2)), np.zeros((5, 2)), np.eye(5)[:, :2] - 0.5])
def test_a_range_without_volume_is_refused(basis: np.ndarray) -> None:
    with pytest.raises(AnchorFreeError, match=r"fewer dimensions|no emission probabilities"):
        anchor_free(basis, np.full(5, 0.2))


def blocks(seed: int) -> list[list[int]]:
    """Short sequences that stay for long in one of eight groups of symbols."""
    rng = np.random.default_rng(seed)
    n_sequences = int(rng.integers(8, 16))
    cuts = np.sort(rng.choice(np.arange(1, 26), 7, replace=False))
    groups = np.split(rng.permutation(26), cuts)
    sequences = []
    for _ in range(n_sequences):
        symbols: list[int] = []
        while len(symbols) < 40:
            group = groups[rng.integers(8)]
            weights = rng.dirichlet(np.ones(len(group)))
            symbols += rng.choice(group, int(rng.integers(7, 60)), p=weights).tolist()
        sequences.append(symbols[:40])
    return sequences


@pytest.mark.filterwarnings("ignore::cohmm.learn.run.EvidenceWarning")
@pytest.mark.parametrize(("seed", "k"), [(164, 14), (328, 10), (416, 10), (793, 11)])
def test_a_program_whose_warm_start_leads_astray_is_solved_again(
    seed: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, solved = count_pairs(blocks(seed)), []

    def recorded(basis: np.ndarray, frequency: np.ndarray) -> np.ndarray:
        solved.append(anchor_free(basis, frequency))
        return solved[-1]

    monkeypatch.setattr("cohmm.learn.pairs.start.anchor_free", recorded)
    min_volume(counts, k, max_iter=2, random_state=0)
    assert np.isfinite(solved).all()


@pytest.mark.filterwarnings("ignore::cohmm.learn.run.EvidenceWarning")
def test_without_an_answer_learning_starts_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise AnchorFreeError

    monkeypatch.setattr(module.Program, "farthest", fails)
    counts = count_pairs(blocks(0))
    models = [min_volume(counts, 3, max_iter=20, random_state=seed).model for seed in (0, 0, 1)]
    assert models[0] == models[1] != models[2]


def test_rows_that_are_not_in_the_program_hold_too(monkeypatch: pytest.MonkeyPatch) -> None:
    basis = separable(400, 4, seed=1) + 0.02 * np.random.default_rng(0).random((400, 4))
    all_at_once = anchor_free(basis, np.full(400, 1 / 400))
    monkeypatch.setattr(module, "FIRST_ROWS", 1)
    monkeypatch.setattr(module, "MORE_ROWS", 3)
    np.testing.assert_allclose(anchor_free(basis, np.full(400, 1 / 400)), all_at_once, atol=1e-9)

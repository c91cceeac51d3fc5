"""AnchorFree, on bases whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from cohmm import HMM, Cooccurrence, count_pairs
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import min_volume
from cohmm.learn.pairs import anchor_free as module
from cohmm.learn.pairs.anchor_free import (
    AnchorFreeError,
    anchor_free,
    mixed,
    plain_theta,
    starting_points,
)
from cohmm.learn.pairs.pair_evidence import PairEvidence
from tests.learn.pairs.test_min_volume import counts_of, quiet
from tests.learn.pairs.test_volume import feasible


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


@pytest.mark.filterwarnings("ignore::cohmm.learn.learner.EvidenceWarning")
@pytest.mark.parametrize(("seed", "k"), [(164, 14), (328, 10), (416, 10), (793, 11)])
def test_a_program_whose_warm_start_leads_astray_is_solved_again(
    seed: int, k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts, solved = count_pairs(blocks(seed)), []

    def recorded(basis: np.ndarray, frequency: np.ndarray) -> np.ndarray:
        solved.append(anchor_free(basis, frequency))
        return solved[-1]

    monkeypatch.setattr("cohmm.learn.pairs.anchor_free.anchor_free", recorded)
    min_volume(counts, k, max_iter=2, random_state=0)
    assert np.isfinite(solved).all()


@pytest.mark.filterwarnings("ignore::cohmm.learn.learner.EvidenceWarning")
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


def test_starts_from_a_model() -> None:
    truth = random_hmm(60, 6, stay=0.5, random_state=0)
    counts = counts_of(truth, 10**5)
    fit = quiet(counts, 6, random_state=0)
    again = quiet(counts, 6, start=fit.model, random_state=0)
    assert again.n_iter < fit.n_iter
    assert again.objective <= fit.objective + 1e-5
    with pytest.raises(ValueError, match="cannot start from"):
        quiet(counts, 5, start=fit.model)


def test_every_start_is_feasible_and_has_no_zero() -> None:
    evidence = PairEvidence.of(counts_of(random_hmm(30, 4, stay=0.5, random_state=0), 10**4))
    found = starting_points(evidence, 4, 3, 0, None)
    assert len(found) == 3
    for m, theta in found:
        feasible(theta)
        assert (m > 0).all()
        np.testing.assert_allclose(m.sum(axis=0), 1)
    assert np.abs(found[1].m - found[2].m).max() > 1e-3
    again = starting_points(evidence, 4, 2, 0, None)
    np.testing.assert_array_equal(again[1].m, found[1].m)  # further ones change none before


def test_of_an_exact_law_the_start_is_the_answer() -> None:
    truth = random_hmm(30, 3, random_state=0)
    evidence = PairEvidence.of(Cooccurrence.from_probability(truth.pair_probability()))
    [(m, theta)] = starting_points(evidence, 3, 1, None, None)
    feasible(theta)
    np.testing.assert_allclose(m @ theta @ m.T, truth.pair_probability(), atol=1e-10)


def test_a_given_model_is_where_it_starts() -> None:
    truth = HMM([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5, 0], [0, 0.5, 0.5]])
    evidence = PairEvidence.of(counts_of(truth, 10**4))
    [(m, theta)] = starting_points(evidence, 2, 1, None, truth)
    np.testing.assert_allclose(theta, [[0.45, 0.05], [0.05, 0.45]], atol=1e-9)
    np.testing.assert_allclose(m, mixed(truth.emissionprob.T, evidence.frequency))
    assert (m > 0).all()


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_papers_start(k: int) -> None:
    theta = plain_theta(k)
    feasible(theta)
    assert np.diag(theta) == pytest.approx(2 * theta[0, -1] if k > 1 else 1.0)

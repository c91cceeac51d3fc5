"""The volume term: its bound lies above it, and touches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

from cohmm import Cooccurrence
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.anchor_free import plain_theta
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.volume import (
    GRID,
    Det,
    LogDet,
    Terms,
    held_out_penalty,
    onto_constraints,
    theta_update,
    volume_term,
)
from tests.learn.pairs.test_min_volume import counts_of, quiet


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_the_volume_bound_is_above_and_touches(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    here, there = (rng.dirichlet(np.ones(k * k)).reshape(k, k) + 1e-9 for _ in range(2))
    term = LogDet()
    bound = term.majoriser(here)
    gap = objective(there, bound) - objective(here, bound)
    assert term.value(there) <= term.value(here) + gap + 1e-9


def test_the_volume_bound_has_the_slope_of_the_volume() -> None:
    rng = np.random.default_rng(1)
    k = 4
    here = rng.dirichlet(np.ones(k * k)).reshape(k, k)
    for term in (LogDet(), Det()):
        bound = term.majoriser(here)
        slope = bound.linear + bound.quadratic * here - bound.log / here
        for i in range(k):
            for j in range(k):
                step = np.zeros((k, k))
                step[i, j] = 1e-6
                numeric = (term.value(here + step) - term.value(here - step)) / 2e-6
                assert numeric == pytest.approx(slope[i, j], rel=1e-4)


def test_det_is_the_papers_literally() -> None:
    theta = plain_theta(3)
    assert Det().value(theta) == pytest.approx(abs(np.linalg.det(theta)))
    assert volume_term("det") == Det()
    with pytest.raises(ValueError, match="logdet, det, none"):
        volume_term("area")


def feasible(theta: np.ndarray) -> None:
    assert (theta > 0).all()
    assert abs(theta.sum() - 1) < 1e-12
    np.testing.assert_allclose(theta.sum(axis=0), theta.sum(axis=1), rtol=0, atol=1e-12)


def objective(theta: np.ndarray, terms: Terms) -> float:
    quadratic = 0.5 * np.asarray(terms.quadratic) * theta**2
    return float(np.sum(terms.linear * theta + quadratic - terms.log * np.log(theta)))


def by_general_solver(terms: Terms, k: int) -> np.ndarray:
    """Sequential quadratic programming over all K^2 variables."""
    constraints = [{"type": "eq", "fun": lambda x: x.sum() - 1}] + [
        {
            "type": "eq",
            "fun": lambda x, i=i: x.reshape(k, k)[i].sum() - x.reshape(k, k)[:, i].sum(),
        }
        for i in range(k - 1)
    ]
    found = minimize(
        lambda x: objective(x.reshape(k, k), terms),
        plain_theta(k).ravel(),
        method="SLSQP",
        bounds=[(1e-9, 1)] * k**2,
        constraints=constraints,
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert found.success
    return found.x.reshape(k, k)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_general_solver(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.exponential(size=(k, k))
    terms = Terms(
        counts / counts.sum(),
        linear=0.1 * rng.random((k, k)),
        quadratic=2.0 * rng.random((k, k)),
    )
    found = theta_update(plain_theta(k), terms)
    feasible(found)
    np.testing.assert_allclose(found, by_general_solver(terms, k), atol=2e-6)


@given(st.integers(1, 12), st.integers(0, 10**6), st.floats(0, 0.999))
def test_feasible_and_no_worse_from_sticky_and_sparse_counts(
    k: int, seed: int, stay: float
) -> None:
    # Where Theta > 2C, the paper's undamped step leaves the positive orthant.
    rng = np.random.default_rng(seed)
    counts = rng.exponential(size=(k, k)) * (rng.random((k, k)) < 0.5)
    counts = (1 - stay) * counts / max(counts.sum(), 1e-300) + stay * np.eye(k) / k
    terms = Terms(counts)
    start = plain_theta(k)
    found = theta_update(start, terms)
    feasible(found)
    assert objective(found, terms) <= objective(start, terms) + 1e-12


def test_balanced_counts_are_the_answer() -> None:
    # With equal marginals, no volume and one lag, the minimiser is C itself.
    rng = np.random.default_rng(0)
    symmetric = rng.exponential(size=(6, 6))
    symmetric += symmetric.T
    symmetric /= symmetric.sum()
    np.testing.assert_allclose(theta_update(plain_theta(6), Terms(symmetric)), symmetric, atol=1e-9)


@given(st.integers(1, 10), st.integers(0, 10**6))
def test_onto_constraints_mends_drift(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    theta = theta_update(plain_theta(k), Terms(rng.dirichlet(np.ones(k * k)).reshape(k, k)))
    drifted = theta * (1 + 1e-7 * rng.normal(size=(k, k)))
    feasible(onto_constraints(drifted))


def test_auto_penalty_is_one_of_the_grid_and_deterministic() -> None:
    truth = random_hmm(50, 5, stay=0.3, random_state=0)
    counts = counts_of(truth, 10**5)
    first = quiet(counts, 5, penalty="auto", random_state=0)
    again = quiet(counts, 5, penalty="auto", random_state=0)
    assert first.penalty == again.penalty
    assert first.model == again.model
    steps = np.array(GRID) / np.sqrt(10**5 - 1)
    assert np.isclose(steps, first.penalty).any()
    with pytest.raises(ValueError, match="holds out pairs"):
        quiet(Cooccurrence.from_probability(truth.pair_probability()), 5, penalty="auto")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_the_largest_that_predicts_as_well_as_the_best(form: type) -> None:
    # Up to a tenth all are the truth, beyond it nonsense: pairs that were held out can tell.
    truth = random_hmm(12, 3, stay=0.5, random_state=0)
    counts = counts_of(truth, 10**4)
    evidence = PairEvidence.of(
        Cooccurrence({1: form(counts[1])}, counts.symbol_counts, counts.start_counts)
    )
    right = Point(truth.emissionprob.T, truth.stationary()[:, None] * truth.transmat)
    wrong = Point(right.m[::-1], right.theta)
    scale = 1 / np.sqrt(evidence.n_pairs)
    seen: list[float] = []

    def fits(training: PairEvidence, penalties: list[float]) -> list[Point]:
        assert training.n_pairs < 0.85 * evidence.n_pairs
        seen.extend(penalty / scale for penalty in penalties)
        return [right if penalty < 0.2 * scale else wrong for penalty in penalties]

    assert held_out_penalty(evidence, 0, fits) == pytest.approx(0.1 * scale)
    assert seen == pytest.approx(GRID)

"""ThetaUpdate against a general solver, and its laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from cohmm.learn.pairs.start import plain_theta
from cohmm.learn.pairs.theta_update import Terms, onto_constraints, theta_update


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

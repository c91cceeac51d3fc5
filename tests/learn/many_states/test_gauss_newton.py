"""Gauss-Newton on problems whose answers are known."""

from itertools import pairwise

import numpy as np
import pytest

from cohmm.learn.many_states.gauss_newton import Local, descend


class LeastSquares:
    """1/2 |residual(x)|^2, with a dense Jacobian."""

    def __init__(self, residual, jacobian):
        self.residual, self.jacobian = residual, jacobian

    def objective(self, x):
        return 0.5 * float(np.sum(self.residual(x) ** 2))

    def local(self, x):
        j = self.jacobian(x)
        scale = float(np.mean(np.sum(j * j, axis=0)))
        return Local(
            j.T @ self.residual(x), lambda v: j.T @ (j @ v), lambda damping: lambda r: r, scale
        )

    def moved(self, x, step):
        return x + step


def rosenbrock():
    return LeastSquares(
        lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]),
        lambda x: np.array([[-20 * x[0], 10.0], [-1.0, 0.0]]),
    )


def test_a_linear_problem_is_solved_as_by_lstsq():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 6)), rng.normal(size=30)
    problem = LeastSquares(lambda x: a @ x - b, lambda x: a)
    x, value, converged, _ = descend(problem, np.zeros(6), max_iter=50, tol=1e-14)
    expected = np.linalg.lstsq(a, b, rcond=None)[0]
    np.testing.assert_allclose(x, expected, atol=1e-6)
    assert value == pytest.approx(problem.objective(expected), abs=1e-12)
    assert converged


def test_a_curved_valley_is_followed_and_the_objective_never_rises():
    seen = []
    x, value, converged, n_iter = descend(
        rosenbrock(),
        np.array([-1.2, 1.0]),
        max_iter=200,
        tol=0.0,
        enough=1e-20,
        report=lambda point, objective, step: seen.append((objective, step)),
    )
    np.testing.assert_allclose(x, 1, atol=1e-8)
    assert converged
    assert value <= 1e-20
    objectives = [objective for objective, _ in seen]
    assert all(after < before for before, after in pairwise(objectives))
    assert [step for _, step in seen] == list(range(n_iter + 1))


def test_the_rules_that_end_it():
    begin = np.array([-1.2, 1.0])
    *_, converged, n_iter = descend(rosenbrock(), begin, max_iter=3, tol=0.0)
    assert (converged, n_iter) == (False, 3)
    lazy = descend(rosenbrock(), begin, max_iter=200, tol=1e9)
    patient = descend(rosenbrock(), begin, max_iter=200, tol=1e9, patience=4)
    assert (lazy[2:], patient[2:]) == ((True, 1), (True, 4))
    # At the minimum there is nothing to gain, and it says so.
    found = descend(rosenbrock(), np.ones(2), max_iter=10, tol=1e-9, enough=-1.0)
    assert found[1:] == (0.0, True, 0)
    # A relative rule does not stop at small values, an absolute one does.
    small = LeastSquares(lambda x: 1e-6 * np.array([x[0] ** 2]), lambda x: 2e-6 * x[None, :])
    absolute = descend(small, np.ones(1), max_iter=50, tol=1e-3)
    relative = descend(small, np.ones(1), max_iter=50, tol=1e-3, relative=True)
    assert absolute[3] == 1 < relative[3]

"""Gauss-Newton on problems whose answers are known."""

from itertools import pairwise

import numpy as np
import pytest

from cohmm.learn.many_states.gauss_newton import Local, descend


class LeastSquares:
    """1/2 |residual(x)|^2, with a dense Jacobian."""

    def __init__(self, residual, jacobian):
        self.residual, self.jacobian = residual, jacobian
        self.points = []  # where steps were taken from

    def objective(self, x):
        return 0.5 * float(np.sum(self.residual(x) ** 2))

    def local(self, x):
        self.points.append(x)
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


BEGIN = np.array([-1.2, 1.0])
RULES = {"max_iter": 200, "tol": 0.0, "patience": 1, "enough": 0.0}


def test_a_linear_problem_is_solved_as_by_lstsq():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 6)), rng.normal(size=30)
    problem = LeastSquares(lambda x: a @ x - b, lambda x: a)
    x, objective = descend(problem, np.zeros(6), **RULES | {"tol": 1e-14})
    expected = np.linalg.lstsq(a, b, rcond=None)[0]
    np.testing.assert_allclose(x, expected, atol=1e-6)
    assert objective == pytest.approx(problem.objective(expected), abs=1e-12)


def test_a_curved_valley_is_followed_and_the_objective_never_rises():
    problem = rosenbrock()
    x, objective = descend(problem, BEGIN, **RULES | {"enough": 1e-20})
    np.testing.assert_allclose(x, 1, atol=1e-8)
    assert objective <= 1e-20
    kept = [problem.objective(point) for point in problem.points]
    assert all(after < before for before, after in pairwise(kept))


def test_the_rules_that_end_it():
    def steps(problem, begin, **rules):
        descend(problem, begin, **RULES | rules)
        return len(problem.points)

    assert steps(rosenbrock(), BEGIN, max_iter=3) == 3
    assert steps(rosenbrock(), BEGIN, tol=1.0) == 1
    assert steps(rosenbrock(), BEGIN, tol=1.0, patience=4) == 4
    assert steps(rosenbrock(), BEGIN, enough=1e9) == 0
    # At the minimum there is nothing to gain.
    x, objective = descend(rosenbrock(), np.ones(2), **RULES | {"enough": -1.0})
    assert (x.tolist(), objective) == ([1.0, 1.0], 0.0)

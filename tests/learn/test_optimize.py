"""L-BFGS: it finds the bottom, never climbs, and keeps within its evaluations."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.kernels.types import Floats
from cohmm.learn.optimize import KEPT_SHARE, Evaluated, Jump, Local, descend, minimise

Objective = Callable[[Floats], tuple[float, Floats]]
BEGIN = np.array([-1.2, 1.0])
RULES = {"max_iter": 200, "tol": 0.0, "patience": 1, "enough": 0.0}


class Counted:
    """An objective that remembers what it was asked, and what it said."""

    def __init__(self, objective: Objective):
        self.objective = objective
        self.points: list[Floats] = []
        self.values: list[float] = []

    def __call__(self, point: Floats) -> tuple[float, Floats]:
        value, gradient = self.objective(point)
        self.points.append(point.copy())
        self.values.append(value)
        return value, gradient


def solve(
    objective: Objective,
    start: Floats,
    precondition: Callable[[Floats], Floats] = lambda x: x,
    most: int = 1000,
    tol: float = 1e-20,
) -> tuple[Evaluated, Counted]:
    counted = Counted(objective)
    begin = Evaluated(start, *objective(start))
    found, n = minimise(counted, begin, precondition, most, tol)
    assert n == len(counted.values) <= most
    # The best of all, and no worse than the start.
    assert found.value == min([begin.value, *[v for v in counted.values if np.isfinite(v)]])
    value, gradient = objective(found.point)
    assert value == found.value
    np.testing.assert_array_equal(gradient, found.gradient)
    return found, counted


def quadratic(n: int, seed: int, condition: float) -> tuple[Objective, Floats, Floats]:
    """1/2 (x - b)' H (x - b), with H and b."""
    rng = np.random.default_rng(seed)
    axes, _ = np.linalg.qr(rng.normal(size=(n, n)))
    hessian = (axes * np.geomspace(1, condition, n)) @ axes.T
    bottom = rng.normal(size=n)

    def objective(x: Floats) -> tuple[float, Floats]:
        gradient = hessian @ (x - bottom)
        return 0.5 * float((x - bottom) @ gradient), gradient

    return objective, hessian, bottom


def rosenbrock(x: Floats) -> tuple[float, Floats]:
    a, b = x
    value = (1 - a) ** 2 + 100 * (b - a * a) ** 2
    return float(value), np.array([2 * (a - 1) - 400 * a * (b - a * a), 200 * (b - a * a)])


@given(st.integers(1, 30), st.integers(0, 10_000), st.sampled_from([1.0, 30.0, 1e4]))
def test_quadratics(n: int, seed: int, condition: float) -> None:
    objective, _, bottom = quadratic(n, seed, condition)
    found, _ = solve(objective, np.zeros(n))
    np.testing.assert_allclose(found.point, bottom, atol=1e-6)


def test_the_true_hessian_makes_it_newtons_method() -> None:
    objective, hessian, bottom = quadratic(40, 0, 1e6)
    inverse = np.linalg.inv(hessian)
    found, counted = solve(objective, np.zeros(40), lambda x: inverse @ x)
    np.testing.assert_allclose(found.point, bottom, atol=1e-6)
    assert len(counted.values) <= 3
    _, plain = solve(objective, np.zeros(40))
    assert len(plain.values) > 40


def test_a_preconditioner_of_the_wrong_scale_is_mended() -> None:
    objective, hessian, bottom = quadratic(40, 0, 1e6)
    inverse = np.linalg.inv(hessian)
    for scale in (0.01, 100.0):
        found, counted = solve(objective, np.zeros(40), lambda x, s=scale: s * (inverse @ x))
        np.testing.assert_allclose(found.point, bottom, atol=1e-6)
        assert len(counted.values) <= 10


def test_rosenbrock() -> None:
    found, counted = solve(rosenbrock, np.array([-1.2, 1.0]))
    np.testing.assert_allclose(found.point, [1, 1], atol=1e-7)
    assert len(counted.values) < 100


@pytest.mark.parametrize("most", range(1, 25))
def test_so_many_evaluations_and_no_more(most: int) -> None:
    found, counted = solve(rosenbrock, np.array([-1.2, 1.0]), most=most, tol=0.0)
    assert len(counted.values) == most
    assert found.value < rosenbrock(np.array([-1.2, 1.0]))[0] or most < 5


def test_no_evaluation_where_none_is_allowed_or_nothing_is_left() -> None:
    start = np.array([-1.2, 1.0])
    found, counted = solve(rosenbrock, start, most=0)
    assert not counted.values
    np.testing.assert_array_equal(found.point, start)
    _, counted = solve(rosenbrock, np.ones(2))
    assert not counted.values
    _, counted = solve(rosenbrock, start, tol=1e6)
    assert not counted.values


@pytest.mark.parametrize("wrong", [np.inf, np.nan])
def test_a_wall_is_survived(wrong: float) -> None:
    # Beyond x > 1 there is no value: the minimum stands right in front of the wall.
    def objective(x: Floats) -> tuple[float, Floats]:
        if x[0] > 1:
            return wrong, np.full(2, np.nan)
        return float(-np.log(1.001 - x[0]) * 1e-3 - x[0] + x[1] ** 2), np.array(
            [1e-3 / (1.001 - x[0]) - 1, 2 * x[1]]
        )

    found, counted = solve(objective, np.array([-3.0, 2.0]))
    assert not np.isfinite(counted.values).all()
    np.testing.assert_allclose(found.point, [1, 0], atol=2e-3)


def test_walls_all_around_end_it() -> None:
    def objective(x: Floats) -> tuple[float, Floats]:
        return (1.0 if not x.any() else np.inf), np.ones(3)

    found, counted = solve(objective, np.zeros(3))
    np.testing.assert_array_equal(found.point, np.zeros(3))
    assert 1 < len(counted.values) < 20


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


def rosenbrock_gauss_newton():
    return LeastSquares(
        lambda x: np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]),
        lambda x: np.array([[-20 * x[0], 10.0], [-1.0, 0.0]]),
    )


def test_a_linear_problem_is_solved_as_by_lstsq():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(30, 6)), rng.normal(size=30)
    problem = LeastSquares(lambda x: a @ x - b, lambda x: a)
    x, objective = descend(problem, np.zeros(6), **RULES | {"tol": 1e-14})
    expected = np.linalg.lstsq(a, b, rcond=None)[0]
    np.testing.assert_allclose(x, expected, atol=1e-6)
    assert objective == pytest.approx(problem.objective(expected), abs=1e-12)


def test_a_curved_valley_is_followed_and_the_objective_never_rises():
    problem = rosenbrock_gauss_newton()
    x, objective = descend(problem, BEGIN, **RULES | {"enough": 1e-20})
    np.testing.assert_allclose(x, 1, atol=1e-8)
    assert objective <= 1e-20
    kept = [problem.objective(point) for point in problem.points]
    assert all(after < before for before, after in pairwise(kept))


def test_the_rules_that_end_it():
    def steps(problem, begin, **rules):
        descend(problem, begin, **RULES | rules)
        return len(problem.points)

    assert steps(rosenbrock_gauss_newton(), BEGIN, max_iter=3) == 3
    assert steps(rosenbrock_gauss_newton(), BEGIN, tol=1.0) == 1
    assert steps(rosenbrock_gauss_newton(), BEGIN, tol=1.0, patience=4) == 4
    assert steps(rosenbrock_gauss_newton(), BEGIN, enough=1e9) == 0
    # At the minimum there is nothing to gain.
    x, objective = descend(rosenbrock_gauss_newton(), np.ones(2), **RULES | {"enough": -1.0})
    assert (x.tolist(), objective) == ([1.0, 1.0], 0.0)


def test_a_linear_map_of_one_pace_is_jumped_to_its_end() -> None:
    end = (np.array([0.5, 0.3, 0.2]), np.array([[1.0, 2.0]]))
    x = (np.array([0.2, 0.2, 0.6]), np.array([[3.0, 1.0]]))

    def step(point: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        return tuple(a + 0.1 * (b - a) for a, b in zip(point, end, strict=True))

    x1 = step(x)
    jump = Jump.through(x, x1, step(x1), [1 / a for a in x])
    assert jump.length == pytest.approx(10)
    for found, true in zip(jump.at(jump.length), end, strict=True):
        np.testing.assert_allclose(found, true)
    for found, true in zip(jump.at(1.0), step(x1), strict=True):  # the map's own second step
        np.testing.assert_allclose(found, true)


def test_what_does_not_bend_has_no_end() -> None:
    x = (np.array([1.0, 2.0]),)
    line = [(x[0] + n,) for n in range(3)]
    assert Jump.through(*line, [np.ones(2)]).length == np.inf


def test_nothing_becomes_negative() -> None:
    jump = Jump.through((np.array([1.0, 4.0]),), (np.array([0.5, 3.0]),), (np.array([0.2, 2.5]),),
                        [np.ones(2)])  # fmt: skip
    kept = jump.kept_positive(np.array([-3.0, 2.0]), 0)
    np.testing.assert_allclose(kept, [KEPT_SHARE * 0.2, 2.0])

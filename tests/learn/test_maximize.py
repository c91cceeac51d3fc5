"""The prior's gradient, and L-BFGS: it finds the bottom, never climbs, keeps within its passes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.kernels.types import Floats
from cohmm.learn.maximize import PointValue, Prior, minimise
from cohmm.learn.sparsity import Sparsity
from cohmm.learn.sqrt_parametrization import SqrtParametrization
from cohmm.model.inference import Counts
from tests.strategies import random_model


@pytest.mark.parametrize(
    "prior",
    [
        Prior(starts=np.array([1.0, 2.0, 3.0])),
        Prior(emissions=Sparsity(2.0, 0.05)),
        Prior(transitions=Sparsity(3.0, 0.02)),
        Prior(4.0, Sparsity(1.0, 0.3), Sparsity(0.5, 0.1)),
    ],
)
def test_pseudo_counts_are_the_gradient_of_the_prior(prior: Prior) -> None:
    model = random_model(3, 4, seed=0)
    chart = SqrtParametrization.around(model, np.array([0.2, 0.3, 0.5]), 0.7)
    point = chart.of(model)
    nothing = Counts(np.zeros(3), np.zeros((3, 3)), np.zeros((3, 4)))
    gradient = chart.gradient(point, model, prior.added_to(nothing, model, 0.25))
    moves = 1e-6 * np.eye(len(point))
    values = [
        [prior.log_density(chart.model(point + sign * move)) for sign in (1, -1)] for move in moves
    ]
    differences = np.array([(ahead - behind) / 2e-6 for ahead, behind in values])
    np.testing.assert_allclose(gradient, 0.25 * differences, atol=1e-6)
    assert np.abs(gradient).max() > 0.01


def test_zeros_cost_nothing_and_no_prior_adds_nothing() -> None:
    assert Sparsity(3.0, 0.1).log_density(np.zeros((2, 2))) == 0
    assert Sparsity(3.0, 0.1).log_density(np.eye(2)) == pytest.approx(-6 * np.log(11))
    model = random_model(2, 2, seed=0)
    counts = Counts(np.ones(2), np.ones((2, 2)), np.ones((2, 2)))
    assert Prior().log_density(model) == 0
    for before, after in zip(counts, Prior().added_to(counts, model, 0.5), strict=True):
        np.testing.assert_array_equal(before, after)


Objective = Callable[[Floats], tuple[float, Floats]]
BEGIN = np.array([-1.2, 1.0])


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
) -> tuple[PointValue, Counted]:
    counted = Counted(objective)
    begin = PointValue(start, *objective(start))
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

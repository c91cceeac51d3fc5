"""Sums of products of three vectors, found again."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import khatri_rao
from scipy.optimize import nnls

from cohmm import HMM
from cohmm.learn.windows import polyadic
from cohmm.learn.windows.polyadic import Local, descend, joint_transitions, undetermined
from tests.learn.windows.test_overcomplete import sparse_model


def random_cube(shape: tuple[int, int, int], k: int, seed: int):
    rng = np.random.default_rng(seed)
    factors = tuple(rng.exponential(size=(n, k)) for n in shape)
    return np.einsum("ik,jk,lk->ijl", *factors), factors


def test_terms_are_found_though_no_factor_has_full_rank():
    cube, (u, v, w) = random_cube((6, 7, 8), 10, 0)
    found = polyadic.decompose(cube, 10, np.random.default_rng(0), 20)
    assert found.misfit < polyadic.EXACT
    np.testing.assert_allclose(np.einsum("ik,jk,lk->ijl", *found.factors), cube, atol=1e-9)
    true = khatri_rao(khatri_rao(u, v), w)
    mine = khatri_rao(khatri_rao(*found.factors[:2]), found.factors[2])
    order = [int(np.abs(mine - column[:, None]).sum(axis=0).argmin()) for column in true.T]
    assert sorted(order) == list(range(10))
    np.testing.assert_allclose(mine[:, order], true, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("squares", [True, False])
def test_derivatives_of_the_misfit_are_differences(squares):
    cube, _ = random_cube((3, 4, 2), 3, 0)
    _, point = random_cube((3, 4, 2), 3, 1)
    point = polyadic.balanced(point)
    problem = polyadic.Misfit(cube, squares)
    local = problem.local(point)
    rng = np.random.default_rng(0)
    step, other = rng.normal(size=(2, local.gradient.size))
    h = 1e-6
    values = [problem.objective(problem.moved(point, sign * h * step)) for sign in (1, -1)]
    assert local.gradient @ step == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6)
    assert local.curvature(step) @ other == pytest.approx(local.curvature(other) @ step)
    # J'J, with J from differences of the model itself.
    nothing = polyadic.Misfit(np.zeros_like(cube), squares)

    def model(x):
        return np.einsum("ik,jk,lk->ijl", *nothing.moved(point, x))

    along = (model(h * step) - model(-h * step)) / (2 * h)
    assert step @ local.curvature(step) == pytest.approx(np.vdot(along, along), rel=1e-6)
    assert other @ local.preconditioner(0.1)(other) > 0


def test_refined_terms_fit_better():
    cube, factors = random_cube((4, 3, 4), 4, 0)
    near = tuple(u + 0.05 for u in factors)
    found = polyadic.refined(cube, near)
    np.testing.assert_allclose(np.einsum("ik,jk,lk->ijl", *found), cube, atol=1e-9)


def sides(model: HMM):
    m, pi = model.emissionprob.T, model.stationary()
    theta = pi[:, None] * model.transmat
    return m, m @ theta, m @ theta.T, theta


def test_non_negative_least_squares_are_scipys():
    rng = np.random.default_rng(0)
    m, before, after = rng.random((3, 4, 6))
    found = joint_transitions(m, before, after)
    eye = np.eye(6)
    rows = np.vstack([np.kron(m, eye), np.kron(eye, m)])
    target = np.concatenate([before.ravel(), after.T.ravel()])
    _, least = nnls(rows, target)
    assert (found >= 0).all()
    assert np.linalg.norm(rows @ found.ravel() - target) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize(("nonzeros", "determined"), [(3, True), (6, True), (10, False)])
def test_zeros_determine_the_transitions(nonzeros, determined):
    """(K - N)^2 = 9 unknowns are free, and are settled by about twice as many zeros."""
    *given, theta = sides(sparse_model(7, 10, nonzeros, 0))
    error = np.abs(joint_transitions(*given) - theta).sum() / 2
    apart = undetermined(*given, np.random.default_rng(0))
    assert (error < 1e-8) == determined
    assert (apart < 1e-4) == determined


def test_one_side_alone_would_not_do():
    """The paper's equations, row by row: all solutions have one sum, and zeros are too few."""
    m, before, after, theta = sides(sparse_model(8, 15, 6, 0))
    rows = np.array([nnls(m, column)[0] for column in after.T])
    np.testing.assert_allclose(m @ rows.T, after, atol=1e-12)
    np.testing.assert_allclose(rows.sum(axis=1), theta.sum(axis=1), atol=1e-12)
    assert np.abs(rows - theta).sum() / 2 > 0.1
    assert np.abs(joint_transitions(m, before, after) - theta).sum() / 2 < 1e-8


BEGIN = np.array([-1.2, 1.0])
RULES = {"max_iter": 200, "tol": 0.0, "patience": 1, "enough": 0.0}


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

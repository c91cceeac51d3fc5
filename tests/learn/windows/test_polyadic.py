"""Sums of products of three vectors, found again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import khatri_rao
from scipy.optimize import nnls

from cohmm import HMM
from cohmm.learn.windows import polyadic
from cohmm.learn.windows.polyadic import joint_transitions, undetermined
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

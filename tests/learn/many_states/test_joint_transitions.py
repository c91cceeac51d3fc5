"""Transitions from emissions, and from what comes before and after."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from cohmm import HMM
from cohmm.learn.many_states.joint_transitions import joint_transitions, undetermined
from tests.learn.many_states.test_overcomplete import sparse_model


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

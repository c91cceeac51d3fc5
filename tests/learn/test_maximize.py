"""What is maximised beside the likelihood: its gradient by finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.learn.maximize import Prior
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

"""What is done to a model at the end."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM
from cohmm.learn.finish import by_prevalence, prevalence_of, smoothed
from tests.laws import close, rows_are_distributions
from tests.strategies import random_model


def test_states_come_by_how_frequent_they_are() -> None:
    model = by_prevalence(random_model(5, 4, seed=0))
    assert (np.diff(model.stationary()) <= 0).all()
    given = by_prevalence(model, np.array([0.1, 0.3, 0.2, 0.3, 0.1]))
    np.testing.assert_array_equal(given.transmat, model.with_states([1, 3, 2, 0, 4]).transmat)


def test_a_chain_in_parts_has_a_prevalence() -> None:
    close(prevalence_of(HMM([1, 0], np.eye(2), np.eye(2))), [0.5, 0.5], 1e-9)
    model = random_model(4, 3, seed=1)
    close(prevalence_of(model), model.stationary(), 1e-9)


@pytest.mark.parametrize("visited", [None, np.array([0.25, 0.75])])
def test_smoothing_is_so_many_observations_more(visited: np.ndarray | None) -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0, 0, 0], [0, 1, 0, 0]])
    frequency = np.array([5, 3, 2, 0])  # the last symbol never occurs
    soft = smoothed(model, 10.0, frequency, 0.5, visited)
    share = 0.5 * 3 / (0.5 * 3 + 10 * (np.full(2, 0.5) if visited is None else visited))
    expected = (1 - share)[:, None] * model.emissionprob + share[:, None] * frequency / 10
    close(soft.emissionprob, expected)
    rows_are_distributions(soft.transmat)
    assert (soft.transmat > 0).all()
    assert (soft.emissionprob[:, 3] == 0).all()
    close(soft.startprob, soft.stationary())

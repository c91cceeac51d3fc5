"""Gruber's model, from a random start."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.datasets.synthetic_topics import TopicSample, sample_htmm
from cohmm.learn.topics.gruber import gruber
from tests.laws import rows_are_distributions
from tests.topics.samples import error


@pytest.fixture(scope="module")
def small() -> TopicSample:
    return sample_htmm(600, n_components=4, n_words=120, length=50, random_state=0)


def test_gruber_gains_with_every_pass(small: TopicSample) -> None:
    fit = gruber(small.documents, 4, random_state=0, max_iter=80, smoothing=0.0)
    objectives = np.array([step.objective for step in fit.history])
    # What EM raises has the prior of p in it, a hundredth of the whole.
    assert (np.diff(objectives) < 1e-3).all()
    assert error(fit.components, small.components) < 0.15
    rows_are_distributions(fit.components)
    assert fit.name == "HTMM (Gruber)"
    assert fit.converged


def test_a_weight_is_so_many_documents(small: TopicSample) -> None:
    weights = np.tile([2.0, 0.0, 1.0], 200)
    repeated = small.documents.select(np.repeat(np.arange(600), weights.astype(int)))
    options = {"random_state": 0, "max_iter": 40, "tol": 0.0}
    one = gruber(small.documents, 4, weights=weights, **options)
    two = gruber(repeated, 4, **options)
    assert error(one.components, two.components) < 1e-4
    assert error(one.components, gruber(small.documents, 4, **options).components) > 0.01


def test_weights_that_are_all_zero(small: TopicSample) -> None:
    with pytest.raises(ValueError, match="not all of them 0"):
        gruber(small.documents, 2, weights=np.zeros(600))

"""The result that all learners of topics share."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.topics.topic_fit import TopicFit, default_prior, smoothed, topic_fit
from tests.laws import close

WORDS = ("gold", "oil", "wheat")


def test_topics_come_in_the_order_of_their_prevalence() -> None:
    components = np.array([[1.0, 1.0, 2.0], [0, 1, 0], [3, 0, 1]])
    fit = topic_fit(components, np.array([1.0, 3.0, 4.0]), WORDS, name="by hand", seconds=2.0)
    close(fit.prevalence, [0.5, 0.375, 0.125])
    close(fit.components, [[0.75, 0, 0.25], [0, 1, 0], [0.25, 0.25, 0.5]])
    close(fit.prior, fit.prevalence)
    given = topic_fit(
        components, np.array([1.0, 3.0, 4.0]), WORDS, prior=np.array([7.0, 8.0, 9.0]), name="x"
    )
    close(given.prior, [9, 8, 7])
    assert (fit.n_components, fit.converged, fit.seconds) == (3, None, 2.0)


def test_the_default_prior_grows_with_the_number_of_topics() -> None:
    assert default_prior(np.full(5, 0.2)).sum() == pytest.approx(1)
    assert default_prior(np.full(50, 0.02)).sum() == pytest.approx(5)


def test_smoothing_makes_nothing_impossible() -> None:
    components = np.array([[1.0, 0, 0], [0, 0.5, 0.5]])
    close(smoothed(components, np.array([8.0, 2.0]), 0.0), components)
    close(smoothed(components, np.array([8.0, 2.0]), 1.0)[0], np.array([9, 1, 1]) / 11)
    close(smoothed(components, np.array([8.0, 2.0]), 1.0)[1], np.array([1, 2, 2]) / 5)


def test_a_topic_without_words_is_uniform_and_warned_of() -> None:
    with pytest.warns(EvidenceWarning, match="1 of 2 topics died out"):
        found = smoothed(np.array([[1.0, 0], [0, 0]]), np.array([5.0, 0]), 0.0)
    close(found[1], [0.5, 0.5])


@pytest.mark.parametrize(
    ("message", "change"),
    [
        ("components must be an array", {"components": [0.5, 0.5]}),
        ("components must be finite", {"components": [[0.5, 0.5, np.nan], [0, 0, 1]]}),
        ("every row of components must sum to one", {"components": [[0.5, 0, 0], [0, 0, 1]]}),
        ("prevalence must sum to one", {"prevalence": [0.5, 0.6]}),
        (r"prior has the shape \(3,\), but there are 2 topics", {"prior": [1.0, 1.0, 1.0]}),
        ("there are 2 words for 3 columns", {"vocabulary": ("gold", "oil")}),
    ],
)
def test_a_fit_is_checked_once(message: str, change: dict) -> None:
    right = {
        "components": [[0.5, 0.5, 0], [0, 0, 1]],
        "prevalence": [0.6, 0.4],
        "prior": [1.0, 1.0],
        "vocabulary": WORDS,
        "name": "by hand",
    }
    TopicFit(**right)
    with pytest.raises(ValueError, match=message):
        TopicFit(**(right | change))


def test_a_fit_cannot_be_written_into() -> None:
    fit = TopicFit([[0.5, 0.5, 0]], [1.0], [1.0], WORDS, name="by hand")
    with pytest.raises(ValueError, match="read-only"):
        fit.components[0, 0] = 1

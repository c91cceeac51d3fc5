"""Topics that are copies of one another: found, parted, and told where there is nothing to part."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cohmm.data.documents import Documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents, sample_htmm
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.pairs.pair_law import Point, pair_law
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.twins import TWINS, twins, without_twins
from cohmm.model.hmm import HMM
from tests.topics.samples import documents_of, error

TRUTH = demo_model()


@pytest.fixture(scope="module")
def subjects() -> Documents:
    return sample_documents(TRUTH, 1000, length=60, random_state=0)[0]


def copied() -> HMM:
    """The true topics, but that the last one is nearly a copy of the first."""
    topics = TRUTH.emissionprob.copy()
    topics[-1] = 0.95 * topics[0] + 0.05 * topics[1]
    k = len(topics)
    return HMM(np.full(k, 1 / k), (np.eye(k) + 1) / (k + 1), topics, TRUTH.vocabulary)


def test_of_twins_the_closest_come_first_and_none_comes_twice() -> None:
    rows = np.eye(4)[[0, 0, 0, 1, 1, 2]]
    rows[1, 3] = rows[2, 3] = 0.2
    rows[4, 3] = 0.1
    rows /= rows.sum(axis=1, keepdims=True)
    assert twins(rows) == [(1, 2), (3, 4)]
    assert twins(rows, spared=3) == [(3, 4)]
    assert twins(rows, spared=5) == []
    assert twins(np.eye(3)) == []


def test_the_free_place_goes_to_what_is_missing(subjects: Documents) -> None:
    start = copied()
    assert twins(start.emissionprob) == [(0, 11)]
    fit = htmm(subjects, 12, start=start, random_state=0)
    assert fit.converged
    assert not twins(fit.components)
    assert error(fit.components, TRUTH.emissionprob) < 0.08


def test_twins_among_seeded_topics_are_left_alone() -> None:
    rows = np.array([[0.5, 0.5, 0.0], [0.45, 0.55, 0.0], [0.0, 0.0, 1.0]])
    assert twins(rows) == [(0, 1)]
    assert twins(rows, spared=1) == [(0, 1)]  # the second is free to go
    assert twins(rows, spared=2) == []


def test_what_is_made_of_twins_is_a_point() -> None:
    """Theta is a joint distribution with equal marginals; what was theirs is the first one's."""
    cluster = np.array([0.0, 0.0, 0.5, 0.5, 0.0, 0.0])
    m = np.array([[0.5, 0.5, 0, 0, 0, 0], [0.6, 0.4, 0, 0, 0, 0], [0, 0, 0.25, 0.25, 0.25, 0.25]]).T
    theta = np.diag([0.25, 0.25, 0.5]) * 0.9 + 0.1 * np.outer([0.25, 0.25, 0.5], [0.25, 0.25, 0.5])
    law = np.kron(np.eye(3), np.ones((2, 2))) / 12
    clusters = np.stack([m[:, 0], cluster], axis=1)
    point = without_twins(Point(m, theta), pair_law(law), clusters, [(0, 1)])
    assert point is not None
    np.testing.assert_allclose(point.m[:, 0], [0.55, 0.45, 0, 0, 0, 0])
    np.testing.assert_array_equal(point.m[:, 1], cluster)
    np.testing.assert_array_equal(point.m[:, 2], m[:, 2])
    assert (point.theta > 0).all()
    np.testing.assert_allclose(point.theta.sum(), 1)
    np.testing.assert_allclose(point.theta.sum(axis=0), point.theta.sum(axis=1))
    np.testing.assert_allclose(point.theta.sum(axis=1), [1 / 3, 1 / 3, 1 / 3], atol=1e-5)
    explained = without_twins(Point(m, theta), pair_law(law), m[:, :1], [(0, 1)])
    assert explained is None


def test_a_corpus_without_more_topics_says_so() -> None:
    four = sample_htmm(600, n_components=4, n_words=120, length=50, random_state=0).documents
    with pytest.warns(EvidenceWarning, match="nearly a copy of another: .* fewer") as warned:
        fit = htmm(four, 8, random_state=0)
    n = len(twins(fit.components))
    assert n > 0
    assert str(warned[0].message).startswith(f"{n} of 8 topics")
    assert fit.converged


@pytest.mark.parametrize("words", [[0, 1, 2, 3, 0, 1], [0, 1, 2]])
def test_documents_that_are_all_alike(words: list[int]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        for n in (1, 2, 300):
            fit = htmm(documents_of([words] * n, 4), 2, random_state=0)
            assert fit.converged
            assert np.isfinite(fit.components).all()


@pytest.mark.parametrize("seed", range(3))
def test_no_twins_where_there_are_topics(subjects: Documents, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        fit = htmm(subjects, 12, random_state=seed)
        many = sample_htmm(800, n_components=8, n_words=300, random_state=seed)
        other = htmm(many.documents, 8, random_state=seed)
    assert twins(fit.components) == twins(other.components) == []
    assert 0 < TWINS < 1

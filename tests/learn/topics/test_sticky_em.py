"""EM over sticky chains: against all paths, and by hand; Gruber's model, from a random start."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.data.documents import Documents
from cohmm.datasets.synthetic_topics import TopicSample, sample_htmm
from cohmm.learn.topics.htmm import htmm
from cohmm.learn.topics.sticky_em import (
    corpus_transitions,
    expected_counts,
    gruber,
    prevalence_of,
    sticky_chain,
    sticky_transitions,
)
from tests.laws import close, rows_are_distributions
from tests.model.test_topic_model import all_paths
from tests.topics.samples import documents_of, error


def test_expected_counts_are_those_of_all_paths() -> None:
    rng = np.random.default_rng(0)
    m = rng.dirichlet(np.ones(4), size=2).T
    topics = sticky_chain(m, np.array([0.6, 0.4]), 0.3)
    texts = [[0, 1, 3], [2], [], [3, 3, 0, 1]]
    weights = np.array([1.0, 2.0, 5.0, 0.5])
    found = expected_counts(documents_of(texts, 4), topics, weights, sweeps=1)
    p = topics.prior / topics.prior.sum()
    a = 0.7 * np.eye(2) + 0.3 * p
    words, switches, log = np.zeros((4, 2)), 0.0, 0.0
    for text, weight in zip(texts, weights, strict=True):
        if not text:
            continue
        paths = list(all_paths(text, p, a, m.T))
        total = sum(joint for _, joint in paths)
        log += weight * np.log(total)
        for path, joint in paths:
            for t, topic in enumerate(path):
                words[text[t], topic] += weight * joint / total
                if t > 0:
                    drawn = 0.3 * p[topic] / a[path[t - 1], topic]
                    switches += weight * joint / total * drawn
    close(found.words, words)
    close(found.switches, switches)
    close(found.log_likelihood, log)
    assert (found.transitions, found.n_words) == (3.5, 7.0)


def test_topics_without_words_have_transitions_too() -> None:
    m = np.array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    topics = sticky_chain(m, np.array([0.6, 0.4, 0.0]), 0.2)
    found = corpus_transitions(documents_of([[0, 1, 1, 2, 2], [1, 0]], 4), topics, np.ones(2))
    rows_are_distributions(found)
    close(found[2], sticky_transitions(prevalence_of(topics), 0.2)[2])
    # Four moves within or out of topic 0 and one within 1, and one by the prior.
    close(found[0] * 5, [3 + 0.8 + 0.2 * 0.6, 1 + 0.2 * 0.4, 0.0])
    close(found[1] * 2, [0.2 * 0.6, 1 + 0.8 + 0.2 * 0.4, 0.0])


def test_the_rate_of_switching_where_every_other_document_is_empty() -> None:
    """Of many words some are enough, but not some that a stride happens to meet."""
    sample = sample_htmm(3000, n_components=3, n_words=60, length=40, random_state=0)
    full = sample.documents
    offsets = np.repeat(full.offsets, 2)[1:]  # an empty one before each
    spaced = Documents(full.symbols, np.concatenate([[0], offsets])[:-1], full.vocabulary)
    assert spaced.lengths[::2].sum() == 0
    given = {"random_state": 0, "max_iter": 20, "refine": 0}
    assert htmm(spaced, 3, **given).switch == pytest.approx(htmm(full, 3, **given).switch, rel=0.1)


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
    with pytest.raises(ValueError, match="weights of all documents are zero"):
        gruber(small.documents, 2, weights=np.zeros(600))

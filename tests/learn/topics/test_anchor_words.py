"""Anchor words: against the definitions, on corpora that have them, on bad input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from cohmm.learn.topics.anchor_words import (
    DocumentPairs,
    anchor_words,
    by_bayes,
    find_anchors,
    projected_rows,
    recover_mixtures,
)
from cohmm.learn.topics.topic_fit import default_prior
from tests.laws import close, rows_are_distributions
from tests.topics.samples import documents_of, error, sampled, separable_topics


@dataclass
class ExactPairs:
    """Q, written out."""

    q: np.ndarray

    @property
    def frequency(self) -> np.ndarray:
        return self.q.sum(axis=1)

    def times(self, matrix: np.ndarray, words: np.ndarray) -> np.ndarray:
        return self.q[words] @ matrix

    def rows(self, words: np.ndarray) -> sparse.csr_array:
        return sparse.csr_array(self.q[words])


def exact_pairs(topics: np.ndarray, alpha: float = 0.2) -> tuple[ExactPairs, np.ndarray]:
    """Q of documents whose topic proportions are Dirichlet, and the topics' prevalence."""
    k = len(topics)
    alphas = alpha * (1 + np.arange(k))
    total = alphas.sum()
    second = (np.outer(alphas, alphas) + np.diag(alphas)) / (total * (total + 1))
    return ExactPairs(topics.T @ second @ topics), alphas / total


@pytest.mark.parametrize("recover", ["l2", "kl"])
@pytest.mark.parametrize(("k", "v"), [(1, 10), (3, 40), (10, 300)])
def test_exact_pairs_give_the_topics_back(recover: str, k: int, v: int) -> None:
    topics = separable_topics(k, v)
    pairs, prevalence = exact_pairs(topics)
    rows = projected_rows(pairs, np.arange(v), v, None)
    anchors = find_anchors(rows, k)
    assert sorted(anchors) == list(range(k))
    mixtures = recover_mixtures(pairs, anchors, recover, 1e-14, 5000)
    components, found = by_bayes(mixtures, pairs.frequency, pairs.frequency)
    order = np.argsort(anchors)
    np.testing.assert_allclose(components[order], topics, atol=1e-6)
    np.testing.assert_allclose(found[order], prevalence, atol=1e-6)


def test_random_dimensions_find_the_same_anchors() -> None:
    topics = separable_topics(5, 400, own=0.1)
    pairs, _ = exact_pairs(topics)
    rows = projected_rows(pairs, np.arange(400), 100, 0)
    assert rows.shape == (400, 100)
    assert sorted(find_anchors(rows, 5)) == list(range(5))


def test_a_bad_first_anchor_is_cleaned_up() -> None:
    # Row 4, outside of the hull, is the farthest from the origin, but seen from the other
    # anchors corner 0 lies farther out.
    corners = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    inside = np.array([[3.0, 3.0], [1.0, 1.0]])
    rows = np.vstack([corners, inside, [[8.0, 8.0]]]) - 4.0
    assert sorted(find_anchors(rows, 3)) == [0, 1, 2]


@pytest.mark.parametrize("recover", ["l2", "kl"])
def test_known_topics_are_found(recover: str) -> None:
    topics = separable_topics(5, 200, own=0.1)
    documents = sampled(topics, 4000, 80)
    fit = anchor_words(documents, 5, recover=recover, random_state=0)
    assert error(fit.components, topics) < 0.1
    assert fit.converged
    assert fit.history[-1].n_iter == len(np.unique(documents.symbols))
    rows_are_distributions(fit.components)
    assert (fit.components > 0).all()
    assert (np.diff(fit.prevalence) <= 0).all()
    np.testing.assert_allclose(fit.prevalence, 0.2, atol=0.05)
    close(fit.prior, default_prior(fit.prevalence))
    assert fit.name == f"anchor words ({recover.upper()})"


def test_random_dimensions_and_their_seed_count() -> None:
    documents = sampled(separable_topics(8, 150, own=0.02), 300, 20)
    fits = [
        anchor_words(documents, 8, n_dimensions=n, random_state=seed)
        for n, seed in ((8, 0), (8, 1), (1000, 0), (1000, 1))
    ]
    assert np.abs(fits[0].components - fits[1].components).max() > 1e-3
    np.testing.assert_array_equal(fits[2].components, fits[3].components)


def test_squares_and_divergence_differ_on_samples() -> None:
    documents = sampled(separable_topics(4, 100), 300, 40)
    one, two = (anchor_words(documents, 4, recover=how, random_state=0) for how in ("l2", "kl"))
    assert 1e-3 < error(one.components, two.components) < 0.3


def test_rare_words_are_no_anchors() -> None:
    # Two topics, and a word of a single odd document, which would be the farthest row of all.
    texts = [[0, 1, 0, 1, 2], [1, 0, 2, 0, 1], [3, 4, 3, 4, 2], [4, 3, 2, 4, 3]] * 10
    texts.append([5, 5, 5, 5])
    documents = documents_of(texts)
    fit = anchor_words(documents, 2, min_documents=5, smoothing=0)
    assert (fit.components[:, 0] * fit.components[:, 3]).max() < 1e-4
    assert fit.components[:, 5].max() < 0.1
    odd = anchor_words(documents, 2, min_documents=1, smoothing=0)
    assert (odd.components[:, 0] * odd.components[:, 3]).max() > 0.01


def test_words_without_a_pair_keep_their_frequency() -> None:
    texts = [[0, 1, 0, 1], [1, 0, 1], [2, 3, 2, 3], [3, 2, 3], [4]]
    fit = anchor_words(documents_of(texts, 6), 2, min_documents=1, smoothing=0)
    np.testing.assert_allclose(fit.components[:, 4], fit.components[0, 4])
    assert 0 < fit.components[0, 4] < 1 / 15 + 1e-9
    assert (fit.components[:, 5] == 0).all()


def test_iterations_that_run_out_are_said() -> None:
    documents = sampled(separable_topics(4, 100), 300, 40)
    seen = []
    fit = anchor_words(documents, 4, max_iter=2, callback=seen.append)
    assert not fit.converged
    assert tuple(seen) == fit.history
    assert fit.history[-1].objective > 0.5


@pytest.mark.parametrize(
    ("message", "k", "options"),
    [
        ("n_components must be a whole number from 1 to 4.* not 5", 5, {}),
        ("0 words are in 9 documents or more, and 2 topics", 2, {"min_documents": 9}),
        ("n_dimensions must be a whole number from 2, not 1", 2, {"n_dimensions": 1}),
    ],
)
def test_bad_input_is_named(message: str, k: int, options: dict) -> None:
    with pytest.raises(ValueError, match=message):
        anchor_words(documents_of([[0, 1, 2, 3], [2, 3, 0, 0]]), k, **options)


def test_documents_that_say_nothing() -> None:
    with pytest.raises(ValueError, match="no document has two words"):
        anchor_words(documents_of([[0], [1]]), 1)
    with pytest.raises(ValueError, match="differ in 1 ways only: 3 topics"):
        find_anchors(np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]), 3)


def test_pairs_are_those_of_two_draws_without_putting_back() -> None:
    texts = [[0, 1, 1, 2], [2, 2, 3], [1], []]
    pairs = DocumentPairs.of(documents_of(texts, 5).term_counts().astype(float))
    expected = np.zeros((5, 5))
    for text in texts[:2]:
        for i, v in enumerate(text):
            for j, w in enumerate(text):
                if i != j:
                    expected[v, w] += 1 / (2 * len(text) * (len(text) - 1))
    close(pairs.rows(np.arange(5)).toarray(), expected)
    close(pairs.frequency, expected.sum(axis=1))
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    words = np.array([3, 1])
    close(pairs.times(matrix, words), expected[words] @ matrix)
    close(pairs.rows(words).toarray(), expected[words])
    assert pairs.document_frequency.tolist() == [1, 1, 2, 1, 0]
    assert pairs.diagonal[0] == 0

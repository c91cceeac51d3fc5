"""Q, the pairs of words that share a document."""

from __future__ import annotations

import numpy as np

from cohmm.learn.topics.word_pairs import DocumentPairs
from tests.laws import close
from tests.topics.samples import documents_of


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

"""Clusters of words, from which topics start."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm.datasets.synthetic_topics import random_topics, sample_htmm
from cohmm.evidence.counting import count_documents
from cohmm.learn.topics.clusters import cluster_topics
from tests.laws import rows_are_distributions
from tests.topics.samples import error


def test_clusters_are_topics_where_topics_share_no_word() -> None:
    blocks = np.kron(np.eye(4), np.ones((30, 30)))
    for omega in (blocks, sparse.csr_array(blocks)):
        (topics,) = cluster_topics(omega, 4, 0)
        rows_are_distributions(topics)
        owner = topics.argmax(axis=0).reshape(4, 30)
        assert (owner == owner[:, :1]).all()
        assert sorted(owner[:, 0]) == [0, 1, 2, 3]


def test_large_vocabularies_start_as_small_ones_do() -> None:
    """The sparse way to the eigenvectors finds the clusters of the dense one."""
    sample = sample_htmm(2000, n_components=4, n_words=700, length=60, random_state=0)
    counts = count_documents(sample.documents, 1)[1]
    (topics,) = cluster_topics(sparse.csr_array(counts), 4, 0)
    assert error(topics, sample.components) < 0.45
    assert error(random_topics(4, 700, random_state=9), sample.components) > 0.8


def test_words_in_no_pair_and_too_few_words() -> None:
    omega = np.zeros((5, 5))
    omega[:3, :3] = 1
    (topics,) = cluster_topics(omega, 3, 0)
    assert (topics[:, 3:] == 0).all()
    rows_are_distributions(topics)
    with pytest.raises(ValueError, match="4 topics cannot be told apart by 3 words"):
        cluster_topics(omega, 4, 0)

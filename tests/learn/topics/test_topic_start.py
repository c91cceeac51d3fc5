"""Clusters of words, from which topics start: the tightest, whatever k-means starts from."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from cohmm.datasets.synthetic_topics import random_topics, sample_htmm
from cohmm.evidence.counting import count_documents
from cohmm.kernels.threads import threads
from cohmm.kernels.types import Floats
from cohmm.learn.topics import topic_start as module
from cohmm.learn.topics.topic_start import (
    cluster_topics,
    k_means,
    main_directions,
    scatter,
    whitened,
)
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


def clouds(n_clouds: int, seed: int) -> Floats:
    """Places of ten points each, at random distances from one another."""
    rng = np.random.default_rng(seed)
    places = rng.normal(size=(n_clouds, 4)) * 3
    return np.repeat(places, 10, axis=0) + rng.normal(size=(10 * n_clouds, 4)) * 0.3


@pytest.mark.parametrize("seed", range(5))
def test_no_cluster_is_empty(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = np.repeat(rng.normal(size=(3, 2)), 4, axis=0)  # fewer places than clusters
    labels = k_means(points, np.ones(12), 6, rng)
    assert (np.bincount(labels, minlength=6) > 0).all()
    apart = k_means(points, np.ones(12), 3, rng).reshape(3, 4)
    assert (apart == apart[:, :1]).all()
    assert len(set(apart[:, 0])) == 3


@pytest.mark.parametrize("seed", range(4))
def test_few_points_are_clustered_as_well_as_can_be(seed: int) -> None:
    """Against all ways to put eight points into three clusters."""
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(8, 2)), rng.uniform(0.5, 2, size=8)
    ways = (np.array(way) for way in product(range(3), repeat=8) if len(set(way)) == 3)
    least = min(scatter(points, weights, way, 3) for way in ways)
    found = scatter(points, weights, k_means(points, weights, 3, rng), 3)
    assert found <= 1.05 * least
    assert found >= least - 1e-12


def test_any_start_leads_to_the_same_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    points, ones = clouds(25, seed=0), np.ones(250)

    def ends() -> list[float]:
        return [
            scatter(points, ones, k_means(points, ones, 25, np.random.default_rng(seed)), 25)
            for seed in range(8)
        ]

    with_moves = ends()
    assert max(with_moves) < 1.001 * min(with_moves)
    monkeypatch.setattr(module, "MOVED_SHARE", 0)
    assert max(ends()) > 1.5 * max(with_moves)


def test_points_are_moved_with_their_clusters() -> None:
    """Clusters do not depend on where the origin is, nor on the order of the points."""
    points = clouds(6, seed=1)
    weights = np.linspace(1, 2, len(points))

    def partition(where: Floats, order: np.ndarray) -> list[frozenset[int]]:
        labels = k_means(where[order], weights[order], 6, np.random.default_rng(0))
        return sorted((frozenset(order[labels == k].tolist()) for k in range(6)), key=min)

    plain = partition(points, np.arange(60))
    assert partition(points + 100.0, np.arange(60)) == plain
    assert partition(points, np.random.default_rng(1).permutation(60)) == plain


def test_held_points_stay_and_their_clusters_are_the_first() -> None:
    points = clouds(8, seed=2)
    held = np.full(80, -1)
    held[[0, 79]], held[[15, 16]] = 0, 1  # the first from clouds that are far apart
    labels = k_means(points, np.ones(80), 8, np.random.default_rng(0), held)
    assert labels[[0, 79, 15, 16]].tolist() == [0, 0, 1, 1]
    assert len(set(labels.tolist())) == 8


def pairs(n_words: int) -> sparse.csr_array:
    """Pairs of words, some of them in blocks, symmetric."""
    rng = np.random.default_rng(0)
    counts = sparse.random_array((n_words, n_words), density=0.1, rng=rng)
    blocks = sparse.kron(sparse.eye_array(n_words // 50), np.ones((50, 50)) / 10)
    return sparse.csr_array(counts + counts.T + blocks)


def test_directions_of_large_vocabularies_are_those_of_lapack() -> None:
    both = pairs(700)
    values, vectors = main_directions(both, 12)
    matrix = whitened(both).toarray()
    exact = np.linalg.eigvalsh(matrix)
    largest = np.abs(exact)[np.argsort(-np.abs(exact))[:12]]
    np.testing.assert_allclose(np.abs(values), largest, atol=1e-4)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(12), atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=2e-3)


def test_more_directions_are_wanted_than_there_are() -> None:
    """Four blocks of ones have four eigenvalues; all further ones are 0."""
    blocks = sparse.csr_array(np.kron(np.eye(4), np.ones((150, 150)) / 150))
    values, vectors = main_directions(blocks, 6)
    np.testing.assert_allclose(values, [1, 1, 1, 1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-9)


def test_directions_are_the_same_for_any_number_of_threads() -> None:
    found = []
    for n in (1, 3):
        with threads(n):
            found.append(main_directions(pairs(700), 12))
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)

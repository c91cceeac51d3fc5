"""k-means with moves: the tightest clusters, whatever the start."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cohmm.kernels.types import Floats
from cohmm.learn.topics import k_means as module
from cohmm.learn.topics.k_means import k_means, scatter


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
    monkeypatch.setattr(module, "MOVED", 0)
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

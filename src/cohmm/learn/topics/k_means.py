"""k-means that hardly depends on luck: clusters are added where points are far off, then as many
are taken away where they are missed least, as long as that brings points nearer to their centres.

Lloyd's steps alone end near where they began, often with two clusters in one place and one for two.
Moved so ("breathing" k-means), clusters are nearly always the same, and the tightest, from any
start.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cohmm.kernels.compiled import Floats, Ints

STEPS = 100  # of Lloyd's, at the end
FEW_STEPS = 15  # between two moves
MOVED = 0.4  # the share of the clusters that are added and taken away at first
FEWER = 0.6  # the share of these that are next, where it led nowhere
LEAST_GAIN = 1e-4  # of the scatter


def k_means(
    points: Floats, weights: Floats, k: int, rng: np.random.Generator, held: Ints | None = None
) -> Ints:
    """The cluster of every point, (n,), none of them empty.

    There must be ``k`` points at least.  Where ``held``, (n,), is not below zero, it is the cluster
    of the point; such clusters are the first, and stay.

    >>> points, rng = np.array([[0.0], [0.1], [5.0], [5.1]]), np.random.default_rng(0)
    >>> k_means(points, np.ones(4), 2, rng, held=np.array([-1, -1, 0, -1]))
    array([1, 1, 0, 0])
    """
    if held is None:
        held = np.full(len(points), -1)
    cloud = _Cloud(points, weights, held)
    labels = cloud.settled(cloud.spread(k, rng), FEW_STEPS)
    least, moved = cloud.scatter(labels, k), int(np.ceil(MOVED * k))
    while moved:
        tried = cloud.moved(labels, k, moved)
        if cloud.scatter(tried, k) < (1 - LEAST_GAIN) * least:
            labels, least = tried, cloud.scatter(tried, k)
        else:
            moved = int(FEWER * moved)
    return cloud.settled(cloud.centres(labels, k), STEPS)


def scatter(points: Floats, weights: Floats, labels: Ints, k: int) -> float:
    """The weighted sum of the points' squared distances from the centres of their clusters.

    >>> scatter(np.array([[0.0], [2.0], [5.0]]), np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), 2)
    2.0
    """
    return _Cloud(points, weights, np.full(len(points), -1)).scatter(labels, k)


class _Cloud:
    """Points with weights, some of them held in a cluster."""

    def __init__(self, points: Floats, weights: Floats, held: Ints):
        self.points, self.weights, self.held = points, weights, held
        self.kept = held >= 0
        self.n_held = int(held.max(initial=-1)) + 1

    def centres(self, labels: Ints, k: int) -> Floats:
        n = len(self.points)
        members = sparse.csr_array((self.weights, (labels, np.arange(n))), (k, n))
        return np.asarray((members @ self.points) / np.asarray(members.sum(axis=1))[:, None])

    def apart(self, labels: Ints, k: int) -> Floats:
        """The weighted squared distance of every point from the centre of its cluster."""
        apart = self.points - self.centres(labels, k)[labels]
        return np.asarray(self.weights * (apart * apart).sum(axis=1))

    def scatter(self, labels: Ints, k: int) -> float:
        return float(self.apart(labels, k).sum())

    def settled(self, centres: Floats, steps: int) -> Ints:
        """The clusters after so many of Lloyd's steps, at most."""
        labels, k = np.full(len(self.points), -1), len(centres)
        for _ in range(steps):
            distance = self._distance(centres)
            nearest = np.where(self.kept, self.held, np.argmin(distance, axis=1))
            nearest = none_empty(nearest, distance, k, self.kept)
            if np.array_equal(nearest, labels):
                break
            labels = nearest
            centres = self.centres(labels, k)
        return labels

    def moved(self, labels: Ints, k: int, n: int) -> Ints:
        """Other ``k`` clusters: ``n`` are added where points are far off, and ``n`` taken away."""
        n = min(n, len(self.points) - k)
        apart = self.apart(labels, k)
        outermost = np.lexsort((apart, labels))[np.cumsum(np.bincount(labels, minlength=k)) - 1]
        loosest = np.argsort(-np.bincount(labels, apart, minlength=k), kind="stable")[:n]
        centres = np.vstack([self.centres(labels, k), self.points[outermost[loosest]]])
        labels = self.settled(centres, FEW_STEPS)
        centres = self.centres(labels, len(centres))
        return self.settled(centres[self._missed_most(centres, labels, n)], FEW_STEPS)

    def _missed_most(self, centres: Floats, labels: Ints, n: int) -> Ints:
        """All clusters but ``n``: those that cost least when the next ones take over their points.

        Of two that are next to one another not both go, as long as there are others.
        """
        k = len(centres)
        nearest = np.partition(self._distance(centres), 1, axis=1)
        cost = np.bincount(labels, self.weights * (nearest[:, 1] - nearest[:, 0]), minlength=k)
        between = (centres * centres).sum(axis=1) - 2 * centres @ centres.T
        np.fill_diagonal(between, np.inf)
        neighbour = between.argmin(axis=1)
        order = [c for c in np.argsort(cost, kind="stable").tolist() if c >= self.n_held]
        gone: set[int] = set()
        spared: set[int] = set()
        for cluster in order:
            if len(gone) < n and cluster not in spared:
                gone.add(cluster)
                spared.add(int(neighbour[cluster]))
        gone.update([c for c in order if c not in gone][: n - len(gone)])
        return np.array([c for c in range(k) if c not in gone])

    def _distance(self, centres: Floats) -> Floats:
        """Squared distances, (n, k), less what is the same for all clusters."""
        return np.asarray((centres * centres).sum(axis=1) - 2 * self.points @ centres.T)

    def spread(self, k: int, rng: np.random.Generator) -> Floats:
        """Centres to begin with: of held clusters, and points far from those drawn before."""
        points, kept = self.points, self.kept
        known = _Cloud(points[kept], self.weights[kept], self.held[kept])
        given = known.centres(known.held, self.n_held)
        nearest = np.ones(len(points))
        for n, centre in enumerate(given):
            apart = ((points - centre) ** 2).sum(axis=1)
            nearest = apart if n == 0 else np.minimum(nearest, apart)
        chosen: list[int] = []
        for n in range(len(given), k):
            mass = self.weights * nearest
            mass[chosen] = 0.0
            if mass.sum() <= 0:  # all other points are where chosen ones are
                mass = np.ones(len(points))
                mass[chosen] = 0.0
            below = np.cumsum(mass)
            chosen.append(int(np.searchsorted(below, rng.random() * below[-1], side="right")))
            apart = ((points - points[chosen[-1]]) ** 2).sum(axis=1)
            nearest = apart if n == 0 else np.minimum(nearest, apart)
        return np.concatenate([given, points[chosen]])


def none_empty(labels: Ints, distance: Floats, k: int, kept: Ints) -> Ints:
    """Empty clusters get the points that are farthest from their centres, but for ``kept`` ones."""
    size = np.bincount(labels, minlength=k)
    if size.all():
        return labels
    labels = labels.copy()
    own = distance[np.arange(len(labels)), labels]
    for point in np.argsort(-own, kind="stable"):
        empty = np.flatnonzero(size == 0)
        if not len(empty):
            break
        if size[labels[point]] > 1 and not kept[point]:
            size[labels[point]] -= 1
            labels[point] = empty[0]
            size[empty[0]] = 1
    return labels

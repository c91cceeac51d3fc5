"""k-means that hardly depends on luck: clusters are added where points are far off, then as many
are taken away where they are missed least, as long as that brings points nearer to their centres.

Lloyd's steps alone end near where they began, often with two clusters in one place and one for two.
Moved so ("breathing" k-means), clusters are nearly always the same, and the tightest, from any
start.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels import nearest
from cohmm.kernels.types import Floats, Ints

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
        self.points = np.ascontiguousarray(points, np.float64)
        self.weights = np.ascontiguousarray(weights, np.float64)
        self.held = np.asarray(held, np.int64)
        self.kept = held >= 0
        self.n_held = int(held.max(initial=-1)) + 1

    def centres(self, labels: Ints, k: int) -> Floats:
        centres = np.empty((k, self.points.shape[1]))
        nearest.move_centres(self.points, self.weights, labels, np.ones(k, bool), centres)
        return centres

    def apart(self, labels: Ints, k: int) -> Floats:
        """The weighted squared distance of every point from the centre of its cluster."""
        return self.weights * _squared_lengths(self.points - self.centres(labels, k)[labels])

    def scatter(self, labels: Ints, k: int) -> float:
        return float(self.apart(labels, k).sum())

    def settled(self, centres: Floats, steps: int) -> Ints:
        """The clusters after so many of Lloyd's steps, at most.

        From step to step most clusters keep their points: centres and distances are found anew
        for the others alone.
        """
        labels, k = np.full(len(self.points), -1), len(centres)
        centres, changed = centres.copy(), np.ones(k, bool)
        distance, room = np.empty((2, k, len(self.points)))
        for _ in range(steps):
            distance[changed] = self._distance(centres[changed], room)
            now = np.where(self.kept, self.held, _two_nearest(distance)[0])
            now = none_empty(now, distance, self.kept)
            moved = np.flatnonzero(now != labels)
            if not len(moved):
                break
            changed[:] = False
            changed[now[moved]] = changed[labels[moved]] = True
            labels = now
            nearest.move_centres(self.points, self.weights, labels, changed, centres)
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
        _, least, second = _two_nearest(self._distance(centres, np.empty((k, len(self.points)))))
        cost = np.bincount(labels, self.weights * (second - least), minlength=k)
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

    def _distance(self, centres: Floats, room: Floats) -> Floats:
        """Squared distances, (k, n), less what is the same for all clusters; in ``room``.

        Fresh memory for each would take longer than to fill it.
        """
        distance = np.matmul(-2 * centres, self.points.T, out=room[: len(centres)])
        distance += _squared_lengths(centres)[:, None]
        return distance

    def spread(self, k: int, rng: np.random.Generator) -> Floats:
        """Centres to begin with: of held clusters, and points far from those drawn before."""
        points, kept = self.points, self.kept
        known = _Cloud(points[kept], self.weights[kept], self.held[kept])
        given = known.centres(known.held, self.n_held)
        closest = np.ones(len(points))
        for n, centre in enumerate(given):
            apart = _squared_lengths(points - centre)
            closest = apart if n == 0 else np.minimum(closest, apart)
        chosen: list[int] = []
        for n in range(len(given), k):
            mass = self.weights * closest
            mass[chosen] = 0.0
            if mass.sum() <= 0:  # all other points are where chosen ones are
                mass = np.ones(len(points))
                mass[chosen] = 0.0
            below = np.cumsum(mass)
            chosen.append(int(np.searchsorted(below, rng.random() * below[-1], side="right")))
            apart = _squared_lengths(points - points[chosen[-1]])
            closest = apart if n == 0 else np.minimum(closest, apart)
        return np.concatenate([given, points[chosen]])


def none_empty(labels: Ints, distance: Floats, kept: Ints) -> Ints:
    """Empty clusters get the points that are farthest from their centres, but for ``kept`` ones.

    ``distance`` is (k, n).
    """
    size = np.bincount(labels, minlength=len(distance))
    if size.all():
        return labels
    labels = labels.copy()
    own = distance[labels, np.arange(len(labels))]
    for point in np.argsort(-own, kind="stable"):
        empty = np.flatnonzero(size == 0)
        if not len(empty):
            break
        if size[labels[point]] > 1 and not kept[point]:
            size[labels[point]] -= 1
            labels[point] = empty[0]
            size[empty[0]] = 1
    return labels


def _two_nearest(distance: Floats) -> tuple[Ints, Floats, Floats]:
    """Of every point the nearest centre, and the distances of the two nearest, each (n,)."""
    n = distance.shape[1]
    labels, least, second = np.empty(n, np.int64), np.empty(n), np.empty(n)
    nearest.two_nearest(distance, labels, least, second)
    return labels, least, second


def _squared_lengths(vectors: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", vectors, vectors))

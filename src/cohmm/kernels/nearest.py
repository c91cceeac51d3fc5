"""Points and the centres of their clusters: which is nearest, and where the centres are."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, kernel

BLOCK = 512  # points whose best so far fit the nearest cache


@kernel
def two_nearest(distance: Floats, labels: Ints, least: Floats, second: Floats) -> None:
    """The nearest centre of every point, and the distances of the two nearest.

    ``distance`` is (K, n).  NumPy: ``labels = distance.argmin(axis=0); least, second =
    np.partition(distance, 1, axis=0)[:2]``; of one centre alone, the second is at infinity.
    """
    k, n = distance.shape
    for first in range(0, n, BLOCK):
        stop = min(first + BLOCK, n)
        label, best, next_best = labels[first:stop], least[first:stop], second[first:stop]
        for i in range(stop - first):
            label[i] = 0
            best[i] = np.inf
            next_best[i] = np.inf
        for centre in range(k):
            row = distance[centre, first:stop]
            for i in range(stop - first):  # written so that it is vectorised
                here, so_far, other, was = row[i], best[i], next_best[i], label[i]
                nearer = here < so_far
                farther = so_far if nearer else here
                label[i] = centre if nearer else was
                best[i] = here if nearer else so_far
                next_best[i] = farther if farther < other else other


@kernel
def move_centres(
    points: Floats, weights: Floats, labels: Ints, changed: Ints, centres: Floats
) -> None:
    """The centres (K, d) that have ``changed`` become the weighted means of their points (n, d).

    NumPy, for each of them: ``np.average(points[labels == k], axis=0, weights=...)``.
    """
    mass = np.zeros(len(centres))
    for k in range(len(centres)):
        if changed[k]:
            for j in range(points.shape[1]):
                centres[k, j] = 0.0
    for i in range(len(points)):
        k = labels[i]
        if changed[k]:
            weight, point, centre = weights[i], points[i], centres[k]
            mass[k] += weight
            for j in range(points.shape[1]):
                centre[j] += weight * point[j]
    for k in range(len(centres)):
        if changed[k]:
            for j in range(points.shape[1]):
                centres[k, j] /= mass[k]

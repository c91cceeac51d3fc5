"""Where topics start: clusters of words that keep the same company.

With Omega the pair law of several lags summed and D the frequencies of the words,

    W = D^-1/2 (Omega + Omega') D^-1/2 ~ U diag(w) U'

gives word n the vector U_n |w|^1/2; its direction is the company that the word keeps.  k-means
on the directions of the frequent words gives one cluster per topic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh

from cohmm.kernels.compiled import Floats, Ints
from cohmm.model.sampling import generator

MOST_WORDS = 4000
OWN = 0.7  # the share of a topic that is its cluster; the rest is the corpus
LARGEST_DENSE = 500
STEPS = 100
TINY = 1e-300


def cluster_topics(
    omega: Any, n_components: int, random_state: int | None, n_init: int = 1
) -> list[Floats]:
    """``n_init`` times topics (K, V) to start from, for ``omega``, (V, V).

    That is a pair law or counts of pairs.  A word that occurs in no pair has no probability.  The
    first are the same for any ``n_init``.

    >>> (topics,) = cluster_topics(np.kron(np.eye(2), np.ones((2, 2))), 2, random_state=0)
    >>> np.sort(topics, axis=0)
    array([[0.075, 0.075, 0.075, 0.075],
           [0.425, 0.425, 0.425, 0.425]])
    """
    both = omega + omega.T
    frequency = np.asarray(both.sum(axis=0), np.float64).ravel()
    frequency = frequency / frequency.sum()
    order = np.argsort(-frequency, kind="stable")[:MOST_WORDS]
    words = np.sort(order[frequency[order] > 0])
    if len(words) < n_components:
        raise ValueError(
            f"{n_components} topics cannot be told apart by {len(words)} words that occur in pairs"
        )
    directions = _directions(both[words][:, words], n_components)
    first = generator(random_state)
    found = []
    for rng in [first, *first.spawn(n_init - 1)]:
        labels = k_means(directions, np.sqrt(frequency[words]), n_components, rng)
        topics = np.zeros((n_components, len(frequency)))
        topics[labels, words] = frequency[words]
        topics /= topics.sum(axis=1, keepdims=True)
        found.append(np.asarray(OWN * topics + (1 - OWN) * frequency))
    return found


def _directions(both: Any, k: int) -> Floats:
    """The words' vectors, scaled to length one, (n, k)."""
    scale = 1 / np.sqrt(np.maximum(np.asarray(both.sum(axis=0)).ravel(), TINY))
    if len(scale) <= max(LARGEST_DENSE, 3 * k):
        dense = np.asarray(both.toarray() if sparse.issparse(both) else both, np.float64)
        values, vectors = np.linalg.eigh(scale[:, None] * dense * scale)
        largest = np.argsort(-np.abs(values), kind="stable")[:k]
        values, vectors = values[largest], vectors[:, largest]
    else:
        diagonal = sparse.diags_array(scale)
        whitened = (diagonal @ sparse.csr_array(both, dtype=np.float64) @ diagonal).tocsr()
        begin = np.random.default_rng(0).normal(size=len(scale))  # ARPACK would draw its own
        values, vectors = eigsh(whitened, k, v0=begin, tol=1e-4)
    vectors = vectors * np.sqrt(np.abs(values))
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), TINY))


def k_means(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> Ints:
    """The cluster of every point, (n,), none of them empty: Lloyd's steps from k-means++.

    There must be ``k`` points at least.
    """
    centres = points[_spread(points, weights, k, rng)]
    labels = np.full(len(points), -1)
    for _ in range(STEPS):
        distance = (centres * centres).sum(axis=1) - 2 * points @ centres.T
        found = _none_empty(np.argmin(distance, axis=1), distance, k)
        if np.array_equal(found, labels):
            break
        labels = found
        members = sparse.csr_array((weights, (labels, np.arange(len(points)))), (k, len(points)))
        centres = (members @ points) / np.asarray(members.sum(axis=1))[:, None]
    return labels


def _spread(points: Floats, weights: Floats, k: int, rng: np.random.Generator) -> list[int]:
    """k points to begin with, each drawn by its squared distance from those before it."""
    nearest = np.ones(len(points))
    chosen: list[int] = []
    for _ in range(k):
        mass = weights * nearest
        mass[chosen] = 0.0
        if mass.sum() <= 0:  # all other points are where chosen ones are
            mass = np.ones(len(points))
            mass[chosen] = 0.0
        below = np.cumsum(mass)
        chosen.append(int(np.searchsorted(below, rng.random() * below[-1], side="right")))
        apart = ((points - points[chosen[-1]]) ** 2).sum(axis=1)
        nearest = apart if len(chosen) == 1 else np.minimum(nearest, apart)
    return chosen


def _none_empty(labels: Ints, distance: Floats, k: int) -> Ints:
    """Empty clusters get the points that are farthest from their centres."""
    size = np.bincount(labels, minlength=k)
    if size.all():
        return labels
    labels = labels.copy()
    own = distance[np.arange(len(labels)), labels]
    for point in np.argsort(-own, kind="stable"):
        empty = np.flatnonzero(size == 0)
        if not len(empty):
            break
        if size[labels[point]] > 1:
            size[labels[point]] -= 1
            labels[point] = empty[0]
            size[empty[0]] = 1
    return labels

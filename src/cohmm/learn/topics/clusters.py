"""Where topics start: clusters of words that keep the same company.

With Omega the pair law of several lags summed and D the frequencies of the words,

    W = D^-1/2 (Omega + Omega') D^-1/2 ~ U diag(w) U'

gives word n the vector U_n |w|^1/2, less what it has of D^1/2, the company that all words keep.
Its direction is the company that it keeps of its own, its length how much.  k-means on the
directions of the frequent words, weighted by the lengths, gives one cluster per topic; of several
runs the tightest.
"""

from __future__ import annotations

from collections.abc import Sequence
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
CLUSTERINGS = 10  # of which the tightest is taken: one alone often has two topics as one
TINY = 1e-300


def cluster_topics(
    omega: Any,
    n_components: int,
    random_state: int | None,
    n_init: int = 1,
    seeds: Sequence[Ints] = (),
) -> list[Floats]:
    """``n_init`` times topics (K, V) to start from, for ``omega``, (V, V).

    That is a pair law or counts of pairs.  A word that occurs in no pair has no probability.  The
    first are the same for any ``n_init``.  ``seeds`` are words that the first topics keep.

    >>> (topics,) = cluster_topics(np.kron(np.eye(2), np.ones((2, 2))), 2, random_state=0)
    >>> np.sort(topics, axis=0)
    array([[0.075, 0.075, 0.075, 0.075],
           [0.425, 0.425, 0.425, 0.425]])
    """
    both = omega + omega.T
    words, frequency = frequent_words(both, seeds)
    if len(words) < n_components:
        raise ValueError(
            f"{n_components} topics cannot be told apart by {len(words)} words that occur in pairs"
        )
    directions, own = _directions(both[words][:, words], n_components)
    held = np.full(len(frequency), -1)
    for topic, codes in enumerate(seeds):
        held[codes] = topic
    held = held[words]
    first = generator(random_state)
    found = []
    for rng in [first, *first.spawn(n_init - 1)]:
        labels = _tightest(directions, own, n_components, rng, held)
        topics = np.zeros((n_components, len(frequency)))
        topics[labels, words] = frequency[words]
        topics /= topics.sum(axis=1, keepdims=True)
        found.append(np.asarray(OWN * topics + (1 - OWN) * frequency))
    return found


def frequent_words(both: Any, also: Sequence[Ints] = ()) -> tuple[Ints, Floats]:
    """The words that clusters are made of, in order, and the share of every word, (V,)."""
    frequency = np.asarray(both.sum(axis=0), np.float64).ravel()
    frequency = frequency / frequency.sum()
    order = np.argsort(-frequency, kind="stable")[:MOST_WORDS]
    order = np.unique(np.concatenate([order, *also]))
    return order[frequency[order] > 0], frequency


def whitened(both: Any) -> Any:
    """D^-1/2 (Omega + Omega') D^-1/2, dense or sparse as it was."""
    scale = 1 / np.sqrt(np.maximum(np.asarray(both.sum(axis=0), np.float64).ravel(), TINY))
    if not sparse.issparse(both):
        return scale[:, None] * np.asarray(both, np.float64) * scale
    diagonal = sparse.diags_array(scale)
    return (diagonal @ sparse.csr_array(both, dtype=np.float64) @ diagonal).tocsr()


def main_directions(both: Any, k: int) -> tuple[Floats, Floats]:
    """The ``k`` largest eigenvalues of `whitened`, by size, and their vectors, (n, k)."""
    matrix = whitened(both)
    if matrix.shape[0] <= max(LARGEST_DENSE, 3 * k):
        values, vectors = np.linalg.eigh(matrix.toarray() if sparse.issparse(matrix) else matrix)
        largest = np.argsort(-np.abs(values), kind="stable")[:k]
        return values[largest], vectors[:, largest]
    begin = np.random.default_rng(0).normal(size=matrix.shape[0])  # ARPACK would draw its own
    values, vectors = eigsh(matrix, k, v0=begin, tol=1e-4)
    return values, vectors


def _directions(both: Any, k: int) -> tuple[Floats, Floats]:
    """The words' vectors, scaled to length one, (n, k), and their lengths before.

    All words keep the company of the corpus to some degree.  That direction, D^1/2, is taken out:
    words that keep no other have short vectors, and would be a cluster that is no topic.
    """
    values, vectors = main_directions(both, k)
    common = np.sqrt(np.asarray(both.sum(axis=0), np.float64).ravel())
    common /= np.linalg.norm(common)
    vectors = (vectors - np.outer(common, common @ vectors)) * np.sqrt(np.abs(values))
    lengths = np.maximum(np.linalg.norm(vectors, axis=1), TINY)
    return vectors / lengths[:, None], lengths


def _tightest(
    points: Floats, weights: Floats, k: int, rng: np.random.Generator, held: Ints
) -> Ints:
    """Of several clusterings the one whose points are nearest to their centres."""
    tries = [k_means(points, weights, k, rng, held) for _ in range(CLUSTERINGS)]
    return min(tries, key=lambda labels: scatter(points, weights, labels, k))


def scatter(points: Floats, weights: Floats, labels: Ints, k: int) -> float:
    """The weighted sum of the points' squared distances from the centres of their clusters.

    >>> scatter(np.array([[0.0], [2.0], [5.0]]), np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), 2)
    2.0
    """
    apart = points - _centres(points, weights, labels, k)[labels]
    return float(weights @ (apart * apart).sum(axis=1))


def _centres(points: Floats, weights: Floats, labels: Ints, k: int) -> Floats:
    members = sparse.csr_array((weights, (labels, np.arange(len(points)))), (k, len(points)))
    return np.asarray((members @ points) / np.asarray(members.sum(axis=1))[:, None])


def k_means(
    points: Floats, weights: Floats, k: int, rng: np.random.Generator, held: Ints | None = None
) -> Ints:
    """The cluster of every point, (n,), none of them empty: Lloyd's steps from k-means++.

    There must be ``k`` points at least.  Where ``held``, (n,), is not below zero, it is the cluster
    of the point; such clusters are the first.
    """
    if held is None:
        held = np.full(len(points), -1)
    kept = held >= 0
    n_held = int(held.max(initial=-1)) + 1
    given = _centres(points[kept], weights[kept], held[kept], n_held)
    centres = np.concatenate([given, points[_spread(points, weights, k, rng, given)]])
    labels = np.full(len(points), -1)
    for _ in range(STEPS):
        distance = (centres * centres).sum(axis=1) - 2 * points @ centres.T
        found = np.where(kept, held, np.argmin(distance, axis=1))
        found = _none_empty(found, distance, k)
        if np.array_equal(found, labels):
            break
        labels = found
        centres = _centres(points, weights, labels, k)
    return labels


def _spread(
    points: Floats, weights: Floats, k: int, rng: np.random.Generator, given: Floats
) -> list[int]:
    """Points to begin with, beside ``given`` ones, each drawn by its distance from those before."""
    nearest = np.ones(len(points))
    for n, centre in enumerate(given):
        apart = ((points - centre) ** 2).sum(axis=1)
        nearest = apart if n == 0 else np.minimum(nearest, apart)
    chosen: list[int] = []
    for n in range(len(given), k):
        mass = weights * nearest
        mass[chosen] = 0.0
        if mass.sum() <= 0:  # all other points are where chosen ones are
            mass = np.ones(len(points))
            mass[chosen] = 0.0
        below = np.cumsum(mass)
        chosen.append(int(np.searchsorted(below, rng.random() * below[-1], side="right")))
        apart = ((points - points[chosen[-1]]) ** 2).sum(axis=1)
        nearest = apart if n == 0 else np.minimum(nearest, apart)
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

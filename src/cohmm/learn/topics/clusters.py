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

from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.topics.eigenvectors import largest_eigenvectors
from cohmm.learn.topics.k_means import k_means, scatter
from cohmm.model.sampling import generator

MOST_WORDS = 4000
OWN = 0.7  # the share of a topic that is its cluster; the rest is the corpus
LARGEST_DENSE = 500
CLUSTERINGS = 3  # of which the tightest is taken
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
    words, frequency = frequent_words(omega, seeds)
    if len(words) < n_components:
        raise ValueError(
            f"{n_components} topics cannot be told apart by {len(words)} words that occur in pairs"
        )
    directions, own = _directions(both_ways(omega, words), n_components)
    held = np.full(len(frequency), -1)
    for topic, codes in enumerate(seeds):
        held[codes] = topic
    held = held[words]
    streams = generator(random_state).spawn(n_init * CLUSTERINGS)
    found = []
    for n in range(0, len(streams), CLUSTERINGS):
        some = streams[n : n + CLUSTERINGS]
        labels = _tightest(directions, own, n_components, some, held)
        topics = np.zeros((n_components, len(frequency)))
        topics[labels, words] = frequency[words]
        topics /= topics.sum(axis=1, keepdims=True)
        found.append(np.asarray(OWN * topics + (1 - OWN) * frequency))
    return found


def frequent_words(omega: Any, also: Sequence[Ints] = ()) -> tuple[Ints, Floats]:
    """The words that clusters are made of, in order, and the share of every word, (V,)."""
    frequency = np.asarray(omega.sum(axis=0) + omega.sum(axis=1), np.float64).ravel()
    frequency = frequency / frequency.sum()
    order = np.argsort(-frequency, kind="stable")[:MOST_WORDS]
    order = np.unique(np.concatenate([order, *also]))
    return order[frequency[order] > 0], frequency


def both_ways(omega: Any, words: Ints) -> Any:
    """Omega + Omega' among some of the words."""
    some = omega[words][:, words]
    return some + some.T


def whitened(both: Any) -> Any:
    """D^-1/2 (Omega + Omega') D^-1/2, dense or sparse as it was."""
    scale = 1 / np.sqrt(np.maximum(np.asarray(both.sum(axis=0), np.float64).ravel(), TINY))
    if not sparse.issparse(both):
        return scale[:, None] * np.asarray(both, np.float64) * scale
    matrix = sparse.csr_array(both, dtype=np.float64)
    values = matrix.data * np.repeat(scale, np.diff(matrix.indptr)) * scale[matrix.indices]
    return sparse.csr_array((values, matrix.indices, matrix.indptr), matrix.shape)


def main_directions(both: Any, k: int) -> tuple[Floats, Floats]:
    """The ``k`` largest eigenvalues of `whitened`, by size, and their vectors, (n, k)."""
    matrix = whitened(both)
    if matrix.shape[0] <= max(LARGEST_DENSE, 3 * k):
        values, vectors = np.linalg.eigh(matrix.toarray() if sparse.issparse(matrix) else matrix)
        largest = np.argsort(-np.abs(values), kind="stable")[:k]
        return values[largest], vectors[:, largest]
    return largest_eigenvectors(sparse.csr_array(matrix), k)


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
    points: Floats, weights: Floats, k: int, streams: list[np.random.Generator], held: Ints
) -> Ints:
    """Of several clusterings the one whose points are nearest to their centres."""
    tries = run(lambda rng: k_means(points, weights, k, rng, held), [(rng,) for rng in streams])
    return min(tries, key=lambda labels: scatter(points, weights, labels, k))

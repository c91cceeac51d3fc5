"""An order of states in which those that follow one another are neighbours."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from cohmm.kernels.types import Floats

EDGES_BY_STATE = 2.5


def next_state(transitions: Floats) -> Floats:
    """Which state follows, where one is left: P(j | i is left), (K, K), with a diagonal of zero.

    >>> next_state(np.array([[.5, .5, 0], [.1, .8, .1], [0, 0, 1]]))
    array([[0. , 1. , 0. ],
           [0.5, 0. , 0.5],
           [0. , 0. , 0. ]])
    """
    leaving = transitions * (1 - np.eye(len(transitions)))
    sums = leaving.sum(axis=1, keepdims=True)
    return np.asarray(leaving / np.where(sums > 0, sums, 1.0))


def seriated(transitions: Floats, prevalence: Floats) -> list[int]:
    """The order of the leaves of a tree (Bar-Joseph et al. 2001) in which flows are short.

    >>> a = np.array([[.9, 0, .1, 0], [0, .9, 0, .1], [.1, 0, .9, 0], [0, .1, 0, .9]])
    >>> seriated(a, np.full(4, .25))
    [0, 2, 3, 1]
    """
    k = len(transitions)
    if k < 3:
        return list(range(k))
    follows = next_state(transitions)
    expected = np.outer(prevalence, prevalence)
    flow = prevalence[:, None] * follows
    # How much more often than by chance, so that a frequent state is not near to all.
    near = np.log1p((flow + flow.T) / np.maximum(expected + expected.T, 1e-300))
    apart = near.max() - near
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return [int(state) for state in leaves_list(tree)]


def first_threshold(transitions: Floats) -> float:
    """The probability above which there are about `EDGES_BY_STATE` edges a state."""
    follows = next_state(transitions)
    values = np.sort(follows[follows > 0])[::-1]
    wanted = int(EDGES_BY_STATE * len(follows))
    return float(values[wanted]) if len(values) > wanted else 0.0

"""Markov chains: distributions, the stationary one, powers, and which states go together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm._validation import as_floats
from cohmm.kernels.types import Floats, Ints

SUM_TOLERANCE = 1e-6  # of a row given by a user; what is kept sums to one to rounding
EDGES_BY_STATE = 2.5


def stationary_distribution(transmat: Floats) -> Floats:
    """pi with pi = pi A, by state reduction, which subtracts nothing and so loses no digits.

    Grassmann, Taksar and Heyman (1985).  States that the chain leaves for good get zero; a
    chain with several closed classes has no single answer, which is an error.
    """
    n_classes, label = sparse.csgraph.connected_components(
        sparse.csr_array(transmat), directed=True, connection="strong"
    )
    leaves = np.zeros(n_classes, bool)
    origin, target = np.nonzero(transmat)
    leaves[label[origin[label[origin] != label[target]]]] = True
    closed = np.flatnonzero(~leaves)
    if len(closed) > 1:
        apart = [np.flatnonzero(label == c).tolist() for c in closed[:2]]
        raise ValueError(
            "the chain has no single stationary distribution: it stays for ever in the states "
            f"{apart[0]} or in {apart[1]}"
        )
    inside = np.flatnonzero(label == closed[0])
    reduced = transmat[np.ix_(inside, inside)].copy()
    for n in range(len(inside) - 1, 0, -1):
        reduced[:n, n] /= reduced[n, :n].sum()
        reduced[:n, :n] += np.outer(reduced[:n, n], reduced[n, :n])
    weight = np.ones(len(inside))
    for n in range(1, len(inside)):
        weight[n] = weight[:n] @ reduced[:n, n]
    pi = np.zeros(len(transmat))
    pi[inside] = weight / weight.sum()
    return pi


def transition_power(transmat: Floats, n: int) -> Floats:
    """P(state after n steps | state now), for n from 1, by repeated squaring.

    Rows are scaled to sum to one after each product, so that their error does not grow with n;
    all terms are positive, so nothing else cancels.
    """
    step, power = _scaled(transmat), None
    while True:
        if n % 2:
            power = step if power is None else _scaled(power @ step)
        n //= 2
        if n == 0:
            return np.asarray(power)
        step = _scaled(step @ step)


def _scaled(rows: Floats) -> Floats:
    scaled: Floats = rows / rows.sum(axis=1, keepdims=True)
    return scaled


def probabilities(name: str, values: Any, ndim: int) -> Floats:
    """A read-only copy whose rows are distributions."""
    array = as_floats(name, values)
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} must have {ndim} dimension(s), not the shape {array.shape}")
    wrong = ~(array >= 0) | ~np.isfinite(array)
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(place)} is {array[place]}: not a probability")
    sums = array.sum(axis=-1, keepdims=True)
    off = np.abs(sums - 1).ravel()
    if off.max() > SUM_TOLERANCE:
        row = int(off.argmax())
        which = name if ndim == 1 else f"row {row} of {name}"
        raise ValueError(f"{which} sums to {sums.ravel()[row]:.8g}, not to 1")
    if off.max() > 1e-12:
        array /= sums
    array.setflags(write=False)
    return array


class Distance(NamedTuple):
    """Mean total variation of emissions and of transitions, the states matched."""

    emission: float
    transition: float


def match_rows(left: Floats, right: Floats) -> Ints:
    """The row of ``left`` that stands for each row of ``right``, by least total variation."""
    from scipy.optimize import linear_sum_assignment  # each takes its time to import
    from scipy.spatial.distance import cdist

    rows, columns = linear_sum_assignment(cdist(right, left, "cityblock"))
    return np.asarray(columns[np.argsort(rows)])


def total_variation(left: Floats, right: Floats) -> float:
    """The paper's measure: half the sum of absolute differences, averaged over the rows."""
    return float(np.abs(left - right).sum() / (2 * len(left)))


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
    from scipy.cluster.hierarchy import leaves_list, linkage  # each takes its time to import
    from scipy.spatial.distance import squareform

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

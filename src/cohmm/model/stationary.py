"""A Markov chain after many steps, and after ever so many: its stationary distribution."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cohmm.kernels.types import Floats


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

"""The stationary distribution of a Markov chain."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cohmm.kernels.compiled import Floats


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

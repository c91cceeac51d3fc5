"""Transitions between more states than symbols, from what comes before and after each state.

    M Theta  = L diag(pi),      M Theta' = R diag(pi),      Theta = diag(pi) A >= 0

The paper takes the second equation alone, row by row: N equations for K unknowns, of which
at most N/2 are not zero, and the sparsest solution.  To find that by a least sum of absolute
values is no way: columns of M sum to one, so every solution has the same sum.  Both equations
together leave (K - N)^2 of the K^2 unknowns free (a change of Theta must have its columns and
its rows in the null space of M), and Theta >= 0 settles those wherever it has enough zeros:
about twice as many as there are unknowns free.  Then non-negative least squares are enough.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats, Ints

NO_GAIN = 1e-12  # of the largest gradient at zero: an entry that promises less stays zero
TILT = 1e-9  # of the same
ROUNDING = 1e-14
AT_ONCE = 0.1


def joint_transitions(m: Floats, before: Floats, after: Floats) -> Floats:
    """Theta >= 0 with least |M Theta - before|^2 + |M Theta' - after|^2, (K, K).

    Lawson and Hanson's active sets.  The Gram matrix of the K^2 unknowns is never formed: an
    entry of it is one of M'M, or zero.

    Parameters
    ----------
    m, before, after : array, (N, K)
        M, L diag(pi) and R diag(pi).
    """
    gram = m.T @ m
    target = m.T @ before + (m.T @ after).T
    return _solve(gram, target, NO_GAIN)


def undetermined(m: Floats, before: Floats, after: Floats, rng: np.random.Generator) -> float:
    """How far the answer is from being the only one: 0 if it is, else up to 1.

    Slight costs of the transitions, drawn at random, move an answer that is the only one by a
    trifle, and any other to some end of the possible ones.  What is returned is the total
    variation between the answers for two draws.
    """
    gram = m.T @ m
    target = m.T @ before + (m.T @ after).T
    costs = TILT * target.max() * rng.exponential(size=(2, *target.shape))
    one, other = (_solve(gram, target - cost, ROUNDING) for cost in costs)
    return 0.5 * float(np.abs(one - other).sum())


def _solve(gram: Floats, target: Floats, no_gain: float) -> Floats:
    k = len(gram)
    theta = np.zeros((k, k))
    free = np.zeros((k, k), bool)
    least = no_gain * target.max()
    for _ in range(3 * k * k):
        gradient = np.where(free, -np.inf, target - gram @ theta - theta @ gram).ravel()
        # A tenth more entries at a time; one of them stays at least, so the sum falls.
        best = np.argsort(-gradient, kind="stable")[: max(1, int(AT_ONCE * free.sum()))]
        best = best[gradient[best] > max(least, 0.5 * gradient[best[0]])]
        if not len(best):
            break
        free.flat[best] = True
        theta = _on(free, theta, gram, target)
        if not free.flat[best].any():  # rounding: the gradient promised what is not there
            break
    return theta


def _on(free: Ints, theta: Floats, gram: Floats, target: Floats) -> Floats:
    """Least squares in the ``free`` entries; those that would be negative are free no more."""
    while True:
        i, j = np.nonzero(free)
        hessian = gram[np.ix_(i, i)] * (j[:, None] == j) + gram[np.ix_(j, j)] * (i[:, None] == i)
        hessian[np.diag_indices(len(i))] += ROUNDING * gram.max()
        solution = np.linalg.solve(hessian, target[i, j])
        if (solution > 0).all():
            out = np.zeros_like(theta)
            out[i, j] = solution
            return out
        here = theta[i, j]
        falling = solution <= 0
        room, way = here[falling], here[falling] - solution[falling]
        share = np.divide(room, way, out=np.zeros_like(way), where=way > 0)
        here = here + share.min() * (solution - here)
        stop = falling & (here <= ROUNDING * here.max(initial=0.0))
        stop[np.flatnonzero(falling)[share.argmin()]] = True
        here[stop] = 0.0
        theta = np.zeros_like(theta)
        theta[i, j] = here
        free[i[stop], j[stop]] = False

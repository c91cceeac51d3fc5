"""The inverse of an information matrix among probabilities that sum to one, row by row.

    Cov(p) = D [(J + c QQ')^-1 - QQ'/c] D,     D = diag(d),   Q = d scaled to one, row by row

J is the information about u = dp / d, and Q what u may not change, as sum dp = 0.  Directions
about which J says nothing are left out, and named.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from cohmm.kernels.types import Floats, Ints

WIDEST = 0.5  # a standard error of a probability beyond which nothing is known of it
NOTHING = 1e-12  # of the mean information: below is rounding
LEAST = 1e-300
ENOUGH = 100.0  # of c: Q is then never taken for a direction that nothing is known of
INVOLVED = 0.01  # of the largest entry of a direction


class Covariance(NamedTuple):
    """Of some probabilities, n of them."""

    matrix: Floats
    """(n, n); without the directions that nothing is known of."""
    directions: Floats
    """Those, (m, n), each a change of the probabilities; the largest change is 1."""

    @property
    def unknown(self) -> np.ndarray:
        """Which probabilities are part of such a direction, (n,)."""
        return np.asarray((np.abs(self.directions) > INVOLVED).any(axis=0))


def tangent_covariance(information: Floats, scale: Floats, rows: Ints) -> Covariance:
    """The inverse, for probabilities in these ``rows``, (n,), each of which sums to one.

    >>> three = tangent_covariance(10 * np.eye(3), np.sqrt([.25, .25, .5]), np.zeros(3, int))
    >>> (three.matrix * 10).round(4).tolist()  # p (1 - p), - p q: ten observations
    [[0.1875, -0.0625, -0.125], [-0.0625, 0.1875, -0.125], [-0.125, -0.125, 0.25]]
    """
    n = len(scale)
    if not n:
        return Covariance(np.zeros((0, 0)), np.zeros((0, 0)))
    distinct, place = np.unique(rows, return_inverse=True)
    alone = np.bincount(place)[place] == 1  # such a probability is one, whatever the data says
    q = np.zeros((n, len(distinct)))
    q[np.arange(n), place] = scale
    q /= np.linalg.norm(q, axis=0)
    # Q has one entry per row: projecting is cheap, and J need not know of the tangent.
    inside = q.T @ information
    projected = information - q @ inside - inside.T @ q.T + q @ (inside @ q) @ q.T
    weight = max(float(np.trace(projected)) / n, ENOUGH)
    projected += weight * (q @ q.T)
    projected = (projected + projected.T) / 2
    taken = q @ q.T / weight
    try:
        factor = linalg.cho_factor(projected, lower=True, check_finite=False)
        matrix = linalg.cho_solve(factor, np.eye(n), check_finite=False) - taken
        matrix = scale[:, None] * matrix * scale
        matrix[alone], matrix[:, alone] = 0.0, 0.0
        if np.max(matrix.diagonal()) <= WIDEST**2 and np.min(factor[0].diagonal()) > 0:
            return Covariance(matrix, np.zeros((0, n)))
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(projected, check_finite=False)
    changes = scale[:, None] * vectors
    reach = np.abs(changes).max(axis=0)
    bad = (values <= NOTHING * weight) | (reach > WIDEST * np.sqrt(np.maximum(values, LEAST)))
    good = vectors[:, ~bad]
    matrix = scale[:, None] * ((good / values[~bad]) @ good.T - taken) * scale
    matrix[alone], matrix[:, alone] = 0.0, 0.0
    return Covariance(matrix, (changes[:, bad] / reach[bad]).T)

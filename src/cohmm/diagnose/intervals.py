"""Probabilities that were estimated, and how far off each may be.

The sandwich: with H the information about u = dp / d, and V the variance of the sum of the scores,

    Cov(p) = D H^+ V H^+ D,     H^+ = (H + c QQ')^-1 - QQ'/c,     D = diag(d)

Q is d scaled to one, row by row: what u may not change, as sum dp = 0.  Directions about which H
says nothing are left out, and named.

Most estimates are normal.  One whose expected count is below one is *pinned* at zero: it may be
as large as the likelihood lets it be,

    g x + h x^2 / 2 = z^2 / 2,     g = - slope,   h = information

An estimate that is 1.645 standard errors from zero at most may be zero in truth.  If all of those
were, others would lie elsewhere: an interval is the union of both (*united*).  Which those are does
not depend on the level, so that a higher level has the wider interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from cohmm._validation import shown
from cohmm.kernels.types import Floats, Ints

RELATIVE_RIDGE = 1e-9  # of the largest eigenvalue: below is rounding
FLOOR = 1e-300
MAY_BE_ZERO = 1.645  # standard errors, as of 90 %
MAX_ERROR = 0.5  # a standard error of a probability beyond which nothing is known of it
NO_INFORMATION = 1e-12  # of the mean information: below is rounding
MIN_WEIGHT = 100.0  # of c: Q is then never taken for a direction that nothing is known of
INVOLVED = 0.01  # of the largest entry of a direction


class Tables(NamedTuple):
    """Three arrays, as a model has them."""

    startprob: Floats
    transmat: Floats
    emissionprob: Floats


TABLES = Tables._fields


class Interval(NamedTuple):
    """From where to where each probability may be."""

    low: Tables
    high: Tables


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of P probabilities.

    Parameters
    ----------
    estimate : array, (P,)
        The probabilities.
    rows : int array, (P,)
        Those of one row sum to one.
    free : int array, (F,)
        The places of those that are normal.
    covariance : array, (F, F)
        Theirs.
    bias : array, (F,)
        Additional bias.
    pinned : int array, (B,)
        The places of those at zero.
    slope, curvature : arrays, (B,)
        g and h of those.
    directions : array, (m, P)
        Changes that the data says nothing about.
    unknown : bool array, (P,)
        Entries that take part in such a change.

    All others are held where they are.
    """

    estimate: Floats
    rows: Ints
    free: Ints
    covariance: Floats
    bias: Floats
    pinned: Ints
    slope: Floats
    curvature: Floats
    directions: Floats
    unknown: np.ndarray

    def errors(self) -> Floats:
        """Standard errors, (P,); NaN where nothing is known.

        Of what is pinned, how far it is to where the log-likelihood has fallen by half a nat.
        """
        errors = np.zeros(len(self.estimate))
        errors[self.free] = np.hypot(self._deviations(), self.bias)
        errors[self.pinned] = self._bound(1.0)
        errors[self.unknown] = np.nan
        return errors

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """From where to where, z standard errors from the estimate."""
        low, high = self.estimate.copy(), self.estimate.copy()
        p = self.estimate[self.free]
        error = np.hypot(self._deviations(), self.bias)
        low[self.free], high[self.free] = p - z * error, p + z * error
        at_zero = p < MAY_BE_ZERO * error
        if at_zero.any() and not at_zero.all():
            middle, narrow = self._given_zeros(at_zero)
            half = z * np.hypot(narrow, self.bias)[~at_zero]
            others = self.free[~at_zero]
            low[others] = np.minimum(low[others], middle[~at_zero] - half)
            high[others] = np.maximum(high[others], middle[~at_zero] + half)
        bound = self._bound(z)
        low[self.pinned] = 0.0
        high[self.pinned] = np.maximum(bound, self.estimate[self.pinned])
        self._leave_room(low, bound)
        low[self.unknown], high[self.unknown] = 0.0, 1.0
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def _deviations(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(self.covariance.diagonal(), 0.0)))

    def _given_zeros(self, zero: np.ndarray) -> tuple[Floats, Floats]:
        """Means and standard errors, (F,), if those were zero."""
        c, p = self.covariance, self.estimate[self.free]
        inner = c[np.ix_(zero, zero)]
        scale = np.sqrt(np.maximum(inner.diagonal(), FLOOR))
        # Of a sandwich, correlations may be singular, or off by rounding.
        values, vectors = linalg.eigh(inner / scale[:, None] / scale, check_finite=False)
        kept = values > RELATIVE_RIDGE * max(float(values[-1]), FLOOR)
        root = (vectors[:, kept] / np.sqrt(values[kept])) / scale[:, None]
        gain = root @ (root.T @ c[zero])
        variance = c.diagonal() - np.einsum("zf,zf->f", gain, c[zero])
        return p - p[zero] @ gain, np.sqrt(np.maximum(variance, 0.0))

    def _bound(self, z: float) -> Floats:
        """Where the log-likelihood of what is pinned has fallen by z^2 / 2, (B,)."""
        g, h, fall = self.slope, self.curvature, z * z
        with np.errstate(divide="ignore"):
            return np.minimum(fall / (g + np.sqrt(g * g + h * fall)), 1.0)

    def _leave_room(self, low: Floats, bound: Floats) -> None:
        """One that is alone in its row is as uncertain as the zeros beside it."""
        if not len(self.pinned):
            return
        _, places, times = np.unique(self.rows[self.free], return_index=True, return_counts=True)
        alone = self.free[places[times == 1]]
        widest = np.zeros(int(self.rows.max()) + 1)
        np.maximum.at(widest, self.rows[self.pinned], bound)
        low[alone] -= widest[self.rows[alone]]


def sandwich(
    estimate: Floats,
    rows: Ints,
    *,
    information: Floats,
    scale: Floats,
    slope: Floats,
    pinned: np.ndarray,
    held: np.ndarray,
    variance: Floats | None = None,
    pull: Floats | None = None,
    inflation: float = 1.0,
    adapted: np.ndarray | None = None,
) -> Estimates:
    """Errors of estimates that solve score = ``pull``.

    Parameters
    ----------
    information, variance : arrays, (P, P)
        H and V, about u = dp / ``scale``; default of V: H, times ``inflation``.
    slope : array, (P,)
        How the log-likelihood changes as an entry grows at the cost of its row, or as much of that
        as is certain.
    pinned, held : bool arrays, (P,) and at most (P,)
        Which entries are at zero, and which were never estimated.  Entries beyond ``held`` are
        estimated beside the others, and not reported.
    pull : array, (P,), optional
        What the score was at the estimate: the cause of a bias.
    adapted : bool array, (P,), optional
        Zeros that are as certain as they are if all others adapt to them, not if they stay;
        default: all.
    """
    n = len(held)
    fixed = np.append(held, np.zeros(len(estimate) - n, bool))
    free, zero = np.flatnonzero(~fixed & ~pinned), np.flatnonzero(pinned & ~fixed)
    bread = constrained_covariance(information[np.ix_(free, free)], scale[free], rows[free])
    curvature = information[zero, zero]
    loose = np.ones(len(zero), bool) if adapted is None else adapted[zero]
    across = information[np.ix_(zero[loose], free)] / scale[free]  # about dp
    curvature[loose] -= np.einsum("zf,zf->z", across @ bread.matrix, across)
    covariance = inflation * bread.matrix
    if variance is not None:
        inverse = bread.matrix / scale[free]
        covariance = inverse @ variance[np.ix_(free, free)] @ inverse.T
    bias = np.zeros(len(free)) if pull is None else np.abs(bread.matrix @ pull[free])
    directions, unknown = np.zeros((len(bread.directions), n)), np.zeros(n, bool)
    inner, zero, loose = free < n, zero[zero < n], zero < n
    directions[:, free[inner]] = bread.directions[:, inner]
    unknown[free[inner]] = bread.unknown[inner]
    return Estimates(
        estimate[:n],
        rows[:n],
        free[inner],
        covariance[np.ix_(inner, inner)],
        bias[inner],
        zero,
        np.maximum(-slope[zero], 0.0),
        np.maximum(curvature[loose], 0.0) / scale[zero] ** 2 / inflation,
        directions,
        unknown,
    )


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


def constrained_covariance(information: Floats, scale: Floats, rows: Ints) -> Covariance:
    """D H^+ D, for probabilities in these ``rows``, (n,), each of which sums to one.

    >>> three = constrained_covariance(10 * np.eye(3), np.sqrt([.25, .25, .5]), np.zeros(3, int))
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
    # Q has one entry per row: projecting is cheap, and H need not know of the tangent.
    inside = q.T @ information
    projected = information - q @ inside - inside.T @ q.T + q @ (inside @ q) @ q.T
    weight = max(float(np.trace(projected)) / n, MIN_WEIGHT)
    projected += weight * (q @ q.T)
    projected = (projected + projected.T) / 2

    def scaled(inverse: Floats) -> Floats:
        matrix = scale[:, None] * (inverse - q @ q.T / weight) * scale
        matrix[alone], matrix[:, alone] = 0.0, 0.0
        return matrix

    try:
        factor = linalg.cho_factor(projected, lower=True, check_finite=False)
        matrix = scaled(linalg.cho_solve(factor, np.eye(n), check_finite=False))
        if np.max(matrix.diagonal()) <= MAX_ERROR**2 and np.min(factor[0].diagonal()) > 0:
            return Covariance(matrix, np.zeros((0, n)))
    except linalg.LinAlgError:
        pass
    values, vectors = linalg.eigh(projected, check_finite=False)
    changes = scale[:, None] * vectors
    reach = np.abs(changes).max(axis=0)
    bad = reach > MAX_ERROR * np.sqrt(np.maximum(values, FLOOR))
    bad |= values <= NO_INFORMATION * weight
    good = vectors[:, ~bad]
    matrix = scaled((good / values[~bad]) @ good.T)
    return Covariance(matrix, (changes[:, bad] / reach[bad]).T)


def check_level(level: Any) -> float:
    """A coverage, if it is one."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ValueError(f"level must be between 0 and 1, such as .9, not {shown(level)}")
    return float(level)

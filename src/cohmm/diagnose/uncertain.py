"""Probabilities that were estimated, and how far off each may be.

Most are normal around the estimate.  One whose expected count is below one is *pinned* at zero:
it may be as large as the likelihood lets it be,

    g x + h x^2 / 2 = z^2 / 2,     g = - slope,   h = information

An estimate that is 1.645 standard errors from zero at most may be zero in truth.  If all of those
were, others would lie elsewhere: an interval is the union of both (*united*).  Which those are does
not depend on the level that is asked for, so that a higher level has the wider interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from cohmm.diagnose.tangent import tangent_covariance
from cohmm.kernels.types import Floats, Ints

RIDGE = 1e-9  # of the largest eigenvalue: below is rounding
TINY = 1e-300
MAY_BE_ZERO = 1.645  # standard errors, as of 90 %


@dataclass(frozen=True, eq=False)
class Uncertain:
    """Estimates of P probabilities.

    Parameters
    ----------
    estimate : array, (P,)
        Where they are thought to be.
    rows : int array, (P,)
        Those of one row sum to one.
    free : int array, (F,)
        The places of those that are normal.
    covariance : array, (F, F)
        Theirs.
    bias : array, (F,)
        By how much each may be off beside.
    pinned : int array, (B,)
        The places of those at zero.
    slope, curvature : arrays, (B,)
        g and h of those.
    directions : array, (m, P)
        Changes that the data says nothing about.

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
        variance = np.maximum(self.covariance.diagonal(), 0.0)
        errors[self.free] = np.sqrt(variance + self.bias**2)
        errors[self.pinned] = self._bound(1.0)
        errors[self.unknown] = np.nan
        return errors

    def interval(self, z: float) -> tuple[Floats, Floats]:
        """From where to where, z standard errors from the estimate."""
        low, high = self.estimate.copy(), self.estimate.copy()
        p = self.estimate[self.free]
        error = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0))
        whole = np.hypot(error, self.bias)
        low[self.free], high[self.free] = p - z * whole, p + z * whole
        at_zero = p < MAY_BE_ZERO * whole
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

    def _given_zeros(self, zero: np.ndarray) -> tuple[Floats, Floats]:
        """Means and standard errors, (F,), if those were zero."""
        c, p = self.covariance, self.estimate[self.free]
        inner = c[np.ix_(zero, zero)]
        scale = np.sqrt(np.maximum(inner.diagonal(), TINY))
        # Of a sandwich, correlations may be singular, or off by rounding.
        values, vectors = linalg.eigh(inner / scale[:, None] / scale, check_finite=False)
        kept = values > RIDGE * max(float(values[-1]), TINY)
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


def from_information(
    estimate: Floats,
    rows: Ints,
    *,
    information: Floats,
    scale: Floats,
    slope: Floats,
    pinned: np.ndarray,
    held: np.ndarray,
    inflation: float = 1.0,
    adapted: np.ndarray | None = None,
) -> Uncertain:
    """What maximum likelihood knows of its estimates.

    ``information`` (P, P) is about u = dp / ``scale``; ``slope`` (P,) how the log-likelihood
    changes as an entry grows at the cost of its row, or as much of that as is certain.
    ``pinned`` and ``held`` (P,) say which are at zero, and which were never estimated.  A zero
    is as certain as it is if all others adapt to it, or, where not ``adapted`` (P,), if they stay.
    """
    free = np.flatnonzero(~held & ~pinned)
    zero = np.flatnonzero(pinned & ~held)
    found = tangent_covariance(information[np.ix_(free, free)], scale[free], rows[free])
    curvature = information[zero, zero]
    loose = np.ones(len(zero), bool) if adapted is None else adapted[zero]
    across = information[np.ix_(zero[loose], free)] / scale[free]  # about dp
    curvature[loose] -= np.einsum("zf,zf->z", across @ found.matrix, across)
    directions = np.zeros((len(found.directions), len(estimate)))
    directions[:, free] = found.directions
    unknown = np.zeros(len(estimate), bool)
    unknown[free] = found.unknown
    return Uncertain(
        estimate,
        rows,
        free,
        inflation * found.matrix,
        np.zeros(len(free)),
        zero,
        np.maximum(-slope[zero], 0.0),
        np.maximum(curvature, 0.0) / scale[zero] ** 2 / inflation,
        directions,
        unknown,
    )

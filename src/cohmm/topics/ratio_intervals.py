"""Intervals for ratios of sums over documents, group by group.

A share is R = sum_d x_d / sum_d n_d: the words of a topic over all words of a group's documents.
Words of one document are not independent of one another, so documents are the units.  With
w_d = n_d / sum n, the variance of R, unbiased where documents are alike, is

    v = sum_d (x_d / n_d - R)^2 w_d^2 / (1 - w_d),

and 1 / sum w_d^2 - 1 are its degrees of freedom: one less than the documents, where these are of
equal length.  A group of few documents knows little of its own variance, and one in which a topic
never occurs knows nothing.  So it is measured against what it would be if every document were all
or nothing,

    rho = v / (R (1 - R) sum_d w_d^2),

and averaged with the rho of the other groups, which counts for 8 degrees of freedom.  The
interval is then Wilson's, all p with

    |R - p| <= t sqrt(rho p (1 - p) sum_d w_d^2)

for the quantile t of Student's law: within 0 and 1, and with a length where R is 0.

A mean length, words over runs, is at least 1 and has no upper bound: its variance is measured
against R^2, where other groups count for 3 degrees, and its interval is symmetric in log R.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import stdtrit

from cohmm.kernels.types import Floats, Ints

# Degrees of freedom that the other groups count for, as few as cover in benchmarks/over.py: the
# variance of lengths is less alike in different groups.
OTHERS = {"share": 8.0, "length": 3.0}


class Ratios(NamedTuple):
    """A ratio and its interval, (G, K) each; NaN where there is none."""

    value: Floats
    low: Floats
    high: Floats


def ratio_intervals(
    part: Any,
    whole: Any,
    which: Any,
    n_groups: int,
    *,
    level: float = 0.9,
    kind: Literal["share", "length"] = "share",
) -> Ratios:
    """The ratio of sums in every group, with intervals.

    Parameters
    ----------
    part : array, (D, K)
        Words of every topic in every document.
    whole : array, (D,) or (D, K)
        All words of the document; or, for lengths, the runs of every topic.
    which : array, (D,)
        The group of every document, from 0 to G - 1.
    n_groups : int
        G.
    level : float
        How often an interval should hold the truth.
    kind : "share" or "length"
        See the module.

    >>> found = ratio_intervals([[2], [3], [0], [0]], [10, 10, 10, 10], [0, 0, 1, 1], 2)
    >>> found.value.ravel(), found.low.ravel().round(3), found.high.ravel().round(3)
    (array([0.25, 0.  ]), array([0.067, 0.   ]), array([0.606, 0.102]))
    """
    part = np.asarray(part, np.float64)
    whole = np.broadcast_to(_column(whole), part.shape)
    which = np.asarray(which, np.int64)
    total = _by_group(whole, which, n_groups)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = _by_group(part, which, n_groups) / total
        weights = whole / total[which]  # (D, K)
        error = (part - value[which] * whole) / total[which]
        terms = np.where(weights < 1, error**2 / (1 - weights), 0.0)
    there = whole > 0
    variance = _by_group(np.where(there, terms, 0.0), which, n_groups)
    squares = _by_group(np.where(there, weights**2, 0.0), which, n_groups)
    several = _by_group(there.astype(np.float64), which, n_groups) > 1
    freedom = np.where(several, 1 / np.where(several, squares, 1.0) - 1, 0.0)
    scale = np.where(several, value * (1 - value) if kind == "share" else value**2, 0.0)
    rho, freedom = _moderated(variance, squares, freedom, scale, OTHERS[kind])
    with np.errstate(invalid="ignore"):
        width = stdtrit(np.where(several, freedom, np.nan), (1 + level) / 2)
        q = width**2 * rho * squares
        if kind == "share":
            middle, half = (value + q / 2) / (1 + q), np.sqrt(q * scale + q**2 / 4) / (1 + q)
            low, high = np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)
        else:
            factor = np.exp(np.sqrt(q))
            low, high = np.maximum(value / factor, np.minimum(value, 1.0)), value * factor
    return Ratios(value, low, high)


def _moderated(
    variance: Floats, squares: Floats, freedom: Floats, scale: Floats, most: float
) -> tuple[Floats, Floats]:
    """rho and its degrees of freedom, (G, K): a group's own, averaged with those of the others."""
    with np.errstate(divide="ignore", invalid="ignore"):
        measured = np.where(freedom > 0, freedom * variance / squares, 0.0)
    expected = freedom * scale
    others, below = measured.sum(axis=0) - measured, expected.sum(axis=0) - expected
    borrowed = np.where(below > 0, np.minimum(most, freedom.sum(axis=0) - freedom), 0.0)
    # All or nothing where nobody knows.
    elsewhere = np.where(below > 0, others / np.where(below > 0, below, 1.0), 1.0)
    own = np.where(expected > 0, measured / np.where(expected > 0, expected, 1.0), elsewhere)
    weight = np.maximum(freedom + borrowed, 1e-9)
    return np.asarray((freedom * own + borrowed * elsewhere) / weight), np.asarray(weight)


def _column(values: Any) -> Floats:
    values = np.asarray(values, np.float64)
    return np.asarray(values[:, None] if values.ndim == 1 else values)


def _by_group(values: Floats, which: Ints, n_groups: int) -> Floats:
    sums = np.zeros((n_groups, values.shape[1]))
    np.add.at(sums, which, values)
    return sums

"""EM on a pair law of which a part is known: emissions, transitions, or zeros of either.

    Omega = M Theta M',     Theta = diag(v) A

    E  ~Omega = Omega / (M Theta M'), element by element
    M  Theta in proportion to Theta * (M' ~Omega M),
       M     in proportion to M * (~Omega M Theta' + ~Omega' M Theta), column by column

A zero stays zero.  With M held, the likelihood is concave in Theta, and there is one answer.
With A held, v alone is learned, from the row sums of Theta.  No volume term: what is known takes
its place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.learn.pairs.pair_law import PairLaw, Point
from cohmm.learn.run import Record

LEAST = 1e-300


class Held(NamedTuple):
    """What stays as it is."""

    emissions: bool = False
    transitions: bool = False


class PairEM(NamedTuple):
    """Where EM led."""

    point: Point
    log_fit: float
    """sum Omega log(M Theta M')"""
    converged: bool


def pair_em(
    law: PairLaw,
    point: Point,
    held: Held,
    n_pairs: float,
    *,
    max_iter: int,
    tol: float,
    record: Record | None = None,
) -> PairEM:
    """EM from ``point`` until a step gains less than ``tol`` nats over all ``n_pairs``."""
    m, theta = point
    a = theta / np.maximum(theta.sum(axis=1, keepdims=True), LEAST)
    before, converged = -np.inf, False
    for n_iter in range(1, max_iter + 1):
        log_fit, rows, columns = law.statistics(m, theta)
        if log_fit >= before:  # short of that by rounding alone
            point = Point(m, theta)
            if record is not None:
                record(n_iter, law.negative_entropy - log_fit)
        converged = n_pairs * (log_fit - before) < tol
        before = max(log_fit, before)
        if converged or (held.emissions and held.transitions):
            break
        moved = theta * (m.T @ rows)
        if not held.emissions:
            m = m * (rows @ theta.T + columns @ theta)
            m /= np.maximum(m.sum(axis=0), LEAST)
        theta = moved.sum(axis=1, keepdims=True) * a if held.transitions else moved
        theta = theta / theta.sum()
    return PairEM(point, before, converged)

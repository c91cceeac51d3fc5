"""SQUAREM: squared extrapolation of a slow monotone map (Varadhan and Roland, 2008).

A step needs the map twice, from x to x1 = F(x) and x2 = F(x1), and jumps to

    x' = x + 2 s r + s^2 v,     r = x1 - x,  v = (x2 - x1) - r,  s = |r| / |v|,

with lengths in Fisher's metric, sum r^2 / x, in which a small probability counts as much as
a large one (by sum r^2, convergence took up to four times as many passes).  x' is an affine
combination of feasible points, which keeps every equality constraint; only positivity has to
be seen to.  A jump that does not lower the objective is not taken.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.learn.pairs.theta_update import onto_constraints

LEAST_SHARE = 0.1  # an entry of M that the jump would make negative keeps this share
TRIES = 6
TINY = 1e-12


class Point(NamedTuple):
    """The two factors."""

    m: Floats
    """Emissions, (N, K); columns sum to one."""
    theta: Floats
    """Joint probability of two states in a row, (K, K), > 0, with equal marginals."""


class State(NamedTuple):
    """A point with its objective, and the point that the map takes it to."""

    point: Point
    objective: float
    divergence: float
    volume: float
    target: Point


def squarem(
    state: State,
    evaluate: Callable[[Point], State],
    tol: float,
    max_iter: int,
    report: Callable[[State, int, float], None],
) -> tuple[State, bool, int]:
    """Follow the map from ``state`` until a whole step gains less than ``tol``.

    ``evaluate`` costs a pass over the evidence, of which at most ``max_iter`` are made, the one
    for ``state`` among them; it is called on feasible points only.  Returns the last state,
    whether the rule was met, and the number of passes.  The objective never rises.
    """
    n_iter = 1
    report(state, n_iter, 1.0)
    while n_iter < max_iter:
        middle, n_iter = _descend(state, evaluate, n_iter)
        if middle is None:
            return state, True, n_iter
        jump = _jump(state.point, middle.point, middle.target)
        after, length = None, 1.0
        if jump is not None:
            candidate, length = jump
            after = evaluate(candidate)
            n_iter += 1
            if not after.objective <= middle.objective:
                after = None
        if after is None:
            length = 1.0
            after, n_iter = _descend(middle, evaluate, n_iter)
            if after is None:
                return middle, True, n_iter
        gain = state.objective - after.objective
        state = after
        report(state, n_iter, length)
        if gain < tol:
            return state, True, n_iter
    return state, False, n_iter


def _descend(
    state: State, evaluate: Callable[[Point], State], n_iter: int
) -> tuple[State | None, int]:
    """The map's target, or a point on the way to it that is no worse; None if there is none.

    The paper's line search.  It is needed where the volume term has no true majoriser, and
    at the end, where what is left to gain is below rounding.
    """
    share = 1.0
    for _ in range(TRIES):
        point = Point(
            *(a + share * (b - a) for a, b in zip(state.point, state.target, strict=True))
        )
        after = evaluate(point if share < 1.0 else state.target)
        n_iter += 1
        if after.objective <= state.objective:
            return after, n_iter
        share /= 4
    return None, n_iter


def _jump(start: Point, first: Point, second: Point) -> tuple[Point, float] | None:
    """The extrapolated point and how far it goes; None where it would not leave ``second``."""
    r = [b - a for a, b in zip(start, first, strict=True)]
    v = [(c - b) - d for b, c, d in zip(first, second, r, strict=True)]
    metric = [start.theta.sum(axis=1) / np.maximum(start.m, TINY), 1 / start.theta]
    bend = sum(float(np.sum(g * x * x)) for g, x in zip(metric, v, strict=True))
    if bend == 0.0:
        return None
    length = float(np.sqrt(sum(np.sum(g * x * x) for g, x in zip(metric, r, strict=True)) / bend))
    for _ in range(TRIES):
        if length <= 1.01:
            return None
        theta = start.theta + 2 * length * r[1] + length**2 * v[1]
        if (theta > 0).all():
            theta = onto_constraints(theta)  # the jump has magnified rounding
            m = start.m + 2 * length * r[0] + length**2 * v[0]
            np.maximum(m, LEAST_SHARE * np.minimum(start.m, second.m), out=m)
            return Point(m / m.sum(axis=0), theta), length
        length = (length + 1) / 2
    return None

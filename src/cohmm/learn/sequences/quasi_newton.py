"""L-BFGS with a preconditioner (Nocedal, 1980).

The inverse of the preconditioner stands where the textbook has the identity, times the factor
s'y / y'P^-1 y of the last step: without the factor, every other step went too far.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Floats

MEMORY = 20
DECREASE = 1e-4  # Armijo's share of what the slope promises
SHORTEST = 1e-6
CURVED = 1e-10


class Evaluated(NamedTuple):
    """A point with its objective and gradient."""

    point: Floats
    value: float
    gradient: Floats


class _Pair(NamedTuple):
    """How the point moved, and the gradient with it."""

    step: Floats
    change: Floats
    solved: Floats
    """P^-1 times the change."""
    weight: float


def minimise(
    objective: Callable[[Floats], tuple[float, Floats]],
    start: Evaluated,
    precondition: Callable[[Floats], Floats],
    max_evaluations: int,
    tol: float,
) -> tuple[Evaluated, int]:
    """Follow quasi-Newton steps from ``start`` until one promises less than ``tol``.

    ``objective`` gives value and gradient; it is called at most ``max_evaluations`` times.
    ``precondition`` applies the inverse of an approximate Hessian.  Returns the best point, and
    the number of evaluations.  The objective never rises.
    """
    at, n = start, 0
    pairs: deque[_Pair] = deque(maxlen=MEMORY)
    factor = 1.0
    solved = precondition(at.gradient)
    while n < max_evaluations:
        direction = -_two_loops(at.gradient, solved, pairs, factor)
        slope = float(at.gradient @ direction)
        if -slope < 2 * tol:
            break
        after, used = _search(objective, at, direction, slope, max_evaluations - n)
        n += used
        if after is None or n >= max_evaluations:
            return after or at, n
        step, change = after.point - at.point, after.gradient - at.gradient
        curved = float(step @ change)
        at, before, solved = after, solved, precondition(after.gradient)
        if curved > CURVED * np.sqrt((step @ step) * (change @ change)):
            pairs.append(_Pair(step, change, solved - before, 1 / curved))
            factor = curved / float(change @ pairs[-1].solved)
    return at, n


def _two_loops(gradient: Floats, solved: Floats, pairs: deque[_Pair], factor: float) -> Floats:
    """The inverse Hessian that the pairs suggest, times the gradient; ``solved`` is P^-1 times it.

    P^-1 times what the first loop leaves follows from P^-1 times its parts: one solve per step.
    """
    remaining, result = gradient.copy(), solved.copy()
    shares = []
    for pair in reversed(pairs):
        shares.append(pair.weight * float(pair.step @ remaining))
        remaining -= shares[-1] * pair.change
        result -= shares[-1] * pair.solved
    result *= factor
    for pair, share in zip(pairs, reversed(shares), strict=True):
        result += (share - pair.weight * float(pair.change @ result)) * pair.step
    return result


def _search(
    objective: Callable[[Floats], tuple[float, Floats]],
    at: Evaluated,
    direction: Floats,
    slope: float,
    most: int,
) -> tuple[Evaluated | None, int]:
    """A point on the way that is enough lower, and how many were tried; None if there is none."""
    length = 1.0
    for n in range(1, most + 1):
        point = at.point + length * direction
        value, gradient = objective(point)
        if value <= at.value + DECREASE * length * slope:
            return Evaluated(point, value, gradient), n
        bend = value - at.value - length * slope
        lowest = -slope * length**2 / (2 * bend) if np.isfinite(bend) else 0.0
        length = min(max(lowest, 0.1 * length), 0.5 * length)
        if length < SHORTEST:
            return None, n
    return None, most

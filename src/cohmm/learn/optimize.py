"""L-BFGS with a preconditioner (Nocedal, 1980).

The inverse of the preconditioner stands where the textbook has the identity, times the factor
s'y / y'P^-1 y of the last step: without the factor, every other step went too far.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cohmm.kernels.types import Floats

MEMORY = 20
DECREASE = 1e-4  # Armijo's share of what the slope promises
SHORTEST = 1e-6
CURVED = 1e-10
FIRST_DAMPING = 1e-2  # these three in units of `Local.scale`
MIN_DAMPING = 1e-15
MAX_DAMPING = 1e8
ACCURACY = 1e-2  # of a step, relative, in the norm of the preconditioner
INNER = 60  # conjugate gradients for a step, at most
P = TypeVar("P")
KEPT_SHARE = 0.1  # an entry that the jump would make negative keeps this share of what it was


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


class Local(NamedTuple):
    """The objective near a point, as a quadratic function of the step."""

    gradient: Floats
    """g, (n,)."""
    curvature: Callable[[Floats], Floats]
    """x to H x."""
    preconditioner: Callable[[float], Callable[[Floats], Floats]]
    """d to an approximation of r to (H + d I)^-1 r."""
    scale: float
    """The size of H, such as the mean of its diagonal."""


class Problem(Protocol[P]):
    """What is minimised over points, of whatever type."""

    def objective(self, point: P) -> float:
        """The value at a point."""

    def local(self, point: P) -> Local:
        """The value near a point."""

    def moved(self, point: P, step: Floats) -> P:
        """The point after a step."""


def descend(
    problem: Problem[P], point: P, *, max_iter: int, tol: float, patience: int, enough: float
) -> tuple[P, float]:
    """Steps until ``patience`` of them in a row lower the objective by a share below ``tol``.

    Parameters
    ----------
    problem, point
        What is minimised, at least zero everywhere, and where to start.
    max_iter : int
        Steps, at most.
    enough : float
        An objective below this is as good as zero.

    Returns
    -------
    tuple
        Point and objective, which never rises.
    """
    objective = problem.objective(point)
    damping, growth, slow = FIRST_DAMPING, 2.0, 0
    for _ in range(max_iter):
        if objective <= enough or slow >= patience:
            break
        local = problem.local(point)
        while True:
            step, predicted = _step(local, damping * local.scale)
            trial = problem.moved(point, step)
            after = problem.objective(trial)
            if after < objective:
                break
            damping *= growth
            growth *= 2
            if damping > MAX_DAMPING:  # what is left to gain is below rounding
                return point, objective
        gain = objective - after
        share = min(gain / predicted, 2.0) if predicted > 0 else 0.0
        damping = max(damping * max(0.2, 1 - (2 * share - 1) ** 3), MIN_DAMPING)
        growth = 2.0
        slow = slow + 1 if gain < tol * objective else 0
        point, objective = trial, after
    return point, objective


def _step(local: Local, damping: float) -> tuple[Floats, float]:
    """x with (H + d I) x = -g, and how much the quadratic function falls by it."""
    precondition = local.preconditioner(damping)
    x = np.zeros_like(local.gradient)
    residual = -local.gradient
    direction = preconditioned = precondition(residual)
    size = first = float(residual @ preconditioned)
    for _ in range(INNER):
        if size <= ACCURACY**2 * first:
            break
        image = local.curvature(direction) + damping * direction
        length = size / float(direction @ image)
        x += length * direction
        residual = residual - length * image
        preconditioned = precondition(residual)
        size, before = float(residual @ preconditioned), size
        direction = preconditioned + (size / before) * direction
    # x and the residual are orthogonal, so x'Hx needs no product with H.
    return x, 0.5 * (damping * float(x @ x) - float(local.gradient @ x))


Arrays = tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class Jump:
    """The parabola through x, x1 and x2, and how far along it SQUAREM goes."""

    x: Arrays
    x2: Arrays
    r: Arrays
    v: Arrays
    length: float
    """s; 1 is x2 itself, and infinity where the map has stopped bending."""

    @classmethod
    def through(cls, x: Arrays, x1: Arrays, x2: Arrays, metric: Iterable[Floats]) -> Jump:
        """The jump from three points of the map, in a ``metric`` of one weight per entry."""
        weights = list(metric)
        r = tuple(b - a for a, b in zip(x, x1, strict=True))
        v = tuple((c - b) - d for b, c, d in zip(x1, x2, r, strict=True))
        bend = _squared_length(v, weights)
        pace = _squared_length(r, weights)
        return cls(tuple(x), tuple(x2), r, v, float(np.sqrt(pace / bend)) if bend > 0 else np.inf)

    def at(self, length: float) -> Arrays:
        """x + 2 s r + s^2 v."""
        return tuple(
            a + 2 * length * b + length**2 * c
            for a, b, c in zip(self.x, self.r, self.v, strict=True)
        )

    def kept_positive(self, jumped: Floats, place: int) -> Floats:
        """An array of the point that was jumped to, none of its entries much below what it was."""
        least = KEPT_SHARE * np.minimum(self.x[place], self.x2[place])
        return np.asarray(np.maximum(jumped, least))


def _squared_length(step: Arrays, metric: list[Floats]) -> float:
    return sum(float(np.sum(g * d * d)) for g, d in zip(metric, step, strict=True))

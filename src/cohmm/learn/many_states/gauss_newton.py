"""Gauss-Newton with Levenberg and Marquardt's damping, its steps by conjugate gradients.

A step x solves (H + d I) x = -g approximately.  The damping d follows how well the step was
predicted (Nielsen's rule): it falls where the objective is nearly quadratic, and a step that
does not lower the objective is made again with more of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cohmm.kernels.compiled import Floats

FIRST_DAMPING = 1e-2  # these three in units of `Local.scale`
LEAST_DAMPING = 1e-15
MOST_DAMPING = 1e8
ACCURACY = 1e-2  # of a step, in the norm of the preconditioner

P = TypeVar("P")


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
    problem: Problem[P],
    point: P,
    *,
    max_iter: int,
    tol: float,
    patience: int = 1,
    relative: bool = False,
    enough: float = 0.0,
    inner: int = 60,
    report: Callable[[P, float, int], None] | None = None,
) -> tuple[P, float, bool, int]:
    """Steps until ``patience`` of them in a row gain less than ``tol`` each.

    Parameters
    ----------
    problem, point
        What is minimised, and where to start.
    max_iter : int
        Steps, at most.
    tol : float
        As a share of the objective where ``relative``.
    enough : float
        An objective below this is as good as zero.
    inner : int
        Conjugate gradients, at most, for a step.
    report : function of a point, its objective and the number of steps so far
        Called with the start, and after every step.

    Returns
    -------
    tuple
        Point, objective, whether the rule was met, steps.  The objective never rises.
    """
    value = problem.objective(point)
    damping, growth, slow = FIRST_DAMPING, 2.0, 0
    if report is not None:
        report(point, value, 0)
    for n_iter in range(1, max_iter + 1):
        if value <= enough:
            return point, value, True, n_iter - 1
        local = problem.local(point)
        while True:
            step, predicted = _step(local, damping * local.scale, inner)
            trial = problem.moved(point, step)
            after = problem.objective(trial)
            if after < value:
                break
            damping *= growth
            growth *= 2
            if damping > MOST_DAMPING:  # what is left to gain is below rounding
                return point, value, True, n_iter - 1
        gain = value - after
        share = min(gain / predicted, 2.0) if predicted > 0 else 0.0
        damping = max(damping * max(0.2, 1 - (2 * share - 1) ** 3), LEAST_DAMPING)
        growth = 2.0
        slow = slow + 1 if gain < (tol * value if relative else tol) else 0
        point, value = trial, after
        if report is not None:
            report(point, value, n_iter)
        if slow >= patience:
            return point, value, True, n_iter
    return point, value, value <= enough, max_iter


def _step(local: Local, damping: float, inner: int) -> tuple[Floats, float]:
    """x with (H + d I) x = -g, and how much the quadratic function falls by it."""
    precondition = local.preconditioner(damping)
    x = np.zeros_like(local.gradient)
    rest = -local.gradient
    direction = ahead = precondition(rest)
    size = first = float(rest @ ahead)
    for _ in range(inner):
        if size <= ACCURACY**2 * first:
            break
        image = local.curvature(direction) + damping * direction
        length = size / float(direction @ image)
        x += length * direction
        rest = rest - length * image
        ahead = precondition(rest)
        size, before = float(rest @ ahead), size
        direction = ahead + (size / before) * direction
    # x and the rest are orthogonal, so x'Hx needs no product with H.
    return x, 0.5 * (damping * float(x @ x) - float(local.gradient @ x))

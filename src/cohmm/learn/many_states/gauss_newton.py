"""Gauss-Newton with Levenberg-Marquardt damping, its steps by conjugate gradients.

A step x solves (H + d I) x = -g approximately.  The damping d follows how well the step was
predicted (Nielsen's rule): it falls where the objective is nearly quadratic, and a step that
does not lower the objective is made again with more of it.

For least squares that can be solved exactly (`polyadic`): near a misfit of zero the curvature is
exact, and steps double the digits, which quasi-Newton steps do not.  Likelihoods of counts
are climbed by `cohmm.learn.sequences.ascent`, which was measured against this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from cohmm.kernels.types import Floats

FIRST_DAMPING = 1e-2  # these three in units of `Local.scale`
LEAST_DAMPING = 1e-15
MOST_DAMPING = 1e8
ACCURACY = 1e-2  # of a step, relative, in the norm of the preconditioner
INNER = 60  # conjugate gradients for a step, at most

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
            if damping > MOST_DAMPING:  # what is left to gain is below rounding
                return point, objective
        gain = objective - after
        share = min(gain / predicted, 2.0) if predicted > 0 else 0.0
        damping = max(damping * max(0.2, 1 - (2 * share - 1) ** 3), LEAST_DAMPING)
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

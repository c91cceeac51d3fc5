"""ThetaUpdate: the convex problem in Theta, by damped Newton with equality constraints.

    minimise    sum  -C log Theta + L Theta + 1/2 Q Theta^2      (element by element)
    subject to  1'Theta 1 = 1,  Theta 1 = Theta'1

The Hessian is diagonal and the constraints are structured, so a step is one solve with a
K x K matrix (the paper's supplement).  The paper's step is undamped and leaves the positive
orthant where Theta > 2C; here a step stops short of the border, and Armijo's rule follows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Floats

TO_BORDER = 0.99
ARMIJO = 1e-4
MOST_STEPS = 50
RIDGE = 1e-13
LEAST_COUNT = 1e-10  # C is kept above this: the Hessian is C / Theta^2


class Terms(NamedTuple):
    """Coefficients of -log Theta, of Theta and of Theta^2 / 2, each (K, K) or a number."""

    log: Floats | float
    linear: Floats | float = 0.0
    quadratic: Floats | float = 0.0

    def __add__(self, other: Terms) -> Terms:  # type: ignore[override]
        return Terms(*(a + b for a, b in zip(self, other, strict=True)))


def theta_update(theta: Floats, terms: Terms, tol: float = 1e-12) -> Floats:
    """The minimiser, from ``theta`` > 0; every iterate satisfies the constraints."""
    c = np.maximum(terms.log, LEAST_COUNT)
    linear, quadratic = terms.linear, terms.quadratic

    def objective(x: Floats) -> float:
        return float(np.sum(x * (linear + 0.5 * quadratic * x) - c * np.log(x)))

    value = objective(theta)
    for _ in range(MOST_STEPS):
        gradient = linear + quadratic * theta - c / theta
        inverse = 1.0 / (c / (theta * theta) + quadratic)  # R, of the diagonal Hessian
        step = -inverse * gradient
        step -= inverse * _multipliers(inverse, step, theta)
        decrease = -float(np.vdot(gradient, step))
        shrink = float(np.max(-step / theta))
        if decrease < tol and shrink < TO_BORDER:
            return onto_constraints(theta + step)
        length = 1.0 if shrink <= TO_BORDER else TO_BORDER / shrink
        while length > 1e-8:
            # Where counts differ by many orders of magnitude, the solve for the step is not exact.
            moved = onto_constraints(theta + length * step)
            after = objective(moved)
            if after <= value - ARMIJO * length * decrease:
                break
            length /= 2
        else:
            break
        theta, value = moved, after
    return theta


def onto_constraints(theta: Floats) -> Floats:
    """The nearest matrix that satisfies the constraints, for one > 0 that nearly does."""
    change = _multipliers(theta, np.zeros_like(theta), theta)
    return np.asarray(theta - theta * np.minimum(change, TO_BORDER))


def _multipliers(r: Floats, step: Floats, theta: Floats) -> Floats:
    """A'd, (K, K), with A R A'd = A step + (A theta - b), where A theta = b are the constraints.

    The second term takes back what rounding has let the constraints drift.
    """
    k = len(r)
    by_row, by_column = r.sum(axis=1), r.sum(axis=0)
    h = np.empty((k + 1, k + 1))
    h[0, 0] = by_row.sum()
    h[0, 1:] = h[1:, 0] = by_row - by_column
    h[1:, 1:] = -r - r.T
    # A chain in several parts makes the constraints dependent; the ridge keeps that harmless.
    h[np.arange(1, k + 1), np.arange(1, k + 1)] += (1 + RIDGE) * (by_row + by_column)
    both = step + theta
    right = np.empty(k + 1)
    right[0] = both.sum() - 1.0
    right[1:] = both.sum(axis=1) - both.sum(axis=0)
    d = np.zeros(k + 1)
    d[:-1] = np.linalg.solve(h[:-1, :-1], right[:-1])  # the last constraint follows
    return np.asarray(d[0] + d[1:, None] - d[None, 1:])

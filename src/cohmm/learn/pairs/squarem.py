"""SQUAREM: squared extrapolation of a slow monotone map (Varadhan and Roland, 2008).

From x, x1 = F(x) and x2 = F(x1), tuples of arrays, it jumps to

    x' = x + 2 s r + s^2 v,     r = x1 - x,  v = (x2 - x1) - r,  s = |r| / |v|,

with lengths in Fisher's metric, sum r^2 / x, in which a small probability counts as much as
a large one (by sum r^2, convergence took up to four times as many passes).  x' is an affine
combination of feasible points, which keeps every equality constraint; only positivity has to
be seen to, and a jump that does not lower the objective must not be taken.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from cohmm.kernels.types import Floats

Arrays = tuple[Floats, ...]

LEAST_SHARE = 0.1  # an entry that the jump would make negative keeps this share of what it was


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
        least = LEAST_SHARE * np.minimum(self.x[place], self.x2[place])
        return np.asarray(np.maximum(jumped, least))


def _squared_length(step: Arrays, metric: list[Floats]) -> float:
    return sum(float(np.sum(g * d * d)) for g, d in zip(metric, step, strict=True))

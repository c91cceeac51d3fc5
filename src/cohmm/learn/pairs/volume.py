"""ThetaUpdate: the convex problem in Theta, by damped Newton with equality constraints.

    minimise    sum  -C log Theta + L Theta + 1/2 Q Theta^2      (element by element)
    subject to  1'Theta 1 = 1,  Theta 1 = Theta'1

The Hessian is diagonal and the constraints are structured, so a step is one solve with a
K x K matrix (the paper's supplement).  The paper's step is undamped and leaves the positive
orthant where Theta > 2C; here a step stops short of the border, and Armijo's rule follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm._validation import check_amounts
from cohmm.kernels.types import Floats
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point
from cohmm.model.sampling import generator

TO_BORDER = 0.99
ARMIJO = 1e-4
MAX_STEPS = 50
RIDGE = 1e-13
COUNT_FLOOR = 1e-10  # C is kept above this: the Hessian is C / Theta^2
HELD_OUT = 0.2
GRID = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # times 1 / sqrt(number of pairs)
SMOOTHED = 1e-6
CHUNK = 2**18


class Terms(NamedTuple):
    """Coefficients of -log Theta, of Theta and of Theta^2 / 2, each (K, K) or a number."""

    log: Floats | float
    linear: Floats | float = 0.0
    quadratic: Floats | float = 0.0

    def __add__(self, other: Terms) -> Terms:  # type: ignore[override]
        return Terms(*(a + b for a, b in zip(self, other, strict=True)))


def theta_update(theta: Floats, terms: Terms, tol: float = 1e-12) -> Floats:
    """The minimiser, from ``theta`` > 0; every iterate satisfies the constraints."""
    c = np.maximum(terms.log, COUNT_FLOOR)
    linear, quadratic = terms.linear, terms.quadratic

    def objective(x: Floats) -> float:
        return float(np.sum(x * (linear + 0.5 * quadratic * x) - c * np.log(x)))

    value = objective(theta)
    for _ in range(MAX_STEPS):
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


@dataclass(frozen=True)
class LogDet:
    """1/2 logdet(S S' + delta I), S = K Theta.

    It is concave in S S', so that 1/2 tr(F S S') with F = (S S' + delta I)^-1 of the current
    point lies above it.  F = F+ - F-, both >= 0, and for Theta > 0 each part has an upper bound
    that is separable (as in multiplicative updates): a square for F+, a logarithm for F-.
    """

    delta: float = 1e-4

    def value(self, theta: Floats) -> float:
        """The term at ``theta``."""
        k = len(theta)
        return float(0.5 * np.linalg.slogdet(k * k * theta @ theta.T + self.delta * np.eye(k))[1])

    def majoriser(self, theta: Floats) -> Terms:
        """A separable upper bound, tight at ``theta``."""
        k = len(theta)
        f = k * k * np.linalg.inv(k * k * theta @ theta.T + self.delta * np.eye(k))
        return Terms(
            log=(np.maximum(-f, 0) @ theta) * theta,
            quadratic=(np.maximum(f, 0) @ theta) / theta,
        )


@dataclass(frozen=True)
class Det:
    """The paper's |det Theta|, literally, with its linear approximation (no upper bound)."""

    def value(self, theta: Floats) -> float:
        """The term at ``theta``."""
        return float(np.abs(np.linalg.det(theta)))

    def majoriser(self, theta: Floats) -> Terms:
        """|det Theta| Theta^-T, the gradient."""
        sign, log = np.linalg.slogdet(theta)
        if sign == 0:
            return Terms(0.0)
        return Terms(0.0, linear=np.exp(log) * np.linalg.inv(theta).T)


@dataclass(frozen=True)
class NoVolume:
    """No such term: plain non-negative tri-factorisation."""

    def value(self, theta: Floats) -> float:
        """Zero."""
        return 0.0

    def majoriser(self, theta: Floats) -> Terms:
        """Zero."""
        return Terms(0.0)


Volume = LogDet | Det | NoVolume
_BY_NAME: dict[str, Volume] = {"logdet": LogDet(), "det": Det(), "none": NoVolume()}


def volume_term(volume: str | Volume) -> Volume:
    """A term by its name, or the value itself.

    >>> volume_term("logdet")
    LogDet(delta=0.0001)
    """
    if isinstance(volume, str):
        if volume not in _BY_NAME:
            raise ValueError(f"volume must be one of {', '.join(_BY_NAME)}, not {volume!r}")
        return _BY_NAME[volume]
    if not isinstance(volume, (LogDet, Det, NoVolume)):
        raise ValueError(f"volume must be one of {', '.join(_BY_NAME)}, not {volume!r}")
    return volume


def check_penalty(penalty: Any) -> None:
    """A weight of the volume term, "auto", or None for the default."""
    if penalty is not None and penalty != "auto":
        if isinstance(penalty, str):
            raise ValueError(f"penalty must be a number, 'auto' or None, not {penalty!r}")
        check_amounts(penalty=penalty)


def held_out_penalty(
    evidence: PairEvidence,
    random_state: int | None,
    fits: Callable[[PairEvidence, list[float]], list[Point]],
) -> float:
    """The largest lambda of a grid within one standard error of the best.

    Each pair counted is held out with probability `HELD_OUT`; ``fits`` learns from the others, once
    per penalty.  Held-out likelihood is almost flat in lambda: the best itself would be chance.
    """
    kept, held = _thinned(evidence, generator(random_state))
    training = evidence.with_laws(kept, float(kept[min(kept)].sum()))
    penalties = [float(step / np.sqrt(evidence.n_pairs)) for step in GRID]
    points = fits(training, penalties)
    test = sparse.coo_array(held[min(held)])
    counts, total = test.data.astype(np.float64), float(test.data.sum())
    if total == 0:
        return penalties[0]
    logs = [_log_probabilities(point, test.row, test.col, training.frequency) for point in points]
    best = logs[int(np.argmax([counts @ log for log in logs]))]
    for penalty, log in reversed(list(zip(penalties, logs, strict=True))):
        loss = best - log
        mean = float(counts @ loss) / total
        if mean <= np.sqrt(float(counts @ (loss - mean) ** 2)) / total:
            return penalty
    raise AssertionError("the best is within an error of itself")


def _thinned(
    evidence: PairEvidence, rng: np.random.Generator
) -> tuple[dict[int, Any], dict[int, Any]]:
    kept, held = {}, {}
    for lag in evidence.laws:
        matrix = evidence.counts[lag] if lag in evidence.counts.lags else None
        if matrix is None or not np.issubdtype(matrix.dtype, np.integer):
            raise ValueError(
                "penalty='auto' holds out pairs, and so needs counts of pairs, unweighted and "
                "not summed over lags; give a number instead"
            )
        matrix = matrix[evidence.seen][:, evidence.seen]
        if sparse.issparse(matrix):
            away = matrix.copy()
            away.data = rng.binomial(matrix.data, HELD_OUT)
        else:
            away = rng.binomial(matrix, HELD_OUT)
        kept[lag], held[lag] = matrix - away, away
    return kept, held


def _log_probabilities(
    point: Point, rows: np.ndarray, columns: np.ndarray, frequency: Floats
) -> Floats:
    """log P of pairs, smoothed by chance so that a pair never seen has a finite one."""
    left = point.m @ point.theta
    out = np.empty(len(rows))
    for first in range(0, len(rows), CHUNK):
        part = slice(first, first + CHUNK)
        expected = np.einsum("ij,ij->i", left[rows[part]], point.m[columns[part]])
        chance = frequency[rows[part]] * frequency[columns[part]]
        out[part] = np.log((1 - SMOOTHED) * expected + SMOOTHED * chance + 1e-300)
    return out

"""Maximum likelihood from a good start, in tens of passes over the evidence.

Rounds of quasi-Newton steps in the coordinates of `sqrt_parametrization`.  Between two
rounds the curvature is taken anew, and entries that have come down to zero but would now
gain from growing are set to a small value: in a square root, zero has no slope.

Windows are climbed so too: Gauss-Newton with the exact Fisher information reached the same height
later in 11 of 12 runs (`benchmarks/climbs.py`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import ALL, PseudoCounts
from cohmm.learn.learner import prevalence_of
from cohmm.learn.sparsity import Sparsity
from cohmm.learn.sqrt_parametrization import SqrtParametrization
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

REVIVED = 1e-4  # probability that a small entry is set to, at most
COUNT_FLOOR = 1e-12
PROBABILITY_FLOOR = 1e-300
CAUTION = 2.0  # what is left turns out to be so many times what the series says
_NOTHING = Counts(np.zeros(0), np.zeros(0), np.zeros(0))
MEMORY = 20  # steps that L-BFGS remembers
DECREASE = 1e-4  # Armijo's share of what the slope promises
SHORTEST = 1e-6
CURVED = 1e-10
RIDGE = 1e-12  # so that a chain that falls into parts is no error


class Prior(NamedTuple):
    """What is added to the log-likelihood of all symbols, or of all windows."""

    starts: Floats | float = 0.0
    """Pseudo-counts of the first states."""
    emissions: Sparsity = Sparsity()
    transitions: Sparsity = Sparsity()
    counted: PseudoCounts = PseudoCounts()
    """What is counted before the data is seen; nothing where a probability is zero."""

    def log_density(self, model: HMM) -> float:
        """Up to a constant."""
        total = self.emissions.log_density(model.emissionprob)
        total += self.transitions.log_density(model.transmat)
        if np.any(self.starts):
            total += float(
                np.sum(self.starts * np.log(np.maximum(model.startprob, PROBABILITY_FLOOR)))
            )
        return total + self.counted.log_density(model)

    def added_to(self, counts: Counts, model: HMM, share: float) -> Counts:
        """Counts per symbol or window, of which the prior's are a ``share``."""
        starts, transitions, emissions = self.counted.possible(model)
        return Counts(
            counts.starts + share * (self.starts + starts),
            counts.transitions
            + share * (self.transitions.pseudo_counts(model.transmat) + transitions),
            counts.emissions
            + share * (self.emissions.pseudo_counts(model.emissionprob) + emissions),
        )

    @property
    def takes_away(self) -> bool:
        """Whether a pseudo-count is below zero, so that the density has no maximum."""
        return any(np.any(np.asarray(pseudo) < 0) for pseudo in self.counted)

    @property
    def is_dirichlet(self) -> bool:
        """Whether nothing is taken away from what is counted: then EM steps never go down."""
        return self.emissions.weight == 0 and self.transitions.weight == 0


class Target(NamedTuple):
    """What is maximised, of ``units`` symbols or windows."""

    likelihood: Likelihood
    units: float
    symbols: float
    """How many symbols a unit has."""
    start_weight: float
    """Starts per unit."""
    prior: Prior
    windows: Callable[[], Ints]
    """Draws windows, (n, width), for the curvature."""
    learned: str = ALL
    """Which of start, transitions and emissions, by their first letters; the rest stay."""


class Ascent(NamedTuple):
    """Where it led."""

    model: HMM
    converged: bool
    n_iter: int
    """Passes over the evidence."""
    visited: Floats
    """The share of all places that each state is expected to be at, (K,)."""


Report = Callable[[int, float, float], None]
"""Called with the number of passes, the objective and the log-likelihood, when the objective
has fallen."""


def ascend(
    target: Target,
    model: HMM,
    *,
    passes: int,
    max_iter: int,
    tol: float,
    report: Report | None = None,
) -> Ascent:
    """Rounds of so many ``passes`` until what is left to gain seems to be less than ``tol``.

    ``tol`` is in nats per parameter, of the log-likelihood of all the evidence.  (The maximum is
    expected to be above the truth by half a nat per parameter.)  What is left is judged by how
    the gains of the rounds shrink.
    """
    enough = tol * n_parameters(model) / target.units
    climb = _Climb(target, model, report)
    if target.prior.takes_away:
        return _em_steps(climb, max_iter, enough)
    gains: list[float] = []
    revive = True
    while climb.used < max_iter:
        before, left = climb.best.objective, max_iter - climb.used
        _round(climb, min(passes, left), enough / passes, revive)
        gain = before - climb.best.objective
        if gain <= 0 and revive and left >= passes:
            revive = False  # what was set to a small value may have cost more than the round gave
            continue
        gains.append(gain)
        if left >= passes and _left_to_gain(gains) < enough:
            return climb.end(converged=True)
    return climb.end(converged=False)


def n_parameters(model: HMM) -> int:
    """Of starts, transitions and emissions together; symbols that no state emits have none."""
    emitted = int(np.count_nonzero((model.emissionprob > 0).any(axis=0)))
    return model.n_components * (1 + model.n_components + emitted)


class _Evaluated(NamedTuple):
    """A model that was tried, and what one pass gave."""

    model: HMM
    objective: float
    counts: Counts
    """Expected, with the prior's."""
    visited: Floats


class _Climb:
    """Evaluates models, remembers the best, and counts the passes."""

    def __init__(self, target: Target, model: HMM, report: Report | None):
        self.target = target
        self.report = report
        self.used = 0
        self.best = _Evaluated(model, np.inf, _NOTHING, np.zeros(0))
        self.evaluate(model)

    def evaluate(self, model: HMM) -> _Evaluated:
        prior, share = self.target.prior, 1 / self.target.units
        log_likelihood, counts = self.target.likelihood.expected(model)
        self.used += 1
        objective = -log_likelihood - share * prior.log_density(model)
        evaluated = _Evaluated(
            model, objective, prior.added_to(counts, model, share), visits(counts)
        )
        if objective < self.best.objective:
            self.best = evaluated
            if self.report is not None:
                self.report(self.used, objective, log_likelihood)
        return evaluated

    def end(self, *, converged: bool) -> Ascent:
        best, target = self.best, self.target
        model = best.model
        # An EM step costs nothing, and gains; where starts are counted as transitions, it is none.
        if not converged and target.prior.is_dirichlet and best.counts.starts.any():
            model = m_step(model, best.counts, target.learned)
        return Ascent(model, converged, self.used, best.visited)


def _em_steps(climb: _Climb, max_iter: int, enough: float) -> Ascent:
    """Plain EM steps, until one changes the log-likelihood by less than ``enough``."""
    target, at = climb.target, climb.best
    while True:
        model = m_step(at.model, at.counts, target.learned)
        if climb.used >= max_iter:
            return Ascent(model, False, climb.used, at.visited)
        after = climb.evaluate(model)
        if abs(after.objective - at.objective) < enough:
            return Ascent(after.model, True, climb.used, after.visited)
        at = after


def _round(climb: _Climb, passes: int, tol: float, revive: bool) -> None:
    """Quasi-Newton steps from the best model so far, with a curvature of its own."""
    best, target = climb.best, climb.target
    model = revived(best.model, best.counts, target.learned) if revive else best.model
    chart = SqrtParametrization.around(model, best.visited, target.start_weight, target.learned)

    def objective(point: Floats) -> tuple[float, Floats]:
        evaluated = climb.evaluate(chart.model(point))
        return evaluated.objective, -chart.gradient(point, evaluated.model, evaluated.counts)

    begin = chart.of(model)
    precondition = chart.preconditioner(begin, model, best.counts, target.windows(), target.symbols)
    minimise(objective, PointValue(begin, *objective(begin)), precondition, passes - 1, tol)


class PointValue(NamedTuple):
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
    start: PointValue,
    precondition: Callable[[Floats], Floats],
    max_evaluations: int,
    tol: float,
) -> tuple[PointValue, int]:
    """L-BFGS with a preconditioner (Nocedal, 1980), until a step promises less than ``tol``.

    The inverse of the preconditioner stands where the textbook has the identity, times the factor
    s'y / y'P^-1 y of the last step: without the factor, every other step went too far.

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
    at: PointValue,
    direction: Floats,
    slope: float,
    most: int,
) -> tuple[PointValue | None, int]:
    """A point on the way that is enough lower, and how many were tried; None if there is none."""
    length = 1.0
    for n in range(1, most + 1):
        point = at.point + length * direction
        value, gradient = objective(point)
        if value <= at.value + DECREASE * length * slope:
            return PointValue(point, value, gradient), n
        bend = value - at.value - length * slope
        lowest = -slope * length**2 / (2 * bend) if np.isfinite(bend) else 0.0
        length = min(max(lowest, 0.1 * length), 0.5 * length)
        if length < SHORTEST:
            return None, n
    return None, most


def _left_to_gain(gains: list[float]) -> float:
    """The rest of the geometric series that the last two gains belong to."""
    if gains[-1] <= 0:
        return 0.0
    if len(gains) < 2 or gains[-1] >= gains[-2]:
        return np.inf
    return CAUTION * gains[-1] ** 2 / (gains[-2] - gains[-1])


def revived(model: HMM, counts: Counts, learned: str = ALL) -> HMM:
    """``model`` with more of the small ``learned`` entries whose growth raises the likelihood.

    As much as Newton's step along the entry would give, with the curvature that it has if all
    occurrences of the symbol are alike, and `REVIVED` at most: more than that would cost what
    a whole round gains.
    """

    def one(table: Floats, count: Floats) -> Floats:
        total = np.maximum(count.sum(axis=-1, keepdims=True), COUNT_FLOOR)
        ratio = np.divide(count, table, out=np.zeros_like(count), where=table > 0) / total
        ratio = np.maximum(ratio, 1.0)
        step = count.sum(axis=0) / total * (ratio - 1) / ratio**2
        table = np.where(table > 0, np.maximum(table, np.minimum(step, REVIVED)), table)
        return np.asarray(table / table.sum(axis=-1, keepdims=True))

    return HMM(
        model.startprob,
        one(model.transmat, counts.transitions) if "t" in learned else model.transmat,
        one(model.emissionprob, counts.emissions) if "e" in learned else model.emissionprob,
        model.vocabulary,
    )


def m_step(model: HMM, counts: Counts, learned: str = ALL) -> HMM:
    """The M step, of what is ``learned``.  A state that was never visited keeps what it had."""

    def one(letter: str, count: Floats, table: Floats) -> Floats:
        if letter not in learned:
            return table
        count = np.maximum(count, 0.0)
        total = count.sum(axis=-1, keepdims=True)
        return np.asarray(np.where(total > 0, count / np.where(total > 0, total, 1.0), table))

    return HMM(
        one("s", counts.starts, model.startprob),
        one("t", counts.transitions, model.transmat),
        one("e", counts.emissions, model.emissionprob),
        model.vocabulary,
    )


def added(counts: Counts, more: Counts) -> Counts:
    """The sum of two sets of counts."""
    return Counts(*(one + other for one, other in zip(counts, more, strict=True)))


class Expected(NamedTuple):
    """What one pass over the evidence gives."""

    log_likelihood: float
    """Nats per symbol, or per window."""
    counts: Counts
    """Expected starts, transitions and emissions, per symbol or per window."""


def visits(counts: Counts) -> Floats:
    """The share of all places that each state is expected to be at, (K,).

    Near the stationary distribution where sequences are long.  Where they are short, and above
    all where the chain leaves states for good, it is this that says how much was seen of a state.
    """
    arrivals = counts.starts + counts.transitions.sum(axis=0)
    return np.asarray(arrivals / arrivals.sum())


class Likelihood(Protocol):
    """Evidence that can be explained by an HMM."""

    def expected(self, model: HMM) -> Expected:
        """One pass over the evidence."""


@dataclass(frozen=True, eq=False)
class StationaryLikelihood:
    """A likelihood of evidence that begins anywhere in the chain: ``startprob`` is pi = pi A.

    Parameters
    ----------
    free : Likelihood
        The same, as a function of ``startprob`` too.
    """

    free: Likelihood

    def expected(self, model: HMM) -> Expected:
        """One pass over the evidence; starts are counted as the transitions that led to them.

        pi changes by pi dA Z, Z = (I - A + 1 pi')^-1: an expected start in j is worth
        pi_i A_ij (Z g)_j of the transitions i to j, g = starts / pi.
        """
        a, pi = model.transmat, prevalence_of(model)
        settled = HMM(pi, a, model.emissionprob, model.vocabulary)
        log_likelihood, (starts, transitions, emissions) = self.free.expected(settled)
        worth = np.linalg.solve((1 + RIDGE) * np.eye(len(pi)) - a + pi, starts / pi)
        worth -= min(worth.min(), 0.0)  # the same for all successors changes nothing: A sums to one
        led_there = pi[:, None] * a * worth
        return Expected(
            log_likelihood, Counts(np.zeros_like(pi), transitions + led_there, emissions)
        )

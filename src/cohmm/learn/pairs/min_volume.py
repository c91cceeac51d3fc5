"""Algorithm 1 of the paper: an HMM from pair counts, by determinant-regularised factorisation.

    minimise    - sum_lag w_lag sum Omega_lag log(M Theta_lag M') + lambda volume(Theta)
    subject to  M >= 0, 1'M = 1';   Theta >= 0, Theta 1 = Theta'1, 1'Theta 1 = 1

With the paper's single lag, Theta_1 = Theta.  Further lags are *tied*: with A the transition
matrix, Theta with its rows scaled to one, Theta_lag = Theta A^(lag - 1).

Numbers in comments are the steps of Algorithm 1.  Beyond the paper: the volume term has a true
majoriser (`volume`), and two steps of the map are extrapolated by SQUAREM (`Jump`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Progress, Record, learner
from cohmm.learn.pairs.anchor_free import starting_points
from cohmm.learn.pairs.pair_evidence import (
    Combine,
    PairEvidence,
    PairFit,
    States,
    as_hmm,
    number_of_states,
    warn_of_unseen,
)
from cohmm.learn.pairs.pair_law import PairLaw, Point, Statistics
from cohmm.learn.pairs.volume import (
    Terms,
    Volume,
    check_penalty,
    held_out_penalty,
    onto_constraints,
    theta_update,
    volume_term,
)
from cohmm.model.hmm import HMM

PENALTY = 0.02  # over the root of the number of pairs: measured, see docs/results.md
ZERO_BELOW = (
    1e-60  # a probability on its way to zero, which would slow all down as a subnormal number
)
EXACT = 1e-10  # nats per pair; a start that diverges by less fits to rounding
TRIES = 6  # points of a line search
SHORTEST_JUMP = 1.01  # of an extrapolation; 1 is two plain steps
PROBABILITY_FLOOR = 1e-12
KEPT_SHARE = 0.1  # an entry that the jump would make negative keeps this share of what it was
Arrays = tuple[Floats, ...]


class Evaluated(NamedTuple):
    """A point with its objective, and the point that the map takes it to."""

    point: Point
    objective: float
    divergence: float
    volume: float
    target: Point
    """(~M, ~Theta) of steps 5 to 8."""


class Run(NamedTuple):
    """Where Algorithm 1 led from one start."""

    end: Evaluated
    converged: bool
    history: tuple[Progress, ...]


@learner
def min_volume(
    counts: Cooccurrence,
    n_components: States,
    *,
    lags: Iterable[int] | None = None,
    combine: Combine = "tied",
    volume: str | Volume = "logdet",
    penalty: float | Literal["auto"] | None = None,
    max_iter: int = 3000,
    tol: float = 1e-3,
    n_init: int = 1,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> PairFit:
    """Learn an HMM from pair counts.

    Parameters
    ----------
    counts : Cooccurrence
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise (`Spectrum`).
    lags : tuple, optional
        The lags to use; default: all that were counted.
    combine : "tied" or "summed"
        Several lags of one chain, Theta A^(lag - 1), each weighted by how many states it can
        show; or one Theta for their sum, as suits text.
    volume : "logdet", "det", "none" or a value of `cohmm.learn.pairs.volume`
        The term that makes the answer unique.
    penalty : float, "auto" or None
        lambda.  None: `PENALTY` / sqrt(number of pairs).  "auto": the largest within a
        standard error of the best on held-out pairs.
    max_iter : int
        Passes over the evidence, at most, from each start.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
    n_init : int
        Starts; the best objective is kept.
    smoothing : float
        Pseudo-observations of each symbol in each state, by its overall frequency, that the
        model is given at the end; an exact pair law gets none.
    random_state : int, optional
        Seed.
    start : HMM, optional
        Where to start, instead of AnchorFree.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept.

    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .5, 0], [0, .5, .5]])
    >>> exact = Cooccurrence.from_probability(truth.pair_probability())
    >>> fit = min_volume(exact, 2, random_state=0)
    >>> all(distance < 1e-9 for distance in fit.model.distance(truth))
    True
    """
    check_penalty(penalty)
    term = volume_term(volume)
    evidence = PairEvidence.of(counts, lags, combine)
    warn_of_unseen(counts, evidence.observed)
    spectra = evidence.spectra(n_components)
    shown = spectra[min(spectra)]
    k = number_of_states(n_components, evidence, shown)
    evidence = evidence.weighted(spectra, k)
    if penalty == "auto":
        weight = held_out_penalty(
            evidence, random_state, partial(_quick_fits, k, term, random_state)
        )
    else:
        weight = float(PENALTY / np.sqrt(evidence.n_pairs) if penalty is None else penalty)
    problem = Problem(evidence.laws, evidence.weights, term, weight)
    runs = [
        algorithm_1(problem, point, tol / evidence.n_pairs, max_iter, callback)
        for point in starting_points(evidence, k, n_init, random_state, start)
    ]
    best = min(runs, key=lambda run: run.end.objective)
    return PairFit(
        model=as_hmm(best.end.point, evidence, 0.0 if best.end.divergence < EXACT else smoothing),
        converged=best.converged,
        history=best.history,
        starts=tuple(run.end.objective for run in runs),
        penalty=weight,
        spectrum=shown,
        lag_weights=evidence.weights,
    )


def algorithm_1(
    problem: Problem,
    start: Point,
    tol: float,
    max_iter: int,
    callback: Callback | None = None,
    settled: Callable[[int, Point], bool] | None = None,
) -> Run:
    """Algorithm 1 from one start, until a whole step gains less than ``tol``.

    Or until ``settled``, which is asked after every step, says so of the passes so far and the
    point.  ``max_iter`` is the number of evaluations, each a pass over the evidence.  The objective
    never rises.
    """
    record = Record(callback)
    at = problem.evaluate(start)  # 1, 2: the start, with steps 4 to 8 made there
    if at.divergence < EXACT:  # Omega = M Theta M': the paper's problem (3) is solved
        record(1, at.objective, at.divergence, at.volume, step=0.0)
        return Run(at, True, tuple(record.history))
    record(1, at.objective, at.divergence, at.volume)
    n_iter, converged = 1, False
    while n_iter < max_iter and not converged:  # 3: repeat
        # 4 to 8: the point of the map, (~M, ~Theta), is `at.target`
        # 9: line search between (M, Theta) and (~M, ~Theta)
        middle, n_iter = line_search(problem, at, n_iter)
        if middle is None:
            converged = True
            break
        # Beyond the paper: jump along the map's path, where that is no worse than a second step.
        after, length = None, 1.0
        if (jumped := extrapolated(at.point, middle.point, middle.target)) is not None:
            candidate, length = jumped
            after, n_iter = problem.evaluate(candidate), n_iter + 1
            if not after.objective <= middle.objective:
                after = None
        if after is None:
            length = 1.0
            after, n_iter = line_search(problem, middle, n_iter)
            if after is None:
                at, converged = middle, True
                break
        converged = at.objective - after.objective < tol
        at = after
        if settled is not None and settled(n_iter, at.point):
            converged = True
        record(n_iter, at.objective, at.divergence, at.volume, length)
    # 10: until convergence; 11: return M and Theta
    return Run(at, converged, tuple(record.history))


@dataclass(frozen=True, eq=False)
class Problem:
    """Fixed data of the optimisation: the pair laws, their weights, the volume term."""

    laws: dict[int, PairLaw]
    weights: dict[int, float]
    volume: Volume
    penalty: float

    def evaluate(self, point: Point) -> Evaluated:
        """Objective at a point, and the minimiser of its majoriser: one pass over the evidence."""
        m, theta = point
        a = theta / theta.sum(axis=1, keepdims=True)
        lagged = {lag: theta @ np.linalg.matrix_power(a, lag - 1) for lag in self.laws}
        # 4: ~Omega = Omega / (M Theta M'), which is needed only in ~Omega M and ~Omega' M
        ratios = {lag: law.statistics(m, lagged[lag]) for lag, law in self.laws.items()}
        # 5: ~M = M * (~Omega M Theta' + ~Omega' M Theta)
        new_m = np.zeros_like(m)
        for lag, ratio in ratios.items():
            update = ratio.rows @ lagged[lag].T
            update += ratio.columns @ lagged[lag]
            update *= self.weights[lag]
            new_m += update
        new_m *= m
        # 6: ~Theta = Theta * (M' ~Omega M), element by element: the paper leaves Theta out
        expected = self._expected_transitions(point, a, lagged, ratios)
        # 7: the columns of ~M scaled to one
        new_m[new_m < ZERO_BELOW] = 0.0
        total = new_m.sum(axis=0)
        new_m /= np.where(total > 0, total, 1.0)
        if not total.all():
            new_m = np.where(total > 0, new_m, m)
        # 8: ThetaUpdate
        if self.penalty > 0:
            expected += Terms(*(self.penalty * term for term in self.volume.majoriser(theta)))
        new_theta = theta_update(theta, expected)
        divergence = sum(
            self.weights[lag] * (self.laws[lag].negative_entropy - ratio.log_fit)
            for lag, ratio in ratios.items()
        )
        volume = self.volume.value(theta)
        objective = divergence + self.penalty * volume
        return Evaluated(point, objective, divergence, volume, Point(new_m, new_theta))

    def _expected_transitions(
        self,
        point: Point,
        a: Floats,
        lagged: dict[int, Floats],
        ratios: dict[int, Statistics],
    ) -> Terms:
        """The transitions that the pairs are expected to have made, as a bound in Theta.

        A pair at lag 1 is one transition.  A pair at a longer lag is a path of several, all of
        the same A; the likelihood of the path is that of its transitions less that of the states
        between, -log(Theta 1), which is convex and has the linear bound that follows.
        """
        prevalence = point.theta.sum(axis=1)
        transitions, first = expected_paths(point.m, prevalence, a, lagged, ratios, self.weights)
        between = np.maximum(transitions.sum(axis=1) - first, 0.0)
        return Terms(transitions, linear=(between / prevalence)[:, None])


def expected_paths(
    m: Floats,
    prevalence: Floats,
    a: Floats,
    lagged: dict[int, Floats],
    ratios: dict[int, Statistics],
    weights: dict[int, float],
) -> tuple[Floats, Floats]:
    """Expected transitions, (K, K), on the paths from the first state of a pair to the second.

    And the expected first states, (K,).
    """
    transitions = np.zeros_like(a)
    first = np.zeros(len(prevalence))
    for lag, ratio in ratios.items():
        weighted = weights[lag] * (m.T @ ratio.rows)
        first += (lagged[lag] * weighted).sum(axis=1)
        transitions += _on_the_way(a.T, prevalence[:, None] * weighted, lag)
    return transitions * a, first


def _on_the_way(b: Floats, weighted: Floats, lag: int) -> Floats:
    """The sum of B^s W B^(lag - 1 - s) over the transitions s of a path, by doubling the path.

    A transition is reached in s steps, and the others follow it.
    """
    total, power = weighted, b
    for digit in f"{lag:b}"[1:]:
        total = total @ power + power @ total
        power = power @ power
        if digit == "1":
            total = total @ b + power @ weighted
            power = power @ b
    return total


def line_search(problem: Problem, at: Evaluated, n_iter: int) -> tuple[Evaluated | None, int]:
    """Step 9: the map's target, or a point on the way to it that is no worse; None if none is.

    It is needed where the volume term has no true majoriser, and at the end, where what is
    left to gain is below rounding.
    """
    share = 1.0
    for _ in range(TRIES):
        between = (a + share * (b - a) for a, b in zip(at.point, at.target, strict=True))
        after = problem.evaluate(at.target if share == 1.0 else Point(*between))
        n_iter += 1
        if after.objective <= at.objective:
            return after, n_iter
        share /= 4
    return None, n_iter


def extrapolated(start: Point, first: Point, second: Point) -> tuple[Point, float] | None:
    """SQUAREM's point, made feasible, and how far it goes; None if it goes no farther."""
    metric = [start.theta.sum(axis=1) / np.maximum(start.m, PROBABILITY_FLOOR), 1 / start.theta]
    jump = Jump.through(start, first, second, metric)
    length = jump.length
    for _ in range(TRIES):
        if not SHORTEST_JUMP < length < np.inf:
            return None
        m, theta = jump.at(length)
        if (theta > 0).all():
            m = jump.kept_positive(m, 0)
            # The jump has magnified rounding.
            return Point(m / m.sum(axis=0), onto_constraints(theta)), length
        length = (length + 1) / 2
    return None


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


def _quick_fits(
    k: int, volume: Volume, random_state: int | None, evidence: PairEvidence, penalties: list[float]
) -> list[Point]:
    """The factors after a moderate number of passes, one per penalty to choose from."""
    [begin] = starting_points(evidence, k, 1, random_state, None)
    problems = [Problem(evidence.laws, evidence.weights, volume, penalty) for penalty in penalties]
    return [
        algorithm_1(problem, begin, 0.1 / evidence.n_pairs, 300).end.point for problem in problems
    ]

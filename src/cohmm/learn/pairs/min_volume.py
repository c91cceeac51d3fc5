"""Algorithm 1 of the paper: an HMM from pair counts, by determinant-regularised factorisation.

    minimise    - sum_lag w_lag sum Omega_lag log(M Theta_lag M') + lambda volume(Theta)
    subject to  M >= 0, 1'M = 1';   Theta >= 0, Theta 1 = Theta'1, 1'Theta 1 = 1

With the paper's single lag, Theta_1 = Theta.  Further lags are *tied*: with A the transition
matrix, Theta with its rows scaled to one, Theta_lag = Theta A^(lag - 1).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats
from cohmm.learn.fit import PairFit, Progress, as_hmm
from cohmm.learn.options import check_amounts, check_whole
from cohmm.learn.pairs.pair_evidence import Combine, PairEvidence
from cohmm.learn.pairs.pair_law import PairLaw, Statistics
from cohmm.learn.pairs.penalty import held_out_penalty
from cohmm.learn.pairs.squarem import Point, State, squarem
from cohmm.learn.pairs.start import starts
from cohmm.learn.pairs.theta_update import Terms, theta_update
from cohmm.learn.pairs.volume import Volume, volume_term
from cohmm.model.hmm import HMM

PENALTY = 0.02  # over the root of the number of pairs: measured, see docs/results.md
NEVER = 1e-60
EXACT = 1e-10  # nats a pair; a start that diverges by less fits to rounding


@dataclass(frozen=True, eq=False)
class Problem:
    """Fixed data of the optimisation: the pair laws, their weights, the volume term."""

    laws: dict[int, PairLaw]
    weights: dict[int, float]
    volume: Volume
    penalty: float

    def evaluate(self, point: Point) -> State:
        """Objective at a point, and the minimiser of its majoriser: steps 4 to 8."""
        powers = _lagged(point.theta, self.laws)
        passes = {lag: law.statistics(point.m, powers[lag]) for lag, law in self.laws.items()}
        divergence = sum(
            self.weights[lag] * (self.laws[lag].negative_entropy - passes[lag].log_fit)
            for lag in self.laws
        )
        volume = self.volume.value(point.theta)
        return State(
            point,
            divergence + self.penalty * volume,
            divergence,
            volume,
            Point(self._next_m(point, powers, passes), self._next_theta(point, powers, passes)),
        )

    def _next_m(
        self, point: Point, powers: dict[int, Floats], passes: dict[int, Statistics]
    ) -> Floats:
        """M * sum_lag w (~Omega M Theta' + ~Omega' M Theta), columns scaled to one."""
        m = point.m * sum(
            self.weights[lag] * (found.rows @ powers[lag].T + found.columns @ powers[lag])
            for lag, found in passes.items()
        )
        m[m < NEVER] = 0.0  # on its way to zero, it would slow all down as a subnormal number
        total = m.sum(axis=0)
        return np.asarray(np.where(total > 0, m / np.where(total > 0, total, 1.0), point.m))

    def _next_theta(
        self, point: Point, powers: dict[int, Floats], passes: dict[int, Statistics]
    ) -> Floats:
        """ThetaUpdate, from the transitions that the pairs are expected to have made.

        A pair at lag 1 is one transition, and C = Theta * (M'~Omega M), element by element (the
        paper's printed line leaves the product with Theta out).  A pair at a longer lag is
        a path of several, all of the same A; the likelihood of the path is that of its
        transitions less that of the states between, -log(Theta 1), which is convex and has
        the linear bound that follows.
        """
        theta = point.theta
        prevalence = theta.sum(axis=1)
        a = theta / prevalence[:, None]
        transitions = np.zeros_like(theta)
        first = np.zeros(len(theta))
        for lag, found in passes.items():
            ratio = self.weights[lag] * (point.m.T @ found.rows)
            first += (powers[lag] * ratio).sum(axis=1)
            # Transition s of the path: reach it in s steps, and finish in the others.
            reach = prevalence[:, None] * ratio
            for s in range(lag):
                rest = np.linalg.matrix_power(a, lag - 1 - s)
                transitions += reach @ rest.T
                reach = a.T @ reach
        transitions *= a
        between = np.maximum(transitions.sum(axis=1) - first, 0.0)
        terms = Terms(transitions, linear=(between / prevalence)[:, None])
        if self.penalty > 0:
            terms += Terms(*(self.penalty * t for t in self.volume.majoriser(theta)))
        return theta_update(theta, terms)


def _lagged(theta: Floats, lags: dict[int, PairLaw]) -> dict[int, Floats]:
    """Theta_lag = Theta A^(lag - 1)."""
    a = theta / theta.sum(axis=1, keepdims=True)
    return {lag: theta @ np.linalg.matrix_power(a, lag - 1) for lag in lags}


def min_volume(
    counts: Cooccurrence,
    n_components: int | Literal["auto"],
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
    callback: Callable[[Progress], None] | None = None,
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
    check_whole(max_iter=max_iter, n_init=n_init)
    check_amounts(tol=tol, smoothing=smoothing)
    if penalty is not None and penalty != "auto":
        if isinstance(penalty, str):
            raise ValueError(f"penalty must be a number, 'auto' or None, not {penalty!r}")
        check_amounts(penalty=penalty)
    term = volume_term(volume)
    with threadpool_limits(1, "blas"):  # the same sums for any number of threads
        evidence = PairEvidence.of(counts, lags, combine, n_components)
        if penalty == "auto":
            weight = held_out_penalty(evidence, term, random_state, fit=_fit_quickly)
        else:
            weight = float(PENALTY / np.sqrt(evidence.n_pairs) if penalty is None else penalty)
        problem = Problem(evidence.laws, evidence.weights, term, weight)
        runs = [
            follow(problem, point, tol / evidence.n_pairs, max_iter, callback)
            for point in starts(evidence, n_init, random_state, start)
        ]
    state, converged, history = min(runs, key=lambda run: run[0].objective)
    return PairFit(
        model=as_hmm(state.point, evidence, 0.0 if state.divergence < EXACT else smoothing),
        converged=converged,
        history=tuple(history),
        starts=tuple(run[0].objective for run in runs),
        penalty=weight,
        spectrum=evidence.spectrum,
        lag_weights=evidence.weights,
    )


def follow(
    problem: Problem,
    begin: Point,
    tol: float,
    max_iter: int,
    callback: Callable[[Progress], None] | None,
) -> tuple[State, bool, list[Progress]]:
    """Steps 3 to 11 of Algorithm 1 from one start."""
    history: list[Progress] = []
    began = time.perf_counter()

    def report(state: State, n_iter: int, step: float) -> None:
        seconds = time.perf_counter() - began
        history.append(
            Progress(n_iter, state.objective, state.divergence, state.volume, step, seconds)
        )
        if callback is not None:
            callback(history[-1])

    state = problem.evaluate(begin)
    if state.divergence < EXACT:  # Omega = M Theta M': the paper's problem (3) is solved
        report(state, 1, 0.0)
        return state, True, history
    state, converged, _ = squarem(state, problem.evaluate, tol, max_iter, report)
    return state, converged, history


def _fit_quickly(evidence: PairEvidence, volume: Volume, penalty: float, begin: Point) -> Point:
    """The factors after a moderate number of passes, for choosing a penalty."""
    problem = Problem(evidence.laws, evidence.weights, volume, penalty)
    state, _, _ = follow(problem, begin, 0.1 / evidence.n_pairs, 300, None)
    return state.point

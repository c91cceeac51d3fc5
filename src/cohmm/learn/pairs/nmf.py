"""Non-negative matrix factorisation: an HMM from pair counts, without a volume term.

    minimise    - sum Omega log(M Theta M')
    subject to  M >= 0, 1'M = 1';   Theta >= 0, Theta 1 = Theta'1, 1'Theta 1 = 1

Vanluyten, Willems and De Moor (2008), the paper's baseline: multiplicative updates from
random starts.  Many M and Theta give the same Omega, and nothing here prefers the true ones.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.learn.constraints import Constraints
from cohmm.learn.learner import Callback, Fit, Record, learner
from cohmm.learn.pairs.anchor_free import starting_points
from cohmm.learn.pairs.min_volume import EXACT, Problem, algorithm_1
from cohmm.learn.pairs.pair_evidence import (
    PairEvidence,
    States,
    as_hmm,
    number_of_states,
    start_probability,
    warn_of_unseen,
)
from cohmm.learn.pairs.pair_law import PairLaw, Point
from cohmm.learn.pairs.volume import NoVolume
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import stationary_distribution
from cohmm.model.sampling import generator

DIVISOR_FLOOR = 1e-300
N_STARTS = 8  # of EM on the pairs, where emissions have to be learned with transitions given


@learner
def nmf(
    counts: Cooccurrence,
    n_components: States,
    *,
    max_iter: int = 3000,
    tol: float = 1e-3,
    n_init: int = 5,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from pair counts; of several lags, the shortest is used.

    Parameters
    ----------
    counts : Cooccurrence
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise.
    max_iter : int
        Passes over the evidence, at most, from each start.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
    n_init : int
        Starts; the best objective is kept.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact pair law gets none.
    random_state : int, optional
        Seed.
    start : HMM, optional
        The first of the starts; the others are random.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept.

    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .5, 0], [0, .5, .5]])
    >>> exact = Cooccurrence.from_probability(truth.pair_probability())
    >>> fit = nmf(exact, 2, random_state=0)
    >>> fit.divergence < 1e-8
    True
    """
    evidence = PairEvidence.of(counts, counts.lags[:1])
    warn_of_unseen(counts, evidence.observed)
    k = number_of_states(n_components, evidence, evidence.spectrum())
    points = [random_point(evidence, k, rng) for rng in generator(random_state).spawn(n_init)]
    if start is not None:
        points[:1] = starting_points(evidence, k, 1, None, start)
    problem = Problem(evidence.laws, evidence.weights, NoVolume(), 0.0)
    runs = [
        algorithm_1(problem, point, tol / evidence.n_pairs, max_iter, callback) for point in points
    ]
    best = min(runs, key=lambda run: run.end.objective)
    return Fit(
        model=as_hmm(best.end.point, evidence, 0.0 if best.end.divergence < EXACT else smoothing),
        converged=best.converged,
        history=best.history,
        starts=tuple(run.end.objective for run in runs),
    )


def random_point(evidence: PairEvidence, k: int, rng: np.random.Generator) -> Point:
    """Exponential parameters: emissions about the frequencies, transitions about even."""
    m = evidence.frequency[:, None] * rng.exponential(size=(len(evidence.frequency), k))
    transmat = rng.dirichlet(np.ones(k), k)
    theta = stationary_distribution(transmat)[:, None] * transmat
    return Point(m / m.sum(axis=0), theta)


class Held(NamedTuple):
    """What stays as it is."""

    emissions: bool = False
    transitions: bool = False


class PairEM(NamedTuple):
    """Where EM led."""

    point: Point
    log_fit: float
    """sum Omega log(M Theta M')"""
    converged: bool


def pair_em(
    law: PairLaw,
    point: Point,
    held: Held,
    n_pairs: float,
    *,
    max_iter: int,
    tol: float,
    record: Record | None = None,
) -> PairEM:
    """EM from ``point`` until a step gains less than ``tol`` nats over all ``n_pairs``."""
    m, theta = point
    a = theta / np.maximum(theta.sum(axis=1, keepdims=True), DIVISOR_FLOOR)
    before, converged = -np.inf, False
    for n_iter in range(1, max_iter + 1):
        log_fit, rows, columns = law.statistics(m, theta)
        if log_fit >= before:  # short of that by rounding alone
            point = Point(m, theta)
            if record is not None:
                record(n_iter, law.negative_entropy - log_fit)
        converged = n_pairs * (log_fit - before) < tol
        before = max(log_fit, before)
        if converged or (held.emissions and held.transitions):
            break
        moved = theta * (m.T @ rows)
        if not held.emissions:
            m = m * (rows @ theta.T + columns @ theta)
            m /= np.maximum(m.sum(axis=0), DIVISOR_FLOOR)
        theta = moved.sum(axis=1, keepdims=True) * a if held.transitions else moved
        theta = theta / theta.sum()
    return PairEM(point, before, converged)


def fits_with_constraints(
    counts: Cooccurrence,
    constraints: Constraints,
    n_components: Any,
    *,
    alone: bool,
    max_iter: int,
    tol: float,
    random_state: Any,
    callback: Callback | None,
) -> list[Fit]:
    """Models that agree with what is constraints, from pairs: the best first.

    Where pairs are ``alone``, with no sequences to go on from, what was held at first is learned
    from them as well.
    """
    evidence, record = PairEvidence.of(counts, counts.lags[:1]), Record(callback)
    law, rng = evidence.laws[counts.lags[0]], generator(random_state)
    held = Held(
        emissions=constraints.emissionprob is not None,
        transitions=constraints.transmat is not None and "t" not in constraints.learned,
    )
    climb = partial(pair_em, law, n_pairs=evidence.n_pairs, max_iter=max_iter, tol=tol)
    begins = [
        _begin(evidence, constraints, n_components, rng)
        for _ in range(1 if held.emissions else N_STARTS)
    ]
    runs = sorted((climb(point, held) for point in begins), key=lambda run: -run.log_fit)
    if alone:
        held = held._replace(emissions=held.emissions and "e" not in constraints.learned)
        runs = [climb(runs[0].point, held, record=record)]
    return [_as_fit(run, evidence, constraints, record, law.negative_entropy) for run in runs]


def _begin(
    evidence: PairEvidence, constraints: Constraints, k: int, rng: np.random.Generator
) -> Point:
    """A point with the zeros of the tables that are set; random where emissions are not."""
    if constraints.emissionprob is not None:
        m = constraints.emissionprob.T[evidence.seen]
        short = m.sum(axis=1) <= 0
        if short.any():
            symbol = int(evidence.seen[np.argmax(short)])
            raise ValueError(f"symbol {symbol} occurs, but emissionprob lets no state emit it")
    else:
        m = evidence.frequency[:, None] * rng.exponential(size=(len(evidence.seen), k))
    m = m / m.sum(axis=0)
    theta = np.full((k, k), 1.0) if constraints.transmat is None else np.array(constraints.transmat)
    return Point(m, theta / theta.sum())


def _as_fit(
    run: PairEM,
    evidence: PairEvidence,
    constraints: Constraints,
    record: Record,
    negative_entropy: float,
) -> Fit:
    m, theta = run.point
    k, n = len(theta), evidence.counts.n_symbols
    emission = np.zeros((k, n))
    emission[:, evidence.seen] = m.T
    visited = theta.sum(axis=1)
    rows = np.where(
        visited[:, None] > 0, theta, 1.0 if constraints.transmat is None else constraints.transmat
    )
    transmat = rows / rows.sum(axis=1, keepdims=True)
    if not (emission.sum(axis=1) > 0).all():  # a state that died out
        emission[emission.sum(axis=1) <= 0] = 1.0 / n
    prevalence = np.maximum(visited / visited.sum(), 1e-12)
    first = start_probability(m, evidence.counts.start_counts[evidence.seen], prevalence)
    stays = replace(
        constraints,
        transmat=None if "t" in constraints.learned else constraints.transmat,
        emissionprob=None if "e" in constraints.learned else constraints.emissionprob,
    )
    model = stays.over(HMM(first, transmat, emission, evidence.counts.vocabulary))
    history = tuple(record.history)
    if not history:
        own = Record(None)
        own(1, negative_entropy - run.log_fit)
        history = tuple(own.history)
    return Fit(model, run.converged, history, (history[-1].objective,))

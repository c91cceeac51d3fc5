"""Tensor decomposition by EM: the law of triples at least Kullback-Leibler divergence.

    minimise    - sum_abc P(a, b, c) log sum_k p_k L[a, k] M[b, k] R[c, k]
    subject to  all >= 0;  p, and the columns of L, M and R, sum to one

Shashanka, Raj and Smaragdis (2008), as the paper refines its tensor decomposition.  L and R
are free: that they are M B' and M A' of one chain is left unused until A is read off R.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.evidence.windows import Triples
from cohmm.learn.learner import Callback, Fit, Progress, Record, learner
from cohmm.learn.pairs.anchor_free import mixed, starting_points
from cohmm.learn.pairs.min_volume import EXACT, PROBABILITY_FLOOR, ZERO_BELOW, Jump
from cohmm.learn.pairs.pair_evidence import States, as_hmm
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.windows.tensor import decompose, point_of
from cohmm.learn.windows.window_law import Factors, TripleLaw, implied
from cohmm.model.hmm import HMM

EVENLY = 0.1


class Evaluated(NamedTuple):
    """Factors with their divergence, and the factors that the map takes them to."""

    factors: Factors
    divergence: float
    target: Factors


@learner
def cpd_em(
    triples: Triples,
    n_components: States,
    *,
    max_iter: int = 300,
    tol: float = 1e-3,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from triple counts, by maximum likelihood of a sum of K products.

    Parameters
    ----------
    triples : Triples
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise in the pairs.
    max_iter : int
        Passes over the triples, at most.  More of them mostly fit noise, L and R being free: with
        N = 100, K = 20 and 1e7 symbols the emission error was .056 after 100, .069 after 1000.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all triples.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact law gets none.
    random_state : int, optional
        Seed of the start.
    start : HMM, optional
        Where to start, instead of at the answer of `cohmm.learn.tensor`.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept.

    >>> from cohmm import count_triples
    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .3, .2], [.2, .3, .5]])
    >>> y, _ = truth.sample(100_000, random_state=0)
    >>> cpd_em(count_triples(y), 2, random_state=0).model.distance(truth).emission < 0.05
    True
    """
    law = TripleLaw.of(triples)
    k = law.number_of_states(n_components)
    if start is None:
        begin = _start(law, decompose(law, k, random_state=random_state).point)
    else:
        begin = implied(starting_points(law.pairs, k, 1, random_state, start)[0])
    end, converged, history = follow(law, begin, tol / law.pairs.n_pairs, max_iter, callback)
    point = point_of(end.factors.middle, end.factors.after, law.pairs.frequency)
    return Fit(
        model=as_hmm(point, law.pairs, 0.0 if end.divergence < EXACT else smoothing),
        converged=converged,
        history=tuple(history),
        starts=(end.divergence,),
    )


def _start(law: TripleLaw, decomposed: Point) -> Factors:
    """A decomposition, its zeros filled, since they would stay for ever; unless it is exact.

    Noise leaves some states hardly a weight, from which EM would take long to raise them.
    """
    factors = implied(decomposed)
    if law.divergence(factors) < EXACT:
        return factors
    k = len(factors.weights)
    m = mixed(decomposed.m, law.pairs.frequency)
    weights = (1 - EVENLY) * factors.weights + EVENLY / k
    return implied(Point(m, decomposed.theta))._replace(weights=weights)


def evaluate(law: TripleLaw, factors: Factors) -> Evaluated:
    """The divergence, and the step of EM: factors in proportion to their expected counts."""
    p, left, m, right = factors
    products = law.products(left * p, m, right, divided=True)
    counts = [left * p * products.before, m * products.middle, right * products.after]
    weights = np.maximum(counts[0].sum(axis=0), ZERO_BELOW)
    laws = []
    for old, count in zip(factors[1:], counts, strict=True):
        count[count < ZERO_BELOW] = 0.0  # on its way to zero, it would slow all down
        total = count.sum(axis=0)
        laws.append(np.where(total > 0, count / np.where(total > 0, total, 1.0), old))
    target = Factors(weights / weights.sum(), *laws)
    return Evaluated(factors, law.negative_entropy - products.log_fit, target)


def follow(
    law: TripleLaw, begin: Factors, tol: float, max_iter: int, callback: Callback | None
) -> tuple[Evaluated, bool, list[Progress]]:
    """EM from one start, extrapolated by SQUAREM where that gains more; it never loses."""
    record = Record(callback)
    at, n_iter = evaluate(law, begin), 1
    record(n_iter, at.divergence)
    if at.divergence < EXACT:
        return at, True, record.history
    while n_iter < max_iter:
        after, length = evaluate(law, at.target), 1.0
        n_iter += 1
        if not after.divergence <= at.divergence:  # what is left to gain is below rounding
            return at, True, record.history
        if n_iter < max_iter:
            candidate, farther = extrapolated(at.factors, after.factors, after.target)
            jumped = evaluate(law, candidate)
            n_iter += 1
            if jumped.divergence <= after.divergence:
                after, length = jumped, farther
        gain = at.divergence - after.divergence
        at = after
        record(n_iter, at.divergence, step=length)
        if gain < tol:
            return at, True, record.history
    return at, False, record.history


def extrapolated(start: Factors, first: Factors, second: Factors) -> tuple[Factors, float]:
    """SQUAREM's point, its columns distributions again, and how far it goes."""
    shares = [1.0, start.weights, start.weights, start.weights]
    metric = [
        share / np.maximum(x, PROBABILITY_FLOOR) for share, x in zip(shares, start, strict=True)
    ]
    jump = Jump.through(start, first, second, metric)
    length = max(1.0, jump.length) if np.isfinite(jump.length) else 1.0
    positive = [jump.kept_positive(x, place) for place, x in enumerate(jump.at(length))]
    return Factors(*(x / x.sum(axis=0) for x in positive)), length

"""Tensor decomposition by EM: the law of triples at least Kullback-Leibler divergence.

    minimise    - sum_abc P(a, b, c) log sum_k p_k L[a, k] M[b, k] R[c, k]
    subject to  all >= 0;  p, and the columns of L, M and R, sum to one

Shashanka, Raj and Smaragdis (2008), as the paper refines its tensor decomposition.  L and R
are free: that they are M B' and M A' of one chain is left unused until A is read off R.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm.evidence.triples import Triples
from cohmm.learn.fit import Fit, Progress, as_hmm
from cohmm.learn.options import check_amounts, check_whole
from cohmm.learn.pairs.min_volume import EXACT, NEVER
from cohmm.learn.pairs.pair_evidence import needs
from cohmm.learn.pairs.squarem import LEAST_SHARE, TINY, Point
from cohmm.learn.pairs.start import mixed, starts
from cohmm.learn.triples.tensor import decompose, point_of
from cohmm.learn.triples.triple_law import Factors, TripleLaw, implied
from cohmm.model.hmm import HMM

EVENLY = 0.1


class State(NamedTuple):
    """Factors with their divergence, and the factors that the map takes them to."""

    factors: Factors
    divergence: float
    target: Factors


def cpd_em(
    triples: Triples,
    n_components: int | Literal["auto"],
    *,
    max_iter: int = 300,
    tol: float = 1e-3,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callable[[Progress], None] | None = None,
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
    needs(Triples, triples, "cpd_em")
    check_whole(max_iter=max_iter)
    check_amounts(tol=tol, smoothing=smoothing)
    with threadpool_limits(1, "blas"):  # the same sums for any number of threads
        law = TripleLaw.of(triples, n_components)
        if start is None:
            begin = _start(law, decompose(law, random_state=random_state).point)
        else:
            begin = implied(starts(law.pairs, 1, random_state, start)[0])
        state, converged, history = follow(law, begin, tol / law.pairs.n_pairs, max_iter, callback)
        point = point_of(state.factors.middle, state.factors.after, law.pairs.frequency)
    return Fit(
        model=as_hmm(point, law.pairs, 0.0 if state.divergence < EXACT else smoothing),
        converged=converged,
        history=tuple(history),
        starts=(state.divergence,),
    )


def _start(law: TripleLaw, found: Point) -> Factors:
    """A decomposition, its zeros filled, since they would stay for ever; unless it is exact.

    Noise leaves some states hardly a weight, from which EM would take long to raise them.
    """
    factors = implied(found)
    if law.divergence(factors) < EXACT:
        return factors
    k = len(factors.weights)
    m = mixed(found.m, law.pairs.frequency)
    weights = (1 - EVENLY) * factors.weights + EVENLY / k
    return implied(Point(m, found.theta))._replace(weights=weights)


def evaluate(law: TripleLaw, factors: Factors) -> State:
    """The divergence, and the step of EM: factors in proportion to their expected counts."""
    p, left, m, right = factors
    found = law.products(left * p, m, right, divided=True)
    counts = [left * p * found.before, m * found.middle, right * found.after]
    weights = np.maximum(counts[0].sum(axis=0), NEVER)
    laws = []
    for old, count in zip(factors[1:], counts, strict=True):
        count[count < NEVER] = 0.0  # on its way to zero, it would slow all down
        total = count.sum(axis=0)
        laws.append(np.where(total > 0, count / np.where(total > 0, total, 1.0), old))
    target = Factors(weights / weights.sum(), *laws)
    return State(factors, law.negative_entropy - found.log_fit, target)


def follow(
    law: TripleLaw,
    begin: Factors,
    tol: float,
    max_iter: int,
    callback: Callable[[Progress], None] | None,
) -> tuple[State, bool, list[Progress]]:
    """EM from one start, extrapolated by SQUAREM where that gains more; it never loses."""
    began = time.perf_counter()
    history: list[Progress] = []

    def report(state: State, n_iter: int, step: float) -> None:
        seconds = time.perf_counter() - began
        history.append(Progress(n_iter, state.divergence, state.divergence, 0.0, step, seconds))
        if callback is not None:
            callback(history[-1])

    state, n_iter = evaluate(law, begin), 1
    report(state, n_iter, 1.0)
    if state.divergence < EXACT:
        return state, True, history
    while n_iter < max_iter:
        after, length = evaluate(law, state.target), 1.0
        n_iter += 1
        if not after.divergence <= state.divergence:  # what is left to gain is below rounding
            return state, True, history
        if n_iter < max_iter:
            candidate, farther = _jump(state.factors, after.factors, after.target)
            jumped = evaluate(law, candidate)
            n_iter += 1
            if jumped.divergence <= after.divergence:
                after, length = jumped, farther
        gain = state.divergence - after.divergence
        state = after
        report(state, n_iter, length)
        if gain < tol:
            return state, True, history
    return state, False, history


def _jump(start: Factors, first: Factors, second: Factors) -> tuple[Factors, float]:
    """The point x + 2 s r + s^2 v of `cohmm.learn.pairs.squarem`, kept positive, and s."""
    r = [b - a for a, b in zip(start, first, strict=True)]
    v = [(c - b) - d for b, c, d in zip(first, second, r, strict=True)]
    shares = [1.0, start.weights, start.weights, start.weights]
    metric = [share / np.maximum(x, TINY) for share, x in zip(shares, start, strict=True)]
    bend = sum(float(np.sum(g * x * x)) for g, x in zip(metric, v, strict=True))
    pace = sum(float(np.sum(g * x * x)) for g, x in zip(metric, r, strict=True))
    length = max(1.0, float(np.sqrt(pace / bend))) if bend > 0 else 1.0
    jumped = []
    for a, b, d, e in zip(start, second, r, v, strict=True):
        x = np.maximum(a + 2 * length * d + length**2 * e, LEAST_SHARE * np.minimum(a, b))
        jumped.append(x / x.sum(axis=0))
    return Factors(*jumped), length

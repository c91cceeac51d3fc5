"""Maximum likelihood of windows of three symbols, tied to one chain.

Unlike `cohmm.learn.cpd_em`, all three factors of a triple are M and A of the same HMM.  The
E step is EM's; instead of its M step, which needs thousands of passes, its expected counts
serve as the gradient for `cohmm.learn.maximize`.  The maximum is the same.

Emissions with zeros are preferred, if at all, in a second climb: those settled before all else is
would be the wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from cohmm.evidence.windows import Triples
from cohmm.kernels.types import Ints
from cohmm.learn.learner import (
    Callback,
    Fit,
    Record,
    by_prevalence,
    learner,
    prevalence_of,
    smoothed,
)
from cohmm.learn.maximize import Prior, Report, StationaryLikelihood, Target, ascend, n_parameters
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.pairs.pair_evidence import States, warn_of_unseen
from cohmm.learn.sparsity import Sparsity, weight_of, zeros_preferred
from cohmm.learn.sqrt_parametrization import n_windows
from cohmm.learn.windows.tensor import tensor
from cohmm.learn.windows.window_law import TripleLaw, WindowLaw, WindowLikelihood
from cohmm.model.hmm import HMM, ImpossibleObservation
from cohmm.model.sampling import generator

PASSES = 20
MAX_ITER = 300
WINDOW = 3  # symbols; so often is each counted, and so much more does the prior weigh
CHUNK = 2**16  # triples looked at together
FLOOR = 0.1  # over K: delta
MIXED_IN = 1e-2  # share of all symbols, and states, in a start: steps leave a zero slowly
NO_NOISE = (
    1e9  # as many windows tell as much as their law: what is left to gain is below 1e-10 nats
)


@learner
def window_ml(
    triples: Triples,
    n_components: States,
    *,
    sparsity: float | Literal["auto"] = 0.0,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from triple counts.

    Parameters
    ----------
    triples : Triples
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise in the pairs.
    sparsity : float or "auto"
        Weight of a prior for emissions with zeros, as in `cohmm.learn.refine`; it asks for a
        second climb, whose objective is less by what the prior is where it begins.
    max_iter : int
        Passes over the triples, at most; with ``sparsity``, as many again.
    tol : float
        Stop when less than this share of a nat is left to gain for every parameter.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact law gets none.
    random_state : int, optional
        Seed.
    start : HMM, optional
        Where to start, instead of at the answer of `cohmm.learn.tensor`.  Triples do not say where
        sequences begin: its starts are kept.
    callback : function of a `Progress`, optional
        Called with every pass that led further.

    >>> from cohmm import count_triples
    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .3, .2], [.2, .3, .5]])
    >>> y, _ = truth.sample(100_000, random_state=0)
    >>> window_ml(count_triples(y), 2, random_state=0).model.distance(truth).emission < 0.05
    True
    """
    if start is not None:
        _check_start(start, triples, n_components)
        warn_of_unseen(triples, np.unique(triples.triples))
        begin = start
    else:
        begin = tensor(triples, n_components, random_state=random_state).model
    fit, _ = triple_maximum_likelihood(
        triples,
        begin,
        sparsity,
        max_iter=max_iter,
        tol=tol,
        smoothing=smoothing,
        rng=generator(random_state),
        callback=callback,
    )
    if start is None:
        fit = replace(fit, model=replace(fit.model, startprob=prevalence_of(fit.model)))
    return fit


def triple_maximum_likelihood(
    triples: Triples,
    start: HMM,
    sparsity: float | Literal["auto"],
    *,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    smoothing: float,
    rng: np.random.Generator,
    callback: Callback | None,
) -> tuple[Fit, float]:
    """`window_ml` from a start, and the weight of sparsity that was used."""
    record = Record(callback)
    law = TripleLaw.of(triples)
    plain = Target(
        WindowLikelihood(law),
        units=triples.n_triples,
        symbols=WINDOW,
        start_weight=1.0,
        prior=Prior(),
        windows=_sampler(triples, n_parameters(start), rng),
    )
    climb = partial(ascend, passes=PASSES, max_iter=max_iter, tol=tol)
    climbed = climb(
        plain,
        replace(start, startprob=prevalence_of(start)),
        report=lambda used, _, log_likelihood: record(used, law.negative_entropy - log_likelihood),
    )
    weight = weight_of(sparsity, climbed.model, plain.units)
    if weight > 0:
        zeros = zeros_preferred(WINDOW * weight, start, plain.units)
        sparse = plain._replace(prior=Prior(emissions=zeros))
        passes_before = climbed.n_iter
        level = law.negative_entropy + sparse.prior.log_density(climbed.model) / plain.units

        def report(used: int, objective: float, log_likelihood: float) -> None:
            if used > 1:  # the first is where the climb before ended
                divergence = law.negative_entropy - log_likelihood
                record(passes_before + used, level + objective, divergence)

        climbed = climb(sparse, climbed.model, report=report)
    model, end = climbed.model, record.history[-1]
    if smoothing > 0 and end.divergence >= EXACT:
        frequency = np.bincount(triples.triples[:, 1], triples.counts, minlength=model.n_symbols)
        model = smoothed(model, triples.n_triples, frequency, smoothing, climbed.visited)
    model = by_prevalence(replace(model, startprob=start.startprob))
    return Fit(model, climbed.converged, tuple(record.history), (end.objective,)), weight


def _check_start(start: HMM, triples: Triples, n_components: States) -> None:
    if n_components not in ("auto", start.n_components):
        raise ValueError(f"start has {start.n_components} states, n_components={n_components}")
    if (start.n_symbols, start.vocabulary) != (triples.n_symbols, triples.vocabulary):
        raise ValueError(f"start, {start}, is not of the symbols of {triples}")
    before = (start.emissionprob.T * prevalence_of(start)) @ start.transmat
    after = start.emissionprob.T @ start.transmat.T
    for first in range(0, len(triples.counts), CHUNK):
        a, b, c = triples.triples[first : first + CHUNK].T
        expected = np.einsum("ik,ik,ik->i", before[a], start.emissionprob.T[b], after[c])
        lost = np.flatnonzero((expected == 0) & (triples.counts[first : first + CHUNK] > 0))
        if len(lost):
            codes = triples.triples[first + lost[0]].tolist()
            words = triples.vocabulary
            triple = tuple(codes if words is None else [words[code] for code in codes])
            raise ImpossibleObservation(
                f"the triple {triple} has probability zero in start: no climb leads away from that"
            )


def _sampler(triples: Triples, parameters: int, rng: np.random.Generator) -> Callable[[], Ints]:
    share = triples.counts / triples.n_triples

    def sample() -> Ints:
        chosen = rng.choice(len(share), n_windows(parameters), p=share)
        return triples.triples[chosen].astype(np.int64)

    return sample


def window_maximum_likelihood(
    law: WindowLaw,
    starts: Iterable[HMM],
    rng: np.random.Generator,
    *,
    sparsity: float,
    max_iter: int,
    tol: float,
    smoothing: float,
    callback: Callback | None,
) -> Fit:
    """The best of the models that are reached from ``starts``.

    A start that explains the law to rounding is the answer as it is, zeros and all.  ``rng``
    draws the windows that curvature is estimated from.
    """
    counted = np.isfinite(law.n_windows)

    def reached(start: HMM) -> Fit:
        record = Record(callback)

        def report(passes: int, objective: float, log_likelihood: float) -> None:
            best = law.negative_entropy
            record(passes, best + objective, best - log_likelihood)

        weight = sparsity if counted else 0.0
        model, converged = _climb(law, start, rng, weight, max_iter, tol, report)
        history = tuple(record.history)
        return Fit(model, converged, history, (history[-1].objective,))

    fits: list[Fit] = []
    for start in starts:
        fits.append(reached(start))
        if fits[-1].divergence < EXACT:
            break
    best = min(fits, key=lambda fit: fit.objective)
    model = replace(best.model, startprob=prevalence_of(best.model))
    if smoothing > 0 and counted:
        frequency = np.zeros(law.n_symbols)
        frequency[law.seen] = law.frequency
        model = smoothed(model, law.n_windows, frequency, smoothing)
    model = by_prevalence(model, model.startprob)
    return replace(best, model=model, starts=tuple(fit.objective for fit in fits))


def _climb(
    law: WindowLaw,
    start: HMM,
    rng: np.random.Generator,
    sparsity: float,
    max_iter: int,
    tol: float,
    report: Report,
) -> tuple[HMM, bool]:
    """Where one start leads, and whether it has arrived."""
    plain = Target(
        StationaryLikelihood(WindowLikelihood(law)),
        units=min(law.n_windows, NO_NOISE),
        symbols=2 * law.tau + 1,
        start_weight=1.0,
        prior=Prior(),
        windows=lambda: law.sample(n_windows(n_parameters(start)), rng),
    )
    target = plain._replace(prior=Prior(transitions=Sparsity(sparsity, FLOOR / start.n_components)))
    log_likelihood, _ = plain.likelihood.expected(start)
    if law.negative_entropy - log_likelihood < EXACT:
        penalty = -target.prior.log_density(start) / target.units
        report(1, penalty - log_likelihood, log_likelihood)
        return start, True
    climb = partial(ascend, passes=PASSES, max_iter=max_iter, tol=tol)
    begin, passes_before = _opened(start, law), 0
    if sparsity > 0:
        begin, _, passes_before, _ = climb(plain, begin)
    end = climb(
        target, begin, report=lambda passes, *values: report(passes_before + passes, *values)
    )
    return end.model, end.converged


def _opened(model: HMM, law: WindowLaw) -> HMM:
    """``model`` with a share of every transition, and of every symbol seen in every state."""
    m, a = model.emissionprob[:, law.seen].T, model.transmat
    n, k = m.shape
    return law.model((m + MIXED_IN / n) / (1 + MIXED_IN), (a + MIXED_IN / k) / (1 + MIXED_IN))

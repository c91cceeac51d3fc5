"""Maximum likelihood of windows, in the parameters of the chain itself: M and A.

    minimise    - sum P(window) log p(window; M, A, pi = pi A)  +  w / T sum log(1 + A / delta)

over T windows, by `cohmm.learn.sequences.ascent`, as for sequences.  The last term, if any,
prefers zeros among the transitions, and comes after plain maximum likelihood: zeros that are
settled before all else is would be the wrong ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import numpy as np

from cohmm.learn.finish import by_prevalence, prevalence_of, smoothed
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.many_states.window_law import WindowLaw
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.run import Record
from cohmm.learn.sequences.ascent import Prior, Report, Sparsity, Target, ascend, n_parameters
from cohmm.learn.sequences.likelihood import StationaryLikelihood, WindowLikelihood
from cohmm.learn.sequences.square_roots import n_windows
from cohmm.model.hmm import HMM

FLOOR = 0.1  # over K: delta
MIXED_IN = 1e-2  # share of all symbols, and states, in a start: steps leave a zero slowly
PASSES = 20  # over the windows in a round, as for triples
NO_NOISE = (
    1e9  # as many windows tell as much as their law: what is left to gain is below 1e-10 nats
)


def maximum_likelihood(
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

"""Maximum likelihood of windows of three symbols, tied to one chain.

Unlike `cohmm.learn.cpd_em`, all three factors of a triple are M and A of the same HMM.  The
E step is EM's; instead of its M step, which needs thousands of passes, its expected counts
serve as the gradient for `cohmm.learn.sequences.ascent`.  The maximum is the same.

Emissions with zeros are preferred, if at all, in a second climb: those settled before all else is
would be the wrong ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from cohmm.evidence.windows import Triples
from cohmm.kernels.types import Ints
from cohmm.learn.finish import by_prevalence, prevalence_of, smoothed
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.pairs.pair_evidence import States, warn_of_unseen
from cohmm.learn.run import Record, learner
from cohmm.learn.sequences.ascent import Prior, Target, ascend, n_parameters
from cohmm.learn.sequences.likelihood import WindowLikelihood
from cohmm.learn.sequences.square_roots import n_windows
from cohmm.learn.sequences.zeros import weight_of, zeros_preferred
from cohmm.learn.triples.tensor import tensor
from cohmm.learn.triples.triple_law import TripleLaw
from cohmm.model.hmm import HMM, ImpossibleObservation
from cohmm.model.sampling import generator

PASSES = 20
MAX_ITER = 300
WINDOW = 3  # symbols; so often is each counted, and so much more does the prior weigh
CHUNK = 2**16  # triples looked at together


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
    fit, _ = maximum_likelihood(
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


def maximum_likelihood(
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

"""Maximum likelihood of windows of three symbols, tied to one chain.

Unlike `cohmm.learn.cpd_em`, all three factors of a triple are M and A of the same HMM.  The
E step is EM's; instead of its M step, which needs thousands of passes, its expected counts
serve as the gradient for `cohmm.learn.sequences.ascent`.  The maximum is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm.evidence.triples import Triples
from cohmm.kernels.compiled import Ints
from cohmm.learn.fit import Fit, Progress, prevalence_of, smoothed
from cohmm.learn.options import check_amounts, check_whole
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.pairs.pair_evidence import needs
from cohmm.learn.sequences.ascent import Prior, Target, ascend, n_parameters
from cohmm.learn.sequences.likelihood import WindowLikelihood
from cohmm.learn.sequences.square_roots import n_windows
from cohmm.learn.triples.tensor import tensor
from cohmm.learn.triples.triple_law import TripleLaw
from cohmm.model.hmm import HMM, ImpossibleObservation

PASSES = 20
CHUNK = 2**16  # triples looked at together


def window_ml(
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
    """Learn an HMM from triple counts.

    Parameters
    ----------
    triples : Triples
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise in the pairs.
    max_iter : int
        Passes over the triples, at most.
    tol : float
        Stop when less than this share of a nat is left to gain for every parameter.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact law gets none.
    random_state : int, optional
        Seed.
    start : HMM, optional
        Where to start, instead of at the answer of `cohmm.learn.tensor`.
    callback : function of a `Progress`, optional
        Called with every pass that led further.

    >>> from cohmm import count_triples
    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .3, .2], [.2, .3, .5]])
    >>> y, _ = truth.sample(100_000, random_state=0)
    >>> window_ml(count_triples(y), 2, random_state=0).model.distance(truth).emission < 0.05
    True
    """
    needs(Triples, triples, "window_ml")
    check_whole(max_iter=max_iter)
    check_amounts(tol=tol, smoothing=smoothing)
    if start is not None:
        _check_start(start, triples, n_components)
    else:
        start = tensor(triples, n_components, random_state=random_state).model
    began = time.perf_counter()
    history: list[Progress] = []
    with threadpool_limits(1, "blas"):  # the same sums for any number of threads
        law = TripleLaw.of(triples, start.n_components)

        def report(used: int, objective: float, log_likelihood: float) -> None:
            divergence = law.negative_entropy - log_likelihood
            seconds = time.perf_counter() - began
            history.append(Progress(used, divergence, divergence, seconds=seconds))
            if callback is not None:
                callback(history[-1])

        target = Target(
            WindowLikelihood(law),
            units=triples.n_triples,
            symbols=3.0,
            start_weight=1.0,
            prior=Prior(),
            windows=_sampler(triples, n_parameters(start), np.random.default_rng(random_state)),
        )
        begin = HMM(prevalence_of(start), start.transmat, start.emissionprob, start.vocabulary)
        found = ascend(target, begin, passes=PASSES, max_iter=max_iter, tol=tol, report=report)
    model = found.model
    model = HMM(prevalence_of(model), model.transmat, model.emissionprob, model.vocabulary)
    if smoothing > 0 and history[-1].divergence >= EXACT:
        frequency = np.bincount(triples.triples[:, 1], triples.counts, minlength=model.n_symbols)
        model = smoothed(model, triples.n_triples, frequency, smoothing, found.visited)
    order = np.argsort(-prevalence_of(model), kind="stable")
    return Fit(model.with_states(order), found.converged, tuple(history), (history[-1].objective,))


def _check_start(start: HMM, triples: Triples, n_components: int | Literal["auto"]) -> None:
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

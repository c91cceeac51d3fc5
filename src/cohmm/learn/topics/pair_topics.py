"""Topics from pairs of words, for `cohmm.learn.htmm`: its steps 2 and 3.

k-means may put two topics into one cluster, and the factorisation seldom parts them again.  Where
several starts are allowed, each is followed for a few passes: by then the objective tells which
have done so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import PairFit, Progress
from cohmm.learn.pairs.min_volume import Problem, follow, min_volume
from cohmm.learn.pairs.pair_evidence import EvidenceWarning, PairEvidence
from cohmm.learn.pairs.start import starts
from cohmm.learn.pairs.volume import volume_term
from cohmm.learn.topics.clusters import cluster_topics
from cohmm.model.hmm import HMM

TRIAL = 20  # passes over the pairs by which starts are compared


def topics_of_pairs(
    counts: Cooccurrence,
    n_components: int | Literal["auto"],
    *,
    max_iter: int,
    tol: float,
    n_init: int,
    random_state: int | None,
    start: HMM | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> PairFit:
    """Topics as the states of a model, without smoothing; options are those of `htmm`.

    The volume term is left out: on text it makes no difference.

    >>> counts = Cooccurrence.from_probability(np.kron(np.eye(2), np.ones((2, 2))) / 8)
    >>> options = {"max_iter": 30, "tol": 1e-3, "random_state": 0}
    >>> fit = topics_of_pairs(counts, 2, n_init=3, **options)
    >>> len(fit.starts), fit.model
    (3, HMM(2 states, 4 symbols))
    """
    lags = [lag for lag in counts.lags if counts.n_pairs(lag) > 0]
    with warnings.catch_warnings():
        # A word without a pair is no state of affairs to warn of: passes and smoothing see to it.
        warnings.filterwarnings("ignore", ".*never occur in a pair", EvidenceWarning)
        if n_components == "auto":
            n_components = PairEvidence.of(counts, lags, "summed", "auto").n_components
        begins = _begins(counts, lags, n_components, n_init, random_state, start)
        tried: tuple[float, ...] = ()
        if n_init > 1:
            tried = _trials(counts, lags, begins, min(TRIAL, max_iter), tol, callback)
        fit = min_volume(
            counts,
            n_components,
            lags=lags,
            combine="summed",
            volume="none",
            penalty=0.0,
            max_iter=max_iter,
            tol=tol,
            smoothing=0.0,
            random_state=random_state,
            start=begins[int(np.argmin(tried))] if tried else begins[0],
            callback=callback,
        )
    return replace(fit, starts=tried or fit.starts)


def _begins(
    counts: Cooccurrence,
    lags: Sequence[int],
    k: int,
    n_init: int,
    random_state: int | None,
    given: HMM | None,
) -> list[HMM]:
    """Where to start: the first is the same for any ``n_init``."""
    if given is not None and given.vocabulary not in (None, counts.vocabulary):
        raise ValueError("start has other words than the documents, or in another order")
    if given is not None and n_init == 1:
        return [given]
    omega = sum(counts[lag] / counts.n_pairs(lag) for lag in lags)
    begins = [
        HMM(np.full(k, 1 / k), (np.eye(k) + 1) / (k + 1), topics, counts.vocabulary)
        for topics in cluster_topics(omega, k, random_state, n_init)
    ]
    return begins if given is None else [given, *begins[1:]]


def _trials(
    counts: Cooccurrence,
    lags: Sequence[int],
    begins: Sequence[HMM],
    passes: int,
    tol: float,
    callback: Callable[[Progress], None] | None,
) -> tuple[float, ...]:
    """The objective of each start after so many of the passes that `min_volume` would make."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)  # `min_volume` itself warns of these
        evidence = PairEvidence.of(counts, lags, "summed", begins[0].n_components)
    problem = Problem(evidence.laws, evidence.weights, volume_term("none"), 0.0)
    tried = []
    for model in begins:
        (begin,) = starts(evidence, 1, None, model)
        state, _, _ = follow(problem, begin, tol / evidence.n_pairs, passes, callback)
        tried.append(state.objective)
    return tuple(tried)

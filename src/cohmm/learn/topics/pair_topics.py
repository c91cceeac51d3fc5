"""Topics from pairs of words, for `cohmm.learn.htmm`: its steps 2 and 3.

k-means may put two topics into one cluster, and the factorisation seldom parts them again.  Where
several starts are allowed, each is followed for a few passes: by then the objective tells which
have done so.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Ints
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.pairs.min_volume import Problem, algorithm_1
from cohmm.learn.pairs.pair_evidence import PairEvidence, States, number_of_states
from cohmm.learn.pairs.pair_fit import as_hmm
from cohmm.learn.pairs.start import starts
from cohmm.learn.pairs.volume import NoVolume
from cohmm.learn.topics.clusters import cluster_topics
from cohmm.learn.topics.seed_words import NONE, Seeds, seed_pairs
from cohmm.model.hmm import HMM

TRIAL = 20  # passes over the pairs by which starts are compared


@dataclass(frozen=True, eq=False)
class PairTopics(Fit):
    """Topics as the states of a model, by prevalence."""

    numbers: Ints = field(kw_only=True, repr=False)
    """Which topic of the start each has come from, (K,)."""


def topics_of_pairs(
    counts: Cooccurrence,
    n_components: States,
    *,
    max_iter: int,
    tol: float,
    n_init: int,
    random_state: int | None,
    shares: dict[int, float] | None = None,
    seeds: Seeds = NONE,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> PairTopics:
    """Topics as the states of a model, without smoothing; options are those of `htmm`.

    ``shares`` say how much each lag counts (`cohmm.learn.topics.topic_lags`); default: all alike.
    ``seeds`` are what the first topics start from.

    The volume term is left out: on text it makes no difference.  A word without a pair has no
    probability: passes over documents and smoothing see to it.

    >>> counts = Cooccurrence.from_probability(np.kron(np.eye(2), np.ones((2, 2))) / 8)
    >>> options = {"max_iter": 30, "tol": 1e-3, "random_state": 0}
    >>> fit = topics_of_pairs(counts, 2, n_init=3, **options)
    >>> len(fit.starts), fit.model
    (3, HMM(2 states, 4 symbols))
    """
    if shares is None:
        shares = dict.fromkeys(counts.lags, 1.0)
    shares = {lag: share for lag, share in shares.items() if share and counts.n_pairs(lag)}
    extra = None
    if seeds.words:
        extra = seed_pairs(seeds, counts.symbol_counts / counts.symbol_counts.sum())
    evidence = PairEvidence.of(counts, shares, "summed", shares, extra)
    k = number_of_states(n_components, evidence, evidence.spectra(n_components)[1], goes_on=True)
    k = max(k, len(seeds.words))
    points = [
        starts(evidence, k, 1, None, model)[0]
        for model in _start_models(counts, shares, seeds, extra, k, n_init, random_state, start)
    ]
    problem = Problem(evidence.laws, evidence.weights, NoVolume(), 0.0)
    least_gain = tol / evidence.n_pairs
    tried: tuple[float, ...] = ()
    if n_init > 1:
        trial = min(TRIAL, max_iter)
        tried = tuple(
            algorithm_1(problem, point, least_gain, trial, callback).end.objective
            for point in points
        )
        points = [points[int(np.argmin(tried))]]
    end, converged, history = algorithm_1(problem, points[0], least_gain, max_iter, callback)
    model = as_hmm(end.point, evidence, 0.0)
    order = np.argsort(-end.point.theta.sum(axis=1), kind="stable")  # that of `as_hmm`
    return PairTopics(model, converged, history, tried or (end.objective,), numbers=order)


def _start_models(
    counts: Cooccurrence,
    shares: dict[int, float],
    seeds: Seeds,
    extra: Any,
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
    omega: Any = sum(share * counts.probability(lag) for lag, share in shares.items())
    if extra is not None:
        omega = omega / omega.sum() + extra
    models = [
        HMM(np.full(k, 1 / k), (np.eye(k) + 1) / (k + 1), topics, counts.vocabulary)
        for topics in cluster_topics(omega, k, random_state, n_init, seeds.words)
    ]
    return models if given is None else [given, *models[1:]]

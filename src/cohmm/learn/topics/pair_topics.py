"""Topics from pairs of words, for `cohmm.learn.htmm`: its steps 2 and 3.

k-means may put two topics into one cluster, and the factorisation seldom parts them again.  Where
several starts are allowed, each is followed for a few passes: by then the objective tells which
have done so.

Of a large vocabulary the frequent words come first, and all words at the end: most pairs of most
words are rare, and say less of topics than they cost.  Topics are better for it, too: a rare word
joins those that frequent words have made, and makes none of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Ints
from cohmm.learn.learner import Callback, Fit, Progress
from cohmm.learn.options import check_states
from cohmm.learn.pairs.anchor_free import starting_points
from cohmm.learn.pairs.min_volume import Problem, Run, algorithm_1
from cohmm.learn.pairs.pair_evidence import PairEvidence, States, as_hmm, number_of_states
from cohmm.learn.pairs.pair_law import Point, pair_law
from cohmm.learn.pairs.spectrum import MAX_SYMBOLS
from cohmm.learn.pairs.volume import NoVolume
from cohmm.learn.topics.clusters import cluster_topics
from cohmm.learn.topics.seed_words import NONE, Seeds, seed_pairs
from cohmm.model.hmm import HMM

TRIAL = 20  # passes over the pairs by which starts are compared
FREQUENT, PER_TOPIC = 2000, 100  # words that come first, at least, and for each topic
LAST = 6  # one pass of so many is over all words
EVIDENT = 200  # pairs per word: with more, noise is no reason to look for fewer topics


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
    k = max(_number_of_topics(n_components, evidence), len(seeds.words))
    points = [
        starting_points(evidence, k, 1, None, model)[0]
        for model in _start_models(evidence, seeds, k, n_init, random_state, start)
    ]
    problem = Problem(evidence.laws, evidence.weights, NoVolume(), 0.0)
    words = _frequent_words(evidence, k, seeds)
    least_gain, last, used = tol / evidence.n_pairs, max_iter, 0
    tried: tuple[float, ...] = ()
    if len(words) < len(evidence.seen) and max_iter > 1:
        last = -(-max_iter // LAST)
        few, among = _of_words(words, problem, points)
        run, tried = _best(few, among, least_gain, max_iter - last, callback)
        points, used = [_with_all_words(run.end.point, words, evidence)], run.history[-1].n_iter
    told = None if callback is None else lambda step: callback(_after(used, step))
    run, compared = _best(problem, points, least_gain, last, told)
    end, model = run.end, as_hmm(run.end.point, evidence, 0.0)
    order = np.argsort(-end.point.theta.sum(axis=1), kind="stable")  # that of `as_hmm`
    history = tuple(_after(used, step) for step in run.history)
    ended = tried or compared or (end.objective,)
    return PairTopics(model, run.converged, history, ended, numbers=order)


def _number_of_topics(n_components: States, evidence: PairEvidence) -> int:
    """K; where it is given, and pairs are many, the spectrum is not looked at."""
    n_words = min(len(evidence.seen), MAX_SYMBOLS)
    if n_components != "auto" and evidence.n_pairs >= EVIDENT * n_words:
        return check_states(n_components, len(evidence.seen))
    return number_of_states(n_components, evidence, evidence.spectra(n_components)[1], goes_on=True)


def _frequent_words(evidence: PairEvidence, k: int, seeds: Seeds) -> Ints:
    """Places among the words that occur in pairs, in order; seed words are among them."""
    most = max(FREQUENT, PER_TOPIC * k)
    order = np.argsort(-evidence.frequency, kind="stable")[:most]
    given = np.flatnonzero(np.isin(evidence.seen, np.concatenate([*seeds.words, []])))
    return np.union1d(order, given)


def _of_words(words: Ints, problem: Problem, points: list[Point]) -> tuple[Problem, list[Point]]:
    """The same problem and points, of some of the words alone."""
    omega = problem.laws[1].submatrix(words)
    few = replace(problem, laws={1: pair_law(omega / omega.sum())})
    return few, [Point(m[words] / m[words].sum(axis=0), theta) for m, theta in points]


def _with_all_words(point: Point, words: Ints, evidence: PairEvidence) -> Point:
    """The others have their frequency in all topics: passes place them."""
    frequency = evidence.frequency
    m = np.repeat(frequency[:, None], len(point.theta), axis=1)
    m[words] = point.m * frequency[words].sum()
    return Point(m / m.sum(axis=0), point.theta)


def _best(
    problem: Problem,
    points: list[Point],
    least_gain: float,
    max_iter: int,
    callback: Callback | None,
) -> tuple[Run, tuple[float, ...]]:
    """From the start that leads furthest in a few passes, and where they led: () of one alone."""
    tried: tuple[float, ...] = ()
    if len(points) > 1:
        trial = min(TRIAL, max_iter)
        tried = tuple(
            algorithm_1(problem, point, least_gain, trial, callback).end.objective
            for point in points
        )
        points = [points[int(np.argmin(tried))]]
    return algorithm_1(problem, points[0], least_gain, max_iter, callback), tried


def _after(used: int, step: Progress) -> Progress:
    return step._replace(n_iter=used + step.n_iter)


def _start_models(
    evidence: PairEvidence,
    seeds: Seeds,
    k: int,
    n_init: int,
    random_state: int | None,
    given: HMM | None,
) -> list[HMM]:
    """Where to start: the first is the same for any ``n_init``."""
    vocabulary = evidence.counts.vocabulary
    if given is not None and given.vocabulary not in (None, vocabulary):
        raise ValueError("start has other words than the documents, or in another order")
    if given is not None and n_init == 1:
        return [given]
    words = [np.flatnonzero(np.isin(evidence.seen, codes)) for codes in seeds.words]
    models = []
    for clusters in cluster_topics(evidence.laws[1].omega, k, random_state, n_init, words):
        topics = np.zeros((k, evidence.counts.n_symbols))
        topics[:, evidence.seen] = clusters
        models.append(HMM(np.full(k, 1 / k), (np.eye(k) + 1) / (k + 1), topics, vocabulary))
    return models if given is None else [given, *models[1:]]

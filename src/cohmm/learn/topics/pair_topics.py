"""Topics from pairs of words, for `cohmm.learn.htmm`: its steps 3 and 4.

k-means may put two topics into one cluster, and the factorisation seldom parts them again.  Where
several starts are allowed, each is followed for a few passes: by then the objective tells which
have done so.

Passes go on until topics have settled: until none of them changes any more to speak of.  The
objective would not tell: what it gains late is little beside what it has gained, and yet topics
that began as copies of one another part by it.  Of a large vocabulary the frequent words come
first, and all words when these have settled: most pairs of most words are rare, and say less of
topics than they cost.  Topics are better for it, too: a rare word joins those that frequent words
have made, and makes none of its own.

Topics that end as copies of one another are parted (`cohmm.learn.topics.twins`).

A topic with seed words starts from the cluster of these (`cohmm.learn.topics.topic_start`), and
they are paired with one another somewhat more often than they were seen to be: as if there were
more documents of nothing else, worth `SEED_PAIRS` of the words' own occurrences.  Other words come
and go as the corpus has it, and so do seed words that it keeps elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm._validation import check_states, shown
from cohmm.data.vocabulary import codes_in
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import Callback, Fit, Progress, warn
from cohmm.learn.pairs.anchor_free import starting_points
from cohmm.learn.pairs.min_volume import Problem, Run, algorithm_1
from cohmm.learn.pairs.pair_evidence import (
    PairEvidence,
    States,
    as_hmm,
    n_in_pairs,
    number_of_states,
)
from cohmm.learn.pairs.pair_law import Point, pair_law
from cohmm.learn.pairs.spectrum import MAX_SYMBOLS
from cohmm.learn.pairs.volume import NoVolume
from cohmm.learn.topics.topic_start import cluster_topics
from cohmm.learn.topics.twins import twins, without_twins
from cohmm.model.hmm import HMM
from cohmm.model.topic_model import TopicLabels, checked_topic_labels

SeedWords = Mapping[str, Sequence[str]] | Sequence[Sequence[str]]

TRIAL_PASSES = 20  # over the pairs, by which starts are compared
FREQUENT_WORDS, WORDS_PER_TOPIC = 2000, 40  # that come first, at least, and for each topic
FULL_SHARE = 6  # one pass of so many is for all words, where passes are few
PARTINGS = 3  # times that twins are looked for
SETTLING_PASSES = 10  # over which topics are watched: single ones go far, or hardly move
CLEAR_PAIRS = 200  # per word: with more, noise is no reason to look for fewer topics
SEED_PAIRS = 0.5


@dataclass(frozen=True, eq=False)
class PairTopics(Fit):
    """Topics as the states of a model, by prevalence."""

    labels: TopicLabels = field(kw_only=True, repr=False)
    """The label of every topic that has one by its seed words; (): none has."""


class Seeds(NamedTuple):
    """The first topics: what they are called, and where they start."""

    labels: TopicLabels
    words: tuple[Ints, ...]
    """Codes of the words of each, without repetition."""


NO_SEEDS = Seeds((), ())


def topics_of_pairs(
    counts: Cooccurrence,
    n_components: States,
    *,
    max_iter: int,
    tol: float,
    n_init: int,
    random_state: int | None,
    shares: dict[int, float] | None = None,
    seeds: Seeds = NO_SEEDS,
    start: HMM | None = None,
    held_back: Cooccurrence | None = None,
    callback: Callback | None = None,
) -> PairTopics:
    """Topics as the states of a model, without smoothing; options are those of `htmm`.

    ``shares`` say how much each lag counts (`cohmm.learn.topics.topic_lags`); default: all alike.
    ``seeds`` are what the first topics start from.  Pairs that are ``held_back`` are not learned
    from, as long as the others have words for all topics.

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
    evidence = _evidence(counts, shares, seeds)
    k = max(_number_of_topics(n_components, evidence), len(seeds.words))
    if held_back is not None and n_in_pairs(rest := counts.without(held_back)) >= k:
        evidence = _evidence(rest, shares, seeds)
    points = [
        starting_points(evidence, k, 1, None, model)[0]
        for model in _start_models(evidence, seeds, k, n_init, random_state, start)
    ]
    problem = Problem(evidence.laws, evidence.weights, NoVolume(), 0.0)
    words = _frequent_words(evidence, k, seeds)
    converged, used = True, 0
    tried: tuple[float, ...] = ()
    if len(words) < len(evidence.seen) and max_iter > 1:
        few, among = _of_words(words, problem, points)
        most = max_iter - -(-max_iter // FULL_SHARE)
        run, tried = _best(few, among, tol, most, callback)
        run = _parted(few, run, len(seeds.words), tol, most, callback)
        points = [_with_all_words(run.end.point, words, evidence)]
        converged, used = run.converged, run.history[-1].n_iter
    report = None if callback is None else lambda step: callback(_after(used, step))
    run, compared = _best(problem, points, tol, max_iter - used, report)
    if not used:
        run = _parted(problem, run, len(seeds.words), tol, max_iter, report)
    converged = converged and run.converged
    end, model = run.end, as_hmm(run.end.point, evidence, 0.0)
    order = np.argsort(-end.point.theta.sum(axis=1), kind="stable")  # that of `as_hmm`
    history = tuple(_after(used, step) for step in run.history)
    ended = tried or compared or (end.objective,)
    labels: TopicLabels = (*seeds.labels, *[None] * (k - len(seeds.words)))
    labels = tuple(labels[n] for n in order) if any(seeds.labels) else ()
    return PairTopics(model, converged, history, ended, labels=labels)


def _evidence(counts: Cooccurrence, shares: dict[int, float], seeds: Seeds) -> PairEvidence:
    shares = {lag: share for lag, share in shares.items() if share and counts.n_pairs(lag)}
    extra = None
    if seeds.words:
        extra = seed_pairs(seeds, counts.symbol_counts / counts.symbol_counts.sum())
    return PairEvidence.of(counts, shares, "summed", shares, extra)


def _number_of_topics(n_components: States, evidence: PairEvidence) -> int:
    """K; where it is given, and pairs are many, the spectrum is not looked at."""
    n_words = min(len(evidence.seen), MAX_SYMBOLS)
    if n_components != "auto" and evidence.n_pairs >= CLEAR_PAIRS * n_words:
        return check_states(n_components, len(evidence.seen))
    return number_of_states(n_components, evidence, evidence.spectra(n_components)[1], goes_on=True)


def _frequent_words(evidence: PairEvidence, k: int, seeds: Seeds) -> Ints:
    """Places among the words that occur in pairs, in order; seed words are among them."""
    most = max(FREQUENT_WORDS, WORDS_PER_TOPIC * k)
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
    tol: float,
    max_iter: int,
    callback: Callback | None,
) -> tuple[Run, tuple[float, ...]]:
    """From the start that leads furthest in a few passes, and where all led: () of one alone."""
    tried: tuple[float, ...] = ()
    if len(points) > 1:
        trial = min(TRIAL_PASSES, max_iter)
        tried = tuple(
            algorithm_1(problem, point, 0.0, trial, callback, Settled(tol)).end.objective
            for point in points
        )
        points = [points[int(np.argmin(tried))]]
    return algorithm_1(problem, points[0], 0.0, max_iter, callback, Settled(tol)), tried


def _parted(
    problem: Problem,
    run: Run,
    n_seeds: int,
    tol: float,
    max_iter: int,
    callback: Callback | None,
) -> Run:
    """Without twins, as far as that explains the pairs better: see `cohmm.learn.topics.twins`."""
    omega = problem.laws[1].omega
    for seed in range(PARTINGS):
        used = run.history[-1].n_iter
        pairs = twins(run.end.point.m.T, spared=n_seeds)
        if not pairs or used >= max_iter:
            break
        (clusters,) = cluster_topics(omega, len(run.end.point.theta), seed)
        point = without_twins(run.end.point, problem.laws[1], clusters.T, pairs)
        if point is None:
            break
        report = None if callback is None else lambda step, used=used: callback(_after(used, step))
        after = algorithm_1(problem, point, 0.0, max_iter - used, report, Settled(tol))
        history = tuple(_after(used, step) for step in after.history)
        if after.end.objective > run.end.objective:
            break
        run = Run(after.end, after.converged, history)
    return run


class Settled:
    """The stop rule: no topic changes by more than ``tol`` with a pass, in total variation."""

    def __init__(self, tol: float) -> None:
        self._tol = tol
        self._since: tuple[int, Floats] | None = None

    def __call__(self, n_iter: int, point: Point) -> bool:
        """Whether the topics have settled after so many passes."""
        if self._since is None:
            self._since = n_iter, point.m
        began, before = self._since
        if n_iter - began < SETTLING_PASSES:
            return False
        self._since = n_iter, point.m
        change = np.abs(point.m - before).sum(axis=0) / 2
        return bool(change.max() < self._tol * (n_iter - began))


def _after(used: int, step: Progress) -> Progress:
    return step._replace(n_iter=used + step.n_iter)


def _start_models(
    evidence: PairEvidence,
    seeds: Seeds,
    k: int,
    n_init: int,
    random_state: int | None,
    start: HMM | None,
) -> list[HMM]:
    """Where to start: the first is the same for any ``n_init``."""
    if start is not None and n_init == 1:
        return [start]
    words = [np.flatnonzero(np.isin(evidence.seen, codes)) for codes in seeds.words]
    models = []
    for clusters in cluster_topics(evidence.laws[1].omega, k, random_state, n_init, words):
        topics = np.zeros((k, evidence.counts.n_symbols))
        topics[:, evidence.seen] = clusters
        models.append(HMM(np.full(k, 1 / k), (np.eye(k) + 1) / (k + 1), topics))
    return models if start is None else [start, *models[1:]]


def checked_seeds(seed_words: SeedWords | None, vocabulary: tuple[Any, ...], most: int) -> Seeds:
    """Seed words as codes; words that the documents do not have are warned of, and left out.

    >>> seed_words = {"grain": ["corn", "wheat"], "metal": ["gold"]}
    >>> labels, words = checked_seeds(seed_words, ("corn", "gold", "wheat"), 3)
    >>> labels, [codes.tolist() for codes in words]
    (('grain', 'metal'), [[0, 2], [1]])
    """
    if seed_words is None:
        return NO_SEEDS
    if isinstance(seed_words, str) or not isinstance(seed_words, Iterable):
        raise ValueError(
            "seed_words must be lists of words, by topic or one after the other, "
            f"not {seed_words!r}"
        )
    named = isinstance(seed_words, Mapping)
    lists = list(seed_words.values()) if isinstance(seed_words, Mapping) else list(seed_words)
    names = [repr(name) for name in seed_words] if named else [str(n) for n in range(len(lists))]
    labels = checked_topic_labels(list(seed_words) if named else [], len(lists))
    if len(lists) > most:
        raise ValueError(f"seed_words are for {len(lists)} topics, and there are {most}")
    codes: list[Ints] = []
    owner: dict[str, str] = {}
    unknown: list[str] = []
    for name, words in zip(names, lists, strict=True):
        if isinstance(words, str) or not isinstance(words, Iterable):
            raise ValueError(f"the seed words of topic {name} must be a list, not {words!r}")
        own = list(dict.fromkeys(words))
        for word in own:
            if owner.setdefault(word, name) != name:
                raise ValueError(f"{word!r} is a seed word of topics {owner[word]} and {name}")
        known = codes_in(tuple(own), vocabulary)
        unknown += [word for word, code in zip(own, known.tolist(), strict=True) if code < 0]
        if not (known >= 0).any():
            raise ValueError(
                f"no seed word of topic {name} is in the documents: {shown(own) if own else 'none'}"
            )
        codes.append(known[known >= 0])
    if unknown:
        are = "is" if len(unknown) == 1 else "are"
        warn(f"{shown(unknown)} {are} not in the documents: as seed words they are left out")
    return Seeds(labels, tuple(codes))


def seed_pairs(seeds: Seeds, frequency: Floats) -> Any:
    """How much more often seed words are paired, (V, V), where all pairs together are 1."""
    words = np.concatenate(seeds.words)
    topics = np.repeat(np.arange(len(seeds.words)), [len(own) for own in seeds.words])
    mass = np.bincount(topics, frequency[words])[topics]
    scale = np.divide(SEED_PAIRS, mass, out=np.zeros(len(words)), where=mass > 0)
    shape = (len(frequency), len(seeds.words))
    roots = sparse.csr_array((frequency[words] * np.sqrt(scale), (words, topics)), shape)
    return roots @ roots.T

"""The hidden topic Markov model: topics from pairs of words, then a pass over the documents.

    1. count which word follows which, at several lags, and sum them;
    2. start from clusters of words (`cohmm.learn.topics.clusters`);
    3. Omega ~ M Theta M' by Algorithm 1 of the paper (both in `cohmm.learn.topics.pair_topics`);
    4. the rate at which topics change, with M as it is;
    5. ``refine`` passes of EM over the documents, in which each is a sticky chain with topic
       proportions of its own (`cohmm.kernels.sticky_chains`); they update M;
    6. the corpus' transitions, as these chains expect them (`cohmm.kernels.sticky_moves`).

The passes stay within the paper's model: sticky chains have Theta_lag = s diag(pi) +
(1 - s) E[p p'], s = (1 - switch)^lag, and so Omega_lag = M Theta_lag M'.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm.data.documents import Documents
from cohmm.evidence.document_pairs import count_documents
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels import sticky_chains, sticky_moves
from cohmm.kernels.compiled import Floats, Part
from cohmm.kernels.threads import run
from cohmm.learn.fit import Progress
from cohmm.learn.topics.pair_topics import topics_of_pairs
from cohmm.learn.topics.topic_fit import TopicFit, check_options
from cohmm.model.hmm import HMM

SWITCH = 0.5
SWEEPS = 3
PRIOR_DRAWS = 1.0
PRIOR_MOVES = 1.0  # transitions from every topic
SMOOTHING = 0.01
LEAST = 1e-30  # a probability: so that nothing is impossible, and nothing underflows
LEAST_SWITCH = 1e-6
GROUPS = (4, 16)  # of documents whose counts are summed apart: at least, at most
ROOM = 2**26  # numbers in the tables of all groups
PART = 20_000  # words
PARTS = 64
SAMPLE = 100_000  # words from which the rate of switching is learned
SETTLED = 1e-3
SETTLING = 50
SETTLING_IN = 10


@dataclass(frozen=True, eq=False, repr=False)
class HTMMFit(TopicFit):
    """Topics with their chain.

    Parameters
    ----------
    transitions : array, (K, K)
        The corpus' transitions, from row to column: as the chains of the documents expect them,
        or, where no pass was made over these, those of the pairs.
    switch : float
        The probability that a word's topic is drawn anew: that of the sticky chain.
    passes : tuple of Progress
        The passes over the documents; the objective is minus the log-likelihood of a word.
    starts : tuple of float
        The objective of each start after a few passes over the pairs, the best of which was
        learned from; the last objective where there was one start.

    ``history`` has the passes over the pairs.
    """

    transitions: Floats = field(kw_only=True)
    switch: float = field(kw_only=True)
    passes: tuple[Progress, ...] = field(default=(), kw_only=True)
    starts: tuple[float, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        transitions = np.ascontiguousarray(self.transitions, np.float64)
        k = self.n_components
        if transitions.shape != (k, k):
            raise ValueError(f"transitions have the shape {transitions.shape}, not {(k, k)}")
        if not (transitions >= 0).all() or np.abs(transitions.sum(axis=1) - 1).max() > 1e-8:
            raise ValueError("transitions must be at least 0, and every row must sum to one")
        checked_switch(self.switch)
        transitions.setflags(write=False)
        object.__setattr__(self, "transitions", transitions)

    @property
    def n_iter(self) -> int:
        """Passes over the pairs."""
        return self.history[-1].n_iter if self.history else 0

    def as_hmm(self) -> HMM:
        """The corpus as one chain, whose states are the topics."""
        return HMM(self.prevalence, self.transitions, self.components, self.vocabulary)


def htmm(
    documents: Documents,
    n_components: int | Literal["auto"],
    *,
    lags: Iterable[int] | int = range(1, 6),
    refine: int = 1,
    max_iter: int = 100,
    tol: float = 1e-3,
    n_init: int = 1,
    weights: Any = None,
    smoothing: float = SMOOTHING,
    random_state: int | None = None,
    start: HMM | None = None,
    counts: Cooccurrence | None = None,
    callback: Callable[[Progress], None] | None = None,
) -> HTMMFit:
    """Learn topics from documents whose words have an order.

    Parameters
    ----------
    documents : Documents
        The corpus.
    n_components : int or "auto"
        Number of topics; "auto": as many as stand out from the noise.
    lags : int or several
        Distances at which pairs are counted.  One lag alone finds phrases.
    refine : int
        Passes over the documents behind the pairs; 0: none.
    max_iter : int
        Passes over the pairs, at most.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
    n_init : int
        Starts.  Of several, each is followed for 20 passes over the pairs, and the one with the
        lowest objective is learned from.
    weights : array, (D,), optional
        A weight a document.
    smoothing : float
        Pseudo-observations of every word that each topic is given.
    random_state : int, optional
        Seed of the clusters.
    start : HMM, optional
        Where to start, instead of clusters; of several starts, the first.
    counts : Cooccurrence, optional
        The pairs of these documents, where they are counted already.
    callback : function of a `Progress`, optional
        Called with every pass that was kept, first over the pairs (of several starts, those by
        which they are compared come before), then over the documents.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(200, n_components=3, n_words=60, random_state=0)
    >>> fit = htmm(sample.documents, 3, random_state=0)
    >>> fit.transitions.shape, 0 < fit.switch < 1
    ((3, 3), True)
    """
    check_options(random_state, smoothing, max_iter=max_iter, n_init=n_init)
    if isinstance(refine, bool) or not isinstance(refine, (int, np.integer)) or refine < 0:
        raise ValueError(f"refine must be a whole number of passes from 0, not {refine!r}")
    began = time.perf_counter()
    if n_components != "auto":
        _check_size(n_components, documents.n_symbols)
    if counts is None:
        counts = count_documents(documents, lags, weights)
    with threadpool_limits(1, "blas"):  # the same sums for any number of threads
        pairs = topics_of_pairs(
            counts,
            n_components,
            max_iter=max_iter,
            tol=tol,
            n_init=n_init,
            random_state=random_state,
            start=start,
            callback=callback,
        )
        model = pairs.model
        prevalence = model.stationary()
        expected = model.emissionprob.T * (counts.symbol_counts.sum() * prevalence)
        topics = Topics.of(expected + smoothing, prevalence, SWITCH)
        weighing = checked_weights(documents, weights)
        passes: list[Progress] = []
        topics = topics._replace(switch=settled_switch(documents, topics, weighing))
        for n_pass in range(refine):
            counted = expected_counts(documents, topics, weighing)
            topics = counted.topics(smoothing)
            passes.append(counted.progress(n_pass + 1, time.perf_counter() - began))
            if callback is not None:
                callback(passes[-1])
        transitions = model.transmat
        if refine:
            topics = topics._replace(switch=settled_switch(documents, topics, weighing))
            transitions = corpus_transitions(documents, topics, weighing)
    order = np.argsort(-topics.prevalence, kind="stable")
    prevalence = topics.prevalence[order] / topics.prevalence.sum()
    components = topics.emission.T[order]
    return HTMMFit(
        components / components.sum(axis=1, keepdims=True),
        prevalence,
        chain_prior(prevalence),
        documents.vocabulary,
        name="HTMM",
        converged=pairs.converged,
        history=pairs.history,
        seconds=time.perf_counter() - began,
        transitions=transitions[order][:, order],
        switch=topics.switch,
        passes=tuple(passes),
        starts=pairs.starts,
    )


def _check_size(k: object, n_words: int) -> None:
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ValueError(f"n_components must be a whole number from 1, or 'auto', not {k!r}")
    if k > n_words:
        raise ValueError(
            f"n_components={k} topics cannot be learned from a vocabulary of {n_words} words: "
            "there must be at least as many words as topics"
        )


def floored(m: Floats) -> Floats:
    """A table of emissions (V, K) with columns that sum to one and no zero."""
    m = m / m.sum(axis=0)
    m = np.maximum(m, LEAST)
    return np.ascontiguousarray(m / m.sum(axis=0))


def checked_switch(switch: float) -> float:
    """The rate of switching; a `ValueError` if it is none."""
    if isinstance(switch, bool) or not isinstance(switch, (int, float, np.number)):
        raise ValueError(f"switch must be a probability above 0, not {switch!r}")
    if not 0 < switch <= 1:
        raise ValueError(f"switch must be a probability above 0 and up to 1, not {switch}")
    return float(switch)


def chain_prior(prevalence: Floats) -> Floats:
    """Pseudo-counts of a document's topics: one draw, shared as the corpus shares its topics.

    Fewer than for a bag of words, since a sticky chain draws fewer topics than there are words.
    """
    return PRIOR_DRAWS * prevalence


def checked_weights(documents: Documents, weights: Any) -> Floats:
    """A weight a document; `count_documents` has the same rules."""
    if weights is None:
        return np.ones(len(documents))
    weights = np.asarray(weights, np.float64)
    if weights.shape != (len(documents),) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"weights must have one number a document, ({len(documents)},), at least 0 and not all "
            f"of them 0; they have the shape {weights.shape}"
        )
    return np.ascontiguousarray(weights)


def sticky_transitions(prevalence: Floats, switch: float) -> Floats:
    """(1 - switch) I + switch 1 pi': of documents that share topics as the corpus does."""
    a = (1 - switch) * np.eye(len(prevalence)) + switch * prevalence
    return np.asarray(a / a.sum(axis=1, keepdims=True))


class Topics(NamedTuple):
    """What the passes over documents work on."""

    emission: Floats
    """M, (V, K), all above zero; columns sum to one."""
    prevalence: Floats
    """(K,)"""
    switch: float
    prior: Floats
    """Pseudo-counts of a document's topics, (K,), above zero."""

    @classmethod
    def of(cls, m: Floats, prevalence: Floats, switch: float, prior: Any = None) -> Topics:
        """With columns of M scaled to one, nothing impossible, and the prior of a chain."""
        prior = chain_prior(prevalence) if prior is None else np.asarray(prior)
        return cls(floored(m), prevalence, switch, np.maximum(prior, LEAST))


class Counted(NamedTuple):
    """What a pass over documents expects to have happened."""

    words: Floats
    """How often each topic emitted each word, (V, K)."""
    switches: float
    transitions: float
    log_likelihood: float
    n_words: float

    @property
    def objective(self) -> float:
        """Minus the log-likelihood of a word."""
        return -self.log_likelihood / max(self.n_words, 1.0)

    def progress(self, n_iter: int, seconds: float) -> Progress:
        """This pass, for the records."""
        return Progress(n_iter, self.objective, self.objective, seconds=seconds)

    def topics(self, smoothing: float) -> Topics:
        """The M-step."""
        share = self.words.sum(axis=0)
        return Topics.of(self.words + smoothing, share / share.sum(), self.rate())

    def rate(self) -> float:
        """The rate of switching."""
        if self.transitions <= 0:
            return SWITCH
        return float(np.clip(self.switches / self.transitions, LEAST_SWITCH, 1.0))


def expected_counts(
    documents: Documents,
    topics: Topics,
    weights: Floats,
    *,
    sweeps: int = SWEEPS,
    proportions: Floats | None = None,
) -> Counted:
    """One pass over the documents: the E-step, with ``sweeps`` steps for every document's own.

    Documents begin at the prior, or at ``proportions``, (D, K), which are kept up to date.
    """
    prior = topics.prior

    def task(first: int, last: int) -> tuple[Floats, Floats]:
        words, totals = np.zeros(topics.emission.shape), np.zeros(4)
        if proportions is None:
            own = np.repeat(prior[None] / prior.sum(), last - first, axis=0)
        else:
            own = proportions[first:last]
        sticky_chains.count_words(
            documents.symbols,
            documents.offsets,
            (first, last),
            weights,
            topics.emission,
            prior,
            topics.switch,
            sweeps,
            own,
            words,
            totals,
        )
        return words, totals

    parts = run(task, _groups(documents, topics.emission.size))
    words, totals = parts[0]
    for more, also in parts[1:]:
        words += more
        totals += also
    return Counted(words, *map(float, totals))


def parts_of(documents: Documents, most: int = PARTS) -> list[Part]:
    """Ranges of documents with about equally many words; they depend on the documents alone."""
    n = max(1, min(most, documents.n_words // PART))
    aims = documents.n_words * np.arange(1, n) // n
    cuts = [0, *np.searchsorted(documents.offsets, aims).tolist(), len(documents)]
    return [(a, b) for a, b in pairwise(cuts) if b > a]


def _groups(documents: Documents, size: int) -> list[Part]:
    """Parts that each have a table of ``size`` numbers."""
    least, most = GROUPS
    return parts_of(documents, max(least, min(most, ROOM // size)))


def corpus_transitions(documents: Documents, topics: Topics, weights: Floats) -> Floats:
    """From which topic to which the words go, as the documents' own chains expect it, (K, K).

    A topic that next to no word has goes on as in a document like the corpus.
    """

    def task(first: int, last: int) -> Floats:
        moves = np.zeros((len(topics.prior), len(topics.prior)))
        sticky_moves.count_moves(
            documents.symbols,
            documents.offsets,
            (first, last),
            weights,
            topics.emission,
            topics.prior,
            topics.switch,
            SWEEPS,
            moves,
        )
        return moves

    moves = PRIOR_MOVES * sticky_transitions(topics.prevalence, topics.switch)
    for part in run(task, _groups(documents, len(moves) ** 2)):
        moves += part
    return np.asarray(moves / moves.sum(axis=1, keepdims=True))


def settled_switch(documents: Documents, topics: Topics, weights: Floats) -> float:
    """The rate of switching that these topics have, from some of the documents.

    The rate moves slowly from pass to pass: here M stays as it is, and passes are cheap.
    """
    chosen = documents.some(SAMPLE, weights > 0)
    some, its = documents.select(chosen), weights[chosen]
    proportions = np.repeat(topics.prior[None] / topics.prior.sum(), len(some), axis=0)
    sweeps = SETTLING_IN  # documents first: while they have the corpus' topics, all keep theirs
    for _ in range(SETTLING):
        counted = expected_counts(some, topics, its, sweeps=sweeps, proportions=proportions)
        done = abs(counted.rate() - topics.switch) < SETTLED
        topics = topics._replace(switch=counted.rate())
        if done:
            break
        sweeps = 1
    return topics.switch


def with_chain(fit: TopicFit, documents: Documents, transitions: Any = None) -> HTMMFit:
    """Topics that were learned as bags of words, with the chain that suits them.

    The rate of switching is learned from ``documents``, the topics staying as they are.  The
    corpus' transitions, where not given, are `sticky_transitions`.
    """
    with threadpool_limits(1, "blas"):
        topics = Topics.of(fit.components.T, fit.prevalence, SWITCH, fit.prior)
        switch = settled_switch(documents, topics, np.ones(len(documents)))
    if transitions is None:
        transitions = sticky_transitions(fit.prevalence, switch)
    return HTMMFit(
        fit.components,
        fit.prevalence,
        fit.prior,
        fit.vocabulary,
        fit.name,
        fit.converged,
        fit.history,
        fit.seconds,
        transitions=transitions,
        switch=switch,
    )

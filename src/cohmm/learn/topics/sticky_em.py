"""EM over documents that are sticky chains, each with topic proportions of its own.

    x_1 ~ p_d;   x_{t+1} = x_t with probability 1 - switch, else drawn from p_d;   w_t ~ M[:, x_t]

A pass is O(K) per word (`cohmm.kernels.documents`).
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.kernels.documents import DocumentChain, count_moves, count_words
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Part

Data = Documents | Partitioned

SWITCH = 0.5  # the rate that learning begins with
RESTLESS = 0.4  # the power of the rate of switching while topics are learned
SWEEPS = 3  # of EM over a document, for its own proportions
PRIOR_DRAWS = 1.0  # of a topic, in every document
PRIOR_MOVES = 1.0  # transitions from every topic
SMOOTHING = 0.01  # observations of every word in every topic
LEAST = 1e-30  # a probability: so that nothing is impossible, and nothing underflows
LEAST_SWITCH = 1e-6
GROUPS = (4, 16)  # of documents whose counts are summed apart: at least, at most
ROOM = 2**26  # numbers in the tables of all groups
PART = 20_000  # words
PARTS = 64
SAMPLE = 100_000  # words from which the rate of switching is learned
SETTLED = 1e-3  # change of the rate from pass to pass
SETTLING = 50  # passes, at most
FIRST_SWEEPS = 10  # of the first of them


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


def checked_weights(documents: Data, weights: Any) -> Floats | None:
    """One weight per document, or None; `count_documents` has the same rules."""
    if weights is None:
        return None
    weights = np.asarray(weights, np.float64)
    if weights.shape != (len(documents),) or not (weights >= 0).all() or not weights.any():
        raise ValueError(
            f"weights must have one number per document, ({len(documents)},), at least 0 and not "
            f"all of them 0; they have the shape {weights.shape}"
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

    @property
    def chain(self) -> DocumentChain:
        """As kernels want it."""
        return DocumentChain(self.emission, self.prior, self.switch)

    def restless(self) -> Topics:
        """The same, drawn anew more often, as passes that learn topics have it.

        A word's own say, which its neighbours would drown, gives topics that differ more.
        """
        return self._replace(switch=self.switch**RESTLESS)


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

    def topics(self, smoothing: float, draws: float = PRIOR_DRAWS) -> Topics:
        """The M-step, with a prior of so many draws."""
        share = self.words.sum(axis=0)
        share = share / share.sum()
        return Topics.of(self.words + smoothing, share, self.rate(), draws * share)

    def rate(self) -> float:
        """The rate of switching."""
        if self.transitions <= 0:
            return SWITCH
        return float(np.clip(self.switches / self.transitions, LEAST_SWITCH, 1.0))


def expected_counts(
    documents: Data,
    topics: Topics,
    weights: Floats | None,
    *,
    sweeps: int = SWEEPS,
    proportions: Floats | None = None,
) -> Counted:
    """One pass over the documents: the E-step, with ``sweeps`` steps for every document's own.

    Documents begin at the prior, or at ``proportions``, (D, K), which are kept up to date.
    """
    counted: Counted = documents.map_sum(_counted, topics, weights, sweeps, proportions)
    return counted


def _counted(
    documents: Documents,
    topics: Topics,
    weights: Floats | None,
    sweeps: int,
    proportions: Floats | None,
) -> Counted:
    weights = np.ones(len(documents)) if weights is None else weights
    prior = topics.prior

    def task(first: int, last: int) -> tuple[Floats, Floats]:
        words, totals = np.zeros(topics.emission.shape), np.zeros(4)
        if proportions is None:
            own = np.repeat(prior[None] / prior.sum(), last - first, axis=0)
        else:
            own = proportions[first:last]
        place = (documents.symbols, documents.offsets, (first, last))
        count_words(*place, weights, topics.chain, sweeps, own, words, totals)
        return words, totals

    parts = run(task, _groups(documents, topics.emission.size))
    if not parts:  # a part of more, without documents
        return Counted(np.zeros(topics.emission.shape), 0.0, 0.0, 0.0, 0.0)
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


def corpus_transitions(documents: Data, topics: Topics, weights: Floats | None) -> Floats:
    """From which topic to which the words go, as the documents' own chains expect it, (K, K).

    A topic that next to no word has goes on as in a document like the corpus.
    """
    moves = PRIOR_MOVES * sticky_transitions(topics.prevalence, topics.switch)
    moves = moves + expected_moves(documents, topics, weights)
    return np.asarray(moves / moves.sum(axis=1, keepdims=True))


def expected_moves(documents: Data, topics: Topics, weights: Floats | None) -> Floats:
    """How often words are expected to go from which topic to which, (K, K)."""
    moves: Floats = documents.map_sum(_moves, topics, weights)
    return moves


def _moves(documents: Documents, topics: Topics, weights: Floats | None) -> Floats:
    weights = np.ones(len(documents)) if weights is None else weights

    def task(first: int, last: int) -> Floats:
        moves = np.zeros((len(topics.prior), len(topics.prior)))
        place = (documents.symbols, documents.offsets, (first, last))
        count_moves(*place, weights, topics.chain, SWEEPS, moves)
        return moves

    size = len(topics.prior) ** 2
    return np.asarray(sum(run(task, _groups(documents, size)), np.zeros((len(topics.prior),) * 2)))


def settled_switch(documents: Data, topics: Topics, weights: Floats | None) -> float:
    """The rate of switching that these topics have, from some of the documents.

    The rate moves slowly from pass to pass: here M stays as it is, and passes are cheap.
    """
    chosen = documents.some(SAMPLE, True if weights is None else weights > 0)
    some, weighing = documents.select(chosen), None if weights is None else weights[chosen]
    proportions = np.repeat(topics.prior[None] / topics.prior.sum(), len(some), axis=0)
    sweeps = FIRST_SWEEPS  # documents first: while they have the corpus' topics, all keep theirs
    for _ in range(SETTLING):
        counted = expected_counts(some, topics, weighing, sweeps=sweeps, proportions=proportions)
        done = abs(counted.rate() - topics.switch) < SETTLED
        topics = topics._replace(switch=counted.rate())
        if done:
            break
        sweeps = 1
    return topics.switch

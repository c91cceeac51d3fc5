"""How sure the words and transitions of topics are: a jackknife over groups of documents.

Documents are dealt into groups.  One pass gives what each group expects to have happened; without
one group after the other, the counts give other topics,

    Var = (G - 1) / G  sum_g (topics without g - their mean)^2

Words of one document vary together, and this counts documents, not words.  Topics are not those of
maximum likelihood: what one more pass would change of words and prevalence is added as a bias.

Words seem to keep their topic more often than they do, for two reasons: topics are learned as if
they were drawn anew more often (`cohmm.learn.topics.sticky_em.tempered_switch`), and they know the
words of the documents that they then read, which explains words where they stand.  So some passes
follow that take topics nearer to maximum likelihood, and every group is read by topics without its
own words: what that changes of the transitions is their bias.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from cohmm._validation import check_whole
from cohmm.data.documents import Documents
from cohmm.diagnose.intervals import check_level
from cohmm.kernels.documents import DocumentChain
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats
from cohmm.learn.topics.sticky_em import (
    PRIOR_MOVES,
    SMOOTHING,
    expected_counts,
    expected_moves,
    sticky_chain,
    sticky_transitions,
)
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.topic_model import floored

GROUPS = 20
PASSES = 5  # towards maximum likelihood, after which the bias of transitions has settled
NOTE = (
    "how much topics vary with the documents, given that there are so many; how far off "
    "transitions are on the whole is estimated, and makes most of the width of those of a topic "
    "to itself: the truth is likelier near one end than in the middle"
)


class TopicTables(NamedTuple):
    """Three arrays, as topics have them."""

    components: Floats
    transitions: Floats
    prevalence: Floats


class TopicInterval(NamedTuple):
    """From where to where each probability may be."""

    low: TopicTables
    high: TopicTables


class WordInterval(NamedTuple):
    """A word of a topic, its probability, and from where to where that may be."""

    word: str
    probability: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class TopicErrors:
    """How sure the numbers of topics are.

    Parameters
    ----------
    components, transitions, prevalence : arrays
        Standard errors, (K, V), (K, K) and (K,).
    fit : TopicFit
        What they are of.
    n_groups : int
        Groups of documents that were left out in turn.
    notes : tuple of str
        What to know before they are relied on.
    """

    components: Floats
    transitions: Floats
    prevalence: Floats
    fit: TopicFit
    n_groups: int
    notes: tuple[str, ...] = (NOTE,)

    def interval(self, level: float = 0.9) -> TopicInterval:
        """Where each probability lies, with this coverage: ``(low, high)``, three arrays each."""
        t = float(stdtrit(self.n_groups - 1, (1 + check_level(level)) / 2))
        pairs = [(getattr(self.fit, name), t * getattr(self, name)) for name in TopicTables._fields]
        return TopicInterval(
            TopicTables(*(np.maximum(p - half, 0.0) for p, half in pairs)),
            TopicTables(*(np.minimum(p + half, 1.0) for p, half in pairs)),
        )

    def top_words(self, n: int = 10, level: float = 0.9) -> list[list[WordInterval]]:
        """The ``n`` most probable words of every topic, with intervals."""
        ends = self.interval(level)
        tables = [self.fit.components, ends.low.components, ends.high.components]
        return [
            [
                WordInterval(self.fit.vocabulary[w], *(float(table[k, w]) for table in tables))
                for w in np.argsort(-row, kind="stable")[:n]
            ]
            for k, row in enumerate(self.fit.components)
        ]

    def __repr__(self) -> str:
        k, v = self.components.shape
        return f"TopicErrors({k} topics, {v:,} words, from {self.n_groups} groups of documents)"


@blas_threads(1)
def topic_errors(
    fit: TopicFit, documents: Documents, weights: Any = None, *, n_groups: int = GROUPS
) -> TopicErrors:
    """How sure the topics of ``fit`` are, learned from ``documents``.

    Parameters
    ----------
    weights : array, (D,), optional
        One weight per document.
    n_groups : int
        Groups of documents; with fewer documents, each is a group.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> from cohmm.learn import htmm
    >>> sample = sample_htmm(200, n_components=3, n_words=60, random_state=0)
    >>> errors = topic_errors(htmm(sample.documents, 3, random_state=0), sample.documents)
    >>> errors
    TopicErrors(3 topics, 60 words, from 20 groups of documents)
    >>> low, high = errors.interval(.9)
    >>> bool((low.components <= high.components).all())
    True
    """
    check_whole(2, n_groups=n_groups)
    weighing = documents.checked_weights(weights)
    counted = documents.lengths * (1.0 if weighing is None else weighing)
    there = np.flatnonzero(counted > 0)
    n = min(n_groups, len(there))
    if n < 2:
        number = "one" if n else "no"
        raise ValueError(
            f"{number} document with words says nothing of how topics vary: give several"
        )
    topics = sticky_chain(fit.components.T, fit.prior, fit.switch)
    groups = [
        (documents.select(chosen), None if weighing is None else weighing[chosen])
        for chosen in (there[group::n] for group in range(n))
    ]
    words = [expected_counts(part, topics, own).words.T.astype(np.float32) for part, own in groups]
    moves = [expected_moves(part, topics, own) for part, own in groups]
    all_words = np.asarray(np.sum(words, axis=0, dtype=np.float64))
    all_moves = np.sum(moves, axis=0)
    prior = PRIOR_MOVES * sticky_transitions(fit.prevalence, fit.switch)
    unread = _unread_moves(documents, weighing, topics, groups)
    components = _jackknife(_by_rows(all_words - own + SMOOTHING) for own in words)
    transitions = _jackknife(_by_rows(all_moves - own + prior) for own in moves)
    prevalence = _jackknife(_shares(all_words - own) for own in words)
    return TopicErrors(
        np.hypot(components, _by_rows(all_words + SMOOTHING) - fit.components),
        np.hypot(transitions, _by_rows(unread + prior) - fit.transitions),
        np.hypot(prevalence, _shares(all_words) - fit.prevalence),
        fit,
        n,
    )


def _unread_moves(
    documents: Documents,
    weights: Floats | None,
    topics: DocumentChain,
    groups: list[tuple[Documents, Floats | None]],
) -> Floats:
    """Moves from topic to topic, (K, K), by topics of the other groups, taken some passes on."""
    for _ in range(PASSES):
        before = topics
        counted = expected_counts(documents, before, weights)
        topics = counted.maximized(SMOOTHING, before.prior.sum())
    moves = np.zeros((len(topics.prior), len(topics.prior)))
    for part, own in groups:
        rest = np.maximum(counted.words - expected_counts(part, before, own).words, 0.0)
        unread = topics._replace(emission=floored(rest + SMOOTHING))
        moves += expected_moves(part, unread, own)
    return moves


def _jackknife(values: Iterator[Floats]) -> Floats:
    """The jackknife's standard error, from what is left as groups are left out."""
    first = next(values)  # differences to it: squares of probabilities would cancel
    n, total, squares = 1, np.zeros_like(first), np.zeros_like(first)
    for value in values:
        n, change = n + 1, value - first
        total += change
        squares += change**2
    return np.asarray(np.sqrt(np.maximum((n - 1) / n * (squares - total**2 / n), 0.0)))


def _by_rows(table: Floats) -> Floats:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def _shares(words: Floats) -> Floats:
    return np.asarray(words.sum(axis=1) / words.sum())

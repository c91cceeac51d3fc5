"""What there is to say about topics on a corpus, computed once for the screen and the report.

The mean run of a topic, wherever it is shown: the words of a topic over the runs of words that have
it, in documents as they are decoded (Viterbi); a run ends where its document does.

Subjects and sections: how much the share of a topic varies between documents.
A subject is what some documents are about, and others are not; a section (an introduction, a list
of thanks) is in every document for a while.  The contrast of a topic is the variance of its share
between documents, as a share of what it would be if every document were all or nothing:

    contrast = Var(share) / (p (1 - p)),        0: all documents alike, 1: all or nothing

with the topic's share p in the corpus.  A document of few words shows its share with noise, which
would look like contrast: if each of its n words had the topic by chance, the variance would be
p (1 - p) / n.  With that taken off, contrast is the correlation between two words of the same
document, does each have the topic or not: how much one word of a document tells about another.
(Of genes in populations it is Wright's F_ST.)  Documents count by their words: with w_d the share
of all words that document d has,

    A = sum_d w_d (share_d - p)^2 / sum_d w_d (1 - w_d),      C = the mean of 1 / n_d, so weighted,
    contrast = (A / T - C) / (1 - C),                         T = p (1 - p) + A sum_d w_d^2,

no less than 0 and no more than 1.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel
from cohmm.topics.coherence import coherence
from cohmm.topics.junk import Junk

TOP, EPS = 20, 0.01  # of coherence as the paper has it
MAX_DECODED = 1_000_000  # words, about, where some documents stand for all
MIN_SIGNAL = 0.01  # 1 - C: of documents of one word nothing can be known


@dataclass(frozen=True, eq=False)
class Overview:
    """Figures of every topic, and how topics follow one another in documents.

    Parameters
    ----------
    coherence : array, (K,)
        The paper's, of `top` words, on all documents; NaN of a topic whose words they do not have.
    why : str
        Why some are NaN.
    top : int
        Words of a topic that coherence looks at.
    runs : RunLengths
        How long topics last, as documents are decoded.
    moves : array, (K, K)
        How often a word of one topic is followed by a word of another, likewise.
    n_decoded : int
        Documents that were decoded: all, or a sample of many words.
    contrast : array, (K,)
        Of every topic, in these documents: see `contrast`.
    junk : Junk
        Which topics say nothing, by these documents: see `cohmm.topics.junk`.
    """

    coherence: Floats
    why: str
    top: int
    runs: RunLengths
    moves: Floats
    n_decoded: int
    contrast: Floats
    junk: Junk

    @classmethod
    def of(cls, model: TopicModel, documents: Documents | Partitioned) -> Overview:
        """Measure what was learned.

        >>> from cohmm import HTMM
        >>> topics = HTMM(2, random_state=0).fit(["oil gas oil", "wheat corn wheat"] * 9)
        >>> Overview.of(topics.fit_, topics.documents_).runs.mean
        3.0
        """
        k, top = model.n_components, min(TOP, documents.n_symbols)
        by_topic, why = _coherence(model, documents, top)
        some = documents.select(documents.some(MAX_DECODED))
        inferred = model.infer(some, decode=True)
        topics = inferred.topics
        inside = np.ones(len(topics), bool)
        inside[some.offsets[:-1][some.lengths > 0]] = False
        here = np.flatnonzero(inside)
        moves = np.zeros((k, k))
        np.add.at(moves, (topics[here - 1], topics[here]), 1.0)
        return cls(
            by_topic,
            why,
            top,
            count_runs(topics, some.offsets, k),
            moves,
            len(some),
            contrast(inferred.shares, some.lengths),
            Junk.of(model, some, inferred.shares),
        )


def _coherence(
    model: TopicModel, documents: Documents | Partitioned, top: int
) -> tuple[Floats, str]:
    """The paper's coherence of every topic, and why some are NaN."""
    try:
        return coherence(model.components, documents, "paper", top=top, eps=EPS), ""
    except ValueError as error:  # one word alone, or other documents than it came from
        why = str(error)
    by_topic = np.full(model.n_components, np.nan)
    for k, row in enumerate(model.components):
        with suppress(ValueError):
            by_topic[k] = coherence(row[None], documents, "paper", top=top, eps=EPS)[0]
    return by_topic, why


class RunLengths(NamedTuple):
    """Runs of words of one topic, counted in decoded documents."""

    number: Ints
    """How many runs every topic has, (K,)."""
    words: Ints
    """How many words they have together, (K,)."""

    @property
    def mean(self) -> float:
        """Words in a run, on average over all runs; 0 where there is none."""
        return float(self.words.sum() / max(self.number.sum(), 1))

    @property
    def means(self) -> Floats:
        """The mean run of every topic, in words, (K,); 0 where it has none."""
        return np.asarray(self.words / np.maximum(self.number, 1))


def count_runs(topics: Any, offsets: Any, n_components: int) -> RunLengths:
    """Count the runs of every topic; one ends where its document does.

    Parameters
    ----------
    topics : array, (T,)
        The topic of every word.
    offsets : array, (D + 1,)
        Where documents begin, and the end.
    n_components : int
        K.

    >>> runs = count_runs([1, 1, 0, 0, 0], [0, 4, 5], 2)
    >>> runs.means, runs.mean.__round__(3)
    (array([1.5, 2. ]), 1.667)
    """
    topics, offsets = np.asarray(topics), np.asarray(offsets)
    begins = np.ones(len(topics), bool)
    begins[1:] = topics[1:] != topics[:-1]
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    return RunLengths(
        np.bincount(topics[begins], minlength=n_components),
        np.bincount(topics, minlength=n_components),
    )


def contrast(shares: Any, lengths: Any) -> Floats:
    """The contrast of every topic, (K,), see the module; NaN where nothing can be said.

    Parameters
    ----------
    shares : array, (D, K)
        The share of every topic in every document.
    lengths : array, (D,)
        The words of every document.

    >>> contrast([[1, 0], [0, 1], [1, 0], [0, 1]], [900] * 4)
    array([1., 1.])
    >>> contrast([[.5, .5], [.5, .5]], [900, 900])
    array([0., 0.])
    """
    shares, lengths = np.asarray(shares, np.float64), np.asarray(lengths, np.float64)
    if shares.ndim != 2 or lengths.shape != shares.shape[:1]:
        raise ValueError(f"shares {shares.shape} and lengths {lengths.shape} do not fit together")
    nothing = np.full(shares.shape[1], np.nan)
    there = lengths > 0
    shares, lengths = shares[there], lengths[there]
    if len(lengths) < 2:
        return nothing
    weights = lengths / lengths.sum()
    within = weights * (1 - weights)
    noise = float(within @ (1 / lengths) / within.sum())
    if 1 - noise < MIN_SIGNAL:
        return nothing
    p = weights @ shares
    between = weights @ (shares - p) ** 2 / within.sum()
    total = p * (1 - p) + between * float(weights @ weights)
    relative = np.divide(between, total, out=nothing, where=total > 1e-12)
    return np.asarray(np.clip((relative - noise) / (1 - noise), 0.0, 1.0))

"""Documents found by topics and words: those of a topic, those like another, those that answer.

A query of words q is answered by the documents under which it is most probable.  A document is a
mixture of its own words, those of its topics and those of the corpus,

    P(w | d) = l (n_dw + m p(w)) / (n_d + m) + (1 - l) sum_k share_dk M_kw,    l = 0.7

so that a document about grain answers "wheat exports" where it says "maize shipments" too (Wei and
Croft, 2006).  m is the median length of the documents: the words of a short one are
trusted less.

Documents are alike where their topics are, by the Hellinger affinity sum_k sqrt(share_k share'_k).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm._validation import check_whole, shown
from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats, Ints
from cohmm.model.topic_model import TopicModel

OWN_WORDS = 0.7  # l: how much a document's own words say, beside its topics
PASSAGE = 30  # words of the passage that is shown


class Hit(NamedTuple):
    """A document that was found, best ones first."""

    document: int
    score: float
    """Of a query: log P(word | document) - log P(word), nats per word of the query; of a topic: its
    share of the document; of a document: the affinity, from 0 to 1."""
    passage: tuple[int, int]
    """The words ``first:last`` of the document that answer best."""


@dataclass(frozen=True, eq=False)
class TopicIndex:
    """Documents with their shares of topics, made once, so that a query costs little.

    >>> from cohmm import HTMM
    >>> texts = ["oil gas oil pipe", "wheat corn wheat farm", "gold ore gold mine"] * 9
    >>> index = HTMM(3, random_state=0).fit(texts).index()
    >>> [hit.document for hit in index.search(["wheat"], 2)]
    [1, 4]
    """

    model: TopicModel
    documents: Documents
    shares: Floats
    """(D, K)"""
    _counts: Any = field(repr=False)  # (D, V), by column
    _background: Floats = field(repr=False)  # (V,)
    _weight: float = field(repr=False)  # m

    @classmethod
    def of(cls, model: TopicModel, documents: Documents) -> TopicIndex:
        """The index of documents in the words of the model."""
        if not documents.n_words:
            raise ValueError("no document has a word that the topics know: nothing can be found")
        counts = sparse.csc_array(documents.term_counts())
        overall = np.asarray(counts.sum(axis=0), np.float64).ravel()
        lengths = documents.lengths
        return cls(
            model,
            documents,
            model.infer(documents).shares,
            counts,
            (overall + 1) / (overall + 1).sum(),
            float(np.median(lengths[lengths > 0])),
        )

    def __repr__(self) -> str:
        return f"TopicIndex({len(self.documents):,} documents, {self.model.n_components} topics)"

    def search(self, query: Iterable[str], n: int = 10) -> list[Hit]:
        """The documents that answer a query, a list of words of the model."""
        words = list(query)
        place = {word: code for code, word in enumerate(self.model.vocabulary)}
        codes = np.array([place[word] for word in words if word in place], np.int64)
        if not len(codes):
            raise ValueError(
                f"no word of the query is known to the topics: {shown(words)}; known words are "
                f"those of vocabulary_, {len(place):,} of them"
            )
        gain = self._gains(codes)
        return [Hit(int(d), float(gain[d]), self._answer(d, codes)) for d in self._best(gain, n)]

    def similar(self, shares: Any, n: int = 5) -> list[list[Hit]]:
        """For every row of ``shares``, (Q, K), the documents whose topics are most alike."""
        shares = np.atleast_2d(np.asarray(shares, np.float64))
        if shares.shape[1] != self.model.n_components:
            raise ValueError(
                f"shares have {shares.shape[1]} columns for {self.model.n_components} topics"
            )
        alike = np.sqrt(shares) @ np.sqrt(self.shares).T
        return [
            [Hit(int(d), float(row[d]), self._about(d, own)) for d in self._best(row, n)]
            for row, own in zip(alike, shares, strict=True)
        ]

    def representative(self, n: int = 5) -> list[list[Hit]]:
        """For every topic, the documents that are most about it.

        By its share less two standard errors of it, so that a document of a few words, which is
        all of one topic by chance, does not come before a long one.
        """
        lengths = np.maximum(self.documents.lengths, 1)[:, None]
        slack = np.sqrt(self.shares * (1 - self.shares) / lengths + 1 / lengths**2)
        sure = self.shares - 2 * slack
        return [
            [
                Hit(
                    int(d), float(self.shares[d, k]), self._about(d, np.eye(len(self.shares[0]))[k])
                )
                for d in self._best(sure[:, k], n)
            ]
            for k in range(self.model.n_components)
        ]

    def _gains(self, codes: Ints) -> Floats:
        """log P(query | document) - log P(query), per word of the query, (D,)."""
        lengths, background = self.documents.lengths, self._background
        gain = np.zeros(len(self.documents))
        components = self.model.components
        for code in codes.tolist():
            counted = np.asarray(self._counts[:, [code]].todense(), np.float64).ravel()
            own = (counted + self._weight * background[code]) / (lengths + self._weight)
            topical = self.shares @ components[:, code]
            mixed = OWN_WORDS * own + (1 - OWN_WORDS) * topical
            gain += np.log(mixed) - np.log(background[code])
        gain[lengths == 0] = -np.inf
        return gain / len(codes)

    def _best(self, values: Floats, n: int) -> Ints:
        """The ``n`` highest, the first first; documents without a word are not among them."""
        check_whole(1, n=n)
        values = np.where(self.documents.lengths > 0, values, -np.inf)
        n = min(int(n), int((self.documents.lengths > 0).sum()))
        top = np.argpartition(-values, n - 1)[:n]
        least = values[top].min()
        top = np.flatnonzero(values >= least)
        return np.asarray(top[np.argsort(-values[top], kind="stable")][:n])

    def _answer(self, d: int, codes: Ints) -> tuple[int, int]:
        """The window that says most of the query: its words, and words of the same topics."""
        own = self.model.components[:, codes]  # (K, q)
        posterior = (own / np.maximum(own.sum(axis=0), 1e-300)).mean(axis=1)
        value = self._topical(d, posterior)
        words = self._words(d)
        return _densest(value + np.isin(words, codes))

    def _about(self, d: int, shares: Floats) -> tuple[int, int]:
        return _densest(self._topical(d, shares))

    def _topical(self, d: int, shares: Floats) -> Floats:
        """How much every word is of these topics: a probability."""
        words = self._words(d)
        of_topic = self.model.components[:, words] * self.shares[d][:, None]
        total = np.maximum(of_topic.sum(axis=0), 1e-300)
        top = shares / max(shares.max(), 1e-300)
        return np.asarray(top @ (of_topic / total))

    def _words(self, d: int) -> Ints:
        first, last = self.documents.offsets[d : d + 2]
        return np.asarray(self.documents.symbols[first:last], np.int64)


def _densest(values: Floats) -> tuple[int, int]:
    """The window of `PASSAGE` words with the highest sum."""
    size = min(PASSAGE, len(values))
    sums = np.cumsum(np.concatenate([[0.0], values]))
    first = int(np.argmax(sums[size:] - sums[:-size])) if size else 0
    return first, first + size

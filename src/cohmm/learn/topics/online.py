"""Topics learned on from new documents.

Where the documents before are at hand, `with_new_documents` joins them with the new ones, and
goes on from where the topics stood.  Their words are those that `cohmm.data.read_documents.pruned`
keeps of all documents so far, and those that the topics know: a word may be new among old
documents, which had it too rarely.  Where only their pairs are kept,
`grown_htmm` has two steps:

    1. pairs of words before and now are summed, and topics learned from them, from where they stood
       (`cohmm.learn.htmm`, without passes over documents);
    2. ``refine`` passes of EM over the new documents.  The documents before have no say in them
       but by what the last of their own passes expected: words by topic, draws and moves.  That
       is incremental EM (Neal, Hinton 1998), in which a part of the data keeps the statistics
       that it had.

With all documents at hand, the passes look at the old ones again, with the new topics.  Either way
``refine="auto"`` makes as many as before: there are no documents left that topics have not seen.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents, in_common_words, joined
from cohmm.data.vocabulary import Pruning, codes_in
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.kernels.documents import DocumentChain
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import Callback, Record
from cohmm.learn.topics.htmm import Passes, htmm
from cohmm.learn.topics.sticky_em import (
    SMOOTHING,
    Counted,
    corpus_transitions,
    expected_counts,
    sticky_chain,
    tempered_switch,
)
from cohmm.learn.topics.switch_rate import fit_switch_rate
from cohmm.learn.topics.topic_fit import TopicFit, topic_fit
from cohmm.model.convert import with_symbols
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import match_rows

COUNT_FLOOR = 1e-300  # so that nothing is divided by 0


class WordsSeen(NamedTuple):
    """In how many documents words were that the topics do not know, where these are not at hand.

    >>> documents = Documents([0, 1, 0, 2], [0, 2, 4], ("oil", "gas", "tar"))
    >>> seen = WordsSeen.of(documents, ("oil",)).plus(documents, ("oil",))
    >>> seen
    WordsSeen(n_documents=4, frequencies={'gas': 2, 'tar': 2})
    >>> seen.vocabulary(("oil",), Pruning(min_df=2)), seen.vocabulary(("oil",), Pruning(min_df=3))
    (('gas', 'oil', 'tar'), ('oil',))
    """

    n_documents: int
    frequencies: dict[str, int]

    @classmethod
    def of(cls, documents: Documents, known: tuple[str, ...]) -> WordsSeen:
        """Of these documents, in all of their words."""
        counted = np.bincount(documents.term_counts().indices, minlength=documents.n_symbols)
        words = zip(documents.vocabulary, counted.tolist(), strict=True)
        own = set(known)
        return cls(len(documents), {word: n for word, n in words if n and word not in own})

    def plus(self, new: Documents, known: tuple[str, ...]) -> WordsSeen:
        """With new documents."""
        now = WordsSeen.of(new, known)
        both = self.frequencies | {
            word: n + self.frequencies.get(word, 0) for word, n in now.frequencies.items()
        }
        return WordsSeen(self.n_documents + now.n_documents, both)

    def vocabulary(self, known: tuple[str, ...], pruning: Pruning) -> tuple[str, ...]:
        """The words that are known, and those that ``pruning`` keeps by now."""
        own = set(known)
        words = [word for word in self.frequencies if word not in own]
        counted = np.array([self.frequencies[word] for word in words], np.int64)
        room = pruning.max_features
        try:
            kept, _ = replace(pruning, max_features=None).kept(
                words, counted, counted, self.n_documents
            )
        except ValueError:  # none is left
            kept = ()
        if room is not None:
            by_frequency = sorted(kept, key=lambda word: (-self.frequencies[word], word))
            kept = tuple(by_frequency[: max(room - len(known), 0)])
        return tuple(sorted(own.union(kept))) if kept else known


class Past(NamedTuple):
    """What documents that are not at hand were expected to have, by the last pass over them."""

    words: Floats
    """How often each topic emitted each word, (V, K)."""
    moves: Floats
    """How often each topic was followed by each, (K, K)."""
    switches: float

    @property
    def transitions(self) -> float:
        """How often a word followed another."""
        return float(self.moves.sum())

    @classmethod
    def of(cls, fit: TopicFit, counts: Cooccurrence, vocabulary: tuple[Any, ...]) -> Past:
        """What ``fit`` was made of, whose words are among ``vocabulary``."""
        n_words = float(counts.symbol_counts.sum())
        each = n_words * fit.prevalence + SMOOTHING * len(fit.vocabulary)
        known = np.maximum(fit.components.T * each - SMOOTHING, 0.0)
        words = np.zeros((len(vocabulary), fit.n_components))
        words[codes_in(fit.vocabulary, vocabulary)] = known
        followed = n_words - float(counts.start_counts.sum())
        moves = followed * fit.prevalence[:, None] * fit.transitions
        return cls(words, moves, fit.switch * followed)

    def ordered(self, order: Ints) -> Past:
        """With other numbers of topics."""
        return Past(self.words[:, order], self.moves[np.ix_(order, order)], self.switches)

    def and_then(self, counted: Counted) -> Counted:
        """With what a pass over new documents expects."""
        return counted._replace(
            words=self.words + counted.words,
            switches=self.switches + counted.switches,
            transitions=self.transitions + counted.transitions,
        )


def with_new_documents(
    fit: TopicFit,
    documents: Documents,
    new: Documents,
    *,
    decay: float = 1.0,
    weights: tuple[Any, Any] = (None, None),
    refine: Passes = "auto",
    **options: Any,
) -> tuple[TopicFit, Documents, Floats | None]:
    """Topics of the documents that ``fit`` was learned from, and of new ones.

    Parameters
    ----------
    fit : TopicFit
        The topics so far, with their counts of pairs.
    documents : Documents
        What they were learned from; words that the topics do not know yet join them.
    new : Documents
        What has come since; new words join likewise.
    decay : float
        What came before weighs so many times what it did.
    weights : two arrays, or None each
        Of the documents before, and of the new ones.
    refine, **options
        As for `cohmm.learn.htmm`.

    Returns
    -------
    The topics, all documents, and their weights, or None where all weigh the same.
    """
    documents, new = in_common_words(documents, new)
    before, now = weights
    together = joined_weights(documents, before, new, now, decay)
    everything = joined(documents, new)
    counts = count_documents(everything, _counts(fit).lags, together)
    start = _start(fit, everything, counts)
    learned = htmm(
        everything,
        fit.n_components,
        weights=together,
        start=start,
        counts=counts,
        refine=fit.n_document_passes if refine == "auto" else refine,
        **options,
    )
    return learned, everything, together


def grown_htmm(
    documents: Documents,
    before: TopicFit,
    *,
    decay: float = 1.0,
    refine: Passes = "auto",
    weights: Any = None,
    callback: Callback | None = None,
    **options: Any,
) -> TopicFit:
    """Topics of documents of which the counts are left, and of new ones.

    Parameters
    ----------
    documents : Documents
        The new ones; their new words join those of ``before``.
    before : TopicFit
        The topics so far, with their counts of pairs.
    decay : float
        What came before weighs so many times what it did.
    refine, weights, callback, **options
        As for `cohmm.learn.htmm`; ``weights`` are those of the new documents.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> documents = sample_htmm(200, n_components=3, n_words=60, random_state=0).documents
    >>> first, second = (documents.select(np.arange(a, a + 100)) for a in (0, 100))
    >>> fit = grown_htmm(second, htmm(first, 3, lags=range(1, 6), random_state=0))
    >>> fit.counts == count_documents(documents, range(1, 6))
    True
    """
    if refine == "auto":
        refine = before.n_document_passes
    record = Record(callback)
    no_documents = Documents(np.empty(0, np.int32), np.zeros(1, np.int64), before.vocabulary)
    _, documents = in_common_words(no_documents, documents)
    past = Past.of(before, _counts(before) * decay, documents.vocabulary)
    counts = _summed(before, documents, decay, weights)
    start = _start(before, documents, counts)
    # 1. pairs
    fit = htmm(
        documents,
        before.n_components,
        refine=0,
        weights=weights,
        start=start,
        counts=counts,
        callback=callback,
        **options,
    )
    past = past.ordered(match_rows(start.emissionprob, fit.components))
    weighing = documents.checked_weights(weights)
    followed = float(_weights(documents, weights) @ np.maximum(documents.lengths - 1, 0))

    def switch_rate(chain: DocumentChain) -> float:
        switches = followed * fit_switch_rate(chain, documents, weighing).switch
        return (past.switches + switches) / max(past.transitions + followed, COUNT_FLOOR)

    with blas_threads(1):
        chain = sticky_chain(fit.components.T, fit.prior, fit.switch)
        chain = chain._replace(switch=switch_rate(chain))
        # 2. passes over the new documents
        for n_pass in range(refine):
            counted = expected_counts(documents, tempered_switch(chain), weighing)
            learned = past.and_then(counted).maximized(SMOOTHING, fit.prior.sum())
            chain = learned._replace(switch=chain.switch)
            record(n_pass + 1, counted.objective)
        if not refine:
            return replace(fit, switch=chain.switch, seconds=record.seconds)
        chain = chain._replace(switch=switch_rate(chain))
        here = counted.words.sum(axis=0)
        rows = followed * here / max(here.sum(), COUNT_FLOOR)
        moves = past.moves + rows[:, None] * corpus_transitions(documents, chain, weighing)
    return topic_fit(
        chain.emission.T,
        chain.prior,
        documents.vocabulary,
        prior=chain.prior,
        transitions=moves / np.maximum(moves.sum(axis=1, keepdims=True), COUNT_FLOOR),
        switch=chain.switch,
        name=fit.name,
        converged=fit.converged,
        history=fit.history,
        seconds=record.seconds,
        passes=tuple(record.history),
        starts=fit.starts,
        counts=counts,
    )


def _counts(fit: TopicFit) -> Cooccurrence:
    if fit.counts is None:
        raise ValueError(f"{fit!r} has no counts of pairs to go on from")
    return fit.counts


def _summed(fit: TopicFit, new: Documents, decay: float, weights: Any) -> Cooccurrence:
    """The pairs of the documents so far, and of new ones."""
    counts = _counts(fit) * decay
    return counts + count_documents(new, counts.lags, weights)


def _start(fit: TopicFit, documents: Documents, counts: Cooccurrence) -> HMM:
    """The topics so far, with the words of all documents."""
    share = counts.symbol_counts / counts.symbol_counts.sum()
    return with_symbols(fit.as_hmm(), documents.vocabulary, documents.n_symbols, share)


def joined_weights(
    documents: Documents, before: Any, new: Documents, now: Any, decay: float = 1.0
) -> Floats | None:
    """The weights of documents and of new ones; None where all weigh the same."""
    if decay == 1 and before is None and now is None:
        return None
    return np.concatenate([decay * _weights(documents, before), _weights(new, now)])


def _weights(documents: Documents, weights: Any) -> Floats:
    checked = documents.checked_weights(weights)
    return np.ones(len(documents)) if checked is None else checked

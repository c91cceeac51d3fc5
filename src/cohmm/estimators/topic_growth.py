"""Growing corpora: topics learned on when documents come in."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from cohmm.data.document_parts import DocumentParts
from cohmm.data.documents import Documents, in_common_words, joined
from cohmm.distributed.partitions import Partitions
from cohmm.evidence.document_pairs import count_documents
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats
from cohmm.learn.fit import Callback
from cohmm.learn.options import check_decay
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.htmm_growth import grown_htmm
from cohmm.learn.topics.sticky_em import checked_weights
from cohmm.learn.topics.topic_lags import TopicLags
from cohmm.model.hmm import HMM
from cohmm.model.more_symbols import with_symbols
from cohmm.topics.steering import with_labels_of


class TopicGrowth:
    """How an `HTMM` learns on."""

    fit_: HTMMFit
    counts_: Cooccurrence
    vocabulary: Any
    lags: TopicLags
    refine: int
    max_iter: int
    tol: float
    random_state: Any
    _weights: Any

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from documents."""
        raise NotImplementedError

    def encode(self, X: Any) -> Documents:
        """Documents in the words of the model."""
        raise NotImplementedError

    def _learn_words(self, X: Any) -> Documents:
        raise NotImplementedError

    def _learn(
        self,
        documents: Any,
        counts: Cooccurrence,
        weights: Any,
        lags: TopicLags,
        start: HMM | None = None,
    ) -> Self:
        raise NotImplementedError

    def _progress(self) -> Callback | None:
        raise NotImplementedError

    def partial_fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, decay: float = 1.0
    ) -> Self:
        """Add documents to those learned from before, and learn on from where it stood.

        New words join the vocabulary, if ``min_df`` and the like keep them among the new documents;
        one that was given stays as it is.  What came before weighs ``decay`` times as much as it
        did: below 1, the past is forgotten.  ``n_init`` is for the first call, which is `fit`: a
        later one has one start, what was learned before.  Labels stay with their topics.

        A model loaded from a file goes on if ``save(path, counts=True)`` wrote its counts: pairs of
        all documents are summed, and the passes over documents, which see the new ones alone,
        count the old ones as they were counted then; see `cohmm.learn.topics.htmm_growth`.
        """
        check_decay(decay)
        if not hasattr(self, "fit_"):
            return self.fit(X, sample_weight=sample_weight)
        before = getattr(self, "documents_", None)
        if isinstance(X, Partitions) or isinstance(before, DocumentParts):
            raise ValueError("partial_fit is for documents in memory: fit all Partitions together")
        if not hasattr(self, "counts_"):
            raise ValueError(
                "partial_fit needs the training documents or their pair counts, which a model "
                "loaded from a file has only if save(path, counts=True) wrote it"
            )
        fit = self.fit_
        known = _none(fit.vocabulary) if before is None else before
        new = self.encode(X) if self.vocabulary is not None else self._learn_words(X)
        known, new = in_common_words(known, new)
        if before is None:
            self._grow(new, sample_weight, decay)
        else:
            self._add(known, new, sample_weight, decay)
        self.fit_ = with_labels_of(fit, self.fit_)
        return self

    def _add(self, before: Documents, new: Documents, sample_weight: Any, decay: float) -> None:
        """Learn from all documents."""
        weights = self._weights
        if decay < 1 or weights is not None or sample_weight is not None:
            weights = np.concatenate(
                [decay * _weights_of(before, weights), _weights_of(new, sample_weight)]
            )
        counts = self.counts_.scaled(decay) + count_documents(new, self.counts_.lags, sample_weight)
        share = counts.symbol_counts / counts.symbol_counts.sum()
        start = with_symbols(self.fit_.as_hmm(), before.vocabulary, before.n_symbols, share)
        self._learn(joined(before, new), counts, weights, self.lags, start)

    def _grow(self, new: Documents, sample_weight: Any, decay: float) -> None:
        """Learn from new documents and from counts of the others."""
        self.fit_, self.counts_ = grown_htmm(
            new,
            self.fit_,
            self.counts_,
            decay=decay,
            refine=self.refine,
            max_iter=self.max_iter,
            tol=self.tol,
            weights=sample_weight,
            random_state=self.random_state,
            callback=self._progress(),
        )


def _none(vocabulary: tuple[str, ...]) -> Documents:
    return Documents(np.empty(0, np.int32), np.zeros(1, np.int64), vocabulary)


def _weights_of(documents: Documents, weights: Any) -> Floats:
    checked = checked_weights(documents, weights)
    return np.ones(len(documents)) if checked is None else checked

"""Pairs of words within documents."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.data.values import as_floats
from cohmm.evidence.counting import as_lags, pair_counts
from cohmm.evidence.pairs import Cooccurrence


def count_documents(
    documents: Documents | Partitioned, lags: Iterable[int] | int = (1,), weights: Any = None
) -> Cooccurrence:
    """Count which word follows which, within documents; empty ones have none.

    Parameters
    ----------
    documents : Documents
        The words.
    lags : int or several
        Distances at which to count; 1 is the next word.  A lag at which no document has a
        pair counts nothing, as long as another lag has some.
    weights : array, (D,), optional
        One weight per document, not below zero.

    >>> documents = Documents([0, 1, 0, 1], [0, 3, 3, 4], ("rain", "sun"))
    >>> count_documents(documents)[1]
    array([[0, 1],
           [1, 0]])
    """
    if isinstance(documents, Partitioned):
        if weights is not None:
            raise ValueError("weights are for documents in memory, not for parts of them")
        return _with_pairs(documents.map_sum(_pairs, as_lags(lags)), documents)
    sequences, filled = documents.as_sequences()
    if weights is not None:
        weights = as_floats("weights", weights)
        if weights.shape != (len(documents),):
            raise ValueError(
                f"weights must have one number per document, ({len(documents)},), "
                f"not {weights.shape}"
            )
        wrong = ~(np.isfinite(weights) & (weights >= 0))
        if wrong.any():
            d = int(np.argmax(wrong))
            raise ValueError(
                f"the weight of {documents.name_of(d)} is {weights[d]}: it must be finite and >= 0"
            )
        weights = weights[filled]
    counts = pair_counts(sequences, lags, weights)
    if weights is not None and not weights.any():
        raise ValueError("the weight of every document that has a word is 0")
    return _with_pairs(counts, documents)


def _pairs(documents: Documents, lags: list[int]) -> Cooccurrence | None:
    """Of a part, which may have no word."""
    return pair_counts(documents.as_sequences()[0], lags) if documents.n_words else None


def _with_pairs(counts: Cooccurrence | None, documents: Documents | Partitioned) -> Cooccurrence:
    """``counts``, if there are any."""
    if counts is None:
        raise ValueError(f"there is no word in {len(documents)} documents")
    if not any(counts.n_pairs(lag) for lag in counts.lags):
        longest = int(documents.lengths.max(initial=0))
        raise ValueError(
            f"there is no pair of words at lag {', '.join(map(str, counts.lags))}: the longest of "
            f"{len(documents)} documents has {longest} word{'' if longest == 1 else 's'}"
        )
    return counts

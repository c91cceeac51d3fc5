"""Q: the probability that two words of a document, drawn without putting back, are v and w.

Every document has the same weight.  With H the document-term counts and n a document's length,
~H is H over sqrt(n (n - 1)), and Q = ~H'~H - diag(s) is unbiased: s takes out every word's pair
with itself.  Q has V^2 entries and is never formed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from cohmm.kernels.types import Floats, Ints

BLOCK = 512  # documents at a time


class WordPairs(Protocol):
    """Q, which is symmetric and sums to one."""

    @property
    def frequency(self) -> Floats:
        """Q 1, (V,)."""

    def times(self, matrix: Floats, words: Ints) -> Floats:
        """Some rows of Q times a matrix (V, n)."""

    def rows(self, words: Ints) -> Any:
        """Some rows of Q, a CSR array."""


@dataclass(frozen=True, eq=False)
class DocumentPairs:
    """Q of documents.

    Parameters
    ----------
    scaled : sparse (D, V)
        ~H, over sqrt(D).
    own : array, (V,)
        s, over D.
    diagonal : array, (V,)
        That of Q, which is exactly 0 for a word that no document has twice.
    frequency : array, (V,)
        Q 1: the share of each word in the mean document.
    """

    scaled: Any
    own: Floats
    diagonal: Floats
    frequency: Floats

    @classmethod
    def of(cls, counts: Any) -> DocumentPairs:
        """From document-term counts (D, V); documents of one word have no pair.

        >>> counts = sparse.csr_array([[1., 1., 0.], [2., 1., 1.], [0., 0., 1.]])
        >>> DocumentPairs.of(counts).rows(np.arange(3)).toarray() * 12
        array([[1. , 4. , 1. ],
               [4. , 0. , 0.5],
               [1. , 0.5, 0. ]])
        """
        length = np.asarray(counts.sum(axis=1))
        counts, length = counts[np.flatnonzero(length > 1)], length[length > 1]
        if not len(length):
            raise ValueError("no document has two words: there are no words that share one")
        weight = 1 / (length * (length - 1) * len(length))
        return cls(
            (sparse.diags_array(np.sqrt(weight)) @ counts).tocsr(),
            counts.T @ weight,
            (counts * (counts - (counts > 0))).T @ weight,
            counts.T @ (1 / (length * len(length))),
        )

    @property
    def document_frequency(self) -> Ints:
        """How many documents have each word, (V,)."""
        return np.bincount(self.scaled.indices, minlength=self.scaled.shape[1])

    def times(self, matrix: Floats, words: Ints) -> Floats:
        """Some rows of Q times a matrix (V, n)."""
        left = self.scaled[:, words].tocsr()
        total = -self.own[words, None] * matrix[words]
        for first in range(0, left.shape[0], BLOCK):
            piece = slice(first, first + BLOCK)
            total += left[piece].T @ (self.scaled[piece] @ matrix)
        return np.asarray(total)

    def rows(self, words: Ints) -> Any:
        """Some rows of Q, a CSR array."""
        rows = (self.scaled[:, words].T @ self.scaled).tocsr()
        word = np.repeat(words, np.diff(rows.indptr))
        diagonal = rows.indices == word
        rows.data[diagonal] = self.diagonal[word[diagonal]]
        rows.eliminate_zeros()
        return rows

"""In how many sliding windows the top words of a topic stand, alone and two by two.

`window_cooccurrence` adds the windows of the documents in ``part`` to ``joint``, (K, n, n), and
returns how many there are.  A window is ``window`` words in a row; a document of fewer words is
one window.  ``joint[k, i, j]`` counts the windows that have both the words i and j of topic k, in
any number.  Python, for topic k with the words v::

    for each window: there = np.isin(v, window); joint[k] += np.outer(there, there)

A document costs in proportion to its words and to the pairs of them, not to its windows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm._native import window_cooccurrence as window_cooccurrence
from cohmm.kernels.types import Ints


class TopWords(NamedTuple):
    """Where the words of a vocabulary stand among the top words of topics."""

    number: Ints
    """Of every word of the vocabulary: its place among the relevant ones, or -1."""
    borders: Ints
    """The entries of relevant word r are ``borders[r]:borders[r + 1]`` of those below."""
    topics: Ints
    places: Ints

    @classmethod
    def of(cls, words: Ints, n_words: int) -> TopWords:
        """``words`` are codes, (K, n), from a vocabulary of ``n_words``.

        >>> TopWords.of(np.array([[3, 1], [1, 0]]), 4).topics
        array([1, 0, 1, 0])
        """
        relevant = np.unique(words)
        number = np.full(n_words, -1, np.int64)
        number[relevant] = np.arange(len(relevant))
        numbers = number[words].ravel()
        entries = np.argsort(numbers, kind="stable")
        borders = np.searchsorted(numbers[entries], np.arange(len(relevant) + 1))
        return cls(number, borders, *np.divmod(entries, words.shape[1]))

"""Which texts a report shows: a draw that is always the same, made while they stream by."""

from __future__ import annotations

import math

import numpy as np

from cohmm.kernels.types import Floats, Ints

MOST_WORDS = 1000  # of a text
MOST_IN_ALL = 100_000  # words: about 3 MB


class Draw:
    """Of all texts that are offered, those with the smallest random keys, within the caps.

    They do not depend on how many are offered at a time.

    >>> draw = Draw(2)
    >>> draw.offer([10, 10, 10]), draw.offer([10])
    (array([1, 2]), array([2, 3]))
    """

    def __init__(self, wanted: int) -> None:
        if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or wanted < 0:
            raise ValueError(f"the number of documents to show must be from 0, not {wanted!r}")
        self._wanted = wanted
        self._rng = np.random.default_rng(0)
        self._keys: Floats = np.empty(0)
        self._numbers: Ints = np.empty(0, np.int64)
        self._lengths: Ints = np.empty(0, np.int64)
        self._limit = math.inf  # the smallest key that was left out
        self.n_offered = 0

    def offer(self, lengths: Ints | list[int]) -> Ints:
        """Texts with so many words each; the numbers, from 0, of all that are chosen as yet."""
        keys = self._rng.random(len(lengths))
        new = np.flatnonzero(keys < self._limit)
        words = np.minimum(np.asarray(lengths, np.int64)[new], MOST_WORDS)
        keys = np.concatenate([self._keys, keys[new]])
        order = np.argsort(keys, kind="stable")
        all_lengths = np.concatenate([self._lengths, words])[order]
        fitting = int(np.searchsorted(np.cumsum(all_lengths), MOST_IN_ALL, side="right"))
        n = min(self._wanted, fitting)
        if n < len(order):
            self._limit = float(keys[order[n]])
        self._keys, self._lengths = keys[order[:n]], all_lengths[:n]
        self._numbers = np.concatenate([self._numbers, self.n_offered + new])[order[:n]]
        self.n_offered += len(lengths)
        return np.sort(self._numbers)

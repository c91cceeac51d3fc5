"""How long a topic lasts: runs of words that have the same one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels.types import Floats, Ints


class Runs(NamedTuple):
    """Runs of words of one topic, counted."""

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
        """Words in a run of every topic, (K,); 0 where it has none."""
        return np.asarray(self.words / np.maximum(self.number, 1))


def count_runs(topics: Any, offsets: Any, n_components: int) -> Runs:
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
    return Runs(
        np.bincount(topics[begins], minlength=n_components),
        np.bincount(topics, minlength=n_components),
    )

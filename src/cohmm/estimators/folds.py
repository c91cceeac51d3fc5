"""Cross-validation by whole sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Ints


class SequenceKFold:
    """Cross-validation that never cuts a sequence; folds have about equally many symbols.

    Works on `Sequences` and on lists of sequences, wherever scikit-learn takes a ``cv``.

    >>> data = Sequences.of([[0, 1, 2, 3], [0, 1], [2, 3]])
    >>> [test.tolist() for _, test in SequenceKFold(2).split(data)]
    [[0], [1, 2]]
    """

    def __init__(self, n_splits: int = 5):
        if n_splits < 2:
            raise ValueError(f"n_splits must be at least 2, not {n_splits}")
        self.n_splits = n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """(training, test) indices of sequences, one pair per fold."""
        lengths = X.lengths if isinstance(X, Sequences) else np.array([len(item) for item in X])
        if len(lengths) < self.n_splits:
            raise ValueError(f"{len(lengths)} sequences cannot be split into {self.n_splits} folds")
        fold = np.empty(len(lengths), np.int64)
        filled = np.zeros(self.n_splits, np.int64)
        for s in np.argsort(-lengths, kind="stable"):
            fold[s] = filled.argmin()
            filled[fold[s]] += lengths[s]
        for f in range(self.n_splits):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """The number of folds."""
        return self.n_splits

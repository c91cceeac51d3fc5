"""What counts of triples and of longer windows have in common: rows of symbols, and how often."""

from __future__ import annotations

from typing import Protocol, cast

import numpy as np

from cohmm.data.vocabulary import Vocabulary, unite
from cohmm.kernels.compiled import Floats, Ints


class Counted(Protocol):
    """Counts of some symbols, which have labels or are numbers."""

    @property
    def n_symbols(self) -> int:
        """N."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Their labels, where they have some."""


def check_grams(
    what: str,
    rows: Ints,
    counts: Ints | Floats,
    n_symbols: int,
    vocabulary: Vocabulary | None,
) -> None:
    """Refuse symbols that there are not, counts that are none, and labels that do not fit."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < n_symbols:
        raise ValueError(
            f"the {what}s are of symbols from {rows.min()} to {rows.max()}: "
            f"there are {n_symbols}, from 0"
        )
    if counts.dtype not in (np.int64, np.float64):
        raise ValueError(f"counts must be int64 or float64, not {counts.dtype}")
    wrong = ~(np.isfinite(counts) & (counts >= 0))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"the count of the {what} {tuple(rows[place].tolist())} is "
            f"{counts[place]}: it must be finite and at least 0"
        )
    if vocabulary is not None and len(vocabulary) != n_symbols:
        raise ValueError(f"there are {len(vocabulary)} labels for {n_symbols} symbols")


def united(a: Counted, b: Counted) -> tuple[Vocabulary | None, int]:
    """The labels of a sum of counts, and the number of its symbols."""
    if (a.vocabulary is None) != (b.vocabulary is None):
        raise ValueError("counts of labels and counts of numbers do not add up")
    if a.vocabulary is None:
        return None, max(a.n_symbols, b.n_symbols)
    vocabulary = unite(a.vocabulary, cast(Vocabulary, b.vocabulary))
    return vocabulary, len(vocabulary)


def merged(keys: Ints, counts: Ints | Floats) -> tuple[Ints, Ints | Floats]:
    """Distinct keys in order, with the sums of their counts."""
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts, first) if len(first) else counts

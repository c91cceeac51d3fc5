"""Which symbols counts are made of, and in which order: by label, and frequent enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cohmm._validation import shown
from cohmm.data.vocabulary import Vocabulary
from cohmm.kernels.types import Ints


@dataclass(frozen=True)
class Pruning:
    """Keep symbols that occur ``min_count`` times at least; the ``max_vocabulary`` most frequent.

    Of symbols that are equally frequent the first by the alphabet stay, or those of the
    smallest codes.
    """

    min_count: int | None = None
    max_vocabulary: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
            if value is not None and (not whole or value < 1):
                raise ValueError(f"{name} must be a whole number from 1, not {shown(value)}")

    def __str__(self) -> str:
        return " and ".join(f"{name}={n:,}" for name, n in vars(self).items() if n is not None)

    def __bool__(self) -> bool:
        return self != Pruning()

    def among(self, counts: Ints) -> Ints:
        """Which symbols stay, a flag each; ``counts`` are in the order that decides ties."""
        kept = counts >= (self.min_count or 0)
        most = self.max_vocabulary
        if most is not None and np.count_nonzero(kept) > most:
            frequent = np.argsort(-np.where(kept, counts, 0), kind="stable")[:most]
            kept = np.zeros(len(counts), bool)
            kept[frequent] = True
        return kept


class Selection(NamedTuple):
    """Symbols that stay, in a new order."""

    codes: Ints
    """The old code of every new one."""
    places: Ints
    """The new code of every old one; -1 where it goes."""
    vocabulary: Vocabulary | None

    @classmethod
    def all(cls, n: int, vocabulary: Vocabulary | None) -> Selection:
        """All ``n`` symbols, in the order that they have."""
        return cls(np.arange(n), np.arange(n, dtype=np.int32), vocabulary)

    @property
    def stays(self) -> bool:
        """Whether every symbol keeps its code."""
        return bool((self.places == np.arange(len(self.places))).all())

    def of(self, counts: Ints) -> Ints:
        """Numbers by old code, as numbers by new code; none of what goes."""
        counts = enlarged(counts, len(self.places))
        return np.where(self.places[self.codes] >= 0, counts[self.codes], 0)


def enlarged(table: Ints, size: int) -> Ints:
    """A table, or a list, with room for so many symbols, as it is where that is there."""
    if len(table) >= size:
        return table
    larger = np.zeros((size,) * table.ndim, table.dtype)
    larger[tuple(slice(n) for n in table.shape)] = table
    return larger


def select(
    counts: Ints,
    vocabulary: Vocabulary | None,
    pruning: Pruning,
    notice: Callable[[str], None],
    keep_order: bool = False,
) -> Selection:
    """Labels that were observed, sorted; or codes as they are, up to the largest that stays.

    Codes in between that go are symbols that never occur.  With ``keep_order`` symbols stay that
    were never observed, and labels in their order.
    """
    codes = np.arange(len(counts))
    if vocabulary is not None:
        by_label = sorted(codes.tolist(), key=lambda code: _by_label(vocabulary[code]))
        codes = np.array(by_label, np.int64)
    ordered = counts[codes]
    observed = (ordered > 0) | keep_order
    kept = observed & pruning.among(ordered)
    _check_left(kept, observed, ordered, pruning, notice)
    if keep_order and vocabulary is not None:
        kept[codes] = kept.copy()
        codes = np.arange(len(counts))
    places = np.full(len(counts), -1, np.int32)
    if vocabulary is None:
        places[kept] = codes[kept]
        return Selection(codes[: int(places.max()) + 1], places, None)
    codes = codes[kept]
    places[codes] = np.arange(len(codes), dtype=np.int32)
    return Selection(codes, places, tuple(vocabulary[code] for code in codes.tolist()))


def _by_label(label: object) -> tuple[bool, object]:
    return isinstance(label, str), label


def _check_left(
    kept: Ints, observed: Ints, counts: Ints, pruning: Pruning, notice: Callable[[str], None]
) -> None:
    """Refuse to drop all symbols, and say how many are dropped."""
    gone = observed & ~kept
    if observed.any() and not kept.any():
        raise ValueError(
            f"no symbol is left: {pruning} drops all {np.count_nonzero(observed):,}; the most "
            f"frequent occurs {counts.max():,} times"
        )
    if gone.any():
        n, many = int(np.count_nonzero(gone)), int(counts[gone].sum())
        share = 100 * many / int(counts.sum())
        notice(
            f"{pruning} dropped {n:,} of {np.count_nonzero(observed):,} symbols, with {many:,} "
            f"of {counts.sum():,} observations ({share:.2g} %), which count as missing"
        )

"""What counts have in common: amounts that add up, of symbols that may have labels."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, Self, cast

import numpy as np

from cohmm import storage
from cohmm.data.values import Value, as_floats, as_n_symbols, as_numbers, frozen, own
from cohmm.data.vocabulary import Vocabulary, codes_in, labels_for, unite
from cohmm.kernels.types import Floats, Ints

LARGEST = {"i": 2.0**63, "f": np.inf}  # what a sum of counts must stay below


class Counted(Protocol):
    """Counts of some symbols, which have labels or are numbers."""

    @property
    def n_symbols(self) -> int:
        """N."""

    @property
    def vocabulary(self) -> Vocabulary | None:
        """Their labels, where they have some."""


class Grams(Value):
    """Rows of symbols that occur, and how often: what `Triples` and `Windows` have in common.

    A subclass has the fields ``WHAT + "s"`` (rows, in order), ``counts``, ``n_symbols`` and
    ``vocabulary``.
    """

    WHAT: ClassVar[str]
    counts: Any
    n_symbols: Any
    vocabulary: Any

    @property
    def _rows(self) -> Ints:
        return cast(Ints, getattr(self, f"{self.WHAT}s"))

    def _check_room(self, n: int) -> None:
        """Whether rows of ``n`` symbols can be numbered."""
        raise NotImplementedError

    def _total(self) -> float:
        """How many were counted; a whole number, unless a law was given."""
        return cast(float, self.counts.sum().item())

    def __add__(self, other: object) -> Self:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        if not isinstance(other, type(self)):
            return NotImplemented
        width = self._rows.shape[1]
        if other._rows.shape[1] != width:
            raise ValueError(
                f"{self.WHAT}s of {width} and of {other._rows.shape[1]} symbols do not add up"
            )
        vocabulary, n = united(self, other)
        self._check_room(n)
        keys = np.concatenate([self._keys(vocabulary, n), other._keys(vocabulary, n)])
        keys, counts = merged(keys, np.concatenate([self.counts, other.counts]))
        return self._trusted(rows_of(keys, n, width), counts, n, vocabulary)

    __radd__ = __add__

    def _keys(self, vocabulary: Vocabulary | None, n: int) -> Ints:
        rows = self._rows
        if vocabulary is not None and vocabulary != self.vocabulary:
            rows = codes_in(self.vocabulary, vocabulary)[rows]
        return keys_of(rows, n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            (self.n_symbols, self.vocabulary) == (other.n_symbols, other.vocabulary)
            and self.counts.dtype == other.counts.dtype
            and np.array_equal(self._rows, other._rows)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        kind = f"{self.WHAT}s"
        header = {"n_symbols": self.n_symbols, "vocabulary": self.vocabulary}
        storage.save(path, kind, header, {kind: self._rows, "counts": self.counts})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read counts that `save` wrote."""
        kind = f"{cls.WHAT}s"
        header, arrays = storage.load(path, kind)
        frozen(arrays)

        def build() -> Any:
            fields = arrays[kind], arrays["counts"], header["n_symbols"], header["vocabulary"]
            return cls(*fields)  # type: ignore[call-arg]

        return cast(Self, storage.reading(path, build))


def as_counts(name: str, values: Any, ndim: int = 1) -> Ints | Floats:
    """Counts, int64 or float64, that are finite, at least 0, and add up to something finite."""
    array = as_numbers(name, values, "iuf", ndim)
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        place = tuple(np.argwhere(~(np.isfinite(array) & (array >= 0)))[0].tolist())
        raise ValueError(
            f"{name} have {array[place]} at {list(place)}: a count must be finite and at least 0"
        )
    kind = np.dtype(np.float64 if array.dtype.kind == "f" else np.int64)
    if array.size:
        with np.errstate(over="ignore"):
            check_total(name, array.sum(dtype=np.float64), kind)
    return own(array, kind)


def check_total(name: str, total: float, kind: np.dtype[Any]) -> None:
    """Refuse counts whose sum is too large for their type."""
    if not total < LARGEST[kind.kind]:
        raise ValueError(f"{name} add up to {total:.3g}, more than {kind} can hold")


def added(name: str, a: Any, b: Any) -> Any:
    """``a + b``, arrays or matrices of counts, where that does not overflow."""
    total = a + b
    check_total(name, float(a.sum()) + float(b.sum()), total.dtype)
    return total


def as_grams(
    what: str, rows: Ints, counts: Any, n_symbols: Any, vocabulary: Iterable[Any] | None
) -> tuple[Ints, Ints | Floats, int, Vocabulary | None]:
    """The fields of counts of triples or windows: rows of symbols, in order, each once."""
    n = as_n_symbols(n_symbols)
    if len(rows) and not 0 <= rows.min() <= rows.max() < n:
        raise ValueError(
            f"the {what}s are of symbols from {rows.min()} to {rows.max()}: there are {n}, from 0"
        )
    amounts = as_counts(f"the counts of {what}s", counts)
    if len(rows) != len(amounts):
        raise ValueError(f"there are {len(amounts)} counts for {len(rows)} {what}s")
    rows = own(rows, np.int32)
    wrong = np.diff(keys_of(rows, n)) <= 0
    if wrong.any():
        place = int(np.argmax(wrong)) + 1
        raise ValueError(
            f"the {what}s must be in order, each once: {tuple(rows[place].tolist())} comes after "
            f"{tuple(rows[place - 1].tolist())}"
        )
    return rows, amounts, n, labels_for(n, vocabulary)


def keys_of(rows: Ints, n: int) -> Ints:
    """Rows of symbols as numbers of base ``n``."""
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * n + column
    return keys


def rows_of(keys: Ints, n: int, width: int) -> Ints:
    """The inverse of `keys_of`, (len(keys), width)."""
    powers = n ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return (keys[:, None] // powers % n).astype(np.int32)


def as_law(what: str, law: Any) -> Floats:
    """Probabilities in an array of any shape, that sum to one."""
    array = as_floats(what, law)
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"{what} has the entry {array[place]} at {place}: no probability")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not abs(total - 1) <= 1e-6:
        raise ValueError(f"{what} sums to {total:.6g}, not to 1")
    return array


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
    check_total("the counts", counts.sum(dtype=np.float64), counts.dtype)
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts, first) if len(first) else counts

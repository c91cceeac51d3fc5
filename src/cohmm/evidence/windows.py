"""Counts of windows: so many symbols before, one in the middle, as many after.

Triples are windows of three.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self, cast

import numpy as np

from cohmm import storage
from cohmm._validation import (
    Value,
    as_amount,
    as_n_symbols,
    as_numbers,
    check_whole,
    frozen,
    is_number,
    own,
    shown,
)
from cohmm.data.partitioned import count_data
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.vocabulary import Vocabulary, codes_in, labels_for
from cohmm.evidence.cooccurrence import as_counts, as_law, united
from cohmm.evidence.external_sum import ExternalSum, KeyCounts, summed
from cohmm.kernels import native
from cohmm.kernels.threads import n_threads, run, split
from cohmm.kernels.types import Floats, Ints

MOST_SYMBOLS = 2_000_000  # of triples: N cubed must fit a 64-bit key
DENSE_CELLS = 2**22  # a table of all triples is used up to here
PART = 2**22  # symbols
KEY_BITS = 62  # a window must be a number that 64 bits hold


@dataclass(frozen=True, eq=False)
class Windows(Value):
    """The windows of 2 tau + 1 symbols that occur, and how often.

    Parameters
    ----------
    windows : int32 array, (n, 2 tau + 1)
        The distinct windows, in order.
    counts : int64 or float64 array, (n,)
        How often each occurs; whole numbers where windows were counted.
    n_symbols : int
        N, the number of symbols.
    vocabulary : tuple or None
        The labels of the symbols, where they have labels.

    >>> count_windows([0, 1, 0, 1, 0, 1]) + count_windows([1, 1, 0, 1, 0])
    Windows(2 symbols, tau=2, 3 distinct of 3 windows)
    """

    WHAT: ClassVar[str] = "window"
    WIDTH: ClassVar[int | None] = None
    windows: Ints
    counts: Ints | Floats
    n_symbols: int
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        what = self.WHAT
        rows = as_numbers(f"{what}s", self.windows, ndim=2)
        width, only = rows.shape[1], self.WIDTH
        if width != only if only else width < 3 or width % 2 == 0:
            raise ValueError(
                f"{what}s are of the shape (n, {only or '2 tau + 1'}), not {rows.shape}"
            )
        n = as_n_symbols(self.n_symbols)
        check_size(n, width, what)
        if len(rows) and not 0 <= rows.min() <= rows.max() < n:
            raise ValueError(
                f"the {what}s are of symbols from {rows.min()} to {rows.max()}: there are {n}, "
                "from 0"
            )
        amounts = as_counts(f"the counts of {what}s", self.counts)
        if len(rows) != len(amounts):
            raise ValueError(f"there are {len(amounts)} counts for {len(rows)} {what}s")
        rows = own(rows, np.int32)
        wrong = np.diff(keys_of(rows, n)) <= 0
        if wrong.any():
            place = int(np.argmax(wrong)) + 1
            raise ValueError(
                f"the {what}s must be in order, each once: {tuple(rows[place].tolist())} comes "
                f"after {tuple(rows[place - 1].tolist())}"
            )
        self._set(rows, amounts, n, labels_for(n, self.vocabulary))

    @classmethod
    def from_probability(
        cls, law: Any, n_windows: float = 10**9, *, vocabulary: Iterable[Any] | None = None
    ) -> Self:
        """A given law, as if ``n_windows`` windows had been counted.

        ``law`` is (N^tau, N, N^tau), as `window_probability` gives it:
        the symbols before, in the order in which they were seen, as one number of base N; the
        symbol in the middle; those after it.

        >>> law = np.zeros((4, 2, 4))
        >>> law[1, 1, 2] = 1  # always 0, 1, then 1, then 1, 0
        >>> Windows.from_probability(law, n_windows=8).windows
        array([[0, 1, 1, 1, 0]], dtype=int32)
        """
        return cls._of_law(law, as_amount("n_windows", n_windows), vocabulary)

    @classmethod
    def _of_law(cls, law: Any, amount: float, vocabulary: Iterable[Any] | None) -> Self:
        """A law, (N^tau, N, N^tau), as if so many windows had been counted."""
        cube = as_law(f"the {cls.WHAT} law", law)
        n = cube.shape[1] if cube.ndim == 3 else 0
        tau = 1
        while n > 1 and n**tau < len(cube):
            tau += 1
        if n < 1 or cube.shape != (n**tau, n, n**tau) or cls.WIDTH not in (None, 2 * tau + 1):
            shape = "(N, N, N)" if cls.WIDTH else "(N^tau, N, N^tau)"
            raise ValueError(f"a {cls.WHAT} law must be of the shape {shape}, not {cube.shape}")
        check_size(n, 2 * tau + 1, cls.WHAT)
        keys = np.flatnonzero(cube)
        counts = cube.ravel()[keys] * amount
        labels: Any = vocabulary
        return cls(rows_of(keys, n, 2 * tau + 1), counts, n, labels)

    @property
    def tau(self) -> int:
        """How many symbols are on either side of the middle."""
        return int(self.windows.shape[1] // 2)

    @property
    def n_windows(self) -> float:
        """How many windows were counted; a whole number, unless a law was given."""
        return cast(float, self.counts.sum().item())

    @property
    def past(self) -> Ints:
        """The symbols before the middle as one number, (n,), below N^tau."""
        return keys_of(self.windows[:, : self.tau], self.n_symbols)

    @property
    def middle(self) -> Ints:
        """The symbol in the middle, (n,)."""
        return self.windows[:, self.tau]

    @property
    def future(self) -> Ints:
        """The symbols after the middle as one number, (n,), below N^tau."""
        return keys_of(self.windows[:, self.tau + 1 :], self.n_symbols)

    def __add__(self, other: object) -> Self:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        if not isinstance(other, type(self)):
            return NotImplemented
        width = self.windows.shape[1]
        if other.windows.shape[1] != width:
            raise ValueError(
                f"{self.WHAT}s of {width} and of {other.windows.shape[1]} symbols do not add up"
            )
        vocabulary, n = united(self, other)
        check_size(n, width, self.WHAT)
        keys, counts = summed((each._keys(vocabulary, n), each.counts) for each in (self, other))
        return self._trusted(rows_of(keys, n, width), counts, n, vocabulary)

    __radd__ = __add__
    __array_ufunc__ = None  # a NumPy number times counts is counts

    def __mul__(self, factor: object) -> Self:
        """The same counts, each times a number; as they are where that is 1."""
        if not is_number(factor):
            return NotImplemented
        amount = as_amount("the factor of counts", factor)
        if amount == 1:
            return self
        return self._trusted(self.windows, self.counts * amount, self.n_symbols, self.vocabulary)

    __rmul__ = __mul__

    def _keys(self, vocabulary: Vocabulary | None, n: int) -> Ints:
        rows = self.windows
        if vocabulary is not None and self.vocabulary != vocabulary:
            rows = codes_in(cast(Vocabulary, self.vocabulary), vocabulary)[rows]
        return keys_of(rows, n)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return (
            (self.n_symbols, self.vocabulary) == (other.n_symbols, other.vocabulary)
            and self.counts.dtype == other.counts.dtype
            and np.array_equal(self.windows, other.windows)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        tau = "" if self.WIDTH else f"tau={self.tau}, "
        return (
            f"{type(self).__name__}({self.n_symbols:,} symbols, {tau}{len(self.counts):,} distinct "
            f"of {self.n_windows:,.0f} {self.WHAT}s)"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        kind = f"{self.WHAT}s"
        header = {"n_symbols": self.n_symbols, "vocabulary": self.vocabulary}
        storage.save(path, kind, header, {kind: self.windows, "counts": self.counts})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read counts that `save` wrote."""
        kind = f"{cls.WHAT}s"
        header, arrays = storage.load(path, kind)
        frozen(arrays)

        def build() -> Any:
            fields = arrays[kind], arrays["counts"], header["n_symbols"], header["vocabulary"]
            return cls(*fields)

        return cast(Self, storage.reading(path, build))


class Triples(Windows):
    """The triples that occur, and how often: windows of three, with the same fields.

    >>> count_triples([0, 1, 0, 1, 0]) + count_triples([0, 1, 0])
    Triples(2 symbols, 2 distinct of 4 triples)
    """

    WHAT = "triple"
    WIDTH = 3

    @classmethod
    def from_probability(
        cls, law: Any, n_triples: float = 10**9, *, vocabulary: Iterable[Any] | None = None
    ) -> Self:
        """A given law of triples, (N, N, N), as if ``n_triples`` of them had been counted.

        >>> Triples.from_probability([[[.5, 0], [.25, 0]], [[0, 0], [0, .25]]], n_triples=8).counts
        array([4., 2., 2.])
        """
        return cls._of_law(law, as_amount("n_triples", n_triples), vocabulary)

    @property
    def triples(self) -> Ints:
        """The distinct triples (a, b, c), in order, (n, 3)."""
        return self.windows

    @property
    def n_triples(self) -> float:
        """How many triples were counted; a whole number, unless a law was given."""
        return self.n_windows


def count_triples(
    X: Any,
    lengths: Iterable[int] | None = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Triples:
    """Count three symbols in a row, in one pass; the data as `Sequences.of` reads it.

    Triples never cross the border of two sequences, nor count where one is missing.

    >>> count_triples([0, 1, 0, 1, 0]).triples
    array([[0, 1, 0],
           [1, 0, 1]], dtype=int32)
    """
    options: dict[str, Any] = {"vocabulary": vocabulary, "n_symbols": n_symbols}
    options |= {"unseen": unseen, "characters": characters}
    counts, n, longest = count_data(X, lengths, triple_counts, **options)
    _check_some(counts, n, longest, "three observations in a row")
    return counts  # type: ignore[no-any-return]


def count_windows(
    X: Any,
    lengths: Iterable[int] | None = None,
    tau: int = 2,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Windows:
    """Count 2 tau + 1 symbols in a row, in one pass; the data as `Sequences.of` reads it.

    Windows never cross the border of two sequences, nor count where a symbol is missing.

    >>> count_windows([0, 1, 0, 1, 0, 1, 0]).windows
    array([[0, 1, 0, 1, 0],
           [1, 0, 1, 0, 1]], dtype=int32)
    """
    options: dict[str, Any] = {"vocabulary": vocabulary, "n_symbols": n_symbols}
    options |= {"unseen": unseen, "characters": characters}
    counts, n, longest = count_data(X, lengths, window_counts, tau, **options)
    wanted = f"{2 * tau + 1} observations in a row; a smaller tau needs fewer"
    _check_some(counts, n, longest, wanted)
    return counts  # type: ignore[no-any-return]


def _check_some(counts: Windows, n: int, longest: int, wanted: str) -> None:
    if not len(counts.counts):
        raise ValueError(
            f"there is no {counts.WHAT}: {n} sequences, the longest of {longest} symbols, never "
            f"have {wanted}"
        )


def triple_counts(data: Sequences, block: tuple[int, int] | None = None) -> Triples:
    """`count_triples` of `Sequences`, of those that begin in a block; there may be none."""
    return Triples._trusted(*_counted(data, 3, block, "triple"))


def window_counts(data: Sequences, tau: int = 2) -> Windows:
    """`count_windows` of `Sequences`, where counting no window at all is no mistake."""
    check_whole(tau=tau)
    return Windows._trusted(*_counted(data, 2 * int(tau) + 1, None, "window"))


def _counted(
    data: Sequences, width: int, block: tuple[int, int] | None, what: str
) -> tuple[Ints, Ints, int, Vocabulary | None]:
    """The fields of `Triples` or `Windows`."""
    n = data.n_symbols
    check_size(n, width, what)
    keys, counts = _key_counts(data, width, *(block or (0, len(data.symbols))))
    return rows_of(keys, n, width), counts, n, data.vocabulary


def _key_counts(data: Sequences, width: int, begin: int, stop: int) -> tuple[Ints, Ints]:
    """The windows that occur as numbers of base N, in order, and how often each does."""
    length, cells = stop - begin, data.n_symbols**width
    if cells <= DENSE_CELLS:
        parts = split(length, min(n_threads(), max(1, length // (4 * cells))))
        tables = run(lambda i, j: _table(data, width, cells, begin + i, begin + j), parts)
        table = np.sum(tables, axis=0)
        keys = np.flatnonzero(table)
        return keys, table[keys]

    def count(i: int, j: int) -> KeyCounts:
        keys = _keys_in(data, width, begin + i, begin + j)
        return KeyCounts.of(*np.unique(keys, return_counts=True))

    total = ExternalSum(KeyCounts)
    parts, at_once = split(length, -(-length // PART)), n_threads()
    for i in range(0, len(parts), at_once):
        for part in run(count, parts[i : i + at_once]):
            total.add(part)
    return summed((np.asarray(part.keys), np.asarray(part.counts)) for part in total.runs)


def _table(data: Sequences, width: int, cells: int, first: int, stop: int) -> Ints:
    table = np.zeros(cells, np.int64)
    for begin in range(first, stop, PART):
        keys = _keys_in(data, width, begin, min(begin + PART, stop))
        table += np.bincount(keys, minlength=cells)
    return table


def _keys_in(data: Sequences, width: int, first: int, stop: int) -> Ints:
    """The windows that begin from ``first`` to before ``stop``."""
    symbols, offsets, n = data.symbols, data.offsets, data.n_symbols
    if width == 3:
        keys = np.empty(stop - first, np.int64)
        return keys[: native.triple_keys(symbols, offsets, (first, stop), n, keys)]
    stop = max(min(stop, len(symbols) - width + 1), first)
    keys, missing = np.zeros(stop - first, np.int64), np.zeros(stop - first, bool)
    for i in range(first, first + width):
        here = symbols[i : i + len(keys)]
        keys = keys * n + here
        missing |= here < 0
    places = np.arange(first, stop)
    ends = offsets[np.searchsorted(offsets, places, side="right")]
    return keys[~missing & (places + width <= ends)]


def check_size(n: int, width: int, what: str = "triple") -> None:
    """Whether windows of ``n`` symbols can be numbered."""
    if what == "triple":
        if n > MOST_SYMBOLS:
            raise ValueError(f"triples of {n:,} symbols: at most {MOST_SYMBOLS:,} can be counted")
        return
    wide = min(width, 2 * KEY_BITS)
    if wide * np.log2(max(n, 2)) > KEY_BITS:
        most = int(2 ** (KEY_BITS / wide))
        raise ValueError(
            f"windows of {shown(width)} among {n:,} symbols cannot be counted: "
            f"tau={shown(width // 2)} allows {most:,} symbols at most"
        )


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

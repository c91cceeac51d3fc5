"""Sequences in parts that are elsewhere, encoded once and kept there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm.data.elsewhere import Elsewhere
from cohmm.data.encoding import check_many
from cohmm.data.readers.cells import is_text
from cohmm.data.sequences import LABELS, Sequences, Unseen, check_unseen
from cohmm.data.values import shown
from cohmm.data.vocabulary import Vocabulary, as_vocabulary, in_order
from cohmm.kernels.types import Ints

NOTHING = "there is no data: no part has a symbol"


class Part(NamedTuple):
    """One of them; ``data`` is None where it has no symbol."""

    number: int
    data: Sequences | None


@dataclass(frozen=True)
class Size:
    """What a part says about itself; it adds up."""

    n_sequences: int
    n_observations: int
    longest: int

    @classmethod
    def of(cls, data: Sequences) -> Size:
        """The size of these sequences."""
        return cls(len(data), data.n_observations, data.longest)

    def __add__(self, other: Size) -> Size:
        return Size(
            self.n_sequences + other.n_sequences,
            self.n_observations + other.n_observations,
            max(self.longest, other.longest),
        )


@dataclass(frozen=True)
class Symbols:
    """What parts say about their symbols before these are given codes; it adds up."""

    n_observations: int
    n_numbers: int
    """The largest number plus one; 0 where there are none."""
    labels: frozenset[Any]

    def __add__(self, other: Symbols) -> Symbols:
        return Symbols(
            self.n_observations + other.n_observations,
            max(self.n_numbers, other.n_numbers),
            self.labels | other.labels,
        )


@dataclass(frozen=True, eq=False)
class SequenceParts:
    """Sequences as `Sequences` are, of which only sums, and some symbols, come here.

    Parameters
    ----------
    parts : Elsewhere
        Each is a `Part`, in the symbols of the whole.
    sizes : dict
        The `Size` of every part that has symbols, by its number.
    n_symbols, vocabulary
        As those of `Sequences`.
    """

    parts: Elsewhere
    sizes: dict[int, Size]
    n_symbols: int
    vocabulary: Vocabulary | None

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """The sum of ``function(sequences, *broadcast)`` over all parts."""
        return self.parts.map_sum(_on_data, function, *broadcast)

    def __len__(self) -> int:
        return sum(size.n_sequences for size in self.sizes.values())

    @property
    def n_observations(self) -> int:
        """T, the number of symbols, missing ones included."""
        return sum(size.n_observations for size in self.sizes.values())

    @property
    def longest(self) -> int:
        """The length of the longest sequence."""
        return max(size.longest for size in self.sizes.values())

    @cached_property
    def lengths(self) -> Ints:
        """The length of every sequence, (S,); they are fetched when first asked for."""
        found = self.parts.map_sum(_lengths)
        return np.concatenate([found[number] for number in sorted(found)])

    @cached_property
    def symbol_counts(self) -> Ints:
        """How often each symbol occurs, (N,)."""
        counts: Ints = self.map_sum(_symbol_counts)
        return counts

    def spans(self, first: Ints, last: Ints) -> Sequences:
        """As `Sequences.spans`: what is asked for is fetched."""
        ends = np.cumsum([self.sizes[number].n_observations for number in sorted(self.sizes)])
        begins = dict(zip(sorted(self.sizes), np.append(0, ends[:-1]), strict=True))
        which = np.searchsorted(ends, first, side="right")
        found = self.parts.map_sum(_spans, begins, first, last)
        pieces: list[Any] = [None] * len(first)
        for place, number in enumerate(sorted(self.sizes)):
            for i, piece in zip(np.flatnonzero(which == place), found.get(number, ()), strict=True):
                pieces[i] = piece
        return Sequences._trusted(
            np.concatenate(pieces),
            np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]),
            self.n_symbols,
            self.vocabulary,
        )

    def in_terms_of(self, vocabulary: Vocabulary | None, n_symbols: int) -> SequenceParts:
        """The same sequences, if their symbols are these."""
        if (vocabulary, n_symbols) != (self.vocabulary, self.n_symbols):
            raise ValueError(f"{self} are not of the {n_symbols:,} symbols of the model")
        return self

    def __repr__(self) -> str:
        return (
            f"SequenceParts({len(self.sizes):,} parts, {len(self):,} sequences, "
            f"{self.n_observations:,} observations, {self.n_symbols:,} symbols)"
        )


def encoded_parts(
    rows: Elsewhere,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> SequenceParts:
    """Encode rows of sequences, part by part, and keep them where they are.

    Parameters are those of `Sequences.of`.  Symbols are read once, and get the codes that they
    would have if all of the data were here.
    """
    check_unseen(unseen)
    known = None if vocabulary is None else as_vocabulary(vocabulary)
    own = rows.keep(_read, known, n_symbols, unseen, characters)
    if known is None and n_symbols is None:
        known, n_symbols = _all_symbols(own.map_sum(_symbols))
        own = own.keep(_recoded, known, n_symbols)
    size = len(known) if known is not None else int(n_symbols or 0)
    sizes = own.map_sum(_size)
    if not sizes:
        raise ValueError(NOTHING)
    return SequenceParts(own, sizes, size, known)


Reading = tuple[Iterable[Any] | None, int | None, Any, bool]
"""vocabulary, n_symbols, unseen and characters, as for `Sequences.of`."""


def counted(
    X: Any, lengths: Any, reading: Reading, count: Callable[..., Any], *arguments: Any
) -> tuple[Any, int, int]:
    """``count(sequences, *arguments)`` in one pass, the number of sequences, and the longest.

    Of parts every one is counted in its own symbols: counts of labels add up, whatever their codes.
    """
    vocabulary, n_symbols, unseen, characters = reading
    if not isinstance(X, (Elsewhere, SequenceParts)):
        data = Sequences.of(
            X,
            lengths,
            vocabulary=vocabulary,
            n_symbols=n_symbols,
            unseen=unseen,
            characters=characters,
        )
        return count(data, *arguments), len(data), data.longest
    if lengths is not None:
        raise ValueError("lengths are for data in memory, not for parts of it")
    check_unseen(unseen)
    if isinstance(X, SequenceParts):
        if vocabulary is not None or n_symbols is not None or characters:
            raise ValueError(
                "these parts have been read: leave out vocabulary, n_symbols and so on"
            )
        return X.map_sum(count, *arguments), len(X), X.longest
    known = None if vocabulary is None else as_vocabulary(vocabulary)
    found = X.map_sum(_counted, (known, n_symbols, unseen, characters), count, *arguments)
    if found is None:
        raise ValueError(NOTHING)
    counts, sizes = found
    if known is None and n_symbols is None and counts.vocabulary is None:
        check_many(counts.n_symbols, sizes.n_observations, LABELS)
    return counts, sizes.n_sequences, sizes.longest


def _counted(rows: Any, reading: Any, count: Callable[..., Any], *arguments: Any) -> Any:
    data, _ = row_sequences(rows, *reading)
    return None if data is None else (count(data, *arguments), Size.of(data))


def row_sequences(
    rows: Any,
    vocabulary: Vocabulary | None = None,
    n_symbols: int | None = None,
    unseen: str = "error",
    characters: bool = False,
) -> tuple[Sequences | None, Ints]:
    """Rows that are a sequence each, and the length of every one; None where all are empty.

    A row is a list of symbols, or a string of words between blanks, as a line of a file is.

    >>> row_sequences(["sun rain", "", ["rain"]])
    (Sequences(2 sequences, 3 observations, 2 symbols), array([2, 0, 1]))
    """
    flat, lengths = _flattened(rows, characters)
    filled = lengths[lengths > 0]
    if not len(filled):
        return None, lengths
    return Sequences._of_flat(flat, filled, vocabulary, n_symbols, unseen), lengths


def _flattened(rows: Any, characters: bool) -> tuple[Any, Ints]:
    """The symbols of all rows, and how many each has."""
    if isinstance(rows, pa.ChunkedArray):
        rows = rows.combine_chunks()
    if not characters:
        rows = _as_column(rows)
    if isinstance(rows, (pa.ListArray, pa.LargeListArray)) and not characters:
        lengths = rows.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
        flat = rows.flatten()
        if flat.null_count == len(flat):  # a part of more may have nothing else
            flat = [None] * len(flat)
        return flat, lengths.astype(np.int64)
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return rows.ravel(), np.full(len(rows), rows.shape[1], np.int64)
    items = rows.to_pylist() if isinstance(rows, pa.Array) else list(rows)
    lists = [_row(row, number, characters) for number, row in enumerate(items)]
    lengths = np.array([len(row) for row in lists], np.int64)
    if lists and all(isinstance(row, np.ndarray) and row.dtype.kind in "iu" for row in lists):
        return np.concatenate(lists), lengths
    return [symbol for row in lists for symbol in row], lengths


def _as_column(rows: Any) -> Any:
    """Rows of strings as a column of lists, which is read some times faster; else as they are."""
    if isinstance(rows, list):
        kinds = {type(row) for row in rows} - {type(None)}
        if kinds not in ({str}, {list}):
            return rows
        kind = pa.large_string() if kinds == {str} else pa.large_list(pa.large_string())
        try:
            rows = pa.array(rows, kind)
        except (pa.ArrowException, UnicodeError):  # lists of something else
            return rows
    if not (isinstance(rows, pa.Array) and is_text(rows.type)):
        return rows
    trimmed = pc.utf8_trim_whitespace(rows.cast(pa.large_string()).fill_null(""))
    filled = pc.not_equal(trimmed, "")
    words = pc.utf8_split_whitespace(trimmed.filter(filled))
    lengths = np.zeros(len(rows), np.int64)
    lengths[filled.to_numpy(zero_copy_only=False)] = words.value_lengths().to_numpy()
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]))
    return pa.LargeListArray.from_arrays(ends, words.flatten())


def _row(row: Any, number: int, characters: bool) -> Any:
    if isinstance(row, str):
        return row if characters else row.split()
    if row is None:
        return ()
    if not hasattr(row, "__len__") or isinstance(row, (bytes, dict, set)):
        raise ValueError(
            f"row {number} is {shown(row)}: a row is a sequence, a list or a string; where each is "
            "a symbol, say by which column they are grouped (group=)"
        )
    return row


def _read(
    number: int,
    rows: Any,
    vocabulary: Vocabulary | None,
    n_symbols: int | None,
    unseen: str,
    characters: bool,
) -> Part:
    return Part(number, row_sequences(rows, vocabulary, n_symbols, unseen, characters)[0])


def _symbols(part: Part) -> Symbols | None:
    data = part.data
    if data is None:
        return None
    if data.vocabulary is not None:
        return Symbols(data.n_observations, 0, frozenset(data.vocabulary))
    return Symbols(data.n_observations, int(data.symbols.max()) + 1, frozenset())


def _all_symbols(found: Symbols | None) -> tuple[Vocabulary | None, int | None]:
    if found is None:
        raise ValueError(NOTHING)
    if not found.labels:
        check_many(found.n_numbers, found.n_observations, LABELS)
        return None, max(found.n_numbers, 1)
    if found.n_numbers:
        label = in_order(found.labels)[0]
        raise ValueError(
            f"some parts have labels, such as {shown(label)}, and others whole numbers: give all "
            "symbols as strings, or their list as the vocabulary"
        )
    return in_order(found.labels), None


def _recoded(number: int, part: Part, vocabulary: Vocabulary | None, n_symbols: int | None) -> Part:
    if part.data is None:
        return part
    return Part(number, part.data._in_terms_of(vocabulary, n_symbols, "error"))


def _size(part: Part) -> dict[int, Size]:
    if part.data is None:
        return {}
    return {part.number: Size.of(part.data)}


def _on_data(part: Part, function: Callable[..., Any], *broadcast: Any) -> Any:
    return None if part.data is None else function(part.data, *broadcast)


def _lengths(part: Part) -> dict[int, Ints]:
    return {} if part.data is None else {part.number: part.data.lengths}


def _symbol_counts(data: Sequences) -> Ints:
    return data.symbol_counts


def _spans(part: Part, begins: dict[int, int], first: Ints, last: Ints) -> dict[int, list[Ints]]:
    if part.data is None:
        return {}
    begin = begins[part.number]
    mine = (first >= begin) & (first < begin + len(part.data.symbols))
    if not mine.any():
        return {}
    found = part.data.spans(first[mine] - begin, last[mine] - begin)
    return {part.number: np.split(found.symbols, found.offsets[1:-1])}

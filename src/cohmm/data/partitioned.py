"""Sequences or documents in parts: encoded once, and kept on the backend that holds them.

Every part is encoded with labels of its own; the union of these is the vocabulary, and parts are
recoded in it, so symbols have the codes that they would have if all of the data were here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.documents import Documents, drawn
from cohmm.data.encoding import check_many
from cohmm.data.parts import Parts, add_all
from cohmm.data.read_sequences import read_sequences
from cohmm.data.readers.source import STANDARD_INPUT
from cohmm.data.sequences import END, LABELS, Sequences, Unseen, check_unseen, row_sequences
from cohmm.data.vocabulary import (
    Pruning,
    Vocabulary,
    are_characters,
    as_vocabulary,
    in_order,
)
from cohmm.kernels import native
from cohmm.kernels.types import Ints

NO_DATA = "there is no data: no part has a symbol"
NOTHING = Sequences._trusted(np.empty(0, np.int32), np.zeros(1, np.int64), 1)


@dataclass(frozen=True)
class Size:
    """What parts say about themselves; it adds up."""

    n_sequences: int
    n_observations: int
    longest: int
    n_empty: int
    n_unknown: int

    @classmethod
    def of(cls, data: Sequences) -> Size:
        """The size of these sequences or documents."""
        n_empty = int(np.count_nonzero(data.lengths == 0))
        n_unknown = getattr(data, "n_unknown", 0)
        return cls(len(data), data.n_observations, data.longest, n_empty, n_unknown)

    def __add__(self, other: Size) -> Size:
        return Size(
            self.n_sequences + other.n_sequences,
            self.n_observations + other.n_observations,
            max(self.longest, other.longest),
            self.n_empty + other.n_empty,
            self.n_unknown + other.n_unknown,
        )


@dataclass(frozen=True, eq=False)
class Partitioned:
    """Sequences or documents, of which only sums, and some of them, come to this process.

    Parameters
    ----------
    parts : Parts
        Each is one of `Sequences`, or of `Documents`; it may be empty.
    kind : type
        `Sequences` or `Documents`.
    sizes : dict
        The `Size` of every part, by its number.
    n_symbols, vocabulary
        As those of `Sequences`.
    """

    parts: Parts
    kind: type[Sequences]
    sizes: dict[int, Size]
    n_symbols: int
    vocabulary: Any

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """The sum of ``function(data, *broadcast)`` over all parts."""
        return self.parts.map_sum(_on_data, function, *broadcast)

    @cached_property
    def size(self) -> Size:
        """That of all parts together."""
        total: Size = add_all(self.sizes.values())
        return total

    def __len__(self) -> int:
        return self.size.n_sequences

    @property
    def n_observations(self) -> int:
        """T, the number of symbols, missing ones included."""
        return self.size.n_observations

    n_words = n_observations

    @property
    def n_unknown(self) -> int:
        """How many words were left out because they are not in a given vocabulary."""
        return self.size.n_unknown

    @property
    def n_empty(self) -> int:
        """How many documents have no word."""
        return self.size.n_empty

    @property
    def longest(self) -> int:
        """The length of the longest sequence."""
        return self.size.longest

    @cached_property
    def lengths(self) -> Ints:
        """The length of every sequence, (S,); they are fetched when first asked for."""
        lengths = self.parts.sum_numbered(_lengths)
        return np.concatenate([lengths[number] for number in sorted(lengths)])

    @cached_property
    def symbol_counts(self) -> Ints:
        """How often each symbol occurs, (N,)."""
        counts: Ints = self.map_sum(_symbol_counts)
        return counts

    def select(self, indices: Any) -> Any:
        """As `Sequences.select`: what is selected is fetched."""
        return self._fetch(self.kind, "select", "n_sequences", indices)

    def spans(self, first: Ints, last: Ints) -> Sequences:
        """As `Sequences.spans`: the symbols are fetched."""
        return self._fetch(Sequences, "spans", "n_observations", first, last)

    def _fetch(self, kind: type[Sequences], method: str, unit: str, *places: Any) -> Sequences:
        """What ``method`` of the parts gives for places that are counted over all parts."""
        stop, bounds = 0, {}
        for number in sorted(self.sizes):
            begin, stop = stop, stop + getattr(self.sizes[number], unit)
            bounds[number] = begin, stop
        pieces = self.parts.sum_numbered(
            _pieces, method, bounds, np.array(places, np.int64)
        ).values()
        symbols = np.concatenate([np.empty(0, np.int32), *(piece.symbols for piece in pieces)])
        lengths = np.concatenate([np.empty(0, np.int64), *(piece.lengths for piece in pieces)])
        order = np.concatenate([np.empty(0, np.int64), *(piece.order for piece in pieces)])
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        fetched = kind._trusted(symbols, offsets, self.n_symbols, self.vocabulary)
        return fetched.select(np.argsort(order))

    def some(self, n_words: int, among: Any = True) -> Ints:
        """As `Documents.some`."""
        return drawn(self.lengths, n_words, among)

    def checked_weights(self, weights: Any) -> None:
        """None: parts have no weights."""
        if weights is not None:
            raise ValueError("weights are for data in memory, not for parts of it")

    def in_terms_of(self, vocabulary: Vocabulary | None, n_symbols: int) -> Partitioned:
        """The same data, if its symbols are these."""
        if (vocabulary, n_symbols) != (self.vocabulary, self.n_symbols):
            raise ValueError(f"{self} are not of the {n_symbols:,} symbols of the model")
        return self

    def with_end(self) -> Partitioned:
        """As `Sequences.with_end`, of every part."""
        labels = tuple(range(self.n_symbols)) if self.vocabulary is None else self.vocabulary
        return _partitioned(self.parts.keep(_with_end), Sequences, (*labels, END), None)

    def __repr__(self) -> str:
        sequences, observations, symbols = self.kind.UNITS
        return (
            f"Partitioned({len(self.sizes):,} parts, {len(self):,} {sequences}, "
            f"{self.n_observations:,} {observations}, {self.n_symbols:,} {symbols})"
        )


Data = Sequences | Partitioned


def as_data(
    X: Any,
    lengths: Iterable[int] | None = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Data:
    """Data for a learner, from whatever a user has: see `Sequences.of` for the parameters.

    `Sequences` and `Partitioned` are taken as they are; Partitions are encoded part by part, and
    kept where they are.  A path, or a list of `pathlib.Path`, is read by `read_sequences`; a string
    is a path unless ``characters``, or a vocabulary of characters, make it a text.
    """
    if isinstance(X, (Parts, Partitioned)) and lengths is not None:
        raise ValueError("lengths are for data in memory: a row of Partitions is a sequence")
    if isinstance(X, Partitioned):
        if vocabulary is not None or n_symbols is not None or characters:
            raise ValueError(
                "these parts have been encoded: leave out vocabulary, n_symbols and characters"
            )
        return X
    check_unseen(unseen)
    known = None if vocabulary is None else as_vocabulary(vocabulary)
    if isinstance(X, Parts):
        return _encode_sequences(X, known, n_symbols, unseen, characters)
    if is_path(X, known, characters):
        if lengths is not None:
            raise ValueError("lengths are for data in memory: files have theirs")
        return read_sequences(
            X, characters=characters, vocabulary=known, n_symbols=n_symbols, unseen=unseen
        )
    return Sequences._of_known(X, lengths, known, n_symbols, unseen, characters)


def is_path(X: Any, vocabulary: Vocabulary | None = None, characters: bool = False) -> bool:
    """Whether ``X`` is a path, or a list of `pathlib.Path`: not a text, nor labels."""
    if isinstance(X, str):
        is_text = characters or (vocabulary is not None and are_characters(vocabulary))
        return not is_text and (X == STANDARD_INPUT or os.path.exists(X))
    paths = X if isinstance(X, (list, tuple)) else [X]
    return len(paths) > 0 and all(isinstance(path, os.PathLike) for path in paths)


def count_data(
    X: Any,
    lengths: Iterable[int] | None,
    count: Callable[..., Any],
    *arguments: Any,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    **options: Any,
) -> tuple[Any, int, int]:
    """``count(sequences, *arguments)`` in one pass, the number of sequences, and the longest.

    Partitions are not kept: every part is counted in its own symbols, because counts of labels add
    up, whatever their codes.
    """
    if lengths is not None or not isinstance(X, Parts):
        data = as_data(X, lengths, vocabulary=vocabulary, n_symbols=n_symbols, **options)
        return data.map_sum(count, *arguments), len(data), data.longest
    check_unseen(options["unseen"])
    known = None if vocabulary is None else as_vocabulary(vocabulary)
    encode = partial(row_sequences, vocabulary=known, n_symbols=n_symbols, **options)
    total = X.map_sum(_counted, encode, count, *arguments)
    if total is None:
        raise ValueError(NO_DATA)
    counts, size = total
    if known is None and n_symbols is None and counts.vocabulary is None:
        check_many(counts.n_symbols, size.n_observations, LABELS)
    return counts, size.n_sequences, size.longest


def _counted(rows: Any, encode: Any, count: Any, *arguments: Any) -> Any:
    data, _ = encode(rows)
    return None if data is None else (count(data, *arguments), Size.of(data))


# -- encoding ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SymbolTable:
    """The symbols of parts before these have common codes; the sum of two has those of both."""

    n_sequences: int
    n_observations: int
    n_numbers: int
    """The largest number plus one; 0 where symbols are labels."""
    labels: Vocabulary
    counts: Ints
    """Of documents, how many have each word, and how often it occurs, (2, n); else (0, n)."""

    def __add__(self, other: SymbolTable) -> SymbolTable:
        places = {label: place for place, label in enumerate(self.labels)}
        for label in other.labels:
            places.setdefault(label, len(places))
        theirs = np.fromiter((places[label] for label in other.labels), np.int64, len(other.labels))
        counts = np.zeros((max(len(self.counts), len(other.counts)), len(places)), np.int64)
        counts[: len(self.counts), : len(self.labels)] = self.counts
        counts[: len(other.counts), theirs] += other.counts
        return SymbolTable(
            self.n_sequences + other.n_sequences,
            self.n_observations + other.n_observations,
            max(self.n_numbers, other.n_numbers),
            tuple(places),
            counts,
        )


def _encode_sequences(
    rows: Parts,
    vocabulary: Vocabulary | None,
    n_symbols: int | None,
    unseen: Unseen,
    characters: bool,
) -> Partitioned:
    parts = rows.keep(_sequences, vocabulary, n_symbols, unseen, characters)
    if vocabulary is None and n_symbols is None:
        vocabulary, n_symbols = _all_symbols(parts.map_sum(_symbol_table))
        parts = parts.keep(_recoded, vocabulary, n_symbols)
    return _partitioned(parts, Sequences, vocabulary, n_symbols)


def encode_documents(
    rows: Parts,
    encode: Callable[[list[Any]], Documents],
    known: tuple[str, ...] | None,
    pruning: Pruning,
) -> Partitioned:
    """Encode rows that are a text or a list of words each; see `cohmm.read_documents`.

    ``encode`` gives documents in the words that are known, or in words of their own.
    """
    parts = rows.keep(_documents, encode)
    if known is None:
        table = parts.map_sum(_symbol_table)
        frequencies, totals = table.counts
        if table.n_sequences:
            known, _ = pruning.kept(table.labels, frequencies, totals, table.n_sequences)
            parts = parts.keep(_recoded, known, None)
    return _partitioned(parts, Documents, known, None)


def _partitioned(
    parts: Parts, kind: type[Sequences], vocabulary: Any, n_symbols: int | None
) -> Partitioned:
    n = int(n_symbols or 0) if vocabulary is None else len(vocabulary)
    data = Partitioned(parts, kind, parts.sum_numbered(_size), n, vocabulary)
    if not len(data):
        raise ValueError(
            NO_DATA if kind is Sequences else "there is no document: no part has a row"
        )
    return data


def _all_symbols(table: SymbolTable) -> tuple[Vocabulary | None, int | None]:
    if not table.labels:
        check_many(table.n_numbers, table.n_observations, LABELS)
        return None, max(table.n_numbers, 1)
    labels = in_order(table.labels)
    if table.n_numbers:
        raise ValueError(
            f"some parts have labels, such as {shown(labels[0])}, and others whole numbers: give "
            "all symbols as strings, or their list as the vocabulary"
        )
    return labels, None


def texts_of(rows: Any) -> list[Any]:
    """Rows as documents; one that is missing is empty."""
    items = rows.to_pylist() if isinstance(rows, (pa.Array, pa.ChunkedArray)) else list(rows)
    return ["" if item is None else item for item in items]


# -- on parts ---------------------------------------------------------------------------------


class _Piece(NamedTuple):
    """What is fetched of a part, and its places among all that was asked for."""

    symbols: Ints
    lengths: Ints
    order: Ints


def _sequences(_: int, rows: Any, *options: Any) -> Sequences:
    data, _lengths = row_sequences(rows, *options)
    return NOTHING if data is None else data


def _documents(_: int, rows: Any, encode: Callable[[list[Any]], Documents]) -> Documents:
    return encode(texts_of(rows))


def _symbol_table(data: Sequences) -> SymbolTable:
    n_numbers = int(data.symbols.max(initial=-1)) + 1 if data.vocabulary is None else 0
    labels = data.vocabulary or ()
    counts = np.zeros((2 if isinstance(data, Documents) else 0, len(labels)), np.int64)
    if counts.size:
        native.count_documents(
            data.symbols, data.offsets, counts[0], np.full(len(labels), -1, np.int64)
        )
        counts[1] = data.symbol_counts
    return SymbolTable(len(data), data.n_observations, n_numbers, labels, counts)


def _recoded(_: int, data: Sequences, vocabulary: Any, n_symbols: int | None) -> Sequences:
    if isinstance(data, Documents):
        return data.in_words(vocabulary, n_unknown=0)
    return data._in_terms_of(vocabulary, n_symbols, "error")


def _with_end(_: int, data: Sequences) -> Sequences:
    return data.with_end()


def _size(number: int, data: Sequences) -> dict[int, Size]:
    return {number: Size.of(data)}


def _on_data(data: Sequences, function: Callable[..., Any], *broadcast: Any) -> Any:
    return function(data, *broadcast) if len(data) else None


def _lengths(number: int, data: Sequences) -> dict[int, Ints]:
    return {number: data.lengths}


def _symbol_counts(data: Sequences) -> Ints:
    return data.symbol_counts


def _pieces(
    number: int, data: Sequences, method: str, bounds: dict[int, tuple[int, int]], places: Ints
) -> dict[int, _Piece]:
    begin, stop = bounds[number]
    mine = np.flatnonzero((places[0] >= begin) & (places[0] < stop))
    if not len(mine):
        return {}
    some = getattr(data, method)(*(places[:, mine] - begin))
    return {number: _Piece(some.symbols, some.lengths, mine)}

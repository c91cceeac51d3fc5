"""From columns of cells to symbols: a cell is a symbol, some words, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm.data.arrow import common
from cohmm.data.arrow import is_text as is_text
from cohmm.data.vocabulary import distinct_characters
from cohmm.kernels import native
from cohmm.kernels.types import Ints


class Chunk(NamedTuple):
    """Symbols that follow one another in a file.

    ``symbols`` is a column of strings or numbers in which null is a missing observation,
    ``sequences`` says which sequence of the file each is in, ``rows`` in which row or line
    it stands; ``blank`` counts the rows that were skipped because they are empty.
    """

    symbols: pa.Array
    sequences: Ints
    rows: Ints
    blank: int = 0

    def starts(self, last: int) -> Ints:
        """Where sequences begin; ``last`` is the one that the symbols before are in."""
        sequences = self.sequences
        if sequences[0] == sequences[-1]:  # they only ever go up: it is one
            return np.zeros(int(sequences[0] != last), np.int64)
        begins = np.flatnonzero(sequences[1:] != sequences[:-1]) + 1
        return begins if sequences[0] == last else np.concatenate([[0], begins])


class Cells(NamedTuple):
    """Some rows of a table.

    ``columns`` has those that were asked for: "column", "group" and "order"; ``rows`` are their
    numbers from 1; ``are_symbols`` says whether a cell is read best as one symbol, rather than as
    a sequence; ``blank`` counts rows that were skipped because they are empty.
    """

    columns: dict[str, pa.Array]
    rows: Ints
    are_symbols: bool
    blank: int = 0

    def chunk(self, symbols: bool | None, characters: bool) -> Chunk:
        """The symbols; each cell is one, or as many as it has."""
        cells, blank = self.columns["column"], self.blank
        if self.are_symbols if symbols is None else symbols:
            together = np.broadcast_to(np.int64(0), len(cells))
            return Chunk(by_appearance(cells), together, self.rows, blank)
        chunk = _cell_sequences(cells, self.rows, characters)
        return chunk._replace(blank=chunk.blank + blank)


def is_number(kind: Any) -> bool:
    """Whether a column's type is a number that could be whole."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_list(kind: Any) -> bool:
    """Whether a column's type is a list."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def _cell_sequences(cells: pa.Array, rows: Ints, characters: bool) -> Chunk:
    """Each cell is a sequence: a list, words or ``characters``, or one number."""
    if is_list(cells.type):
        return _lists(cells, rows)
    if characters:
        return _characters(cells, rows)
    if is_text(cells.type):
        return _words(cells, rows)
    filled = cells.is_valid()
    where = rows[filled.to_numpy(zero_copy_only=False)]
    return Chunk(cells.filter(filled), where, where, len(cells) - len(where))


def plain(cells: pa.Array) -> pa.Array:
    """Without a dictionary."""
    return cells.dictionary_decode() if pa.types.is_dictionary(cells.type) else cells


def by_appearance(cells: pa.Array) -> pa.Array:
    """The same cells; a dictionary has only those that occur, in the order in which they do.

    They are not decoded: a dictionary may be a small part of the text that it stands for.
    """
    if not pa.types.is_dictionary(cells.type):
        return cells
    places = pc.unique(cells.indices).drop_null()
    indices = pc.index_in(cells.indices, places)
    return pa.DictionaryArray.from_arrays(indices, common(cells.dictionary.take(places)))


def in_parts(cells: pa.Array, n_bytes: int) -> Iterator[pa.Array]:
    """Cells of text, as many at a time as take ``n_bytes`` when they are decoded, or one."""
    if not is_text(cells.type):
        yield cells
        return
    if pa.types.is_dictionary(cells.type):
        sizes = pc.binary_length(cells.dictionary.cast(pa.large_string())).take(cells.indices)
    else:
        sizes = pc.binary_length(cells.cast(pa.large_string()))
    ends = np.cumsum(sizes.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int64)
    first = 0
    while first < len(cells):
        before = ends[first - 1] if first else 0
        last = max(int(np.searchsorted(ends, before + n_bytes, side="right")), first + 1)
        yield cells[first:last]
        first = last


def words_of(data: Ints, borders: Ints) -> tuple[pa.Array, Ints]:
    """The words of rows of UTF-8 bytes, and the row of each."""
    most = (len(data) + len(borders)) // 2 + 1
    packed = np.empty(len(data), np.uint8)
    offsets = np.empty(most + 1, np.int64)
    rows = np.empty(most, np.int32)
    n = native.split_words(data, borders, packed, offsets, rows)
    buffers = [None, pa.py_buffer(offsets[: n + 1]), pa.py_buffer(packed[: offsets[n]])]
    return pa.Array.from_buffers(pa.large_string(), n, buffers), rows[:n].copy()


def _words(cells: pa.Array, rows: Ints) -> Chunk:
    text = pc.fill_null(plain(cells).cast(pa.large_string()), "")
    _, offsets, data = text.buffers()
    borders = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    words, where = words_of(np.frombuffer(data or b"", np.uint8), borders)
    return Chunk(words, rows[where], rows[where], len(cells) - _distinct(where))


def _characters(cells: pa.Array, rows: Ints) -> Chunk:
    text = pc.fill_null(plain(cells).cast(pa.large_string()), "")
    sizes = pc.utf8_length(text).to_numpy()
    where = np.repeat(rows, sizes)
    return Chunk(characters_of("".join(text.to_pylist())), where, where, int((sizes == 0).sum()))


def characters_of(text: str) -> pa.Array:
    """Every character of a text."""
    codes, characters = distinct_characters(text)
    return pa.DictionaryArray.from_arrays(codes, pa.array(characters, pa.large_string()))


def _lists(cells: pa.Array, rows: Ints) -> Chunk:
    sizes = cells.value_lengths().fill_null(0).to_numpy()
    where = np.repeat(rows, sizes)
    return Chunk(by_appearance(cells.flatten()), where, where, int(np.count_nonzero(sizes == 0)))


def _distinct(ascending: Ints) -> int:
    return int(np.count_nonzero(np.diff(ascending))) + bool(len(ascending))

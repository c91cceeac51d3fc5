"""From a column of cells to symbols: a cell is a symbol, some words, or a list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm.data.arrow import common
from cohmm.data.arrow import is_text as is_text
from cohmm.data.readers.codes import Chunk
from cohmm.data.vocabulary import distinct_characters
from cohmm.kernels.text import split_words
from cohmm.kernels.types import Ints


def is_number(kind: Any) -> bool:
    """Whether a column's type is a number that could be whole."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_list(kind: Any) -> bool:
    """Whether a column's type is a list."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def one_sequence(cells: pa.Array, rows: Ints) -> Chunk:
    """Each cell is a symbol, and all are one sequence."""
    return Chunk(by_appearance(cells), np.broadcast_to(np.int64(0), len(cells)), rows)


def cell_sequences(cells: pa.Array, rows: Ints, characters: bool = False) -> Chunk:
    """Each cell is a sequence: a list, words or ``characters``, or one number."""
    if characters:
        return _characters(cells, rows)
    if is_list(cells.type):
        return _lists(cells, rows)
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
    n = split_words(data, borders, packed, offsets, rows)
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

"""All files, whatever their formats, as one stream of encoded symbols."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.arrow import by_appearance, common, group_rows, key_codes, ranks
from cohmm.data.readers.codes import Cells, Chunk, Coder
from cohmm.data.readers.delimited import read_delimited
from cohmm.data.readers.json_lines import read_json_lines
from cohmm.data.readers.parquet import read_parquet
from cohmm.data.readers.source import Layout, Progress, Source, place
from cohmm.data.readers.text import read_text
from cohmm.kernels.types import Ints

Notice = Callable[[str], None]

BYTES_A_SYMBOL = 2  # the least; it sets how much text is read at a time


class NoDataError(ValueError):
    """There is no symbol in any of the sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        names = ", ".join(source.name for source in sources[:3])
        more = f" and {len(sources) - 3} more files" if len(sources) > 3 else ""
        super().__init__(f"there is no data: no symbol in {names}{more}")


def read_cells(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Cells]:
    """The rows of a table, of about ``size`` symbols at a time; all at once if they are grouped."""
    readers = {"jsonl": read_json_lines, "parquet": read_parquet}
    return readers.get(source.format, read_delimited)(source, layout, size, progress)


def scan(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Chunk]:
    """The symbols of a file, about ``size`` at a time."""
    if source.format == "text":
        yield from read_text(source, size * BYTES_A_SYMBOL, progress, layout.characters)
        return
    for cells in read_cells(source, layout, size, progress):
        yield cells.chunk(layout.symbol_rows, layout.characters)


def read_pieces(
    sources: Sequence[Source],
    layout: Layout,
    coder: Coder,
    size: int,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Iterator[Piece]:
    """The encoded symbols of all sources, about ``size`` at a time; at least one symbol."""
    if layout.is_grouped:
        yield read_groups(sources, layout, coder, progress, notice)[0]
        return
    for source in sources:
        layout.check(source)
    any_piece = False
    for file, source in enumerate(sources):
        last, blank = -1, 0
        for chunk in scan(source, layout, size, progress):
            blank += chunk.blank
            if not len(chunk.rows):
                continue
            starts = chunk.starts(last)
            last = int(chunk.sequences[-1])
            files = np.full(len(starts), file)
            any_piece = True
            yield Piece(coder.encode(chunk, source), starts, files, chunk.rows[starts])
        _tell_of_blanks(source, last >= 0, blank, notice or (lambda text: None))
    if not any_piece:
        raise NoDataError(sources)


def _tell_of_blanks(source: Source, filled: bool, blank: int, notice: Notice) -> None:
    what = "line" if source.format in ("text", "jsonl") else "row"
    if not filled:
        notice(f"{source.name}: there is no symbol in it")
    elif blank:
        notice(f"{source.name}: {blank:,} blank {what}{'s were' if blank > 1 else ' was'} skipped")


# -- rows that are a symbol each, brought together by a key ------------------------------------

NO_CELLS = Cells({}, np.empty(0, np.int64), True)


def checked_keys(cells: Cells, layout: Layout, source: Source) -> Cells:
    """Cells in which no group and no place in the order is empty; groups are text.

    Groups are compared across files, in which they may be of different types.
    """
    columns = {role: common(values) for role, values in cells.columns.items()}
    for role in ("group", "order"):
        name, keys = getattr(layout, role), columns.get(role)
        if keys is not None and keys.null_count:
            row = int(cells.rows[np.argmax(keys.is_null().to_numpy(zero_copy_only=False))])
            raise ValueError(f"{place(source, row)}: the {role} column {shown(name)} is empty")
    try:
        if "group" in columns:
            columns["group"] = _as_text(columns["group"], str(layout.group))
        if "order" in columns:
            ranks(columns["order"], str(layout.order))
    except ValueError as error:
        raise source.error(str(error)) from None
    return cells._replace(columns=columns)


def _as_text(keys: pa.Array, name: str) -> pa.Array:
    """Keys that are compared across files, in which they may be of different types."""
    coded = keys if pa.types.is_dictionary(keys.type) else key_codes(keys, name)
    try:
        labels = coded.dictionary.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"the column {shown(name)} is of type {keys.type}: not a key") from None
    return pa.DictionaryArray.from_arrays(coded.indices, labels)


class Groups(NamedTuple):
    """Where the symbols of sequences come from whose rows were brought together."""

    keys: Any
    """The key of every sequence, an array; None where there is but an order."""
    files: Ints
    """The file of every symbol."""
    rows: Ints
    """The row or line of every symbol in its file, from 1."""

    def part(self, sequences: slice, symbols: slice) -> Groups:
        """Some sequences, and their symbols."""
        keys = None if self.keys is None else self.keys[sequences]
        return Groups(keys, self.files[symbols], self.rows[symbols])


def read_groups(
    sources: Sequence[Source],
    layout: Layout,
    coder: Coder,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> tuple[Piece, Groups]:
    """All rows of all files, put into sequences, and where each of them stands."""
    for source in sources:
        layout.check(source)
    tables = [
        checked_keys(cells, layout, source)
        for source in sources
        for cells in [*read_cells(source, layout, 0, progress)] or [NO_CELLS]
    ]
    for source, cells in zip(sources, tables, strict=True):
        _tell_of_blanks(source, len(cells.rows) > 0, 0, notice or (lambda text: None))
    if not any(len(cells.rows) for cells in tables):
        raise NoDataError(sources)
    filled = [
        (source, cells) for source, cells in zip(sources, tables, strict=True) if cells.columns
    ]
    codes = [
        coder.encode(Chunk(by_appearance(cells.columns["column"]), cells.rows, cells.rows), source)
        for source, cells in filled
    ]
    files = np.repeat(np.arange(len(tables), dtype=np.int32), [len(cells.rows) for cells in tables])
    roles = [role for role in ("group", "order") if role in filled[0][1].columns]
    keys: dict[str, Any] = {role: _united(role, filled) for role in roles}
    if "group" in keys:
        dictionary, keys["group"] = keys["group"].dictionary, keys["group"].indices
    names: list[Any] = [role if role in keys else None for role in ("group", "order")]
    order, codes_of_keys, lengths = group_rows(pa.table(keys), *names)
    labels = None
    if codes_of_keys is not None:
        labels = dictionary.take(codes_of_keys).to_numpy(zero_copy_only=False)
    starts = np.cumsum([0, *([] if lengths is None else lengths[:-1])])
    files, rows = files[order], np.concatenate([cells.rows for cells in tables])[order]
    piece = Piece(np.concatenate(codes)[order], starts, files[starts], rows[starts])
    return piece, Groups(labels, files, rows)


def _united(role: str, filled: Sequence[tuple[Source, Cells]]) -> Any:
    tables = [pa.table({role: cells.columns[role]}) for _, cells in filled]
    try:
        column = pa.concat_tables(tables, promote_options="permissive")[role]
        return column.unify_dictionaries().combine_chunks() if role == "group" else column
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        names = {str(cells.columns[role].type): source.name for source, cells in reversed(filled)}
        kinds = ", ".join(f"{kind} in {name}" for kind, name in reversed(names.items()))
        raise ValueError(f"the {role} column has different types in the files: {kinds}") from None


# -- pieces ----------------------------------------------------------------------------------


class Piece(NamedTuple):
    """Symbols in a row; the first of them may go on with a sequence of the piece before.

    ``codes`` are the symbols, ``starts`` the places where sequences begin; ``files`` and
    ``rows`` say for each of these where it begins: in which of the sources, in which row.
    """

    codes: Ints
    starts: Ints
    files: Ints
    rows: Ints

    @property
    def offsets(self) -> Ints:
        """Where each sequence, or the rest of one, begins; and the end."""
        rest = [] if self.starts[:1].tolist() == [0] else [0]
        return np.concatenate([rest, self.starts, [len(self.codes)]]).astype(np.int64)

    def part(self, first: int, last: int) -> Piece:
        """The symbols from ``first`` to before ``last``."""
        some = slice(*np.searchsorted(self.starts, [first, last]))
        starts = self.starts[some] - first
        return Piece(self.codes[first:last], starts, self.files[some], self.rows[some])


class Pieces:
    """Pieces that follow one another, in memory that grows in place.

    So a long sequence is held once, and not twice while its parts are joined.
    """

    def __init__(self) -> None:
        self._codes = array("i")
        self._rest: list[tuple[Ints, Ints, Ints]] = []

    def __len__(self) -> int:
        """How many symbols there are."""
        return len(self._codes)

    def add(self, piece: Piece) -> None:
        """One more."""
        self._rest.append((piece.starts + len(self), piece.files, piece.rows))
        self._codes.frombytes(np.ascontiguousarray(piece.codes, np.int32).data.cast("B"))

    @property
    def n_starts(self) -> int:
        """How many sequences begin in them."""
        return sum(len(starts) for starts, _, _ in self._rest)

    def take(self) -> Piece:
        """All of them as one, and none are left."""
        codes, rest = np.frombuffer(self._codes, np.int32), zip(*self._rest, strict=True)
        self._codes, self._rest = array("i"), []
        return Piece(codes, *map(np.concatenate, rest))


def in_whole_sequences(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces of whole sequences: at most ``size`` symbols, or one sequence that is longer."""
    held = Pieces()
    for piece in pieces:
        held.add(piece)
        # Cutting only where a second sequence has begun keeps a long one from being copied
        # again and again.
        if len(held) >= size and held.n_starts > 1:
            *ready, last = _cut(held.take(), size)
            yield from ready
            held.add(last)  # its last sequence may go on
    if len(held):
        yield from _cut(held.take(), size)


def _cut(piece: Piece, size: int) -> Iterator[Piece]:
    """Cut where sequences begin."""
    offsets, first = piece.offsets, 0
    while first < len(piece.starts):
        stop = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        stop = max(stop, first + 1)
        yield piece.part(offsets[first], offsets[stop])
        first = stop


def in_batches(
    pieces: Iterable[Piece], size: Callable[[], int], reach: int
) -> Generator[tuple[Piece, int]]:
    """Pieces of about ``size()`` symbols that overlap, and where the next one begins in each.

    The last ``reach`` symbols of a sequence that may go on are in the next piece as well.  So
    what begins before that place, and spans no more than ``reach`` symbols further, is all there.
    """
    held, n_overlap = Pieces(), 0
    for piece in pieces:
        first = 0
        while first < len(piece.codes):
            last = first + max(size() + n_overlap - len(held), 1)
            held.add(piece.part(first, last))
            if len(held) >= size() + n_overlap:
                whole = held.take()
                stop = max(0, len(whole.codes) - reach, *whole.starts[-1:].tolist())
                if stop:
                    yield whole, stop
                held.add(whole.part(stop, len(whole.codes)))
                n_overlap = len(held)
            first = last
    if len(held):
        yield (whole := held.take()), len(whole.codes)

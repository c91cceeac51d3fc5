"""Parquet: a column of text, of whole numbers, or of lists of these."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cohmm.data.arrow import common
from cohmm.data.readers.cells import (
    cell_sequences,
    in_parts,
    is_list,
    is_number,
    is_text,
    one_sequence,
)
from cohmm.data.readers.codes import Chunk
from cohmm.data.readers.groups import Rows
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.source import Progress, Source
from cohmm.data.values import shown

BYTES = 8  # of text, for each symbol that is asked for at a time
PARTS = 64  # of a batch: so many times its size may a list be when it is decoded


def read_parquet(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Chunk]:
    """The symbols of a column, about ``size`` at a time."""
    with _opened(source, layout) as (file, column, _, _):
        kind = file.schema_arrow.field(column).type
        symbols = is_number(kind) if layout.symbol_rows is None else layout.symbol_rows
        _check(source, column, kind, lists=layout.each_row != "symbol")
        if layout.characters and not is_text(kind):
            raise source.error(f"the column {shown(column)} is of type {kind}: text has characters")
        row = 1
        tell = _by_rows(source, file.metadata.num_rows, progress)
        for batch in _batches(file, column, size):
            batch.validate(full=True)  # text may be damaged, too
            for cells in in_parts(batch, size * BYTES):
                rows = np.arange(row, row + len(cells))
                if symbols:
                    yield one_sequence(cells, rows)
                else:
                    yield cell_sequences(cells, rows, layout.characters)
                row += len(cells)
            tell(row - 1)


def read_values(source: Source, layout: Layout, size: int) -> Iterator[Any]:
    """The values of a column of any type, one per row."""
    with _opened(source, layout) as (file, column, _, _):
        for batch in _batches(file, column, size):
            for cells in in_parts(batch, size * BYTES):
                yield from cells.to_pylist()


def read_parquet_rows(source: Source, layout: Layout, progress: Progress | None = None) -> Rows:
    """The symbol of every row, with its group and its place in the order."""
    with _opened(source, layout) as (file, column, group, order):
        _check(source, column, file.schema_arrow.field(column).type, lists=False)
        wanted = list(dict.fromkeys(name for name in (column, group, order) if name is not None))
        table = file.read(columns=wanted)
        table.validate(full=True)
        _by_rows(source, file.metadata.num_rows, progress)(file.metadata.num_rows)
        return Rows.of(table, column, group, order, source)


def _by_rows(source: Source, n_rows: int, progress: Progress | None) -> Any:
    """Progress in bytes, from progress in rows."""
    told = 0
    size = source.n_bytes or 0

    def tell(rows: int) -> None:
        nonlocal told
        done = size * rows // max(n_rows, 1)
        if progress is not None:
            progress(done - told)
        told = done

    return tell


@contextmanager
def _opened(source: Source, layout: Layout) -> Iterator[tuple[Any, str, str | None, str | None]]:
    """A file in which symbols and groups keep their dictionaries, and the columns to read."""
    try:
        where: Any = source.path
        if source.n_bytes is None or source.codec is not None:  # Parquet is read from its end
            with source.binary() as stream:
                where = pa.py_buffer(stream.read())
        with pq.ParquetFile(where) as file:
            column, group, order = layout.columns(file.schema_arrow.names, source)
            known = {column, group} - {order}
            # Arrow does not keep those of lists.
            kept = [path for path in _with_dictionaries(file, known) if path in known]
        with pq.ParquetFile(where, read_dictionary=kept) as file:
            yield file, column, group, order
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise source.error(f"not a Parquet file, or damaged ({error})") from None


def _with_dictionaries(file: Any, columns: Collection[str | None]) -> list[str]:
    """Which of the columns are text that stands in dictionaries, or are lists of such text."""
    return sorted(
        {
            leaf.path_in_schema
            for leaf in _leaves(file, columns)
            if leaf.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in e for e in leaf.encodings)
        }
    )


def _leaves(file: Any, columns: Collection[str | None]) -> Iterator[Any]:
    """What is known of the columns in every group of rows."""
    for g in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(g)
        for leaf in map(group.column, range(group.num_columns)):
            if leaf.path_in_schema.split(".")[0] in columns:
                yield leaf


def _check(source: Source, column: str, kind: Any, *, lists: bool) -> None:
    inner = kind.value_type if is_list(kind) and lists else kind
    if not (is_text(inner) or is_number(inner)):
        what = "text, whole numbers, or lists of them" if lists else "text or whole numbers"
        raise source.error(f"the column {shown(column)} is of type {kind}: symbols are {what}")


def _batches(file: Any, column: str, size: int) -> Iterator[pa.Array]:
    """The cells of a column, about ``size`` symbols at a time.

    Lists whose text stands in dictionaries come decoded, however much larger that is: so they
    are read in smaller parts, which are joined up to the size that text may have.
    """
    whole = _rows_at_a_time(file, column, size)
    nested = any(path != column for path in _with_dictionaries(file, [column]))
    held: list[pa.Array] = []
    for batch in file.iter_batches(max(1, whole // PARTS) if nested else whole, columns=[column]):
        held.append(batch.column(0))
        n_rows, n_bytes = sum(map(len, held)), sum(cells.nbytes for cells in held)
        if not nested or n_rows >= whole or n_bytes >= size * BYTES:
            yield common(pa.concat_arrays(held))
            held = []
    if held:
        yield common(pa.concat_arrays(held))


def _rows_at_a_time(file: Any, column: str, size: int) -> int:
    """How many rows hold about ``size`` symbols: cells may be long lists or texts."""
    values: int = sum(
        max(leaf.num_values, leaf.total_uncompressed_size // BYTES)
        for leaf in _leaves(file, [column])
    )
    return max(1, min(size, size * int(file.metadata.num_rows) // max(values, 1)))

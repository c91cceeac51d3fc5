"""Parquet: a column of text, of whole numbers, or of lists of these."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cohmm.data.readers.cells import cell_sequences, is_list, is_number, is_text, one_sequence
from cohmm.data.readers.codes import Chunk
from cohmm.data.readers.groups import Rows
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.source import Progress, Source
from cohmm.data.values import shown


def read_parquet(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Chunk]:
    """The symbols of a column, about ``size`` at a time."""
    with _opened(source) as file:
        schema = file.schema_arrow
        column, _, _ = layout.columns(schema.names, source)
        kind = schema.field(column).type
        symbols = is_number(kind) if layout.symbol_rows is None else layout.symbol_rows
        _check(source, column, kind, lists=layout.each_row != "symbol")
        if layout.characters and not is_text(kind):
            raise source.error(f"the column {shown(column)} is of type {kind}: text has characters")
        row = 1
        tell = _by_rows(source, file.metadata.num_rows, progress)
        for batch in file.iter_batches(_rows_at_a_time(file, column, size), columns=[column]):
            cells = batch.column(0)
            cells.validate(full=True)  # text may be damaged, too
            rows = np.arange(row, row + len(cells))
            if symbols:
                yield one_sequence(cells, rows)
            else:
                yield cell_sequences(cells, rows, layout.characters)
            row += len(cells)
            tell(row - 1)


def read_values(source: Source, layout: Layout, size: int) -> Iterator[Any]:
    """The values of a column of any type, one per row."""
    with _opened(source) as file:
        column, _, _ = layout.columns(file.schema_arrow.names, source)
        for batch in file.iter_batches(size, columns=[column]):
            yield from batch.column(0).to_pylist()


def read_parquet_rows(source: Source, layout: Layout, progress: Progress | None = None) -> Rows:
    """The symbol of every row, with its group and its place in the order."""
    with _opened(source) as file:
        schema = file.schema_arrow
        column, group, order = layout.columns(schema.names, source)
        _check(source, column, schema.field(column).type, lists=False)
        wanted = list(dict.fromkeys(name for name in (column, group, order) if name))
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
def _opened(source: Source) -> Iterator[Any]:
    try:
        if source.n_bytes is None or source.codec is not None:  # Parquet is read from its end
            with source.binary() as stream:
                whole = pa.py_buffer(stream.read())
            with pq.ParquetFile(whole) as file:
                yield file
        else:
            with pq.ParquetFile(source.path) as file:
                yield file
    except (pa.ArrowInvalid, OSError, UnicodeDecodeError) as error:
        raise source.error(f"not a Parquet file, or damaged ({error})") from None


def _check(source: Source, column: str, kind: Any, *, lists: bool) -> None:
    inner = kind.value_type if is_list(kind) and lists else kind
    if not (is_text(inner) or is_number(inner)):
        what = "text, whole numbers, or lists of them" if lists else "text or whole numbers"
        raise source.error(f"the column {shown(column)} is of type {kind}: symbols are {what}")


def _rows_at_a_time(file: Any, column: str, size: int) -> int:
    """How many rows hold about ``size`` symbols: cells may be long lists or texts."""
    n_rows, values = 0, 0
    for g in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(g)
        n_rows += group.num_rows
        for leaf in map(group.column, range(group.num_columns)):
            if leaf.path_in_schema.split(".")[0] == column:
                values += max(leaf.num_values, leaf.total_uncompressed_size // 8)
    return max(1, min(size, size * n_rows // max(values, 1)))

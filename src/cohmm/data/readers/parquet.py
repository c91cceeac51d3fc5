"""Parquet: a column of text, of whole numbers, or of lists of these."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cohmm._validation import shown
from cohmm.data.arrow import combined, common, in_parts, is_list, is_number, is_text
from cohmm.data.readers.codes import Cells
from cohmm.data.readers.source import Layout, Progress, Source

BYTES = 8  # of text, for each symbol that is asked for at a time
PARTS = 64  # of a batch: so many times its size may a list be when it is decoded


def read_parquet(
    source: Source,
    layout: Layout,
    size: int,
    progress: Progress | None = None,
    any_type: bool = False,
) -> Iterator[Cells]:
    """Rows of about ``size`` symbols at a time; all of them, where rows are grouped."""
    with _opened(source, layout) as (file, roles):
        column = roles["column"]
        kind = file.schema_arrow.field(column).type
        if not any_type:
            _check(source, column, kind, layout)
        tell = _by_rows(source, file.metadata.num_rows, progress)
        if layout.is_grouped:
            table = file.read(columns=list(dict.fromkeys(roles.values())))
            table.validate(full=True)
            tell(table.num_rows)
            columns = {role: common(combined(table[name])) for role, name in roles.items()}
            yield Cells(columns, np.arange(1, table.num_rows + 1), True)
            return
        row = 1
        for batch in _batches(file, column, size):
            batch.validate(full=True)  # text may be damaged, too
            for cells in in_parts(batch, size * BYTES):
                rows = np.arange(row, row + len(cells))
                yield Cells({"column": cells}, rows, is_number(kind))
                row += len(cells)
            tell(row - 1)


def _by_rows(source: Source, n_rows: int, progress: Progress | None) -> Any:
    """Progress in bytes, from progress in rows."""
    reported = 0
    size = source.n_bytes or 0

    def tell(rows: int) -> None:
        nonlocal reported
        done = size * rows // max(n_rows, 1)
        if progress is not None:
            progress(done - reported)
        reported = done

    return tell


@contextmanager
def _opened(source: Source, layout: Layout) -> Iterator[tuple[Any, dict[str, str]]]:
    """A file in which symbols and groups keep their dictionaries, and the columns to read."""
    try:
        where: Any = source.path
        if source.n_bytes is None or source.codec is not None:  # Parquet is read from its end
            with source.binary() as stream:
                where = pa.py_buffer(stream.read())
        with pq.ParquetFile(where) as file:
            roles = layout.columns(file.schema_arrow.names, source)
            known = set(roles.values()) - {layout.order}
            # Arrow does not keep those of lists.
            kept = [path for path in _with_dictionaries(file, known) if path in known]
        with pq.ParquetFile(where, read_dictionary=kept) as file:
            yield file, roles
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


def _check(source: Source, column: str, kind: Any, layout: Layout) -> None:
    lists = not layout.is_grouped and layout.each_row != "symbol"
    inner = kind.value_type if is_list(kind) and lists else kind
    if not (is_text(inner) or is_number(inner)):
        what = "text, whole numbers, or lists of them" if lists else "text or whole numbers"
        raise source.error(f"the column {shown(column)} is of type {kind}: symbols are {what}")
    if layout.characters and not is_text(kind):
        raise source.error(f"the column {shown(column)} is of type {kind}: text has characters")


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

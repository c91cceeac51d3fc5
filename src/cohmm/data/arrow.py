"""Columns of Arrow: of frames, in parts, in groups, and without types that few functions know."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm._validation import listed, shown
from cohmm.kernels.types import Ints


def is_text(kind: Any) -> bool:
    """Whether a column's type is text, dictionaries of text included."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def is_number(kind: Any) -> bool:
    """Whether a column's type is a number that could be whole."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def is_list(kind: Any) -> bool:
    """Whether a column's type is a list."""
    return bool(
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )


def combined(column: Any) -> pa.Array:
    """A column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def decoded(column: pa.Array) -> pa.Array:
    """Categories as what they stand for."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def common(column: pa.Array) -> pa.Array:
    """A column without the types that few of Arrow's functions know: half floats and views."""
    kind = _common_type(column.type)
    return column if kind == column.type else column.cast(kind)


def _common_type(kind: Any) -> Any:
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_list(kind):
        return pa.list_(_common_type(kind.value_type))
    if pa.types.is_large_list(kind):
        return pa.large_list(_common_type(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_common_type(kind.value_type), kind.list_size)
    return kind


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


def key_codes(column: pa.Array, name: str) -> pa.Array:
    """A column of keys as a dictionary: rows with the same key have the same index."""
    try:
        return common(decoded(column)).dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise ValueError(
            f"the column {shown(name)} is of type {column.type}: text and numbers are keys"
        ) from None


def ranks(column: pa.Array, name: str) -> pa.Array:
    """What to sort by: of ordered categories, their order."""
    if pa.types.is_dictionary(column.type) and column.type.ordered:
        return column.indices
    plain = common(decoded(column))
    try:
        pc.sort_indices(plain[:0])
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        raise ValueError(
            f"the column {shown(name)} is of type {column.type}, which has no order: sort by "
            "numbers, text or times"
        ) from None
    return plain


def chosen_column(names: Iterable[str], column: str | None, *others: str | None) -> str:
    """The column to read, if it is there: by default the only one beside ``others``."""
    names = list(names)
    left = [name for name in names if name not in others]
    if column is None and len(left) == 1:
        column = left[0]
    if column is None:
        raise ValueError(f"say which column to read (column): there are {listed(names)}")
    for name in (column, *others):
        if name is not None and name not in names:
            raise ValueError(f"there is no column {shown(name)}; there are {listed(names)}")
    return column


def group_rows(
    table: pa.Table, group: str | None, order: str | None
) -> tuple[Ints, pa.Array | None, Ints | None]:
    """The rows of a table, group by group and in order; the keys of groups, and their lengths.

    Groups come in the order in which they first appear.
    """
    for role, name in (("a group", group), ("an order", order)):
        if name is not None and table[name].null_count:
            row = int(np.argmax(table[name].is_null().to_numpy()))
            raise ValueError(
                f"the column {shown(name)} is empty in row {row}: every row needs {role}"
            )
    rows, keys, lengths = np.arange(len(table)), None, None
    if order is not None:
        rows = pc.sort_indices(ranks(combined(table[order]), order)).to_numpy().astype(np.int64)
    if group is not None:
        coded = key_codes(combined(table[group]), group)
        codes = coded.indices.to_numpy()
        rows = rows[np.argsort(codes[rows], kind="stable")]
        keys, lengths = coded.dictionary, np.bincount(codes)
    return rows, keys, lengths


def take_cells(table: pa.Table, column: str, rows: Ints) -> pa.Array:
    """Some cells of a column, of a type that all of Arrow's functions know."""
    return common(combined(table[column])).take(pa.array(rows))


def list_column(values: Any, lengths: Ints) -> pa.Array:
    """A column of lists that have these lengths."""
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int64())
    return pa.LargeListArray.from_arrays(ends, values)


def arrow_array(column: Any) -> Any:
    """A pandas, polars or pyarrow column as a pyarrow one."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if is_lazy(column):
        column = column.collect()
    if isinstance(column, pa.Table) or hasattr(column, "columns"):
        names = list(getattr(column, "column_names", None) or column.columns)
        if len(names) != 1:
            raise ValueError(
                f"a frame of {len(names)} columns: say which one by Sequences.from_frame"
            )
        return arrow_table(column, names)[names[0]]
    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    try:
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, TypeError) as error:
        raise ValueError(f"a column holds values of one type: {error}") from None


def is_lazy(frame: Any) -> bool:
    """Whether it is a LazyFrame of polars, whose columns have no values yet."""
    return hasattr(type(frame), "collect_schema") and hasattr(type(frame), "collect")


def column_names(frame: Any) -> list[str] | None:
    """The names of the columns of a frame; None where it is none."""
    names = getattr(frame, "column_names", getattr(frame, "columns", None))
    return None if names is None or callable(names) else list(names)


def arrow_table(frame: Any, names: Iterable[str]) -> pa.Table:
    """Some columns, which are there, of a pandas or polars frame, or of a pyarrow table."""
    names = list(dict.fromkeys(names))
    if isinstance(frame, pa.Table):
        return frame.select(names)
    return pa.table({name: arrow_array(frame[name]) for name in names})

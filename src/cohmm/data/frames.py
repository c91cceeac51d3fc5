"""Sequences of a pandas, polars or Arrow frame, which keep their keys and know their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from cohmm._validation import shown, warn
from cohmm.data.arrow import (
    arrow_table,
    chosen_column,
    column_names,
    combined,
    group_rows,
    is_lazy,
    is_list,
    take_cells,
)
from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Ints


class OrderWarning(UserWarning):
    """Rows of a frame stand in another order than their times."""


@dataclass(frozen=True, eq=False, repr=False)
class FrameSequences(Sequences):
    """Sequences that know which rows of a frame they are; `Sequences.from_frame` makes them."""

    frame: Any = None
    keys: Any = None
    """The key of every sequence, an array (S,); None where there is no group."""
    rows: Ints | None = None
    """The row of every symbol, (T,); of every sequence, (S,), where a cell is a list."""
    cells_are_lists: bool = False

    def select(self, indices: Any) -> Self:
        """Some of the sequences, with their keys and rows."""
        some = super().select(indices)
        assert self.rows is not None
        chosen = np.asarray(indices, np.int64)
        keys = None if self.keys is None else self.keys[chosen]
        rows = self.rows[chosen if self.cells_are_lists else self._places(chosen)[0]]
        fields = some.symbols, some.offsets, some.n_symbols, some.vocabulary
        return self._trusted(*fields, self.frame, keys, rows, self.cells_are_lists)

    def to_frame(self, **answers: Any) -> Any:
        """The rows, in the order of the frame, with answers as columns."""
        assert self.rows is not None
        order = np.argsort(self.rows, kind="stable")
        columns = {}
        for name, answer in answers.items():
            values = self._checked_answer(name, answer)
            if self.cells_are_lists:
                parts = self.split(values)
                columns[name] = [parts[s].tolist() for s in order]
            else:
                columns[name] = values[order]
        return _with_columns(self.frame, self.rows[order], columns)

    def _checked_answer(self, name: str, answer: Any) -> Any:
        """An answer as an array, with one value per observation."""
        if name in (column_names(self.frame) or ()):
            raise ValueError(f"the frame has a column {shown(name)}: give another name")
        try:
            values = np.asarray(answer)
        except ValueError:  # lists of different lengths
            values = np.empty((0, 0))
        if values.ndim != 1 or len(values) != self.n_observations:
            n = f"{len(values):,} values" if values.ndim == 1 else shown(answer)
            raise ValueError(
                f"{name} must have one value per observation, {self.n_observations:,}, not {n}; "
                "np.repeat(answer, data.lengths) makes them of one value per sequence"
            )
        return values


def _with_columns(frame: Any, rows: Ints, columns: dict[str, Any]) -> Any:
    """Some rows of a frame, with more columns."""
    if isinstance(frame, pa.Table):
        frame = frame.take(pa.array(rows))
        for name, values in columns.items():
            frame = frame.append_column(name, pa.array(values))
        return frame
    if hasattr(frame, "iloc"):  # pandas
        return frame.iloc[rows].assign(**columns)
    some = frame[rows]
    return some.hstack(type(frame)(columns)) if columns else some


def read_frame(
    frame: Any, column: str | None, group: str | None, order: str | None, options: dict[str, Any]
) -> Sequences:
    """See `Sequences.from_frame`."""
    if is_lazy(frame):
        frame = frame.collect()
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    names = column_names(frame)
    if names is None:
        raise ValueError(f"a frame is of pandas, polars or pyarrow, not a {type(frame).__name__}")
    column = chosen_column(names, column, group, order)
    table = arrow_table(frame, [name for name in (column, group, order) if name is not None])
    if is_list(table[column].type):
        return _read_lists(frame, table, column, group, order, options)
    rows, keys, lengths = group_rows(table, group, order)
    if order is None:
        others = [name for name in names if name not in (column, group)]
        _check_order(frame, others, rows, lengths)
    data = Sequences.of(take_cells(table, column, rows), lengths, **options)
    return _of(data, frame, keys, rows, False)


def _read_lists(
    frame: Any, table: Any, column: str, key: str | None, order: str | None, options: dict[str, Any]
) -> Sequences:
    """A column whose cells are lists: each row is a sequence, which may have a key."""
    if order is not None:
        raise ValueError(
            f"order={shown(order)} is that of the rows of a group, and each cell of "
            f"{shown(column)} is a sequence: leave out order"
        )
    _, keys, lengths = group_rows(table, key, None)
    if keys is not None and lengths is not None and (lengths > 1).any():
        label = keys[int(np.argmax(lengths > 1))].as_py()
        first, second, *_ = (n for n, k in enumerate(table[key].to_pylist()) if k == label)
        raise ValueError(
            f"the key {shown(label)} is in rows {first} and {second} of {shown(key)}, and each "
            f"cell of {shown(column)} is a sequence: keys must differ"
        )
    data = Sequences.of(combined(table[column]), None, **options)
    return _of(data, frame, keys, np.arange(len(table)), True)


def _of(data: Sequences, frame: Any, keys: Any, rows: Ints, cells_are_lists: bool) -> Sequences:
    fields = data.symbols, data.offsets, data.n_symbols, data.vocabulary
    labels = None if keys is None else np.array(keys.to_numpy(zero_copy_only=False))
    return FrameSequences._trusted(*fields, frame, labels, rows, cells_are_lists)


def _check_order(frame: Any, names: list[str], rows: Ints, lengths: Ints | None) -> None:
    """Warn where a column of times goes back within a sequence, as no order was asked for."""
    for name in names:
        times = _times(frame, name)
        if times is None:
            continue
        earlier = times[rows][1:] < times[rows][:-1]
        if lengths is not None:
            earlier[np.cumsum(lengths[:-1]) - 1] = False
        if earlier.any():
            row = int(rows[1:][np.argmax(earlier)])
            warn(
                f"row {row} is earlier in {shown(name)} than the row before it in its sequence: "
                f"order={shown(name)} sorts rows; without order they stay as they stand",
                OrderWarning,
            )
            return


def _times(frame: Any, name: str) -> Any:
    """A column of dates or times as numbers; None where it is something else, or has gaps."""
    kind = frame.schema.field(name).type if isinstance(frame, pa.Table) else frame[name].dtype
    if not str(kind).lower().startswith(("date", "time")):
        return None
    column = combined(arrow_table(frame, [name])[name])
    is_time = pa.types.is_temporal(column.type) and not pa.types.is_duration(column.type)
    if column.null_count or not is_time:
        return None
    narrow = pa.types.is_date32(column.type) or pa.types.is_time32(column.type)
    return column.cast(pa.int32() if narrow else pa.int64()).to_numpy()

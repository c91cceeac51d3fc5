"""Rows that are a symbol each, brought together by a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm.data.arrow import combined, common, key_codes, ranks
from cohmm.data.readers.cells import by_appearance
from cohmm.data.readers.codes import Chunk, Coder
from cohmm.data.readers.pieces import Piece
from cohmm.data.readers.places import place
from cohmm.data.readers.source import Source
from cohmm.data.sequences import Sequences
from cohmm.data.values import shown
from cohmm.kernels.types import Ints


class Rows(NamedTuple):
    """The rows of a file: a symbol each, the key of its sequence, and what puts it in order."""

    symbols: pa.Array
    keys: dict[str, pa.Array]
    rows: Ints

    @classmethod
    def none(cls) -> Rows:
        """Of an empty file."""
        return cls(pa.array([], pa.string()), {}, np.empty(0, np.int64))

    @classmethod
    def of(
        cls,
        table: pa.Table,
        column: str,
        group: str | None,
        order: str | None,
        source: Source,
        rows: Ints | None = None,
    ) -> Rows:
        """Columns of a table, no key of which is empty."""
        where = np.arange(1, table.num_rows + 1) if rows is None else rows
        keys = {}
        for role, name in (("group", group), ("order", order)):
            if name is None:
                continue
            keys[role] = common(combined(table[name]))
            if keys[role].null_count:
                row = int(where[np.argmax(keys[role].is_null().to_numpy(zero_copy_only=False))])
                raise ValueError(f"{place(source, row)}: the {role} column {shown(name)} is empty")
        try:
            if group is not None:
                keys["group"] = _as_text(keys["group"], group)
            if order is not None:
                ranks(keys["order"], order)
        except ValueError as error:
            raise source.error(str(error)) from None
        return cls(common(combined(table[column])), keys, where)


def _as_text(keys: pa.Array, name: str) -> pa.Array:
    """Keys that are compared across files, in which they may be of different types."""
    coded = keys if pa.types.is_dictionary(keys.type) else key_codes(keys, name)
    try:
        labels = coded.dictionary.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise ValueError(f"the column {shown(name)} is of type {keys.type}: not a key") from None
    return pa.DictionaryArray.from_arrays(coded.indices, labels)


def sequences_by_key(sources: Sequence[Source], parts: Sequence[Rows], coder: Coder) -> Piece:
    """All rows of all files, put into sequences."""
    codes = [
        coder.encode(Chunk(by_appearance(rows.symbols), rows.rows, rows.rows), source)
        for source, rows in zip(sources, parts, strict=True)
    ]
    files = np.repeat(np.arange(len(parts)), [len(rows.rows) for rows in parts])
    roles = next(rows.keys for rows in parts if rows.keys)
    keys = {role: _united(role, sources, parts) for role in roles}
    # Row numbers take the place of the symbols: what comes back is how to order all else.
    table = pa.table({"row": np.arange(len(files)), **keys})
    data = Sequences.from_frame(
        table, "row", "group" if "group" in keys else None, "order" if "order" in keys else None
    )
    order, starts = data.symbols, data.offsets[:-1]
    first = order[starts]
    rows = np.concatenate([rows.rows for rows in parts])
    return Piece(np.concatenate(codes)[order], starts, files[first], rows[first])


def _united(role: str, sources: Sequence[Source], parts: Sequence[Rows]) -> Any:
    columns = [
        (source.name, rows.keys[role])
        for source, rows in zip(sources, parts, strict=True)
        if rows.keys
    ]
    tables = [pa.table({role: column}) for _, column in columns]
    try:
        column = pa.concat_tables(tables, promote_options="permissive")[role]
        return column.unify_dictionaries().combine_chunks().indices if role == "group" else column
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        names = {str(column.type): name for name, column in reversed(columns)}
        kinds = ", ".join(f"{kind} in {name}" for kind, name in reversed(names.items()))
        raise ValueError(f"the {role} column has different types in the files: {kinds}") from None

"""Rows that are a symbol each, brought together by a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm.data.readers.cells import by_appearance
from cohmm.data.readers.codes import Chunk, Coder
from cohmm.data.readers.pieces import Piece
from cohmm.data.readers.places import place
from cohmm.data.readers.source import Source
from cohmm.data.sequences import Sequences
from cohmm.data.values import shown
from cohmm.kernels.compiled import Ints


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
            keys[role] = table[name].combine_chunks()
            if keys[role].null_count:
                row = int(where[np.argmax(keys[role].is_null().to_numpy(zero_copy_only=False))])
                raise ValueError(f"{place(source, row)}: the {role} column {shown(name)} is empty")
        if group is not None:
            keys["group"] = _as_text(keys["group"], group, source)
        return cls(table[column].combine_chunks(), keys, where)


def _as_text(keys: pa.Array, name: str, source: Source) -> pa.Array:
    """Keys that are compared across files, in which they may be of different types."""
    coded = keys.dictionary_encode()
    try:
        labels = coded.dictionary.cast(pa.large_string())
        return pa.DictionaryArray.from_arrays(coded.indices, labels)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise source.error(f"the column {shown(name)} is of type {keys.type}: not a key") from None


def sequences_by_key(sources: Sequence[Source], parts: Sequence[Rows], coder: Coder) -> Piece:
    """All rows of all files, put into sequences."""
    codes = [
        coder.encode(Chunk(by_appearance(rows.symbols), rows.rows, rows.rows), source)
        for source, rows in zip(sources, parts, strict=True)
    ]
    files = np.repeat(np.arange(len(parts)), [len(rows.rows) for rows in parts])
    keys = {role: _united(role, parts) for role in next(r.keys for r in parts if r.keys)}
    # Row numbers take the place of the symbols: what comes back is how to order all else.
    table = pa.table({"row": np.arange(len(files)), **keys})
    data = Sequences.from_frame(
        table, "row", "group" if "group" in keys else None, "order" if "order" in keys else None
    )
    order, starts = data.symbols, data.offsets[:-1]
    first = order[starts]
    rows = np.concatenate([rows.rows for rows in parts])
    return Piece(np.concatenate(codes)[order], starts, files[first], rows[first])


def _united(role: str, parts: Sequence[Rows]) -> Any:
    tables = [pa.table({role: rows.keys[role]}) for rows in parts if rows.keys]
    try:
        column = pa.concat_tables(tables, promote_options="permissive")[role]
        return column.unify_dictionaries().combine_chunks().indices if role == "group" else column
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        kinds = ", ".join(dict.fromkeys(str(table[role].type) for table in tables))
        raise ValueError(f"the {role} column has different types in the files: {kinds}") from None

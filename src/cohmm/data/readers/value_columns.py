"""A column of a table as plain values: dates and classes that stand beside documents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cohmm.data.readers.delimited import read_delimited
from cohmm.data.readers.json_lines import read_json_lines
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.parquet import read_values
from cohmm.data.readers.source import find_sources

CELLS = 2**16  # at a time


def values_at(path: str | Path, column: str) -> Iterator[Any]:
    """The values of a column, one per row, as `documents_at` has one document per row.

    Parquet has values of any type; those of CSV and JSON Lines are text.  None: it is missing.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path}: a folder has a document a file, and no column {column!r}")
    (source,) = find_sources(path)
    layout = Layout(column=column, each_row="symbol")
    if source.format == "text":
        raise source.error(f"text has no columns, and so no {column!r}: give CSV or the like")
    if source.format == "parquet":
        yield from read_values(source, layout, CELLS)
        return
    chunks = (
        read_json_lines(source, layout, CELLS)
        if source.format == "jsonl"
        else read_delimited(source, layout)
    )
    for chunk in chunks:
        yield from chunk.symbols.to_pylist()

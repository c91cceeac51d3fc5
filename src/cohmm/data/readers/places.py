"""Where in a file something stands, in words for an error message."""

from __future__ import annotations

import csv
import io

from cohmm.data.readers.source import Source

DELIMITERS = {"csv": ",", "tsv": "\t"}


def place(source: Source, row: int) -> str:
    """The file and line of a row; rows are numbered from 1, below the header in CSV.

    A row of CSV may take several lines, so its line is found by reading the file again;
    standard input cannot be read again, and Parquet has no lines.
    """
    if source.format in ("text", "jsonl"):
        return f"{source.name}, line {row}"
    if source.format == "parquet" or source.n_bytes is None:
        return f"{source.name}, row {row}"
    try:
        return f"{source.name}, line {_line_of(source, row)}"
    except csv.Error:  # a cell is longer than Python reads
        return f"{source.name}, row {row}"


def _line_of(source: Source, row: int) -> int:
    with source.text() as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        reader = csv.reader(text, delimiter=DELIMITERS[source.format])
        filled, begins = -1, 1  # the header is no row
        for cells in reader:
            filled += bool(cells)
            if filled == row:
                break
            begins = reader.line_num + 1
    return begins

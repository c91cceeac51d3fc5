"""CSV and TSV, with the names of the columns in the first row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from cohmm._validation import shown
from cohmm.data.arrow import combined
from cohmm.data.readers.codes import Cells
from cohmm.data.readers.source import DELIMITERS, Layout, Progress, Source, place
from cohmm.kernels import native
from cohmm.kernels.text import BEGIN, PLAIN, QUOTED

BLOCK = 2**23  # bytes at a time; a row must fit


def read_delimited(
    source: Source, layout: Layout, size: int = 0, progress: Progress | None = None
) -> Iterator[Cells]:
    """A block of the file at a time, whatever ``size`` is; all of it, where rows are grouped.

    Cells are read as text, so that a label looks as it does in the file.  Whether they are
    all numbers, which makes the column one sequence, is seen in the first block.
    """
    with source.text(progress, BLOCK) as file, _explained(source, file) as (stream, settings):
        names = _header(file, source)
        if not names:
            return
        roles = layout.columns(names, source)
        # The order is the one column whose type matters: 9 comes before 10.
        wanted = list(dict.fromkeys(roles.values()))
        convert = _conversion(wanted, [name for name in wanted if name != layout.order])
        read = pa_csv.read_csv if layout.is_grouped else pa_csv.open_csv
        batches = read(stream, **settings, convert_options=convert)
        row, numbers = 1, None
        for batch in [batches] if layout.is_grouped else batches:
            columns = {role: combined(batch.column(name)) for role, name in roles.items()}
            rows = np.arange(row, row + batch.num_rows)
            if numbers is None:
                numbers = all_numbers(columns["column"])
            elif numbers and layout.symbol_rows is None and not all_numbers(columns["column"]):
                raise ValueError(
                    f"{place(source, row)} or below: the column {shown(roles['column'])} held "
                    "numbers, and no longer does; say by each_row whether a cell is a symbol or a "
                    "sequence"
                )
            yield Cells(columns, rows, numbers)
            row += batch.num_rows


def _header(file: io.BufferedReader[Any], source: Source) -> list[str]:
    """The names of the columns, without reading on."""
    # "utf-8-sig": Arrow drops a mark of its own, after the one that the source dropped.
    data = file.peek()
    text = io.StringIO(data.decode("utf-8-sig", errors="ignore"), newline="")
    filled = filter(None, csv.reader(text, delimiter=DELIMITERS[source.format]))
    try:
        names = next(filled, [])
    except csv.Error as error:
        raise source.error(f"the names of the columns cannot be read: {error}") from None
    if len(data) >= BLOCK and not text.read(1):
        raise source.error(f"the names of the columns are longer than {BLOCK:,} bytes")
    return names


def _conversion(wanted: list[str], as_text: list[str]) -> Any:
    return pa_csv.ConvertOptions(
        include_columns=wanted,
        column_types={name: pa.string() for name in as_text},
        strings_can_be_null=True,
        null_values=[""],
        check_utf8=False,  # the source has seen to that
    )


def all_numbers(cells: pa.Array) -> bool:
    """Whether cells are read best as numbers: a symbol each."""
    try:
        cells.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


class _Quotes(io.RawIOBase):
    """The bytes of CSV as they are read; an error where a quote opens and does not close."""

    def __init__(self, file: io.BufferedReader[Any], source: Source) -> None:
        self._file = file
        self._source = source
        self._delimiter = ord(DELIMITERS[source.format])
        self._state = np.array([BEGIN, 1, 0])

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        known = 0
        if self._state[0] in (BEGIN, PLAIN) and b'"' not in data:  # its last byte says it all
            known = max(len(data) - 1, 0)
            self._state[1] += data.count(b"\n", 0, known)
        rest = np.frombuffer(data, np.uint8)[known:]
        if not native.follow_quotes(rest, self._delimiter, self._state):
            raise self.error(f"closes in line {self._state[1]}, in the midst of a cell")
        if not data and self.is_open:
            raise self.error("does not close")
        return data

    @property
    def is_open(self) -> bool:
        """Whether what was read last is in quotes."""
        return bool(self._state[0] == QUOTED)

    def error(self, what: str) -> ValueError:
        """An error that names the line of the last opening quote."""
        return ValueError(f"{self._source.name}, line {self._state[2]}: a quote opens, and {what}")


@contextmanager
def _explained(
    source: Source, file: io.BufferedReader[Any]
) -> Iterator[tuple[Any, dict[str, Any]]]:
    """What to read from, settings for it, and errors that name the place of what is wrong."""
    wrong: list[Any] = []
    quotes = _Quotes(file, source)

    def keep(row: Any) -> str:
        wrong.append(row)
        return "error"

    settings = {
        # Rows are numbered only where one thread reads; it is as fast.
        "read_options": pa_csv.ReadOptions(use_threads=False, block_size=BLOCK),
        "parse_options": pa_csv.ParseOptions(
            delimiter=DELIMITERS[source.format], newlines_in_values=True, invalid_row_handler=keep
        ),
    }
    try:
        yield pa.PythonFile(quotes, mode="r"), settings
    except pa.ArrowInvalid as error:
        if wrong:
            row = wrong[0]
            where = place(source, row.number - 1) if row.number else source.name
            raise ValueError(
                f"{where}: {row.actual_columns} cells where the header has "
                f"{row.expected_columns}: {row.text[:60]!r}"
            ) from None
        if "straddl" in str(error) and quotes.is_open:
            raise quotes.error(f"does not close within {BLOCK:,} bytes") from None
        if "straddl" in str(error):
            raise source.error(f"a row is longer than {BLOCK:,} bytes") from None
        raise source.error(str(error)) from None

"""Documents in files: a line of text each, a whole file each, or a cell of a table each."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from cohmm._validation import shown
from cohmm.data.documents import Names
from cohmm.data.readers.columns import Cells, is_text
from cohmm.data.readers.parquet import read_parquet
from cohmm.data.readers.scan import read_cells
from cohmm.data.readers.source import (
    CODECS,
    STANDARD_INPUT,
    Layout,
    Source,
    another_encoding,
    find_sources,
    is_utf_8,
)

CELLS = 2**16  # at a time
TEXT = ".txt"
SHOWN = 3


class Trace:
    """Remembers where the documents that were read came from."""

    def __init__(self) -> None:
        self._origins: list[str] = []
        self._which = array("i")
        self._rows = array("q")

    def origin(self, name: str) -> None:
        """The documents noted from now on are from here."""
        self._origins.append(name)

    def note(self, row: int = 0) -> None:
        """A document; ``row`` is its line or row, 0 where it is all there is."""
        self._which.append(len(self._origins) - 1)
        self._rows.append(row)

    def names(self) -> Names:
        """What was noted."""
        return Names(
            tuple(self._origins),
            np.array(self._which, np.int32),
            np.array(self._rows, np.int64),
        )


def documents_at(
    path: str | Path, encoding: str, column: str | None, trace: Trace
) -> Iterator[str]:
    """The documents of a file, of a folder of text files, or of standard input (``"-"``).

    A text file has one document per line, a table one per row, a folder one per file.
    """
    if str(path) not in (STANDARD_INPUT, "") and Path(path).is_dir():
        if column is not None:
            raise ValueError(
                f"{path}: a folder has a document a file, and no column {shown(column)}"
            )
        for file in text_files(Path(path)):
            yield whole_file(file, encoding, trace)
        return
    (source,) = find_sources(path)
    Layout(column=column).check(source)
    if source.format == "text":
        trace.origin(f"{source.name}, line")
        for row, line in enumerate(_lines(source, encoding), 1):
            trace.note(row)
            yield line
        return
    if not is_utf_8(encoding):
        raise source.error(f"CSV, JSON Lines and Parquet are read as UTF-8, not as {encoding}")
    trace.origin(f"{source.name}, {'line' if source.format == 'jsonl' else 'row'}")
    for cells in _column(source, column):
        texts = cells.columns["column"]
        if not is_text(texts.type):
            raise source.error(f"a document is text, and the column has {texts.type}")
        for text, row in zip(texts.to_pylist(), cells.rows.tolist(), strict=True):
            trace.note(row)
            yield text or ""


def values_at(path: str | Path, column: str) -> Iterator[Any]:
    """The values of a column, one per row, as `documents_at` has one document per row.

    Parquet has values of any type; those of CSV and JSON Lines are text.  None: it is missing.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path}: a folder has a document a file, and no column {column!r}")
    (source,) = find_sources(path)
    if source.format == "text":
        raise source.error(f"text has no columns, and so no {column!r}: give CSV or the like")
    for cells in _column(source, column):
        yield from cells.columns["column"].to_pylist()


def _column(source: Source, column: str | None) -> Iterator[Cells]:
    """The cells of a column as they are."""
    layout = Layout(column=column, each_row="symbol")
    if source.format == "parquet":
        return read_parquet(source, layout, CELLS, any_type=True)
    return read_cells(source, layout, CELLS)


def whole_file(path: Path, encoding: str, trace: Trace) -> str:
    """A file that is one document."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give it alone, or its files, in the list")
    (source,) = find_sources(path)
    trace.origin(source.name)
    trace.note()
    with source.text(encoding=encoding) as file:
        return file.read().decode(errors="surrogatepass")


def text_files(folder: Path) -> list[Path]:
    """The files of a folder that are documents, in order of their names."""
    names = sorted(file for file in folder.rglob("*") if file.is_file())
    texts = [
        file
        for file in names
        if file.suffix.lower() == TEXT
        or (file.suffix.lower() in CODECS and Path(file.stem).suffix.lower() == TEXT)
    ]
    if not texts:
        some = ", ".join(str(file.relative_to(folder)) for file in names[:SHOWN])
        there = f"there are {len(names)} others ({some}): " if names else ""
        raise ValueError(
            f"{folder}: there is no {TEXT} file in this folder; {there}"
            "give a list of paths to read files of other names"
        )
    return texts


def _lines(source: Source, encoding: str) -> Iterator[str]:
    with source.text(encoding=encoding) as file:
        for line in file:
            ended = line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
            yield ended.decode(errors="surrogatepass")


def decoded(data: bytes, encoding: str, d: int) -> str:
    """Document ``d``, given as bytes."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"document {d} is not {encoding}: byte {error.start} of it is "
            f"0x{data[error.start]:02x}; {another_encoding(encoding)}"
        ) from None

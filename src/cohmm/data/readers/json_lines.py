"""JSON Lines: an object, a list or a string a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cohmm.data.readers.codes import Chunk, label_of
from cohmm.data.readers.groups import Rows
from cohmm.data.readers.layout import EachRow, Layout
from cohmm.data.readers.places import place
from cohmm.data.readers.source import Progress, Source
from cohmm.data.values import listed, shown

BLANK = object()


def read_json_lines(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Chunk]:
    """The symbols of a file, about ``size`` at a time."""
    symbols: list[str | None] = []
    lines: list[int] = []
    blank = 0
    each_row: EachRow | None = "sequence" if layout.characters else layout.each_row
    for line, value in _values(source, layout, progress):
        if value is BLANK:
            blank += 1
            continue
        try:
            each_row = each_row or _kind(value)
            found = _sequence(value, layout) if each_row != "symbol" else [_symbol(value)]
        except ValueError as error:
            raise ValueError(f"{place(source, line)}: {error}") from None
        blank += not found
        symbols += found
        lines += [line] * len(found)
        if len(symbols) >= size:
            yield _chunk(source, symbols, lines, each_row, blank)
            symbols, lines, blank = [], [], 0
    yield _chunk(source, symbols, lines, each_row, blank)


def read_json_rows(source: Source, layout: Layout, progress: Progress | None = None) -> Rows:
    """The symbol of every line, with its group and its place in the order."""
    cells: dict[str, list[Any]] = {}
    lines: list[int] = []
    column, group, order = "", None, None
    for line, record in _records(source, progress):
        if record is BLANK:
            continue
        if not isinstance(record, dict):
            raise ValueError(f"{place(source, line)}: not an object with names and values")
        if not lines:
            column, group, order = layout.columns(list(record), source)
            cells = {name: [] for name in (column, group, order) if name is not None}
        for name, values in cells.items():
            values.append(_member(record, name, source, line))
        lines.append(line)
    if not lines:
        return Rows.none()
    rows = np.array(lines)
    table = {}
    for name, values in cells.items():
        if name == order:
            table[name] = _ordering(values, lines, name, source)
        else:
            table[name] = _array(source, _each(values, lines, source), lines)
    return Rows.of(pa.table(table), column, group, order, source, rows)


def _values(source: Source, layout: Layout, progress: Progress | None) -> Iterator[tuple[int, Any]]:
    """What stands in the column of each line, which may be the line itself."""
    column = layout.column
    for line, record in _records(source, progress):
        if isinstance(record, dict):
            if column is None:
                column = layout.columns(list(record), source)[0]
            yield line, _member(record, column, source, line)
        elif layout.column is not None and record is not BLANK:
            raise ValueError(
                f"{place(source, line)}: there is no {shown(layout.column)}: not an object"
            )
        else:
            yield line, record


def _records(source: Source, progress: Progress | None) -> Iterator[tuple[int, Any]]:
    with source.text(progress) as file:
        for line, text in enumerate(file, 1):
            if not text.strip():
                yield line, BLANK
                continue
            try:
                yield line, json.loads(text.rstrip())
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{place(source, line)}: not JSON: {error.msg} (character {error.colno})"
                ) from None
            except RecursionError:
                raise ValueError(f"{place(source, line)}: nested too deeply") from None
            except ValueError:  # more digits than Python reads
                raise ValueError(
                    f"{place(source, line)}: it has a number that is too long"
                ) from None


def _member(record: dict[str, Any], name: str, source: Source, line: int) -> Any:
    try:
        return record[name]
    except KeyError:
        raise ValueError(
            f"{place(source, line)}: there is no {shown(name)}; there are {listed(record)}"
        ) from None


def _kind(value: Any) -> EachRow | None:
    """Numbers are symbols; text and lists are sequences; null does not tell."""
    if value is None:
        return None
    return "symbol" if isinstance(value, (int, float)) else "sequence"


def _sequence(value: Any, layout: Layout) -> list[str | None]:
    if value is None:
        return []
    if layout.characters:
        if isinstance(value, str):
            return list(value)
        raise ValueError(f"{shown(value)} is no text, and text has characters")
    if isinstance(value, str):
        # bytes are split at ASCII blanks alone, as text files are
        return [word.decode() for word in value.encode(errors="surrogatepass").split()]
    if isinstance(value, list):
        return [_symbol(item) for item in value]
    if layout.each_row == "sequence":
        return [_symbol(value)]
    raise ValueError(
        f"{shown(value)} where lines before it hold a sequence; say by each_row whether a line is "
        "a symbol or a sequence"
    )


def _symbol(value: Any) -> str | None:
    if value is None or value != value:
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return label_of(value)
    raise ValueError(f"{json.dumps(value)[:60]} is no symbol: symbols are text or whole numbers")


def _each(values: Iterable[Any], lines: list[int], source: Source) -> list[str | None]:
    symbols = []
    for value, line in zip(values, lines, strict=True):
        try:
            symbols.append(_symbol(value))
        except ValueError as error:
            raise ValueError(f"{place(source, line)}: {error}") from None
    return symbols


def _ordering(values: list[Any], lines: list[int], name: str, source: Source) -> pa.Array:
    if all(isinstance(value, str) for value in values):
        return _array(source, values, lines)
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
        raise source.error(f"{shown(name)} is of several types, which have no order") from None
    except OverflowError:
        largest = max((value for value in values if isinstance(value, int)), key=abs)
        line = lines[values.index(largest)]
        raise ValueError(
            f"{place(source, line)}: {shown(name)} is {shown(largest)}, which is too large: "
            "numbers to sort by have 64 bits"
        ) from None


def _chunk(
    source: Source,
    symbols: list[str | None],
    lines: list[int],
    each_row: EachRow | None,
    blank: int,
) -> Chunk:
    rows = np.array(lines, np.int64)
    sequences = np.zeros_like(rows) if each_row == "symbol" else rows
    return Chunk(_array(source, symbols, lines), sequences, rows, blank)


def _array(source: Source, symbols: list[str | None], lines: list[int]) -> pa.Array:
    try:
        return pa.array(symbols, pa.large_string())
    except UnicodeEncodeError as error:
        line = lines[symbols.index(error.object)]
        raise ValueError(
            f"{place(source, line)}: {shown(error.object)} is not Unicode text"
        ) from None

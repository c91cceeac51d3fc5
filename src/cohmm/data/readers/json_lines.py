"""JSON Lines: one object, list or string per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from cohmm._validation import listed, shown
from cohmm.data.readers.codes import Cells, label_of
from cohmm.data.readers.source import EachRow, Layout, Progress, Source, place

BLANK = object()


def read_json_lines(
    source: Source, layout: Layout, size: int, progress: Progress | None = None
) -> Iterator[Cells]:
    """Lines of about ``size`` symbols at a time; all of them, where they are grouped."""
    batch = _Batch(source, layout)
    for line, values in _values(source, layout, progress):
        batch.add(line, values)
        if batch.n_symbols >= size and not layout.is_grouped:
            yield batch.cells()
            batch = _Batch(source, layout, batch.each_row)
    yield batch.cells()


class _Batch:
    """Lines that become cells: lists of symbols, a symbol each, or what they are sorted by."""

    def __init__(self, source: Source, layout: Layout, each_row: EachRow | None = None) -> None:
        self._source, self._layout = source, layout
        if layout.is_grouped:
            each_row = "symbol"
        self.each_row = each_row or ("sequence" if layout.characters else layout.each_row)
        self.n_symbols = self._blank = 0
        self._columns: dict[str, list[Any]] = {"column": []}
        self._lines: list[int] = []

    def add(self, line: int, values: dict[str, Any] | None) -> None:
        """The values of a line; None where it is blank."""
        if values is None:
            self._blank += not self._layout.is_grouped
            return
        try:
            self.each_row = self.each_row or _kind(values["column"])
            if self.each_row is None:  # null does not tell
                self._blank += 1
                return
            if self.each_row == "sequence":
                values["column"] = _sequence(values["column"], self._layout)
                self.n_symbols += len(values["column"])
            else:
                roles = ("column", "group") if self._layout.is_grouped else ("column",)
                values |= {role: _symbol(values[role]) for role in roles if role in values}
                self.n_symbols += 1
        except ValueError as error:
            raise ValueError(f"{place(self._source, line)}: {error}") from None
        for role, value in values.items():
            self._columns.setdefault(role, []).append(value)
        self._lines.append(line)

    def cells(self) -> Cells:
        """All lines."""
        lines = self._lines
        if self.each_row != "symbol":
            lists = self._columns["column"]
            ends = np.cumsum([0, *map(len, lists)])
            of_symbols = np.repeat(np.array(lines, np.int64), np.diff(ends)).tolist()
            flat = self._array([symbol for symbols in lists for symbol in symbols], of_symbols)
            column = pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), flat)
            return Cells({"column": column}, np.array(lines, np.int64), False, self._blank)
        columns = {
            role: self._ordering(values) if role == "order" else self._array(values, lines)
            for role, values in self._columns.items()
        }
        return Cells(columns, np.array(lines, np.int64), True, self._blank)

    def _array(self, symbols: list[str | None], lines: list[int]) -> pa.Array:
        try:
            return pa.array(symbols, pa.large_string())
        except UnicodeEncodeError as error:
            line = lines[symbols.index(error.object)]
            raise ValueError(
                f"{place(self._source, line)}: {shown(error.object)} is not Unicode text"
            ) from None

    def _ordering(self, values: list[Any]) -> pa.Array:
        name = self._layout.order
        if all(isinstance(value, str) for value in values):
            return self._array(values, self._lines)
        try:
            return pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            raise self._source.error(
                f"{shown(name)} is of several types, which have no order"
            ) from None
        except OverflowError:
            largest = max((value for value in values if isinstance(value, int)), key=abs)
            line = self._lines[values.index(largest)]
            raise ValueError(
                f"{place(self._source, line)}: {shown(name)} is {shown(largest)}, which is too "
                "large: numbers to sort by have 64 bits"
            ) from None


def _values(
    source: Source, layout: Layout, progress: Progress | None
) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """What stands in the columns of each line, which may be one value itself; None: it is blank."""
    roles: dict[str, str] = {} if layout.column is None else {"column": layout.column}
    if layout.is_grouped:
        roles = {}
    for line, record in _records(source, progress):
        if record is BLANK:
            yield line, None
        elif isinstance(record, dict):
            roles = roles or layout.columns(list(record), source)
            yield line, {role: _member(record, name, source, line) for role, name in roles.items()}
        elif layout.is_grouped:
            raise ValueError(f"{place(source, line)}: not an object with names and values")
        elif layout.column is not None:
            raise ValueError(
                f"{place(source, line)}: there is no {shown(layout.column)}: not an object"
            )
        else:
            yield line, {"column": record}


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

"""Partitions of files: blocks of lines, groups of Parquet rows, or files as they are."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
from pyarrow import json, parquet

from cohmm.data.arrow import chosen_column, decoded
from cohmm.data.memory import on_disk
from cohmm.data.parts import Failed, Parts, add_all, one_by_one, placed
from cohmm.data.readers.delimited import read_delimited
from cohmm.data.readers.scan import checked_keys
from cohmm.data.readers.source import Layout, Source, find_sources
from cohmm.distributed.backend import (
    Backend,
    Partitions,
    Rows,
    grouped,
    on_rows,
)
from cohmm.kernels.threads import n_threads

BLOCK = 2**26  # bytes of text in a partition, or of Parquet
WILD = "*?["

Columns = tuple[str | None, str | None, str | None]
"""The column to read, that of the groups, and that of their order."""


@dataclass(frozen=True)
class FilePart:
    """Some of a file: bytes of text, row groups of Parquet, or all of it."""

    source: Source
    first: int = 0
    last: int | None = None

    @property
    def place(self) -> str:
        """Where it is, in words for an error message."""
        if self.first == 0 and self.last is None:
            return self.source.name
        what = "row groups" if self.source.format == "parquet" else "bytes"
        return f"{self.source.name}, {what} {self.first:,} to {self.last:,}"

    def table(self, columns: Columns) -> pa.Table:
        """The columns that are asked for, the first by default the only one."""
        source = self.source
        if source.format == "text":
            if any(columns):
                raise ValueError("text has no columns: leave out column, group and order")
            return pa.table({"line": pa.array(self._lines(), pa.large_string())})
        if source.format == "parquet":
            file = parquet.ParquetFile(source.path)
            names = _names(file.schema_arrow.names, columns)
            groups = range(self.first, file.num_row_groups if self.last is None else self.last)
            return file.read_row_groups(list(groups), columns=names)
        if source.format != "jsonl":
            return self._delimited(*columns)
        with source.binary() as stream:
            table = json.read_json(stream)
        return table.select(_names(table.column_names, columns))

    def _delimited(self, column: str | None, group: str | None, order: str | None) -> pa.Table:
        """Cells of CSV as the reader of sequences has them: as text, but for the order."""
        name = column or "symbol"
        if group is None:
            blocks = list(read_delimited(self.source, Layout(column=column, each_row="symbol")))
            if blocks and blocks[0].are_symbols:
                raise ValueError(
                    "the column holds numbers, a symbol in each row: say by which column they are "
                    "grouped (group=)"
                )
            texts = [block.columns["column"] for block in blocks]
            return pa.table({name: pa.chunked_array(texts, pa.string())})
        layout = Layout(column=column, group=group, order=order)
        empty = {role: pa.array([], pa.large_string()) for role in ("column", "group", "order")}
        for cells in read_delimited(self.source, layout):
            empty |= checked_keys(cells, layout, self.source).columns
        keys = {"column": name, "group": group, "order": order}
        return pa.table({key: decoded(empty[role]) for role, key in keys.items() if key})

    def _lines(self) -> list[str]:
        """Lines that begin in these bytes."""
        with self.source.binary() as stream:
            data = _all_of(stream) if self.last is None else self._block()
        try:
            text = data.decode("utf-8-sig" if self.first == 0 else "utf-8")
        except UnicodeDecodeError as error:
            place = self.first + error.start
            raise ValueError(
                f"this is not UTF-8 text: byte {place} is 0x{data[error.start]:02x}"
            ) from None
        lines = text.split("\n")
        if lines[-1] == "":
            lines.pop()
        return [line.removesuffix("\r") for line in lines]

    def _block(self) -> bytes:
        """From the first line that begins at ``first`` or later to the end of the last one."""
        assert self.last is not None
        with open(cast(Path, self.source.path), "rb") as file:
            if self.first:
                file.seek(self.first - 1)
                file.readline()
            start = file.tell()
            if start >= self.last:
                return b""
            data = file.read(self.last - start)
            return data if data.endswith(b"\n") else data + file.readline()


def rows_of(parts: list[FilePart], columns: Columns) -> Rows | Failed:
    """All rows of some parts, one per sequence or document; `Failed` where one cannot be read."""
    try:
        table = pa.concat_tables(
            [part.table(columns) for part in parts], promote_options="permissive"
        )
        return grouped(table, table.column_names[0], *columns[1:])
    except (ValueError, OSError, pa.ArrowException) as error:
        return Failed(-1, ValueError(" ".join(str(error).split())))


def _all_of(stream: Any) -> bytes:
    blocks = []
    while block := bytes(stream.read(2**20)):
        blocks.append(block)
    return b"".join(blocks)


def _names(names: list[str], columns: Columns) -> list[str]:
    column, group, order = columns
    wanted = (chosen_column(names, column, group, order), group, order)
    return list(dict.fromkeys(name for name in wanted if name is not None))


def from_files(
    paths: Any,
    column: str | None,
    group: str | None,
    order: str | None,
    client: Any,
    block: int | None = None,
) -> Partitions:
    """Partitions of files, for this process or for the workers of a client of Dask."""
    sources = find_sources(_expanded(paths))
    parts = [part for source in sources for part in _parts_of(source, block or BLOCK)]
    if client is not None:
        from cohmm.distributed.dask import from_file_parts

        return from_file_parts(parts, column, group, order, client)
    return Partitions(LocalBackend(parts, (column, group, order)), group)


def _expanded(paths: Any) -> list[str]:
    """Paths without wildcards."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    names = []
    for path in map(os.fspath, given):
        if os.path.exists(path) or not any(sign in path for sign in WILD):
            names.append(path)
            continue
        matching = sorted(glob.glob(path, recursive=True))
        if not matching:
            raise ValueError(f"{path}: no file has such a name")
        names += matching
    return names


def _parts_of(source: Source, block: int) -> Iterator[FilePart]:
    size = source.n_bytes
    if size is None:
        raise source.error("partitions are read more than once: give a file")
    if source.format == "parquet" and source.codec is None:
        yield from _row_groups(source, block)
    elif source.format == "text" and source.codec is None and size > block:
        n = -(-size // block)
        cuts = [size * i // n for i in range(n + 1)]
        for first, last in pairwise(cuts):
            yield FilePart(source, first, last)
    else:
        yield FilePart(source)


def _row_groups(source: Source, block: int) -> Iterator[FilePart]:
    """Row groups that together have about a block of bytes."""
    try:
        data = parquet.read_metadata(source.path)
    except (OSError, pa.ArrowException) as error:
        raise source.error(f"this is no Parquet file: {error}") from None
    first, size = 0, 0
    for i in range(data.num_row_groups):
        size += data.row_group(i).total_byte_size
        if size >= block or i == data.num_row_groups - 1:
            yield FilePart(source, first, i + 1)
            first, size = i + 1, 0


class LocalParts(Parts):
    """Parts that this process works on, one after the other; large arrays of them are on disk."""

    def __init__(self, parts: list[Any], places: list[str]) -> None:
        self._parts = parts
        self._places = places

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts)

    def _sum(self, function: Callable[..., Any], broadcast: tuple[Any, ...]) -> Any:
        return add_all(one_by_one(function, self, len(self._places), broadcast))

    def keep(self, function: Callable[..., Any], *broadcast: Any) -> LocalParts:
        """In files that are mapped into memory, and removed with what is kept."""
        parts = one_by_one(function, self, len(self._places), broadcast)
        return LocalParts([on_disk(part) for part in parts], self._places)

    def place(self, number: int) -> str:
        """Where the part came from."""
        return self._places[number]


class LocalBackend(LocalParts, Backend):
    """Files that this process reads.

    With groups all files are one part: their rows are held in memory while they are sorted.
    """

    def __init__(self, parts: list[FilePart], columns: Columns) -> None:
        is_grouped = columns[1] is not None
        super().__init__(parts, ["the files"] if is_grouped else [part.place for part in parts])
        self._columns = columns
        self.n_partitions = len(self._places)

    def __iter__(self) -> Iterator[Rows | Failed]:
        """The rows of each part, read again."""
        groups = [self._parts] if self._columns[1] is not None else [[p] for p in self._parts]
        for parts in groups:
            yield rows_of(parts, self._columns)

    def answers(
        self, function: Callable[[Rows], pa.Table], schema: pa.Schema | None
    ) -> Iterator[pa.Table]:
        """Tables, one per part, as they are asked for."""
        return self.tables(function)

    def tables(self, function: Callable[[Rows], pa.Table]) -> Iterator[pa.Table]:
        """One per part, in order."""
        for number, rows in enumerate(self):
            try:
                yield on_rows(function, rows, n_threads())
            except ValueError as error:
                raise placed(error, self.place(number)) from None

"""All files, whatever their formats, as one stream of encoded symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from cohmm.data.readers.codes import Chunk, Coder
from cohmm.data.readers.delimited import read_delimited, read_delimited_rows
from cohmm.data.readers.groups import Rows, sequences_by_key
from cohmm.data.readers.json_lines import read_json_lines, read_json_rows
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.parquet import read_parquet, read_parquet_rows
from cohmm.data.readers.pieces import Piece
from cohmm.data.readers.plain_text import read_text
from cohmm.data.readers.source import Progress, Source

Notice = Callable[[str], None]

BYTES_A_SYMBOL = 2  # the least; it sets how much text is read at a time


class NoDataError(ValueError):
    """There is no symbol in any of the sources."""

    def __init__(self, sources: Sequence[Source]) -> None:
        names = ", ".join(source.name for source in sources[:3])
        more = f" and {len(sources) - 3} more files" if len(sources) > 3 else ""
        super().__init__(f"there is no data: no symbol in {names}{more}")


def read_pieces(
    sources: Sequence[Source],
    layout: Layout,
    coder: Coder,
    size: int,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Iterator[Piece]:
    """The encoded symbols of all sources, about ``size`` at a time; at least one symbol."""
    for source in sources:
        layout.check(source)
    any_piece = False
    by_source = _grouped if layout.is_grouped else _one_by_one
    for piece in by_source(sources, layout, coder, size, progress, notice or _quiet):
        any_piece = True
        yield piece
    if not any_piece:
        raise NoDataError(sources)


def _one_by_one(
    sources: Sequence[Source],
    layout: Layout,
    coder: Coder,
    size: int,
    progress: Progress | None,
    notice: Notice,
) -> Iterator[Piece]:
    for file, source in enumerate(sources):
        last, blank = -1, 0
        for chunk in _chunks(source, layout, size, progress):
            blank += chunk.blank
            if not len(chunk.rows):
                continue
            starts = chunk.starts(last)
            last = int(chunk.sequences[-1])
            files = np.full(len(starts), file)
            yield Piece(coder.encode(chunk, source), starts, files, chunk.rows[starts])
        _tell_of_blanks(source, last >= 0, blank, notice)


def _chunks(
    source: Source, layout: Layout, size: int, progress: Progress | None
) -> Iterator[Chunk]:
    if source.format == "text":
        return read_text(source, size * BYTES_A_SYMBOL, progress, layout.characters)
    if source.format == "jsonl":
        return read_json_lines(source, layout, size, progress)
    if source.format == "parquet":
        return read_parquet(source, layout, size, progress)
    return read_delimited(source, layout, progress)


def _grouped(
    sources: Sequence[Source],
    layout: Layout,
    coder: Coder,
    size: int,
    progress: Progress | None,
    notice: Notice,
) -> Iterator[Piece]:
    tables = [_rows(source, layout, progress) for source in sources]
    for source, rows in zip(sources, tables, strict=True):
        _tell_of_blanks(source, len(rows.rows) > 0, 0, notice)
    if any(len(rows.rows) for rows in tables):
        yield sequences_by_key(sources, tables, coder)


def _rows(source: Source, layout: Layout, progress: Progress | None) -> Rows:
    if source.format == "jsonl":
        return read_json_rows(source, layout, progress)
    if source.format == "parquet":
        return read_parquet_rows(source, layout, progress)
    return read_delimited_rows(source, layout, progress)


def _tell_of_blanks(source: Source, filled: bool, blank: int, notice: Notice) -> None:
    what = "line" if source.format in ("text", "jsonl") else "row"
    if not filled:
        notice(f"{source.name}: there is no symbol in it")
    elif blank:
        notice(f"{source.name}: {blank:,} blank {what}{'s were' if blank > 1 else ' was'} skipped")


def _quiet(text: str) -> None:
    pass

"""Text: one sequence per line, of symbols between blanks, or of characters."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from cohmm.data.readers.codes import Chunk, characters_of, check_length, words_of
from cohmm.data.readers.source import Progress, Source, place
from cohmm.kernels.threads import helpers, n_threads, submit
from cohmm.kernels.types import Ints

Item = TypeVar("Item")
Result = TypeVar("Result")

BLANKS = (b" ", b"\n", b"\t", b"\r", b"\v", b"\f")
NEWLINE = ord("\n")
RETURN = ord("\r")
MOST_AHEAD = 4  # blocks: a cap on memory has room for these, however many threads there are


class Words(NamedTuple):
    """The words of a block of text, the line of each in it, and how the block's lines end."""

    words: pa.Array
    lines: Ints
    newlines: int
    ends_open: bool


def read_text(
    source: Source, n_bytes: int, progress: Progress | None = None, characters: bool = False
) -> Iterator[Chunk]:
    """The symbols of a file, about ``n_bytes`` at a time, however long its lines are."""
    finished, filled, last = 0, 0, 0  # lines that ended, lines with a word, the last of these
    ends_open = False
    end, split = (_last_character, _split_characters) if characters else (_last_blank, _split)
    for block in _ahead(split, _blocks(source, n_bytes, progress, end)):
        if len(block.lines):
            lines = block.lines + (finished + 1)
            filled += int(np.count_nonzero(np.diff(lines, prepend=last)))
            last = int(lines[-1])
            yield Chunk(block.words, lines, lines)
        finished += block.newlines
        ends_open = block.ends_open
    nothing = np.empty(0, np.int64)
    yield Chunk(pa.nulls(0, pa.string()), nothing, nothing, finished + ends_open - filled)


def _blocks(
    source: Source, n_bytes: int, progress: Progress | None, end: Callable[[bytes], int]
) -> Iterator[bytes]:
    """The bytes of a file, cut where ``end`` says."""
    rest, line = b"", 1
    with source.text(progress) as file:
        while new := file.read(n_bytes):
            block = rest + new
            cut = end(block)
            rest = block[cut:]
            if cut:
                line += block.count(b"\n", 0, cut)
                yield block[:cut]
            try:
                check_length(rest)
            except ValueError as error:
                raise ValueError(f"{place(source, line)}: {error}") from None
    if rest:
        yield rest


def _last_blank(block: bytes) -> int:
    """The place after the last blank."""
    return max(block.rfind(blank) for blank in BLANKS) + 1


def _last_character(block: bytes) -> int:
    """The place of the last character, of which more bytes may follow."""
    place = len(block) - 1
    while 0x80 <= block[place] < 0xC0:
        place -= 1
    return place


def _split_characters(block: bytes) -> Words:
    text = block.decode()
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    newlines = points == NEWLINE
    inside = ~newlines & (points != RETURN)
    symbols = characters_of(text.replace("\n", "").replace("\r", ""))
    lines = np.cumsum(newlines, dtype=np.int32)
    return Words(symbols, lines[inside], int(lines[-1]), not newlines[-1])


def _split(block: bytes) -> Words:
    data = np.frombuffer(block, np.uint8)
    newlines = np.flatnonzero(data == NEWLINE)
    words, lines = words_of(data, np.concatenate([[0], newlines + 1, [len(data)]]))
    return Words(words.dictionary_encode(), lines, len(newlines), data[-1] != NEWLINE)


def _ahead(task: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """``map(task, items)``, a few items ahead of the one that is asked for, on threads."""
    threads = min(n_threads(), MOST_AHEAD)
    if threads == 1:
        yield from map(task, items)
        return
    with helpers(threads) as pool:
        under_way: deque[Future[Any]] = deque()
        for item in items:
            under_way.append(submit(pool, task, item))
            if len(under_way) > threads:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()

"""Sequences in files: text, CSV, JSON Lines and Parquet.

Files are plain, gzip (``.gz``) or Zstandard (``.zst``); a folder means all files in it, and
``"-"`` is standard input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cohmm.data.encoding import MISSING, check_many
from cohmm.data.memory import NO_CAP, Budget, ScratchArray
from cohmm.data.readers.codes import Coder
from cohmm.data.readers.scan import (
    Groups,
    Notice,
    Piece,
    in_whole_sequences,
    read_groups,
    read_pieces,
)
from cohmm.data.readers.source import (
    EachRow,
    Format,
    Layout,
    Paths,
    Progress,
    Source,
    find_sources,
    place,
    total_bytes,
)
from cohmm.data.sequences import RARE, Sequences, Unseen, check_unseen
from cohmm.data.vocabulary import Vocabulary, as_vocabulary, codes_in, in_order
from cohmm.kernels.types import Ints

__all__ = ["FileSequences", "Layout", "n_bytes", "read_files", "read_sequences"]

BATCH = 2**21  # symbols
NOT_INTEGERS = "without integers (--integers) they are labels"
IN_MEMORY = 2**28  # bytes of each array that are held in memory before they go to a scratch file


@dataclass(frozen=True, eq=False, repr=False)
class FileSequences(Sequences):
    """Sequences that know where in which file they begin."""

    sources: tuple[Source, ...] = ()
    files: Ints | None = None
    """The place in ``sources`` of the file in which each sequence begins, (S,)."""
    rows: Ints | None = None
    """The row or line of it, from 1, (S,)."""
    budget: Budget = NO_CAP
    """How much memory may be used to count it."""
    groups: Groups | None = None
    """Of rows that were brought together, the keys and where every symbol stands."""

    @property
    def keys(self) -> Any:
        """The value of ``group`` of every sequence, (S,); None where rows were not grouped."""
        return None if self.groups is None else self.groups.keys

    def name_of(self, s: int) -> str:
        """The file and line in which a sequence begins."""
        if self.files is None or self.rows is None:
            return super().name_of(s)
        return place(self.sources[self.files[s]], int(self.rows[s]))


def read_sequences(
    paths: Paths,
    column: str | None = None,
    group: str | None = None,
    order: str | None = None,
    *,
    format: Format | None = None,
    each_row: EachRow | None = None,
    characters: bool = False,
    integers: bool = False,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    memory: int | str | None = None,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> FileSequences:
    """Read sequences from files, once, as they stream by: a pipe will do.

    What is read is encoded at once.  Beyond a quarter of a gigabyte it is kept in a scratch
    file, in the folder that the environment variable TMPDIR names, and mapped into memory.

    Parameters
    ----------
    paths : path or list of paths
        Files, folders, or ``"-"`` for standard input: text with one sequence per line, CSV, JSON
        Lines or Parquet, also compressed (``.gz``, ``.zst``).
    column : str, optional
        The column of symbols; default: the only one.
    group : str, optional
        Each row is a symbol, and rows with the same value in this column are a sequence,
        also across files.
    order : str, optional
        The column by which rows are put in order; default: as they stand in the files.
    format : "text", "csv", "tsv", "jsonl" or "parquet", optional
        Default: what the file's name ends in says, text otherwise.
    each_row : "symbol" or "sequence", optional
        Whether a cell is one symbol, and all rows of a file are one sequence; or a cell is a
        sequence: a list, or words between blanks.  Default: a sequence, unless the column
        holds numbers.
    characters : bool
        Every character of a line, or of a cell, is a symbol; line ends are not.
    integers : bool
        Symbols are whole numbers from 0, and their own codes.  Default: they are labels, which
        get codes in alphabetical order.
    vocabulary : list of labels, optional
        Known labels, in the order of their codes.
    n_symbols : int, optional
        Symbols are whole numbers below this.
    unseen : "error" or "missing"
        What a symbol outside of ``vocabulary`` or ``n_symbols`` is.
    memory : int or str, optional
        A cap on the memory of this process while it reads and counts, in bytes or as ``"2GB"``.
    progress : function, optional
        Called with the number of bytes just read.
    notice : function, optional
        Called with a sentence about what was skipped.

    Returns
    -------
    FileSequences
        With ``group``, ``keys`` has its value for every sequence, and ``groups.files`` and
        ``groups.rows`` say for every symbol in which of ``sources`` and in which row it stands.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
    >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
    >>> data = read_sequences(path)
    >>> data, data.vocabulary
    (Sequences(2 sequences, 5 observations, 2 symbols), ('rain', 'sun'))
    """
    check_unseen(unseen)
    layout = Layout(format, column, group, order, each_row, characters)
    sources = tuple(find_sources(paths, format))
    coder = coder_of(vocabulary, n_symbols, integers, unseen)
    budget = Budget.of(memory)
    size = budget.chunk(BATCH)
    in_memory = IN_MEMORY if budget.room is None else budget.room // 8
    codes, starts, files, rows = (
        ScratchArray(kind, in_memory) for kind in (np.int32, np.int64, np.int32, np.int64)
    )

    def checked_progress(n: int) -> None:
        budget.check("the rows of all groups" if layout.is_grouped else "what is read")
        if progress is not None:
            progress(n)

    pieces, groups = _pieces(sources, layout, coder, size, checked_progress, notice)
    for piece in pieces:
        starts.append(piece.starts + len(codes))
        files.append(piece.files)
        rows.append(piece.rows)
        codes.append(piece.codes)
        if integers and n_symbols is None:
            check_many(coder.n_symbols, len(codes), NOT_INTEGERS)
    starts.append(np.array([len(codes)]))
    symbols, labels = codes.mapped(), coder.vocabulary
    if coder.learns and labels is not None:
        labels = _put_in_order(symbols, labels)
    fields = starts.mapped(), coder.n_symbols, labels, sources, files.mapped(), rows.mapped()
    return FileSequences._trusted(symbols, *fields, budget, groups)


def _pieces(
    sources: tuple[Source, ...], layout: Layout, coder: Coder, size: int, *watch: Any
) -> tuple[Iterable[Piece], Groups | None]:
    """What the sources have, and the groups of their rows, where they are grouped."""
    if not layout.is_grouped:
        return read_pieces(sources, layout, coder, size, *watch), None
    piece, groups = read_groups(sources, layout, coder, *watch)
    return [piece], groups


def _put_in_order(symbols: Ints, labels: Vocabulary) -> Vocabulary:
    """Labels in alphabetical order, in which ``symbols`` are encoded from now on."""
    ordered = in_order(labels)
    if ordered != labels:
        places = np.append(codes_in(labels, ordered), np.int32(MISSING))
        for first in range(0, len(symbols), BATCH):
            symbols[first : first + BATCH] = places[symbols[first : first + BATCH]]
    return ordered


def read_files(
    paths: Paths,
    layout: Layout | None = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    integers: bool = False,
    unseen: Literal["error", "missing", "rare"] = "error",
    batch_size: int = BATCH,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Iterator[FileSequences]:
    """Read files in batches of whole sequences.

    Parameters
    ----------
    paths : path or list of paths
        Files, folders, or ``"-"`` for standard input.
    layout : Layout, optional
        Formats and columns; default: by the names of the files.
    vocabulary : list of labels, optional
        Known labels; default: every batch has the labels found up to then, to which later
        batches add, so that a label's code stays what it is.
    n_symbols : int, optional
        Symbols are whole numbers below this.
    integers : bool
        Symbols are whole numbers from 0, and their own codes.
    unseen : "error", "missing" or "rare"
        What a symbol outside of ``vocabulary`` or ``n_symbols`` is; "rare" is one more code, after
        all others, and batches have numbers instead of labels.
    batch_size : int
        A batch has at most so many symbols, unless it is a single sequence.
    progress : function, optional
        Called with the number of bytes just read.
    notice : function, optional
        Called with a sentence about what was skipped.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
    >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
    >>> [batch.labels() for batch in read_files(path)]
    [[['sun', 'rain'], ['rain', 'rain', 'sun']]]
    """
    sources = tuple(find_sources(paths, (layout or Layout()).format))
    coder = coder_of(vocabulary, n_symbols, integers, unseen)
    return _read(sources, layout or Layout(), coder, checked_batch(batch_size), progress, notice)


def _read(
    sources: tuple[Source, ...],
    layout: Layout,
    coder: Coder,
    batch_size: int,
    progress: Progress | None,
    notice: Notice | None,
) -> Iterator[FileSequences]:
    pieces, groups = _pieces(sources, layout, coder, batch_size, progress, notice)
    n_sequences = n_symbols = 0
    for piece in in_whole_sequences(pieces, batch_size):
        sequences = slice(n_sequences, n_sequences := n_sequences + len(piece.starts))
        symbols = slice(n_symbols, n_symbols := n_symbols + len(piece.codes))
        yield FileSequences._trusted(
            piece.codes,
            piece.offsets,
            coder.n_symbols + coder.has_rare,
            None if coder.has_rare else coder.vocabulary,
            sources,
            piece.files,
            piece.rows,
            NO_CAP,
            None if groups is None else groups.part(sequences, symbols),
        )


def joined_on_disk(batches: Iterable[Sequences], most: int = IN_MEMORY // 4) -> Sequences:
    """The sequences of all batches, as `Sequences.joined`; beyond ``most`` symbols in a file."""
    codes, starts = ScratchArray(np.int32, 4 * most + 1), ScratchArray(np.int64, 8 * most)
    for batch in batches:
        starts.append(batch.offsets[:-1] + len(codes))
        codes.append(batch.symbols)
    starts.append(np.array([len(codes)]))
    fields = codes.mapped(), starts.mapped(), batch.n_symbols, batch.vocabulary
    return Sequences._trusted(*fields)


def n_bytes(paths: Paths) -> int | None:
    """How many bytes there are to read; None where that cannot be known."""
    return total_bytes(find_sources(paths))


def coder_of(
    vocabulary: Iterable[Any] | None, n_symbols: int | None, integers: bool, unseen: str
) -> Coder:
    if unseen != RARE:
        check_unseen(unseen)
    if vocabulary is not None and (integers or n_symbols is not None):
        raise ValueError("symbols have a vocabulary, or are whole numbers: give one of the two")
    known = None if vocabulary is None else as_vocabulary(vocabulary)
    return Coder(known, n_symbols, integers, unseen)


def checked_batch(batch_size: int) -> int:
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    return batch_size

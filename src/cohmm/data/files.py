"""Sequences in files: text, CSV, JSON Lines and Parquet, read and counted as they stream by.

Files are plain, gzip (``.gz``) or Zstandard (``.zst``); a folder means all files in it, and
``"-"`` is standard input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.readers.codes import Coder, KnownLabels, Labels, Numbers
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.pieces import in_whole_sequences
from cohmm.data.readers.places import place
from cohmm.data.readers.reading import Notice, read_pieces
from cohmm.data.readers.source import Paths, Progress, Source, find_sources, total_bytes
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.values import shown
from cohmm.data.vocabulary import Vocabulary, as_vocabulary
from cohmm.kernels.types import Ints

__all__ = ["FileSequences", "Layout", "n_bytes", "read_files"]

BATCH = 2**21


@dataclass(frozen=True, eq=False, repr=False)
class FileSequences(Sequences):
    """Sequences that know where in which file they begin."""

    sources: tuple[Source, ...] = ()
    files: Ints | None = None
    rows: Ints | None = None

    def place_of(self, position: int) -> str:
        """The file and line in which the sequence of an observation begins, and its place there."""
        if self.files is None or self.rows is None:
            return super().place_of(position)
        s = int(np.searchsorted(self.offsets, position, side="right")) - 1
        where = place(self.sources[self.files[s]], int(self.rows[s]))
        return f"{where}, position {position - int(self.offsets[s])}"

    def _in_terms_of(
        self, vocabulary: Vocabulary | None, n_symbols: int | None, unseen: str
    ) -> Sequences:
        if vocabulary == self.vocabulary and n_symbols in (None, self.n_symbols):
            return self
        return super()._in_terms_of(vocabulary, n_symbols, unseen)


def read_files(
    paths: Paths,
    layout: Layout | None = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    integers: bool = False,
    unseen: Unseen = "error",
    batch_size: int = BATCH,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Iterator[Sequences]:
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
    unseen : "error" or "missing"
        What a symbol outside of ``vocabulary`` or ``n_symbols`` is.
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
) -> Iterator[Sequences]:
    pieces = read_pieces(sources, layout, coder, batch_size, progress, notice)
    for piece in in_whole_sequences(pieces, batch_size):
        yield FileSequences._trusted(
            piece.codes,
            piece.offsets,
            coder.n_symbols,
            coder.vocabulary,
            sources,
            piece.files,
            piece.rows,
        )


def n_bytes(paths: Paths) -> int | None:
    """How many bytes there are to read; None where that cannot be known."""
    return total_bytes(find_sources(paths))


def coder_of(
    vocabulary: Iterable[Any] | None, n_symbols: int | None, integers: bool, unseen: Unseen
) -> Coder:
    if unseen not in ("error", "missing"):
        raise ValueError(f"unseen must be 'error' or 'missing', not {shown(unseen)}")
    if vocabulary is None:
        return Numbers(n_symbols, unseen) if integers or n_symbols is not None else Labels()
    if integers or n_symbols is not None:
        raise ValueError("symbols have a vocabulary, or are whole numbers: give one of the two")
    return KnownLabels(as_vocabulary(vocabulary), unseen)


def checked_batch(batch_size: int) -> int:
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    return batch_size

"""Encoded symbols on their way from files to batches of sequences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Ints


class Piece(NamedTuple):
    """Symbols in a row; the first of them may go on with a sequence of the piece before.

    ``codes`` are the symbols, ``starts`` the places where sequences begin; ``files`` and
    ``rows`` say for each of these where it begins: in which of the sources, in which row.
    """

    codes: Ints
    starts: Ints
    files: Ints
    rows: Ints

    @property
    def goes_on(self) -> bool:
        """Whether the first symbol belongs to a sequence of the piece before."""
        return len(self.starts) == 0 or bool(self.starts[0] > 0)

    @property
    def offsets(self) -> Ints:
        """Where each sequence, or the rest of one, begins; and the end."""
        rest = np.zeros(int(self.goes_on), np.int64)
        return np.concatenate([rest, self.starts, [len(self.codes)]])


def join(pieces: list[Piece]) -> Piece:
    """Pieces that follow one another as one; the list is emptied, so that each piece is let go
    of once it is copied, and a long sequence is not held in memory twice."""
    if len(pieces) == 1:
        return pieces.pop()
    begins = np.cumsum([0] + [len(piece.codes) for piece in pieces])
    starts = [piece.starts + n for piece, n in zip(pieces, begins[:-1], strict=True)]
    files, rows = [piece.files for piece in pieces], [piece.rows for piece in pieces]
    codes = np.empty(begins[-1], np.int32)
    for first, last in pairwise(begins):
        codes[first:last] = pieces.pop(0).codes
    return Piece(codes, np.concatenate(starts), np.concatenate(files), np.concatenate(rows))


def in_batches(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """The same symbols in pieces of at least ``size``, the last excepted."""
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        del piece
        if _n_symbols(held) >= size:
            yield join(held)
    if held:
        yield join(held)


def in_whole_sequences(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces of whole sequences: at most ``size`` symbols, or one sequence that is longer."""
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        del piece
        # Joining only where a second sequence has begun keeps a long one from being copied
        # again and again.
        if sum(len(part.starts) for part in held) > 1 and _n_symbols(held) >= size:
            *ready, last = _cut(join(held), size)
            yield from ready
            held = [last]  # its last sequence may go on
    if held:
        yield from _cut(join(held), size)


def _n_symbols(pieces: Iterable[Piece]) -> int:
    return sum(len(piece.codes) for piece in pieces)


def _cut(piece: Piece, size: int) -> Iterator[Piece]:
    """Cut where sequences begin."""
    offsets, first = piece.offsets, 0
    while first < len(piece.starts):
        stop = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        stop = max(stop, first + 1)
        yield Piece(
            piece.codes[offsets[first] : offsets[stop]],
            piece.starts[first:stop] - offsets[first],
            piece.files[first:stop],
            piece.rows[first:stop],
        )
        first = stop

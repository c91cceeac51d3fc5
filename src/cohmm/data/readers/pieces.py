"""Encoded symbols on their way from files to batches of sequences."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from cohmm.kernels.types import Ints


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


class Pieces:
    """Pieces that follow one another, in memory that grows in place.

    So a long sequence is held once, and not twice while its parts are joined.
    """

    def __init__(self) -> None:
        self._codes = array("i")
        self._rest: list[tuple[Ints, Ints, Ints]] = []

    def __len__(self) -> int:
        """How many symbols there are."""
        return len(self._codes)

    def add(self, piece: Piece) -> None:
        """One more."""
        self._rest.append((piece.starts + len(self), piece.files, piece.rows))
        self._codes.frombytes(piece.codes.data.cast("B"))

    @property
    def n_starts(self) -> int:
        """How many sequences begin in them."""
        return sum(len(starts) for starts, _, _ in self._rest)

    def take(self) -> Piece:
        """All of them as one, and none are left."""
        codes, rest = np.frombuffer(self._codes, np.int32), zip(*self._rest, strict=True)
        self._codes, self._rest = array("i"), []
        return Piece(codes, *map(np.concatenate, rest))


def in_whole_sequences(pieces: Iterable[Piece], size: int) -> Iterator[Piece]:
    """Pieces of whole sequences: at most ``size`` symbols, or one sequence that is longer."""
    held = Pieces()
    for piece in pieces:
        held.add(piece)
        # Cutting only where a second sequence has begun keeps a long one from being copied
        # again and again.
        if len(held) >= size and held.n_starts > 1:
            *ready, last = _cut(held.take(), size)
            yield from ready
            held.add(last)  # its last sequence may go on
    if len(held):
        yield from _cut(held.take(), size)


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

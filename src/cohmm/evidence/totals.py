"""Counting pairs and triples of a stream, in memory that does not grow with its length."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from cohmm.data.encoding import check_many
from cohmm.data.readers.codes import Coder
from cohmm.data.readers.pieces import Piece
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.counting import pair_counts
from cohmm.evidence.pairs import Cooccurrence
from cohmm.evidence.triples import Triples, triple_counts
from cohmm.kernels.compiled import Ints

T = TypeVar("T", Cooccurrence, Triples)


class Counted(NamedTuple):
    """What a pass over files gives: pair counts, triple counts if asked for, and sequences."""

    pairs: Cooccurrence
    triples: Triples | None
    n_sequences: int


class Total(Generic[T]):
    """A sum in which every count is added to others of about its size.

    Adding each batch to one large sparse sum would copy that sum as often as there are
    batches.  Counts are whole numbers, so the order of additions does not matter.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, T]] = []

    def add(self, part: T) -> None:
        """One more."""
        n = 1
        while self._parts and self._parts[-1][0] == n:
            part = self._parts.pop()[1] + part
            n *= 2
        self._parts.append((n, part))

    def sum(self) -> T:
        """All of them."""
        total = self._parts[-1][1]
        for _, part in self._parts[-2::-1]:
            total = part + total
        return total


def count_pieces(
    pieces: Iterable[Piece], coder: Coder, lags: tuple[int, ...], triples: bool
) -> Counted:
    """Count over all pieces, also across the places where a sequence was cut."""
    pairs: Total[Cooccurrence] = Total()
    threes: Total[Triples] = Total()
    before: Ints = np.empty(0, np.int32)
    n_sequences, n_observed = 0, 0
    reach = max([2, *lags])
    for piece in pieces:
        n = max(coder.n_symbols, 1)
        n_observed += len(piece.codes)
        if coder.vocabulary is None:
            check_many(n, n_observed, "without integers (--integers) they are labels")
        pairs.add(_pairs(piece, before, n, lags))
        if triples:
            threes.add(_triples(piece, before, n))
        n_sequences += len(piece.starts)
        open_part = piece.codes[piece.offsets[-2] :]
        if len(piece.starts) == 0:
            open_part = np.concatenate([before, open_part])
        before = open_part[-reach:]
    return Counted(pairs.sum(), threes.sum() if triples else None, n_sequences)


def _pairs(piece: Piece, before: Ints, n: int, lags: tuple[int, ...]) -> Cooccurrence:
    counts = pair_counts(Sequences._trusted(piece.codes, piece.offsets, n), lags)
    if not piece.goes_on:
        return counts
    bridges = {lag: pair_counts(_bridge(piece, before, n, lag), lag)[lag] for lag in lags}
    first = piece.codes[piece.starts]
    return Cooccurrence._trusted(
        {lag: counts[lag] + bridges[lag] for lag in lags},
        counts.symbol_counts,
        np.bincount(first[first >= 0], minlength=n),
    )


def _triples(piece: Piece, before: Ints, n: int) -> Triples:
    counts = triple_counts(Sequences._trusted(piece.codes, piece.offsets, n))
    if piece.goes_on:
        counts = counts + triple_counts(_bridge(piece, before, n, 2))
    return counts


def _bridge(piece: Piece, before: Ints, n: int, reach: int) -> Sequences:
    """``reach`` symbols from each side of a cut.

    Neither side has a pair at lag ``reach``, or a triple where ``reach`` is 2, of its own: so
    those counted here are the ones that the cut had separated.
    """
    codes = np.concatenate([before[-reach:], piece.codes[: piece.offsets[1]][:reach]])
    return Sequences._trusted(codes, np.array([0, len(codes)]), n)


def pairs_in(counts: Cooccurrence, found: Vocabulary, order: Vocabulary) -> Cooccurrence:
    """Counts of codes, as counts of labels in the given order.

    Where the left side of a sum has all labels, the sum has its order.
    """
    n = len(order)
    nothing = Cooccurrence(
        {lag: sparse.csr_array((n, n), dtype=np.int64) for lag in counts.lags},
        np.zeros(n, np.int64),
        np.zeros(n, np.int64),
        order,
    )
    return nothing + replace(counts, vocabulary=found)


def triples_in(counts: Triples, found: Vocabulary, order: Vocabulary) -> Triples:
    """As `pairs_in`."""
    nothing = Triples(np.empty((0, 3), np.int32), np.empty(0, np.int64), len(order), order)
    return nothing + replace(counts, vocabulary=found)

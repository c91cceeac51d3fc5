"""Counting pairs and triples of a stream, in memory that does not grow with its length."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from cohmm.data.memory import Budget
from cohmm.data.readers.pieces import Piece
from cohmm.data.sequences import Sequences
from cohmm.evidence.pair_totals import PairTotal, enlarged
from cohmm.evidence.pairs import Cooccurrence
from cohmm.evidence.triple_totals import TripleTotal
from cohmm.evidence.triples import Triples
from cohmm.kernels.types import Ints

T = TypeVar("T", Cooccurrence, Triples)

MOST_BRIDGES = 2**20  # symbols beside cuts that wait to be counted


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


class Tally:
    """Counts of pieces that follow one another, also across the places where they were cut."""

    def __init__(self, lags: tuple[int, ...], triples: bool, budget: Budget) -> None:
        self.pairs = {lag: PairTotal(folder=budget.folder) for lag in lags}
        self.triples = TripleTotal(folder=budget.folder) if triples else None
        self.keep_within(budget)
        self.symbol_counts: Ints = np.zeros(1, np.int64)
        self.start_counts: Ints = np.zeros(1, np.int64)
        self.n_sequences = self.n_observed = 0
        self._before: Ints = np.empty(0, np.int32)
        self._bridges: dict[int, list[Ints]] = {lag: [] for lag in lags}
        self._reach = max([2, *lags])

    def keep_within(self, budget: Budget) -> None:
        """What may be held in memory from now on."""
        each = budget.held(len(self.pairs) + (self.triples is not None))
        for total in self.pairs.values():
            total.limit = each
        if self.triples is not None:
            self.triples.limit = each

    def add(self, piece: Piece, n: int) -> None:
        """One more piece, of codes below ``n``."""
        data = Sequences._trusted(piece.codes, piece.offsets, n)
        for place, (lag, total) in enumerate(self.pairs.items()):
            symbols = total.count(data, lag)
            if place == 0:
                self.symbol_counts = _plus(self.symbol_counts, symbols)
            if piece.goes_on:
                self._bridges[lag].append(_bridge(piece, self._before, lag))
        first = piece.codes[piece.starts]
        self.start_counts = _plus(self.start_counts, np.bincount(first[first >= 0], minlength=n))
        if self.triples is not None:
            self._add_triples(data, piece, n)
        if sum(len(codes) for several in self._bridges.values() for codes in several) > (
            MOST_BRIDGES
        ):
            self.close(n)
        self.n_sequences += len(piece.starts)
        self.n_observed += len(piece.codes)
        open_part = piece.codes[piece.offsets[-2] :]
        if len(piece.starts) == 0:
            open_part = np.concatenate([self._before, open_part])
        self._before = open_part[-self._reach :].copy()

    def _add_triples(self, data: Sequences, piece: Piece, n: int) -> None:
        assert self.triples is not None
        self.triples.count(data)
        if piece.goes_on:
            codes = _bridge(piece, self._before, 2)
            across = Sequences._trusted(codes, np.array([0, len(codes)]), n)
            self.triples.count(across)

    def close(self, n: int) -> None:
        """Count the pairs that cuts had separated."""
        for lag, several in self._bridges.items():
            if several:
                offsets = np.cumsum([0, *map(len, several)])
                data = Sequences._trusted(np.concatenate(several), offsets, n)
                self.pairs[lag].count(data, lag)
                several.clear()

    def absorb(self, other: Tally) -> None:
        """All that another tally has counted, and closed."""
        for lag, total in self.pairs.items():
            total.absorb(other.pairs[lag])
        if self.triples is not None and other.triples is not None:
            self.triples.absorb(other.triples)
        self.add_counts(other.symbol_counts, other.start_counts)
        self.n_sequences += other.n_sequences
        self.n_observed += other.n_observed

    def add_counts(self, symbols: Ints, starts: Ints) -> None:
        """How often symbols occur, and begin a sequence."""
        self.symbol_counts = _plus(self.symbol_counts, symbols)
        self.start_counts = _plus(self.start_counts, starts)


def _plus(left: Ints, right: Ints) -> Ints:
    left = enlarged(left, len(right))
    left[: len(right)] += right
    return left


def _bridge(piece: Piece, before: Ints, reach: int) -> Ints:
    """``reach`` symbols from each side of a cut.

    Neither side has a pair at lag ``reach``, or a triple where ``reach`` is 2, of its own: so
    those counted here are the ones that the cut had separated.
    """
    return np.concatenate([before[-reach:], piece.codes[: piece.offsets[1]][:reach]])

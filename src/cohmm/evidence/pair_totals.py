"""Pair counts that are added up in bounded memory: what has no room waits on disk."""

from __future__ import annotations

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.evidence.counting import dense_counts, packed_counts
from cohmm.evidence.packed import Folder, PackedRows, Places, added, on_disk, packed
from cohmm.evidence.pairs import LARGEST_DENSE
from cohmm.kernels.types import Ints

FAN = 8  # parts of about one size that are added at a time
MOST_RUNS = 32  # that are read at a time


class PairTotal:
    """The sum of the pair counts of one lag.

    Up to `LARGEST_DENSE` symbols it is a table.  Beyond, sparse parts are added to others of
    about their size; those that together take more than ``limit`` bytes become a run, which
    is written to ``folder``.  Counts are whole numbers, so the order does not matter.
    """

    def __init__(self, limit: int | None = None, folder: Folder = None) -> None:
        self.limit, self._folder = limit, folder
        self._table: Ints | None = None
        self._held: list[tuple[int, PackedRows]] = []  # and how often it has been added to
        self._runs: list[PackedRows] = []

    def count(self, data: Sequences, lag: int) -> Ints:
        """Add the pairs of some sequences; returns how often each symbol occurs."""
        if data.n_symbols <= LARGEST_DENSE:
            table, symbols = dense_counts(data, lag, None)
            self._add_table(table)
            return symbols
        part, symbols = packed_counts(data, lag)
        self.add(part)
        return symbols

    def add(self, part: PackedRows) -> None:
        """One more part."""
        self._held.append((0, part))
        level = 0
        while [n for n, _ in self._held[-FAN:]] == [level] * FAN:
            several = [part for _, part in self._held[-FAN:]]
            del self._held[-FAN:]
            level += 1
            self._held.append((level, self._sum(several)))
        if self.limit is not None and sum(part.n_bytes for _, part in self._held) > self.limit:
            self._make_room(self.limit)

    def absorb(self, other: PairTotal) -> None:
        """All that another total has."""
        if other._table is not None:
            self._add_table(other._table)
        for _, part in other._held:
            self.add(part)
        for run in other._runs:
            self._add_run(run)

    def parts(self) -> list[PackedRows]:
        """All that is to be added, in memory and on disk."""
        table = [] if self._table is None else [packed(self._table)]
        return [*table, *(part for _, part in self._held), *self._runs]

    @property
    def n_pairs(self) -> int:
        """How many pairs were counted."""
        table = 0 if self._table is None else int(self._table.sum())
        return table + sum(part.total for _, part in self._held) + sum(r.total for r in self._runs)

    @property
    def table(self) -> Ints | None:
        """The sum, if all of it is a table."""
        return None if self._held or self._runs else self._table

    def _add_table(self, table: Ints) -> None:
        size = len(table)
        if self._table is None:
            self._table = np.zeros((size, size), np.int64)
        self._table = enlarged(self._table, size)
        self._table[:size, :size] += table

    def _make_room(self, limit: int) -> None:
        held = [part for _, part in self._held]
        self._held.clear()
        if max(part.n_bytes for part in held) > limit // 4:  # adding them would gain too little
            for part in held:
                self._add_run(on_disk(part, self._folder))
            return
        whole = self._sum(held)
        if whole.n_bytes <= limit // 2:
            self._held = [(0, whole)]
        else:
            self._add_run(on_disk(whole, self._folder))

    def _add_run(self, run: PackedRows) -> None:
        self._runs.append(run)
        if len(self._runs) >= MOST_RUNS:
            self._runs = [self._sum(self._runs, to_disk=True)]

    def _sum(self, parts: list[PackedRows], to_disk: bool = False) -> PackedRows:
        n = max(len(part.widths) for part in parts)
        return added(parts, Places.same(n), self.limit, self._folder, to_disk)


def enlarged(table: Ints, size: int) -> Ints:
    """A table, or a list, with room for so many symbols, as it is where that is there."""
    if len(table) >= size:
        return table
    larger = np.zeros((size,) * table.ndim, table.dtype)
    larger[tuple(slice(n) for n in table.shape)] = table
    return larger

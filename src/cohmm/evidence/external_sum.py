"""Sums of counts that may be larger than memory: sorted runs of (key, count), merged as they grow.

A run is in memory or in a scratch file.  `KeyCounts` are runs of whatever a number of 64 bits
stands for, such as triples; those of pairs are `cohmm.evidence.packed_rows.PackedRows`.
`ExternalSum` adds runs of either kind up.  Counts are whole numbers, so the order of additions
does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from cohmm.data.scratch import Folder, ScratchArray
from cohmm.evidence.cooccurrence import check_total
from cohmm.kernels.types import Ints

FAN = 8  # runs of about one size that are merged at a time
MOST_RUNS = 32  # scratch files that are read at a time
UNLIMITED = 2**30  # bytes to merge in, where memory has no cap
IN_MEMORY = 2**62  # bytes: no scratch file

KEY_BYTES = 16  # of a key and its count
MIN_BLOCK = 2**10  # entries that are read at a time

Stored = Ints | ScratchArray
R = TypeVar("R", bound="Run")


class Run(Protocol):
    """Counts by key, in the order of the keys."""

    @property
    def total(self) -> int:
        """The sum of all counts."""

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""

    @classmethod
    def merged(cls, runs: Sequence[Self], room: int, folder: Folder, on_disk: bool) -> Self:
        """The sum of all runs, in memory or on disk; about ``room`` bytes are used besides."""

    def to_disk(self, folder: Folder) -> Self:
        """The same run in scratch files."""


class ExternalSum(Generic[R]):
    """A sum of runs, each of which is added to others of about its size.

    Runs that together take more than ``limit`` bytes of memory go to scratch files in ``folder``.
    """

    def __init__(self, kind: type[R], limit: int | None = None, folder: Folder = None) -> None:
        self.limit, self.folder = limit, folder
        self._kind = kind
        self._held: list[tuple[int, R]] = []  # with how often each has been merged
        self._on_disk: list[R] = []

    @property
    def runs(self) -> list[R]:
        """All that is to be added, in memory and on disk."""
        return [*(part for _, part in self._held), *self._on_disk]

    @property
    def total(self) -> int:
        """The sum of all counts."""
        return sum(part.total for part in self.runs)

    def add(self, run: R) -> None:
        """One more run."""
        self._held.append((0, run))
        level = 0
        while [n for n, _ in self._held[-FAN:]] == [level] * FAN:
            several = [part for _, part in self._held[-FAN:]]
            del self._held[-FAN:]
            level += 1
            self._held.append((level, self._merged(several)))
        if self.limit is not None and sum(part.n_bytes for _, part in self._held) > self.limit:
            self._make_room(self.limit)

    def absorb(self, other: ExternalSum[R]) -> None:
        """All that another sum has."""
        for _, part in other._held:
            self.add(part)
        for part in other._on_disk:
            self._add_to_disk(part)

    def _make_room(self, limit: int) -> None:
        held = [part for _, part in self._held]
        self._held.clear()
        if max(part.n_bytes for part in held) > limit // 4:  # merging them would gain too little
            for part in held:
                self._add_to_disk(part.to_disk(self.folder))
            return
        whole = self._merged(held)
        if whole.n_bytes <= limit // 2:
            self._held = [(0, whole)]
        else:
            self._add_to_disk(whole.to_disk(self.folder))

    def _add_to_disk(self, run: R) -> None:
        self._on_disk.append(run)
        if len(self._on_disk) >= MOST_RUNS:
            self._on_disk = [self._merged(self._on_disk, on_disk=True)]

    def _merged(self, runs: list[R], on_disk: bool = False) -> R:
        return self._kind.merged(runs, self.limit or UNLIMITED, self.folder, on_disk)


Block = tuple[Ints, Ints]
"""Keys in order, and their counts."""


@dataclass(frozen=True)
class KeyCounts:
    """Distinct keys in order (int64), and how often each occurs (int64)."""

    keys: Stored
    counts: Stored
    total: int

    @classmethod
    def of(cls, keys: Ints, counts: Ints) -> KeyCounts:
        """Keys in any order, each once."""
        order = np.argsort(keys, kind="stable")
        return cls(keys[order], counts[order], int(counts.sum()))

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        fields = (self.keys, self.counts)
        return sum(field.nbytes for field in fields if isinstance(field, np.ndarray))

    @property
    def needs(self) -> int:
        """How much memory it would take as counts of triples, and while these are made."""
        return 4 * KEY_BYTES * len(self.keys)

    def to_disk(self, folder: Folder) -> KeyCounts:
        """The same run in scratch files."""
        return KeyCounts(to_scratch(self.keys, folder), to_scratch(self.counts, folder), self.total)

    def blocks(self, size: int) -> Iterator[Block]:
        """``size`` entries at a time."""
        for first in range(0, len(self.keys), size):
            yield self.keys[first : first + size], self.counts[first : first + size]

    @classmethod
    def merged(
        cls, runs: Sequence[KeyCounts], room: int, folder: Folder, on_disk: bool
    ) -> KeyCounts:
        """The sum of all runs."""
        keys, counts = (ScratchArray("i8", 0 if on_disk else IN_MEMORY, folder) for _ in range(2))
        for block in merged_blocks(runs, room):
            keys.append(block[0])
            counts.append(block[1])
        total = sum(part.total for part in runs)
        return cls(keys, counts, total) if on_disk else cls(keys.mapped(), counts.mapped(), total)


def merged_blocks(runs: Sequence[KeyCounts], room: int) -> Iterator[Block]:
    """The sum of all runs, in order: what is certain to be complete, from blocks of each."""
    size = max(room // 6 // KEY_BYTES // max(len(runs), 1), MIN_BLOCK)
    blocks = [part.blocks(size) for part in runs]
    empty = (np.empty(0, np.int64), np.empty(0, np.int64))
    heads = [next(block, empty) for block in blocks]
    while any(len(keys) for keys, _ in heads):
        bound = min(keys[-1] for keys, _ in heads if len(keys))
        cuts = [int(np.searchsorted(keys, bound, side="right")) for keys, _ in heads]
        yield summed(
            (keys[:cut], counts[:cut]) for (keys, counts), cut in zip(heads, cuts, strict=True)
        )
        for j, cut in enumerate(cuts):
            keys, counts = heads[j]
            heads[j] = (keys[cut:], counts[cut:]) if cut < len(keys) else next(blocks[j], empty)


def summed(blocks: Iterable[tuple[Ints, Any]]) -> tuple[Ints, Any]:
    """Distinct keys of all blocks in order, with the sums of their counts."""
    keys, counts = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    check_total("the counts", counts.sum(dtype=np.float64), counts.dtype)
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    return keys[first], np.add.reduceat(counts, first) if len(first) else counts


def to_scratch(values: Stored, folder: Folder) -> ScratchArray:
    """The same array in a scratch file."""
    store = ScratchArray(values.dtype, 0, folder)
    store.append(values[0 : len(values)])
    return store

"""Sums of counts that may be larger than memory: sorted runs of counts, merged as they grow.

A run is in memory or in scratch files.  `KeyCounts` are counts of whatever a number of 64 bits
stands for, such as triples; `PackedRows` are counts of pairs, five bytes per entry.  `ExternalSum`
adds runs of either kind up.  Counts are whole numbers, so the order of additions does not matter.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

import numpy as np
from scipy import sparse

from cohmm.data.memory import Folder, ScratchArray
from cohmm.evidence.cooccurrence import check_total
from cohmm.kernels import native
from cohmm.kernels.counts import LARGEST_BYTE, PackedEntries, PackedParts
from cohmm.kernels.threads import n_threads, run
from cohmm.kernels.types import Ints

FAN = 8  # runs of about one size that are merged at a time
MOST_RUNS = 32  # scratch files that are read at a time
UNLIMITED = 2**30  # bytes to merge in, where memory has no cap
IN_MEMORY = 2**62  # bytes: no scratch file

KEY_BYTES = 16  # of a key and its count
MIN_BLOCK = 2**10  # entries that are read at a time

Stored = Ints | ScratchArray
R = TypeVar("R", bound="Run")


@dataclass(frozen=True)
class Run(ABC):
    """Counts by key, in the order of the keys: their sum, and arrays."""

    total: int

    @property
    def _arrays(self) -> list[Stored]:
        return [getattr(self, field.name) for field in fields(self)[1:]]

    @property
    def n_bytes(self) -> int:
        """How much memory it takes."""
        return sum(array.nbytes for array in self._arrays if isinstance(array, np.ndarray))

    def to_disk(self, folder: Folder) -> Self:
        """The same run in scratch files."""
        return type(self)(self.total, *(_to_scratch(array, folder) for array in self._arrays))

    @classmethod
    @abstractmethod
    def merged(cls, runs: Sequence[Self], room: int, folder: Folder, on_disk: bool) -> Self:
        """The sum of all runs, in memory or on disk; about ``room`` bytes are used besides."""


def _to_scratch(values: Stored, folder: Folder) -> ScratchArray:
    store = ScratchArray(values.dtype, 0, folder)
    store.append(values[0 : len(values)])
    return store


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
class KeyCounts(Run):
    """Distinct keys in order (int64), and how often each occurs (int64)."""

    keys: Stored
    counts: Stored

    @classmethod
    def of(cls, keys: Ints, counts: Ints) -> KeyCounts:
        """Keys in any order, each once."""
        order = np.argsort(keys, kind="stable")
        return cls(int(counts.sum()), keys[order], counts[order])

    @property
    def needs(self) -> int:
        """How much memory it would take as counts of triples, and while these are made."""
        return 4 * KEY_BYTES * len(self.keys)

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
        return cls(total, keys, counts) if on_disk else cls(total, keys.mapped(), counts.mapped())


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


# -- counts of pairs ---------------------------------------------------------------------------

ENTRY_BYTES = 40  # of room per entry while it is added: itself, its key, and its sum
ROW_BYTES = 128  # of room per row of a run: where it begins
MOST_ROWS = 2**16  # that are added in one step
MOST_ENTRIES = 2**24
IN_CACHE = 2**17  # entries that are sorted at a time: in the cache of a core
CHUNK = 2**20  # entries that are read from a scratch file at a time


@dataclass(frozen=True)
class PackedRows(Run):
    """Rows of counts, five bytes per entry: columns in order, and how often each occurs.

    ``columns`` (int32) and ``small`` (uint8) have one number per entry.  A count beyond 255 is 0
    there, and the next of ``large`` (int64).  ``widths`` and ``n_large`` say how many of either
    a row has.
    """

    widths: Stored
    n_large: Stored
    columns: Stored
    small: Stored
    large: Stored

    @classmethod
    def of(cls, matrix: Any) -> PackedRows:
        """Counts of a dense or a canonical CSR array."""
        matrix = sparse.csr_array(matrix)
        beyond = matrix.data > LARGEST_BYTE
        before = np.concatenate([[0], np.cumsum(beyond)])
        return cls(
            int(matrix.data.sum()),
            np.diff(matrix.indptr).astype(np.int32),
            np.diff(before[matrix.indptr]).astype(np.int32),
            matrix.indices.astype(np.int32),
            np.where(beyond, 0, matrix.data).astype(np.uint8),
            matrix.data[beyond].astype(np.int64),
        )

    @classmethod
    def merged(
        cls, runs: Sequence[PackedRows], room: int, folder: Folder, on_disk: bool
    ) -> PackedRows:
        """The sum of all runs."""
        n = max(len(part.widths) for part in runs)
        return added_rows(runs, n, None, room, folder, on_disk)

    def matrix(self, order: Ints | None, n_columns: int) -> sparse.csr_array:
        """As a CSR array in memory, of the rows in ``order``."""
        large = slice(0, len(self.large))
        ends = _row_ends(self.widths[0 : len(self.widths)])
        columns = self.columns[0 : len(self.columns)]
        counts = self._counts(slice(0, len(self.small)), large)
        matrix = _csr(counts, columns, ends, n_columns)
        if order is not None:
            matrix = matrix[order]
            matrix.has_canonical_format = True
        return matrix

    def mapped_matrix(self, order: Ints, n_columns: int, folder: Folder) -> sparse.csr_array:
        """As a CSR array that is mapped from a scratch file, of the rows in ``order``."""
        ends = _row_ends(self.widths[0 : len(self.widths)][order])
        data, indices = (ScratchArray(kind, 0, folder) for kind in (np.int64, ends.dtype))
        for entries, large in self._ranges(order):
            data.append(self._counts(entries, large))
            indices.append(self.columns[entries])
        return _csr(data.mapped(), indices.mapped(), ends, n_columns)

    def _counts(self, entries: slice, large: slice) -> Ints:
        """Counts as numbers of 64 bits."""
        small = self.small[entries]
        counts = small.astype(np.int64)
        if large.stop > large.start:
            counts[small == 0] = self.large[large]
        return counts

    def _ranges(self, order: Ints) -> Iterator[tuple[slice, slice]]:
        """Entries and large counts, in the order of the rows: many rows at a time, if they can."""
        ends, large = (
            np.concatenate([[0], np.cumsum(sizes[0 : len(sizes)], dtype=np.int64)])
            for sizes in (self.widths, self.n_large)
        )
        breaks = np.flatnonzero(np.diff(order) != 1) + 1
        for first, last in zip([0, *breaks], [*breaks, len(order)], strict=True):
            row, stop = int(order[first]), int(order[last - 1]) + 1
            while row < stop:
                after = int(np.searchsorted(ends, ends[row] + CHUNK, side="right")) - 1
                after = min(max(after, row + 1), stop)
                yield slice(ends[row], ends[after]), slice(large[row], large[after])
                row = after


def _row_ends(widths: Ints) -> Ints:
    """Where rows begin and end: the ``indptr`` of a CSR array, of one type with its columns."""
    ends = np.zeros(len(widths) + 1, np.int64)
    np.cumsum(widths, out=ends[1:])
    return ends if ends[-1] > np.iinfo(np.int32).max else ends.astype(np.int32)


def _csr(data: Ints, indices: Ints, ends: Ints, n_columns: int) -> sparse.csr_array:
    matrix = sparse.csr_array((data, indices, ends), shape=(len(ends) - 1, n_columns))
    matrix.has_canonical_format = True
    return matrix


def added_rows(
    runs: Sequence[PackedRows],
    n_rows: int,
    places: Ints | None,
    room: int,
    folder: Folder,
    on_disk: bool,
) -> PackedRows:
    """The sum of ``runs``; with ``places`` column c becomes ``places[c]``, or goes where it is -1.

    Rows keep their places, and are empty where their symbols go.
    """
    columns_to = np.empty(0, np.int32) if places is None else places
    rows_kept = np.ones(n_rows, bool) if places is None else places >= 0
    widths, n_large = (np.zeros(n_rows, np.int32) for _ in range(2))
    out = [ScratchArray(kind, 0 if on_disk else IN_MEMORY, folder) for kind in ("i4", "u1", "i8")]
    total = 0
    for rows, step in _steps(runs, n_rows, room):
        cuts = _balanced(step.starts, max(n_threads(), len(step.columns) // IN_CACHE))

        def add(first: int, last: int, step: PackedParts = step, rows: slice = rows) -> Any:
            here = slice(rows.start + first, rows.start + last)
            starts, large_starts = (
                np.ascontiguousarray(each[:, first : last + 1])
                for each in (step.starts, step.large_starts)
            )
            keys = np.empty(int((starts[:, -1] - starts[:, 0]).sum()), np.uint64)
            m = int((large_starts[:, -1] - large_starts[:, 0]).sum())
            large_keys, large_counts = np.empty(m, np.uint64), np.empty(m, np.int64)
            some = step._replace(starts=starts, large_starts=large_starts)
            n, m = native.entry_keys(
                some, columns_to, rows_kept[here], keys, large_keys, large_counts
            )
            keys = keys[:n]
            keys.sort(kind="stable")  # it merges the parts, whose keys are in order
            large_counts = large_counts[np.argsort(large_keys[:m], kind="stable")]
            columns, small = np.empty(n, np.int32), np.empty(n, np.uint8)
            # A sum is large where a part of it is, or where two or more small counts meet.
            large = np.empty(m + n // 2, np.int64)
            out_here = PackedEntries(columns, small, large, widths[here], n_large[here])
            n, m = native.sum_keys(keys, large_counts, out_here)
            return columns[:n], small[:n], large[:m]

        for results in run(add, cuts):
            for store, values in zip(out, results, strict=True):
                store.append(values)
            total += int(results[1].sum(dtype=np.int64)) + int(results[2].sum())
    columns, small, large = out if on_disk else (store.mapped() for store in out)
    return PackedRows(total, widths, n_large, columns, small, large)


def _steps(
    runs: Sequence[PackedRows], n_rows: int, room: int
) -> Iterator[tuple[slice, PackedParts]]:
    """All rows, as many at a time as can be added in about so much ``room``."""
    most_rows = max(1, min(MOST_ROWS, room // ROW_BYTES // len(runs)))
    ends = np.zeros(n_rows + 1, np.int64)
    for part in runs:
        ends[1 : len(part.widths) + 1] += part.widths[0 : len(part.widths)]
    np.cumsum(ends, out=ends)
    done, large_done = np.zeros(len(runs), np.int64), np.zeros(len(runs), np.int64)
    size, first = max(1, min(MOST_ENTRIES, room // ENTRY_BYTES)), 0
    while first < n_rows:
        last = int(np.searchsorted(ends, ends[first] + size, side="right")) - 1
        last = min(max(last, first + 1), first + most_rows, n_rows)
        starts = _offsets([part.widths[first:last] for part in runs], last - first)
        large_starts = _offsets([part.n_large[first:last] for part in runs], last - first)
        columns = _joined([part.columns for part in runs], starts, done)
        small = _joined([part.small for part in runs], starts, done)
        large = _joined([part.large for part in runs], large_starts, large_done)
        done += starts[:, -1] - starts[:, 0]
        large_done += large_starts[:, -1] - large_starts[:, 0]
        yield slice(first, last), PackedParts(starts, large_starts, columns, small, large)
        first = last


def _offsets(sizes: list[Ints], n_rows: int) -> Ints:
    """Where each row of each run begins, and ends, if runs stand one after the other."""
    starts = np.zeros((len(sizes), n_rows + 1), np.int64)
    before = 0
    for j, widths in enumerate(sizes):
        starts[j, 1 : len(widths) + 1] = widths
        np.cumsum(starts[j], out=starts[j])
        starts[j] += before
        before = starts[j, -1]
    return starts


def _joined(arrays: list[Stored], starts: Ints, done: Ints) -> Ints:
    """The next entries of every run, one after the other."""
    out = np.empty(starts[-1, -1], arrays[0].dtype)
    for array, row, first in zip(arrays, starts, done, strict=True):
        out[row[0] : row[-1]] = array[first : first + row[-1] - row[0]]
    return out


def _balanced(starts: Ints, workers: int) -> list[tuple[int, int]]:
    """Ranges of rows with about as many entries each."""
    before = starts.sum(axis=0)
    before -= before[0]
    marks = [before[-1] * i // workers for i in range(1, workers)]
    cuts = [0, *np.searchsorted(before, marks).tolist(), len(before) - 1]
    return [(a, b) for a, b in pairwise(cuts) if b > a] or [(0, cuts[-1])]

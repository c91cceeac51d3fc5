"""Sparse counts of five bytes per entry, in memory or on disk, and their sum row by row."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.evidence.temporary import DiskArray
from cohmm.kernels.counts import (
    BYTE,
    LARGEST_BYTE,
    PackedEntries,
    PackedParts,
    entry_keys,
    radix_sort,
    sum_keys,
)
from cohmm.kernels.threads import n_threads, run
from cohmm.kernels.types import Ints

ENTRY = 5  # bytes
ENTRY_BYTES = 40  # of room per entry while it is added: itself, its key, and its sum
ROW_BYTES = 128  # of room per row of a part: where it begins
MOST_ROWS = 2**16  # that are added in one step
MOST_ENTRIES = 2**24
FASTEST = 2**17  # entries that are sorted at a time: in the cache of a core
ANY_ROOM = 2**30  # bytes to merge in, where there is no cap

Stored = Ints | DiskArray
Folder = str | os.PathLike[str] | None


@dataclass(frozen=True)
class PackedRows:
    """Rows of counts: columns in order, and how often each occurs.

    ``columns`` (int32) and ``small`` (uint8) have one number per entry.  A count beyond 255 is 0
    there, and the next of ``large`` (int64).  ``widths`` and ``n_large`` say how many of either
    a row has.
    """

    widths: Stored
    n_large: Stored
    columns: Stored
    small: Stored
    large: Stored
    total: int
    """How much all counts add up to."""

    @property
    def n_bytes(self) -> int:
        """What it takes of memory."""
        fields = (self.widths, self.n_large, self.columns, self.small, self.large)
        return sum(field.nbytes for field in fields if isinstance(field, np.ndarray))

    def counts(self, entries: slice, large: slice) -> Ints:
        """Counts as numbers of 64 bits."""
        small = self.small[entries]
        counts = small.astype(np.int64)
        if large.stop > large.start:
            counts[small == 0] = self.large[large]
        return counts

    def matrix(self, n_columns: int) -> sparse.csr_array:
        """As a CSR array, in memory."""
        counts = self.counts(slice(0, len(self.small)), slice(0, len(self.large)))
        columns = self.columns[0 : len(self.columns)]
        matrix = sparse.csr_array(
            (counts, columns, row_ends(self.widths[0 : len(self.widths)])),
            shape=(len(self.widths), n_columns),
        )
        matrix.has_canonical_format = True
        return matrix


def row_ends(widths: Ints) -> Ints:
    """Where rows begin and end: the ``indptr`` of a CSR array, of one type with its columns."""
    ends = np.zeros(len(widths) + 1, np.int64)
    np.cumsum(widths, out=ends[1:])
    return ends if ends[-1] > np.iinfo(np.int32).max else ends.astype(np.int32)


def packed(matrix: Any) -> PackedRows:
    """Counts of a dense or a canonical CSR array."""
    matrix = sparse.csr_array(matrix)
    beyond = matrix.data > LARGEST_BYTE
    before = np.concatenate([[0], np.cumsum(beyond)])
    return PackedRows(
        np.diff(matrix.indptr).astype(np.int32),
        np.diff(before[matrix.indptr]).astype(np.int32),
        matrix.indices.astype(np.int32),
        np.where(beyond, 0, matrix.data).astype(np.uint8),
        matrix.data[beyond].astype(np.int64),
        int(matrix.data.sum()),
    )


class Places(NamedTuple):
    """Where symbols go in a sum: ``columns`` are new columns, -1 goes; ``rows`` are kept or go.

    Where ``columns`` is empty, all stay where they are.
    """

    columns: Ints
    rows: Ints

    @classmethod
    def same(cls, n: int) -> Places:
        """All stay where they are."""
        return cls(np.empty(0, np.int32), np.ones(n, bool))


def added(
    parts: Sequence[PackedRows],
    places: Places,
    room: int | None = None,
    folder: Folder = None,
    to_disk: bool = False,
) -> PackedRows:
    """The sum of ``parts``, in memory or on disk; about ``room`` bytes are used besides.

    Rows keep their places, and are empty where they go.
    """
    room = ANY_ROOM if room is None else room
    widths, n_large = (np.zeros(len(places.rows), np.int32) for _ in range(2))
    out = growing(to_disk, folder)
    total = 0
    for rows, step in _steps(parts, len(places.rows), room):
        cuts = _balanced(step.starts, max(n_threads(), len(step.columns) // FASTEST))

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
            kept = places.rows[here]
            n, m = entry_keys(some, places.columns, kept, keys, large_keys, large_counts)
            keys = keys[:n]
            radix_sort(keys, BYTE, np.empty_like(keys))  # stable: large counts keep their order
            large_counts = large_counts[np.argsort(large_keys[:m], kind="stable")]
            columns, small = np.empty(n, np.int32), np.empty(n, np.uint8)
            # A sum is large where a part of it is, or where two or more small counts meet.
            large = np.empty(m + n // 2, np.int64)
            out_here = PackedEntries(columns, small, large, widths[here], n_large[here])
            n, m = sum_keys(keys, large_counts, out_here)
            return columns[:n], small[:n], large[:m].copy()

        for results in run(add, cuts):
            for store, values in zip(out, results, strict=True):
                store.append(values)
            total += int(results[1].sum(dtype=np.int64)) + int(results[2].sum())
    columns, small, large = (store.joined() for store in out)
    return PackedRows(widths, n_large, columns, small, large, total)


def on_disk(part: PackedRows, folder: Folder) -> PackedRows:
    """The same rows, on disk."""

    def written(values: Stored) -> DiskArray:
        store = DiskArray(folder, values.dtype)
        store.append(values[0 : len(values)])
        return store

    fields = part.widths, part.n_large, part.columns, part.small, part.large
    widths, n_large, columns, small, large = map(written, fields)
    return PackedRows(widths, n_large, columns, small, large, part.total)


def growing(on_disk: bool, folder: Folder) -> list[Any]:
    """Empty arrays of columns, small counts and large ones, that grow at their ends."""
    kinds = (np.int32, np.uint8, np.int64)
    return [DiskArray(folder, kind) if on_disk else _Chunks(kind) for kind in kinds]


class _Chunks:
    """An array in memory that grows at its end."""

    def __init__(self, dtype: Any) -> None:
        self._parts: list[np.ndarray] = []
        self._dtype = dtype

    def append(self, values: np.ndarray) -> None:
        self._parts.append(values.copy())  # the rest of what it is a part of is let go

    def joined(self) -> np.ndarray:
        if len(self._parts) == 1:
            return self._parts[0]
        whole = np.empty(sum(map(len, self._parts)), self._dtype)
        place = 0
        for i, part in enumerate(self._parts):
            whole[place : place + len(part)] = part
            place += len(part)
            self._parts[i] = part[:0].copy()  # freed as it goes
        return whole


def _steps(
    parts: Sequence[PackedRows], n_rows: int, room: int
) -> Iterator[tuple[slice, PackedParts]]:
    """All rows, as many at a time as can be added in about so much ``room``."""
    most_rows = max(1, min(MOST_ROWS, room // ROW_BYTES // len(parts)))
    ends = np.zeros(n_rows + 1, np.int64)
    for part in parts:
        ends[1 : len(part.widths) + 1] += part.widths[0 : len(part.widths)]
    np.cumsum(ends, out=ends)
    done, large_done = np.zeros(len(parts), np.int64), np.zeros(len(parts), np.int64)
    size, first = max(1, min(MOST_ENTRIES, room // ENTRY_BYTES)), 0
    while first < n_rows:
        last = int(np.searchsorted(ends, ends[first] + size, side="right")) - 1
        last = min(max(last, first + 1), first + most_rows, n_rows)
        starts = _offsets([part.widths[first:last] for part in parts], last - first)
        large_starts = _offsets([part.n_large[first:last] for part in parts], last - first)
        columns = np.empty(starts[-1, -1], np.int32)
        small = np.empty(len(columns), np.uint8)
        large = np.empty(large_starts[-1, -1], np.int64)
        for j, part in enumerate(parts):
            here = slice(starts[j, 0], starts[j, -1])
            there = slice(done[j], done[j] + here.stop - here.start)
            columns[here] = part.columns[there]
            small[here] = part.small[there]
            done[j] = there.stop
            here = slice(large_starts[j, 0], large_starts[j, -1])
            there = slice(large_done[j], large_done[j] + here.stop - here.start)
            large[here] = part.large[there]
            large_done[j] = there.stop
        yield slice(first, last), PackedParts(starts, large_starts, columns, small, large)
        first = last


def _offsets(sizes: list[Ints], n_rows: int) -> Ints:
    """Where each row of each part begins, and ends, if parts stand one after the other."""
    starts = np.zeros((len(sizes), n_rows + 1), np.int64)
    before = 0
    for j, widths in enumerate(sizes):
        starts[j, 1 : len(widths) + 1] = widths
        np.cumsum(starts[j], out=starts[j])
        starts[j] += before
        before = starts[j, -1]
    return starts


def _balanced(starts: Ints, workers: int) -> list[tuple[int, int]]:
    """Ranges of rows with about as many entries each."""
    before = starts.sum(axis=0)
    before -= before[0]
    marks = [before[-1] * i // workers for i in range(1, workers)]
    cuts = [0, *np.searchsorted(before, marks).tolist(), len(before) - 1]
    return [(a, b) for a, b in pairwise(cuts) if b > a] or [(0, cuts[-1])]

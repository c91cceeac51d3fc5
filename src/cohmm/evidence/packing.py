"""Entries of rows that come in order, packed as they come."""

from __future__ import annotations

import numpy as np

from cohmm.evidence.packed import Folder, PackedRows, growing
from cohmm.kernels.counts import LARGEST_BYTE
from cohmm.kernels.types import Ints


class Packing:
    """`PackedRows` of ``n`` rows that are being filled, in memory or on disk."""

    def __init__(self, n: int, on_disk: bool = False, folder: Folder = None) -> None:
        self._widths, self._n_large = np.zeros(n, np.int32), np.zeros(n, np.int32)
        self._columns, self._small, self._large = growing(on_disk, folder)
        self._total = 0

    def append(self, rows: Ints, columns: Ints, counts: Ints) -> None:
        """More entries, of rows that are not before those that were; zeros are left out."""
        if (counts == 0).any():
            kept = counts > 0
            rows, columns, counts = rows[kept], columns[kept], counts[kept]
        if not len(rows):
            return
        beyond = counts > LARGEST_BYTE
        _count(self._widths, rows)
        _count(self._n_large, rows[beyond])
        self._columns.append(columns.astype(np.int32))
        self._small.append(np.where(beyond, 0, counts).astype(np.uint8))
        self._large.append(counts[beyond])
        self._total += int(counts.sum())

    def rows(self) -> PackedRows:
        """All of them."""
        columns, small, large = (
            store.joined() for store in (self._columns, self._small, self._large)
        )
        return PackedRows(self._widths, self._n_large, columns, small, large, self._total)


def _count(sizes: Ints, rows: Ints) -> None:
    if len(rows):
        first = int(rows.min())
        several = np.bincount(rows - first)
        sizes[first : first + len(several)] += several.astype(sizes.dtype)

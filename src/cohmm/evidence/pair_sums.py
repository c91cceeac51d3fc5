"""What counting gives: pair counts in memory, or on disk on their way to a file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm.data.memory import Budget
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.packed import PackedRows, Places, added, row_ends
from cohmm.evidence.pair_totals import PairTotal, enlarged
from cohmm.evidence.pairs import LARGEST_DENSE, Cooccurrence
from cohmm.evidence.selection import Selection
from cohmm.evidence.temporary import telling
from cohmm.kernels.types import Ints

CSR_ENTRY = 12  # bytes
CHUNK = 2**20  # entries that are written at a time


@dataclass(frozen=True)
class LargeRows:
    """Sparse counts on disk, with the order that their rows are wanted in."""

    rows: PackedRows
    order: Ints

    @property
    def n_entries(self) -> int:
        """How many counts are not zero."""
        return len(self.rows.columns)

    def streams(self) -> dict[str, np.ndarray | storage.Stream]:
        """The arrays of a CSR array, as they are written to a file."""
        ends = row_ends(self.rows.widths[0 : len(self.rows.widths)][self.order])
        return {
            "data": storage.Stream(np.dtype(np.int64), (self.n_entries,), self._counts()),
            "indices": storage.Stream(ends.dtype, (self.n_entries,), self._columns()),
            "indptr": ends,
        }

    def _columns(self) -> Iterator[np.ndarray]:
        for entries, _ in self.ranges():
            yield self.rows.columns[entries]

    def _counts(self) -> Iterator[np.ndarray]:
        for entries, large in self.ranges():
            yield self.rows.counts(entries, large)

    def ranges(self) -> Iterator[tuple[slice, slice]]:
        """Entries and large counts, in the order of the rows: many rows at a time, if they can."""
        ends, large = (
            np.concatenate([[0], np.cumsum(sizes[0 : len(sizes)], dtype=np.int64)])
            for sizes in (self.rows.widths, self.rows.n_large)
        )
        breaks = np.flatnonzero(np.diff(self.order) != 1) + 1
        for first, last in zip([0, *breaks], [*breaks, len(self.order)], strict=True):
            row, stop = int(self.order[first]), int(self.order[last - 1]) + 1
            while row < stop:
                after = int(np.searchsorted(ends, ends[row] + CHUNK, side="right")) - 1
                after = min(max(after, row + 1), stop)
                yield slice(ends[row], ends[after]), slice(large[row], large[after])
                row = after


@dataclass(frozen=True)
class PairSums:
    """Pair counts of all lags, of symbols in their final order."""

    by_lag: Mapping[int, Any]
    """An array, a CSR array, or `LargeRows`."""
    n_pairs: Mapping[int, int]
    symbol_counts: Ints
    start_counts: Ints
    vocabulary: Vocabulary | None
    budget: Budget

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        storage.save(path, *self._contents())

    def counts(self) -> Cooccurrence:
        """As a value; what is too large for memory is mapped from a file that has no name."""
        by_lag = dict(self.by_lag)
        if any(isinstance(matrix, LargeRows) for matrix in by_lag.values()):
            folder = self.budget.folder or tempfile.gettempdir()
            with telling(os.fspath(folder)), tempfile.TemporaryFile(dir=folder) as file:
                storage.write(file, *self._contents())
                file.flush()
                by_lag = self._mapped(storage.mapped(file))
        fields = by_lag, self.symbol_counts, self.start_counts, self.vocabulary
        return Cooccurrence._trusted(*fields)

    def _mapped(self, arrays: Mapping[str, np.ndarray]) -> dict[int, Any]:
        n = len(self.symbol_counts)
        by_lag = {}
        for lag, matrix in self.by_lag.items():
            if isinstance(matrix, LargeRows):
                parts = tuple(arrays[f"{lag}.{part}"] for part in ("data", "indices", "indptr"))
                matrix = sparse.csr_array(parts, shape=(n, n))
                matrix.has_canonical_format = True
            by_lag[lag] = matrix
        return by_lag

    def _contents(self) -> tuple[str, dict[str, Any], dict[str, np.ndarray | storage.Stream]]:
        arrays: dict[str, np.ndarray | storage.Stream] = {
            "symbol_counts": self.symbol_counts,
            "start_counts": self.start_counts,
        }
        for lag, matrix in self.by_lag.items():
            if isinstance(matrix, LargeRows):
                arrays |= {f"{lag}.{part}": array for part, array in matrix.streams().items()}
            elif sparse.issparse(matrix):
                for part in ("data", "indices", "indptr"):
                    arrays[f"{lag}.{part}"] = getattr(matrix, part)
            else:
                arrays[f"{lag}.counts"] = matrix
        header = {"lags": tuple(self.by_lag), "vocabulary": self.vocabulary}
        return "cooccurrence", header, arrays


def summed(total: PairTotal, chosen: Selection, budget: Budget, n_lags: int) -> tuple[Any, int]:
    """The sum of one of ``n_lags``, of the chosen symbols; and how many pairs there are."""
    n, n_before = chosen.n_symbols, len(chosen.places)
    kept = chosen.places >= 0
    if total.table is not None:
        table = enlarged(total.table, n_before) * np.outer(kept, kept)
        table = table[np.ix_(chosen.codes, chosen.codes)]
        return table, int(table.sum())
    parts = total.parts()
    stay = (chosen.places == np.arange(n_before)).all()
    places = Places.same(n_before) if stay else Places(chosen.places, kept)
    at_most = sum(len(part.columns) for part in parts)
    in_memory = budget.fits(2 * CSR_ENTRY * at_most * n_lags)
    rows = added(parts, places, budget.merging, budget.folder, to_disk=not in_memory)
    if not budget.fits(2 * CSR_ENTRY * len(rows.columns) * n_lags) and n > LARGEST_DENSE:
        return LargeRows(rows, chosen.codes), rows.total
    matrix = rows.matrix(n)
    if chosen.moves or n < n_before:
        matrix = matrix[chosen.codes]
        matrix.has_canonical_format = True
    return matrix if n > LARGEST_DENSE else matrix.toarray(), rows.total

"""Rows of a sparse matrix, divided by a low-rank one: the long pass of pairs and of pLSA."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels import sparse_pass
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints, Part

PARTS = 64
PART = 50_000  # non-zeros, at least: less is not worth a thread


class SparseRows(NamedTuple):
    """A CSR matrix in float32, and ranges of its rows for threads, with about equal work."""

    indptr: Ints
    columns: Ints
    values: Any
    parts: list[Part]

    @classmethod
    def of(cls, matrix: Any, scale: Floats | None = None) -> SparseRows:
        """The rows of ``matrix``, each times its ``scale``."""
        indptr = np.ascontiguousarray(matrix.indptr, np.int64)
        values = matrix.data if scale is None else matrix.data * np.repeat(scale, np.diff(indptr))
        n_parts = max(1, min(PARTS, int(indptr[-1]) // PART))
        cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], n_parts + 1).astype(np.int64))
        cuts[0], cuts[-1] = 0, len(indptr) - 1
        parts = [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]
        columns = np.ascontiguousarray(matrix.indices, np.int32)
        return cls(indptr, columns, values.astype(np.float32), parts)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.indptr) - 1

    def times(self, matrix: Floats) -> Floats:
        """The rows times a matrix, which is rounded to float32."""
        n, k = matrix.shape
        right, out = sparse_pass.empty_table(n, k), np.empty((self.n_rows, k))
        right[:, :k] = matrix

        def task(first: int, stop: int) -> None:
            rows = (self.indptr, self.columns, self.values, (first, stop))
            sparse_pass.sparse_times(*rows, right, out)

        run(task, self.parts)
        return out

    def divided(self, left: Any, right: Any, k: int) -> tuple[Floats, Floats]:
        """Of every row, sum n log p and sum (n / p) ``right``, with p = ``left . right``.

        ``left`` and ``right`` are tables of `cohmm.kernels.sparse_pass`.
        """
        log_fit, sums = np.empty(self.n_rows), np.empty((self.n_rows, k))

        def task(first: int, stop: int) -> None:
            rows = (self.indptr, self.columns, self.values, (first, stop))
            sparse_pass.sparse_pass(*rows, left, right, sums, log_fit)

        run(task, self.parts)
        return log_fit, sums

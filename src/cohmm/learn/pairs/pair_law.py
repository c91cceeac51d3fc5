"""Omega as the learners see it: dense or sparse, one primitive.

`PairLaw.statistics` is the only place where the pair law meets the factors.  With
~Omega = Omega / (M Theta M'), element by element, it gives ~Omega M and ~Omega' M, from
which every update of M and Theta follows by K x K products, and the log-likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.kernels import tri_factor
from cohmm.kernels.compiled import Floats, Ints
from cohmm.kernels.threads import run

PARTS = 64
PART = 50_000  # non-zeros, at least: less is not worth a thread
NOTHING = 1e-300  # so that a pair that neither occurs nor is expected has the ratio 0


class Statistics(NamedTuple):
    """What one pass over a pair law gives."""

    log_fit: float
    """sum Omega log(M Theta M')"""
    rows: Floats
    """~Omega M, (N, K)"""
    columns: Floats
    """~Omega' M, (N, K)"""


@dataclass(frozen=True, eq=False)
class DensePairs:
    """A pair law in an array."""

    omega: Floats

    @cached_property
    def frequency(self) -> Floats:
        """How frequent each symbol is, (N,)."""
        return np.asarray((self.omega.sum(axis=0) + self.omega.sum(axis=1)) / 2)

    @cached_property
    def negative_entropy(self) -> float:
        """sum Omega log Omega, what no model can exceed."""
        present = self.omega[self.omega > 0]
        return float(present @ np.log(present))

    def statistics(self, m: Floats, theta: Floats) -> Statistics:
        """One pass: see the module."""
        expected = (m @ theta) @ m.T
        expected += NOTHING
        ratio = self.omega / expected
        log_fit = float(np.vdot(self.omega, np.log(expected, out=expected)))
        return Statistics(log_fit, ratio @ m, ratio.T @ m)

    def submatrix(self, symbols: Ints) -> Floats:
        """The pair law among some of the symbols."""
        return np.asarray(self.omega[np.ix_(symbols, symbols)])


class _Rows(NamedTuple):
    """One orientation of a sparse law: P(column | row), and ranges of rows for threads."""

    indptr: Ints
    columns: Ints
    values: Any
    parts: list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class SparsePairs:
    """A pair law in a CSR array.

    Rows are divided by the frequency of their symbol, and so is M, so that all numbers are
    of the size of one and float32 serves for the long pass: P(n, l) = f_n f_l p_nl, where
    p_nl, near one, is how much more often than by chance l follows n.
    """

    omega: Any

    @cached_property
    def frequency(self) -> Floats:
        """How frequent each symbol is, (N,)."""
        return np.asarray(self.omega.sum(axis=0) + self.omega.sum(axis=1), np.float64) / 2

    @cached_property
    def negative_entropy(self) -> float:
        """sum Omega log Omega, what no model can exceed."""
        return float(self.omega.data @ np.log(self.omega.data))

    @cached_property
    def _by_chance(self) -> float:
        """sum Omega log(f f'), the log-fit of independent symbols."""
        logs = np.log(self.frequency, out=np.zeros_like(self.frequency), where=self.frequency > 0)
        return float((self.omega.sum(axis=0) + self.omega.sum(axis=1)) @ logs)

    @cached_property
    def _orientations(self) -> tuple[_Rows, _Rows]:
        return self._rows(self.omega), self._rows(self.omega.T.tocsr())

    def _rows(self, matrix: Any) -> _Rows:
        indptr = np.ascontiguousarray(matrix.indptr, np.int64)
        each = np.repeat(1 / np.maximum(self.frequency, 1e-300), np.diff(indptr))
        values = (matrix.data * each).astype(np.float32)
        n_parts = max(1, min(PARTS, int(indptr[-1]) // PART))
        cuts = np.searchsorted(indptr, np.linspace(0, indptr[-1], n_parts + 1).astype(np.int64))
        cuts[0], cuts[-1] = 0, len(indptr) - 1
        parts = [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]
        return _Rows(indptr, np.ascontiguousarray(matrix.indices, np.int32), values, parts)

    def statistics(self, m: Floats, theta: Floats) -> Statistics:
        """One pass: see the module."""
        lift = m / np.maximum(self.frequency, 1e-300)[:, None]
        right = tri_factor.table(lift)
        fits, rows = self._pass(0, tri_factor.table(lift @ theta), right, m.shape[1])
        _, columns = self._pass(1, tri_factor.table(lift @ theta.T), right, m.shape[1])
        return Statistics(float(fits @ self.frequency) + self._by_chance, rows, columns)

    def _pass(self, orientation: int, left: Any, right: Any, k: int) -> tuple[Floats, Floats]:
        law = self._orientations[orientation]
        out = np.empty((len(left), k))
        fit = np.empty(len(left))
        lanes = tri_factor.table_lanes(k)
        run(
            lambda *part: tri_factor.sparse_pass(
                lanes, law.indptr, law.columns, law.values, part, left, right, out, fit
            ),
            law.parts,
        )
        return fit, out

    def submatrix(self, symbols: Ints) -> Any:
        """The pair law among some of the symbols."""
        return self.omega[symbols][:, symbols]


PairLaw = DensePairs | SparsePairs


def pair_law(omega: Any) -> PairLaw:
    """``omega``, an array or a sparse matrix, as a pair law."""
    if sparse.issparse(omega):
        law = sparse.csr_array(omega, dtype=np.float64)
        law.sum_duplicates()
        law.eliminate_zeros()
        return SparsePairs(law)
    return DensePairs(np.ascontiguousarray(omega, np.float64))

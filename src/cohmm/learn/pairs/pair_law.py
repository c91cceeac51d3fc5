"""Omega as the learners see it: dense or sparse, one primitive.

`PairLaw.statistics` is the only place where the pair law meets the factors.  With
~Omega = Omega / (M Theta M'), element by element, it gives ~Omega M and ~Omega' M, from
which every update of M and Theta follows by K x K products, and the log-likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.kernels import sparse_pass
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.sparse_rows import SparseRows

NOTHING = 1e-300  # so that a pair that neither occurs nor is expected has the ratio 0


class Point(NamedTuple):
    """The two factors of a pair law, Omega = M Theta M'."""

    m: Floats
    """Emissions, (N, K); columns sum to one."""
    theta: Floats
    """Joint probability of two states in a row, (K, K), > 0, with equal marginals."""


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
    def _orientations(self) -> tuple[SparseRows, SparseRows]:
        """P(column | row), and P(row | column)."""
        scale = 1 / np.maximum(self.frequency, NOTHING)
        return SparseRows.of(self.omega, scale), SparseRows.of(self.omega.T.tocsr(), scale)

    def statistics(self, m: Floats, theta: Floats) -> Statistics:
        """One pass: see the module."""
        k = m.shape[1]
        scale = 1 / np.maximum(self.frequency, NOTHING)
        right = sparse_pass.table(m, scale)
        forward, backward = self._orientations
        log_fits, rows = forward.divided(sparse_pass.table(m @ theta, scale), right, k)
        _, columns = backward.divided(sparse_pass.table(m @ theta.T, scale), right, k)
        return Statistics(float(log_fits @ self.frequency) + self._by_chance, rows, columns)

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

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

from cohmm.kernels import native, sparse_pass
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints, Part
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

PROBABILITY_FLOOR = 1e-300  # so that a pair that neither occurs nor is expected has the ratio 0
PARTS = 64
PART = 50_000  # non-zeros, at least: less is not worth a thread
PROBABILITY_FLOOR = 1e-300


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
        expected += PROBABILITY_FLOOR
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
        scale = 1 / np.maximum(self.frequency, PROBABILITY_FLOOR)
        return SparseRows.of(self.omega, scale), SparseRows.of(self.omega.T.tocsr(), scale)

    def statistics(self, m: Floats, theta: Floats) -> Statistics:
        """One pass: see the module."""
        k = m.shape[1]
        scale = 1 / np.maximum(self.frequency, PROBABILITY_FLOOR)
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
            native.sparse_times(*rows, right, out)

        run(task, self.parts)
        return out

    def divided(self, left: Any, right: Any, k: int) -> tuple[Floats, Floats]:
        """Of every row, sum n log p and sum (n / p) ``right``, with p = ``left . right``.

        ``left`` and ``right`` are tables of `cohmm.kernels.sparse_pass`.
        """
        log_fit, sums = np.empty(self.n_rows), np.empty((self.n_rows, k))

        def task(first: int, stop: int) -> None:
            rows = (self.indptr, self.columns, self.values, (first, stop))
            native.sparse_pass(*rows, left, right, sums, log_fit)

        run(task, self.parts)
        return log_fit, sums


class PairJacobian(NamedTuple):
    """The pair law at one lag, and its gradients.

    d log P(a, b) is ``by_a[a, b]`` by A, ``first[b] / P(a, b)`` by the emissions of a, and
    ``arriving[a] / P(a, b)`` by those of b.
    """

    p: Floats
    """P(a, b), (N, N)."""
    inverse: Floats
    """1 / P(a, b); 0 where a pair is impossible."""
    by_a: Floats
    """(N, N, K K)."""
    arriving: Floats
    """P(a, state of b), (N, K): (M pi) A^lag."""
    leaving: Floats
    """P(b | state of a), (N, K): M (A^lag)'."""
    first: Floats
    """P(b, state of a), (N, K)."""

    @classmethod
    def of(cls, model: HMM, lag: int) -> PairJacobian:
        """Of pairs so far apart."""
        a, m, pi = model.transmat, model.emissionprob.T, prevalence_of(model)
        n, k = m.shape
        steps, doublings = lag, []
        while steps > k:  # doubled so often, that the cost does not grow with the lag
            doublings.append(steps % 2)
            steps //= 2
        powers = [np.eye(k)]
        for _ in range(steps):
            powers.append(powers[-1] @ a)
        power = powers[-1]
        by_a = np.zeros((n, n, k, k))
        for step in range(steps):  # of the way: reach it, and finish
            by_a += _outer((m * pi) @ powers[step], m @ powers[steps - 1 - step].T)
        for one_more in reversed(doublings):
            by_a = by_a @ power.T + power.T @ by_a  # a step of the first half, or of the second
            power = power @ power
            if one_more:
                by_a = by_a @ a.T + _outer((m * pi) @ power, m)
                power = power @ a
        arriving, leaving = (m * pi) @ power, m @ power.T
        p = arriving @ m.T
        # pi changes with A: d pi_k / d A_ij = pi_i Z_jk
        settled = (m[:, None, :] * leaving) @ fundamental(model).T
        by_a += pi[:, None] * settled[:, :, None, :]
        inverse = np.divide(1.0, p, out=np.zeros_like(p), where=p > PROBABILITY_FLOOR)
        by_a *= inverse[:, :, None, None]
        return cls(p, inverse, by_a.reshape(n, n, -1), arriving, leaving, pi * leaving)

    def curvature(self) -> Floats:
        """sum p G G', (P, P)."""
        n, k = self.leaving.shape
        r = k * k
        weighted = self.p[..., None] * self.by_a
        total = np.zeros((r + k * n, r + k * n))
        total[:r, :r] = self.by_a.reshape(n * n, r).T @ weighted.reshape(n * n, r)
        # p and 1 / p cancel
        there = (self.inverse > 0)[..., None] * self.by_a
        across = np.matmul(self.first.T, there) + np.matmul(
            self.arriving.T, there.transpose(1, 0, 2)
        )
        total[r:, :r] = across.transpose(1, 0, 2).reshape(k * n, r)
        total[:r, r:] = total[r:, :r].T
        both = np.einsum("vk,vw,wl->lvkw", self.arriving, self.inverse, self.first)
        emissions = both + both.transpose(2, 3, 0, 1)
        every = np.arange(n)
        same = np.einsum("vb,bk,bl->vkl", self.inverse, self.first, self.first)
        same += np.einsum("av,ak,al->vkl", self.inverse, self.arriving, self.arriving)
        emissions[:, every, :, every] += same
        total[r:, r:] = emissions.reshape(k * n, k * n)
        return total

    def sums(self, counts: Any) -> Floats:
        """sum counts G for every row of sparse ``counts`` of pairs, (n, N N): (n, P)."""
        n, k = self.leaving.shape
        rows = counts.shape[0]
        by_a = counts @ self.by_a.reshape(n * n, -1)
        divided = sparse.csr_array(counts @ sparse.diags_array(self.inverse.ravel()))
        of_first = sparse.csr_array(divided.reshape((rows * n, n))) @ self.first
        turned = np.arange(n * n).reshape(n, n).T.ravel()
        back = sparse.csr_array(divided[:, turned])
        of_second = sparse.csr_array(back.reshape((rows * n, n))) @ self.arriving
        by_m = (of_first + of_second).reshape(rows, n, k).transpose(0, 2, 1)
        return np.concatenate([np.asarray(by_a), by_m.reshape(rows, -1)], axis=1)


def _outer(reach: Floats, finish: Floats) -> Floats:
    """(N, N, K, K) of two (N, K)."""
    return reach[:, None, :, None] * finish[None, :, None, :]


def fundamental(model: HMM) -> Floats:
    """Z = (I - A + 1 pi')^-1; a pseudo-inverse where parts of the chain never meet."""
    pi = prevalence_of(model)
    matrix = np.eye(len(pi)) - model.transmat + pi
    try:
        return np.asarray(np.linalg.inv(matrix), np.float64)
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.pinv(matrix), np.float64)

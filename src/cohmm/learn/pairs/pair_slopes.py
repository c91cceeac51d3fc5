"""How the law of pairs changes with every probability of a model.

    p_ab = sum M_ai pi_i (A^lag)_ij M_bj,    G_ab = d log p_ab,    pi = pi A

Entries are those of A and then of M, P = K K + K N, each free to move by itself: what keeps rows
at a sum of one is for those who use the sums.  G by emissions is zero but for the two symbols
of a pair.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.kernels.types import Floats
from cohmm.learn.finish import prevalence_of
from cohmm.model.hmm import HMM

LEAST = 1e-300


class PairSlopes(NamedTuple):
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
    def of(cls, model: HMM, lag: int) -> PairSlopes:
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
        inverse = np.divide(1.0, p, out=np.zeros_like(p), where=p > LEAST)
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

"""What counts of pairs say about every probability of a model learned from them.

    p_ab = sum M_ai pi_i (A^lag)_ij M_bj,     s_ab = d log p_ab,     H = sum p s s'

at every lag, weighted as the learner weighs it.  Pairs overlap, so that the sum of their scores
varies by V, not by H, and the estimate by H^+ V H^+ / T.  At lag 1 alone V has a closed form: the
scores of (y_t, y_t+1) and (y_t+1, y_t+2) share a symbol, G1, and those further apart the chain,
G2 = G A Z F',   Z = (I - A + 1 pi')^-1 = 1 pi' + sum_l (A^l - 1 pi').  At other lags V is that of
blocks that the model itself draws.

Scores by emissions are zero but for the two symbols of a pair: sums are taken of scores as they
are, G_j, and what keeps rows at a sum of one, G_j - sum_row p G, is applied to the sums.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.diagnose.information import entries
from cohmm.kernels.compiled import Floats
from cohmm.learn.finish import prevalence_of
from cohmm.model.hmm import HMM

SMALLEST = 1e-12
LEAST = 1e-300
BLOCK = 256  # symbols of a block that the model draws: many times as long as chains remember
DRAWN = 2000  # blocks: standard errors are then right to about 2 %
SEED = 16


class PairInformation(NamedTuple):
    """Per pair; entries are those of A and then of M, P = K K + K N, scaled by d."""

    curvature: Floats
    """H, (P, P)."""
    variance: Floats
    """V, (P, P)."""
    scale: Floats
    """d = sqrt(p), (P,)."""
    slope: Floats
    """How the log-likelihood changes as an entry grows at the cost of its row, (P,)."""


def pair_information(
    model: HMM, weights: Mapping[int, float], omega: Mapping[int, Any] | None = None
) -> PairInformation:
    """H and V for pairs at the lags that have ``weights``.

    All symbols of the model must have a probability.  ``omega`` are the pair laws that were seen,
    (N, N) each, for the slope; else it is 0.

    >>> coin = HMM([1.0], [[1.0]], [[.5, .5]])
    >>> coins = pair_information(coin, {1: 1.0})
    >>> coins.curvature[1:, 1:].round(9)  # a pair is two throws ...
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> coins.variance[1:, 1:].round(9)  # ... and each throw is in two pairs
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    scale = np.sqrt(np.maximum(entries(model), SMALLEST))
    lags = {lag: weight for lag, weight in weights.items() if weight > 0}
    laws = {lag: _Law.of(model, lag) for lag in lags}
    curvature = sum(lags[lag] * law.curvature() for lag, law in laws.items())
    slope = np.zeros(len(scale))
    if omega is not None:
        for lag, law in laws.items():
            counts = sparse.csr_array(np.asarray(omega[lag]).reshape(1, -1))
            slope += lags[lag] * law.sums(counts)[0]
    curvature = _centred(model, np.asarray(curvature))
    if set(lags) == {1}:
        variance = curvature + _centred(model, laws[1].overlaps())
    else:
        drawn = _drawn(model, laws)
        sums = np.asarray(sum(lags[lag] * law.sums(drawn[lag]) for lag, law in laws.items()))
        variance = _centred(model, sums.T @ sums / (DRAWN * BLOCK))
    both = scale[:, None] * scale
    return PairInformation(
        both * curvature, both * variance, scale, _centred_rows(model, slope[None])[0]
    )


def _centred_rows(model: HMM, gradient: Floats) -> Floats:
    """G_j - sum_row p G, for every gradient, (n, P)."""
    k = model.n_components
    parts = []
    for table, part in (
        (model.transmat, gradient[:, : k * k]),
        (model.emissionprob, gradient[:, k * k :]),
    ):
        rows = part.reshape(len(gradient), k, -1)
        mean = np.einsum("nij,ij->ni", rows, table)
        parts.append((rows - mean[..., None]).reshape(part.shape))
    return np.concatenate(parts, axis=1)


def _centred(model: HMM, matrix: Floats) -> Floats:
    """The same on both sides of a sum of G G', (P, P)."""
    half = _centred_rows(model, matrix)
    full = _centred_rows(model, np.ascontiguousarray(half.T))
    return np.asarray((full + full.T) / 2)


class _Law(NamedTuple):
    """The pair law at one lag, and its gradients.

    d log P(a, b) is ``by_a[a, b]`` by A, ``first[b] / P(a, b)`` by the emissions of a, and
    ``arriving[a] / P(a, b)`` by those of b.
    """

    model: HMM
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
    def of(cls, model: HMM, lag: int) -> _Law:
        a, m, pi = model.transmat, model.emissionprob.T, prevalence_of(model)
        n, k = m.shape
        powers = [np.eye(k)]
        for _ in range(lag):
            powers.append(powers[-1] @ a)
        arriving, leaving = (m * pi) @ powers[lag], m @ powers[lag].T
        p = arriving @ m.T
        by_a = np.zeros((n, n, k, k))
        for step in range(lag):  # of the way: reach it, and finish
            reach, finish = (m * pi) @ powers[step], m @ powers[lag - 1 - step].T
            by_a += reach[:, None, :, None] * finish[None, :, None, :]
        # pi changes with A: d pi_k / d A_ij = pi_i Z_jk
        settled = (m[:, None, :] * leaving) @ _fundamental(model).T
        by_a += pi[:, None] * settled[:, :, None, :]
        inverse = np.divide(1.0, p, out=np.zeros_like(p), where=p > LEAST)
        by_a *= inverse[:, :, None, None]
        return cls(model, p, inverse, by_a.reshape(n, n, -1), arriving, leaving, pi * leaving)

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

    def overlaps(self) -> Floats:
        """G1 + G1' + G2 + G2', (P, P)."""
        model, m = self.model, self.model.emissionprob.T
        n, k = m.shape
        r = k * k
        every = np.arange(n)
        s1, s2 = (np.zeros((n, k, r + k * n)) for _ in range(2))
        s1[..., :r] = np.matmul(self.arriving.T, self.by_a.transpose(1, 0, 2))
        s2[..., :r] = np.matmul(self.leaving.T, self.by_a)
        one, two = (s[..., r:].reshape(n, k, k, n) for s in (s1, s2))
        # sums over the first symbol a of (a, b), and over the second, c, of (b, c)
        one += np.einsum("vj,bk,vb->bjkv", self.arriving, self.first, self.inverse)
        one[every, :, :, every] += np.einsum(
            "aj,ak,ab->bjk", self.arriving, self.arriving, self.inverse
        )
        two += np.einsum("vj,bk,bv->bjkv", self.leaving, self.arriving, self.inverse)
        two[every, :, :, every] += np.einsum(
            "cj,ck,bc->bjk", self.leaving, self.first, self.inverse
        )
        weighted = m[..., None] * s1
        size = s1.shape[-1]
        shared = weighted.reshape(n * k, size).T @ s2.reshape(n * k, size)
        before, after = weighted.sum(axis=0), (m[..., None] * s2).sum(axis=0)
        # Pairs further apart; scores have mean zero only once they are centred.
        before = _centred_rows(model, before)
        after = _centred_rows(model, after)
        total = shared + before.T @ (model.transmat @ _fundamental(model)) @ after
        return np.asarray(total + total.T)

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


def _fundamental(model: HMM) -> Floats:
    """Z = (I - A + 1 pi')^-1."""
    pi = prevalence_of(model)
    return np.asarray(np.linalg.inv(np.eye(len(pi)) - model.transmat + pi), np.float64)


def _drawn(model: HMM, laws: Mapping[int, _Law]) -> dict[int, Any]:
    """How often each pair is in each block that the model draws, by lag: (blocks, N N), sparse."""
    settled = HMM(prevalence_of(model), model.transmat, model.emissionprob)
    width, n = BLOCK + max(laws), model.n_symbols
    symbols = settled.sample(DRAWN * width, np.random.default_rng(SEED))[0].astype(np.int64)
    windows = symbols.reshape(DRAWN, width)
    block = np.repeat(np.arange(DRAWN), BLOCK)
    found = {}
    for lag in laws:
        pairs = (windows[:, :BLOCK] * n + windows[:, lag : lag + BLOCK]).ravel()
        ones = np.ones(len(pairs))
        found[lag] = sparse.csr_array((ones, (block, pairs)), shape=(DRAWN, n * n))
    return found

"""What counts of pairs say about every probability of a model learned from them.

    p_ab = sum M_ai pi_i (A^lag)_ij M_bj,     s_ab = d log p_ab,     H = sum p s s'

at every lag, weighted as the learner weighs it.  Pairs overlap, so that the sum of their scores
varies by V, not by H, and the estimate by H^+ V H^+ / T.  At lag 1 alone V has a closed form: the
scores of (y_t, y_t+1) and (y_t+1, y_t+2) share a symbol, G1, and those further apart the chain,
G2 = G A Z F',   Z = (I - A + 1 pi')^-1 = 1 pi' + sum_l (A^l - 1 pi').  At other lags V is that of
blocks that the model itself draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.diagnose.information import entries
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.finish import prevalence_of
from cohmm.model.hmm import HMM

SMALLEST = 1e-12
LEAST = 1e-300
BLOCK = 256  # symbols of a block that the model draws: many times as long as chains remember
DRAWN = 2000  # blocks: standard errors are then right to about 2 %
SEED = 16
MOST_DENSE = 2**25  # counts of drawn pairs in an array; more are sparse


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
    p = entries(model)
    scale = np.sqrt(np.maximum(p, SMALLEST))
    lags = {lag: weight for lag, weight in weights.items() if weight > 0}
    laws = {lag: _Law.of(model, lag) for lag in lags}
    closed = set(lags) == {1}
    k, n = model.emissionprob.shape
    size = len(p)
    curvature = np.zeros((size, size))
    s1, s2 = (np.zeros((n, k, size)) for _ in range(2))  # sums over the first, the second symbol
    drawn = None if closed else _drawn(model, laws)
    slope = np.zeros(size)
    sums = np.zeros((0 if drawn is None else DRAWN, size))
    for a in range(n):
        for lag, law in laws.items():
            score = law.scores(a) * scale
            curvature += lags[lag] * ((score * law.p[a][:, None]).T @ score)
            if omega is not None:
                slope += lags[lag] * (omega[lag][a] @ score) / scale
            if drawn is None:
                s1 += law.arriving[a][None, :, None] * score[:, None, :]
                s2[a] = law.leaving.T @ score
            else:
                sums += lags[lag] * (drawn[lag][a] @ score)
    if drawn is None:
        return PairInformation(curvature, curvature + _overlaps(model, s1, s2), scale, slope)
    return PairInformation(curvature, sums.T @ sums / (DRAWN * BLOCK), scale, slope)


def _overlaps(model: HMM, s1: Floats, s2: Floats) -> Floats:
    """G1 + G1' + G2 + G2'."""
    a, m = model.transmat, model.emissionprob.T
    pi = prevalence_of(model)
    n, k, size = s1.shape
    weighted = (m[..., None] * s1).reshape(n * k, size)
    shared = weighted.T @ s2.reshape(n * k, size)
    before = weighted.reshape(n, k, size).sum(axis=0)
    after = (m[..., None] * s2).sum(axis=0)
    z = np.linalg.inv(np.eye(k) - a + pi)
    total = shared + before.T @ (a @ z) @ after
    return np.asarray(total + total.T)


class _Law(NamedTuple):
    """The pair law at one lag, and its parts; m is (N, K)."""

    model: HMM
    p: Floats
    """P(a, b), (N, N)."""
    arriving: Floats
    """P(a, state of b), (N, K): (M pi) A^lag."""
    leaving: Floats
    """P(b | state of a), (N, K): M (A^lag)'."""
    paths: tuple[tuple[Floats, Floats], ...]
    """For every step of the way: P(a, state before it), and P(b | state after it), (N, K)."""
    z: Floats
    pi: Floats
    power: Floats

    @classmethod
    def of(cls, model: HMM, lag: int) -> _Law:
        a, m, pi = model.transmat, model.emissionprob.T, prevalence_of(model)
        z = np.asarray(np.linalg.inv(np.eye(len(pi)) - a + pi), np.float64)
        powers = [np.eye(len(pi))]
        for _ in range(lag):
            powers.append(powers[-1] @ a)
        paths = tuple(
            ((m * pi) @ powers[step], m @ powers[lag - 1 - step].T) for step in range(lag)
        )
        arriving, leaving = (m * pi) @ powers[lag], m @ powers[lag].T
        return cls(model, arriving @ m.T, arriving, leaving, paths, z, pi, powers[lag])

    def scores(self, a: int) -> Floats:
        """d log P(a, b) / d p of all b and all entries, (N, P); centred row by row."""
        model, m = self.model, self.model.emissionprob.T
        n, k = m.shape
        by_a = sum(before[a][None, :, None] * after[:, None, :] for before, after in self.paths)
        # pi changes with A: d pi_k / d A_ij = pi_i Z_jk
        settled = (m[a] * self.leaving) @ self.z.T
        by_a = by_a + self.pi[None, :, None] * settled[:, None, :]
        by_m = np.zeros((n, k, n))
        by_m[:, :, a] += self.pi * self.leaving  # a itself, from each state
        every = np.arange(n)
        by_m[every, :, every] += self.arriving[a]
        p = np.maximum(self.p[a], LEAST)[:, None, None]
        by_a, by_m = by_a / p, by_m / p
        by_a -= np.einsum("bij,ij->bi", by_a, model.transmat)[..., None]
        by_m -= np.einsum("bij,ij->bi", by_m, model.emissionprob)[..., None]
        return np.concatenate([by_a.reshape(n, -1), by_m.reshape(n, -1)], axis=1)


def _drawn(model: HMM, laws: Mapping[int, _Law]) -> dict[int, list[Floats]]:
    """Pairs of blocks that the model draws: by lag, by the first symbol, (blocks, N)."""
    longest = max(laws)
    settled = HMM(prevalence_of(model), model.transmat, model.emissionprob)
    width = BLOCK + longest
    symbols: Ints = settled.sample(DRAWN * width, np.random.default_rng(SEED))[0]
    windows = symbols.reshape(DRAWN, width)
    n = model.n_symbols
    found = {}
    for lag in laws:
        first, second = windows[:, :BLOCK], windows[:, lag : lag + BLOCK]
        codes = (np.arange(DRAWN)[:, None] * n + first) * n + second
        if DRAWN * n * n <= MOST_DENSE:
            counts = np.bincount(codes.ravel(), minlength=DRAWN * n * n).reshape(DRAWN, n, n)
            found[lag] = [counts[:, a].astype(np.float64) for a in range(n)]
        else:
            matrix = sparse.csc_array(
                (np.ones(codes.size), (codes.ravel() // (n * n), codes.ravel() % (n * n))),
                shape=(DRAWN, n * n),
            )
            found[lag] = [matrix[:, a * n : (a + 1) * n] for a in range(n)]
    return found

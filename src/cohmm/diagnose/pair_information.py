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
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.pair_law import PairJacobian, fundamental
from cohmm.model.hmm import HMM

SMALLEST = 1e-12
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
    laws = {lag: PairJacobian.of(model, lag) for lag in lags}
    curvature = sum(lags[lag] * law.curvature() for lag, law in laws.items())
    slope = np.zeros(len(scale))
    if omega is not None:
        for lag, law in laws.items():
            counts = sparse.csr_array(np.asarray(omega[lag]).reshape(1, -1))
            slope += lags[lag] * law.sums(counts)[0]
    curvature = _centred(model, np.asarray(curvature))
    if set(lags) == {1}:
        variance = curvature + _centred(model, _overlaps(model, laws[1]))
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


def _overlaps(model: HMM, law: PairJacobian) -> Floats:
    """G1 + G1' + G2 + G2', (P, P)."""
    m = model.emissionprob.T
    n, k = m.shape
    r = k * k
    every = np.arange(n)
    s1, s2 = (np.zeros((n, k, r + k * n)) for _ in range(2))
    s1[..., :r] = np.matmul(law.arriving.T, law.by_a.transpose(1, 0, 2))
    s2[..., :r] = np.matmul(law.leaving.T, law.by_a)
    one, two = (s[..., r:].reshape(n, k, k, n) for s in (s1, s2))
    # sums over the first symbol a of (a, b), and over the second, c, of (b, c)
    one += np.einsum("vj,bk,vb->bjkv", law.arriving, law.first, law.inverse)
    one[every, :, :, every] += np.einsum("aj,ak,ab->bjk", law.arriving, law.arriving, law.inverse)
    two += np.einsum("vj,bk,bv->bjkv", law.leaving, law.arriving, law.inverse)
    two[every, :, :, every] += np.einsum("cj,ck,bc->bjk", law.leaving, law.first, law.inverse)
    weighted = m[..., None] * s1
    size = s1.shape[-1]
    shared = weighted.reshape(n * k, size).T @ s2.reshape(n * k, size)
    before, after = weighted.sum(axis=0), (m[..., None] * s2).sum(axis=0)
    # Pairs further apart; scores have mean zero only once they are centred.
    before = _centred_rows(model, before)
    after = _centred_rows(model, after)
    total = shared + before.T @ (model.transmat @ fundamental(model)) @ after
    return np.asarray(total + total.T)


def _drawn(model: HMM, laws: Mapping[int, PairJacobian]) -> dict[int, Any]:
    """How often each pair is in each block that the model draws, by lag: (blocks, N N), sparse."""
    places = np.unique(np.add.outer([0, *laws], np.arange(BLOCK)))  # of a block, those in pairs
    windows = _blocks(model, places) if len(places) <= places[-1] else _pieces(model, len(places))
    n = model.n_symbols
    block = np.repeat(np.arange(DRAWN), BLOCK)
    found = {}
    for lag in laws:
        first = int(np.searchsorted(places, lag))
        pairs = (windows[:, :BLOCK] * n + windows[:, first : first + BLOCK]).ravel()
        ones = np.ones(len(pairs))
        found[lag] = sparse.csr_array((ones, (block, pairs)), shape=(DRAWN, n * n))
    return found


def _pieces(model: HMM, width: int) -> Ints:
    """A long sequence that the model draws, in blocks."""
    settled = HMM(prevalence_of(model), model.transmat, model.emissionprob)
    symbols = settled.sample(DRAWN * width, np.random.default_rng(SEED))[0].astype(np.int64)
    return symbols.reshape(DRAWN, width)


def _blocks(model: HMM, places: Ints) -> Ints:
    """Blocks of which only some ``places`` are drawn: the chain leaps over those between."""
    rng = np.random.default_rng(SEED)
    gaps = np.diff(places).tolist()
    leaps = {gap: np.linalg.matrix_power(model.transmat, gap) for gap in set(gaps)}
    states = _choices(rng, np.tile(prevalence_of(model), (DRAWN, 1)))
    symbols = [_choices(rng, model.emissionprob[states])]
    for gap in gaps:
        states = _choices(rng, leaps[gap][states])
        symbols.append(_choices(rng, model.emissionprob[states]))
    return np.stack(symbols, axis=1)


def _choices(rng: np.random.Generator, probabilities: Floats) -> Ints:
    """One choice per row."""
    reached = np.cumsum(probabilities, axis=1)
    drawn = rng.random((len(reached), 1)) * reached[:, -1:]
    return np.asarray((drawn >= reached[:, :-1]).sum(axis=1), np.int64)

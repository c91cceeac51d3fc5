"""Scores: what parts of the evidence say about every probability of a model.

The score of a block is the gradient of log P(block | before), taken as the gradient of all its
window less that of what came before, with

    G_j = d log P / d p_j,     g_j = G_j - sum_row p G,     s_j = d_j g_j,     d = sqrt(p)

so that g is the change of log P as p_j grows at the cost of all others of its row.  Scores of
different blocks are uncorrelated, and the information is J = sum s s' over the blocks.  No entry of
p is divided by, so zeros have a score as well.

Pairs and triples overlap: the sum of their scores varies by V, not by their information H.  Of
pairs at lag 1 alone V has a closed form: the scores of (y_t, y_t+1) and (y_t+1, y_t+2) share a
symbol, G1, and those further apart the chain,

    G2 = G A Z F',     Z = (I - A + 1 pi')^-1 = 1 pi' + sum_l (A^l - 1 pi')

At other lags V is that of blocks that the model itself draws.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.data.sequences import Sequences
from cohmm.diagnose.fit_summary import NOTHING, Blocks
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.pair_law import PairJacobian, fundamental
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.model.hmm import HMM

BATCH = 2**22  # numbers in the scores of the blocks of one batch
SINGLE_PRECISION = 1000  # parameters from which on scores are float32
PROBABILITY_FLOOR = 1e-300
SCALE_FLOOR = 1e-12  # probability whose root is the scale of a zero
TILT = 1e-6
TRIPLE = 3
TRIPLE_WINDOWS = 1000  # whose sums give the variance: standard errors are then right to about 2 %
TRIPLES_PER_PARAMETER = 12
PAIR_BLOCK = 256  # symbols of a block that the model draws: many times as long as chains remember
N_PAIR_BLOCKS = 2000  # that it draws: standard errors are then right to about 2 %
SEED = 16


class Information(NamedTuple):
    """Sums over the evidence; entries are those of A and then of M, row by row, P = K K + K N."""

    matrix: Floats
    """J, (P, P): sum s s'."""
    scale: Floats
    """d, (P,)."""
    slope: Floats
    """sum g, (P,): how the log-likelihood changes as an entry grows at the cost of its row."""
    variance: Floats
    """Of the sum of the scores, (P, P): J itself where scores are uncorrelated."""
    slope_error: Floats | float = 0.0
    """Standard error of the slope, (P,), because blocks were sampled."""
    expected: Floats = np.zeros(0)
    """Expected number of times each entry was used, (P,)."""


def block_information(model: HMM, blocks: Blocks) -> Information:
    """The information that ``blocks`` hold about transitions and emissions.

    >>> from cohmm.data.sequences import Sequences
    >>> coin = HMM([1.0], [[1.0]], [[.5, .5]])
    >>> throws = Sequences.of([0, 1, 1, 0], [1, 1, 1, 1])
    >>> block_information(coin, Blocks.of(throws, 10)).matrix[1:, 1:].round(9).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    k, n = model.emissionprob.shape
    probability = entries(model)
    scale, size = scale_of(probability), len(probability)
    kind = np.float64 if size <= SINGLE_PRECISION else np.float32
    matrix = np.zeros((size, size))
    total, squares, visits = np.zeros(size), np.zeros(size), np.zeros(2 * k)
    for symbols, states, begins, weights, before in blocks.batches(max(BATCH // size, 16)):
        gradient = gradients(model, symbols, states, begins, before, kind)[:, k:]
        visits += weights @ centre(gradient, probability, k)
        total += weights @ gradient
        squares += weights**2 @ gradient**2
        gradient *= (np.sqrt(weights)[:, None] * scale).astype(kind)
        matrix += gradient.T @ gradient
    unsampled = 1 - len(blocks) / max(blocks.weights.sum(), 1.0)
    left = 0.0 if blocks.complete else max(unsampled, 0.0)
    expected = np.repeat(visits, np.repeat([k, n], k)) * probability
    return Information(matrix, scale, total, matrix, np.sqrt(left * squares), expected)


def sequence_scores(model: HMM, data: Sequences, weights: Floats) -> tuple[Floats, Floats]:
    """The variance of the sum of the scores of whole sequences, and that sum: (P + K, P + K).

    Entries are those of A, of M and of the start.  Each sequence counts as often as ``weights``
    (S,) says, and nothing is assumed but that they are independent of one another.
    """
    k = model.n_components
    p = np.append(entries(model), model.startprob)
    size = len(p)
    variance, total = np.zeros((size, size)), np.zeros(size)
    order = np.argsort(data.lengths, kind="stable")
    first = 0
    while first < len(order):
        # Padded to the longest of a batch, which says nothing: see `gradients`.
        length = int(data.lengths[order[min(first + 255, len(order) - 1)]])
        most = max(min(BATCH // max(size, 4 * k * length), 256), 1)
        batch = order[first : first + most]
        first += len(batch)
        length = int(data.lengths[batch].max())
        symbols = np.full((len(batch), length), NOTHING, np.int64)
        for row, s in enumerate(batch):
            symbols[row, : data.lengths[s]] = data.symbols[data.offsets[s] : data.offsets[s + 1]]
        score = np.roll(gradients(model, symbols, None, np.ones(len(batch), bool), 0), -k, axis=1)
        centre(score[:, :-k], p[:-k], k)
        score[:, -k:] -= (score[:, -k:] @ model.startprob)[:, None]
        total += weights[batch] @ score
        variance += (weights[batch, None] * score).T @ score
    # At the border of what is possible, and where the model was smoothed, scores have a mean.
    variance -= np.outer(total, total) / weights.sum()
    scale = scale_of(p)
    return scale[:, None] * variance * scale, total


def expected_uses(model: HMM, data: Sequences, weights: Floats) -> Floats:
    """How often each entry of A, M and the start was used, (P + K,)."""
    likelihood = SequenceLikelihood(data, weights, None)
    used = likelihood.expected(model).counts
    parts = used.transitions.ravel(), used.emissions.ravel(), used.starts
    return np.asarray(likelihood.units * np.concatenate(parts))


def observed_information(model: HMM, data: Sequences, weights: Floats, free: np.ndarray) -> Floats:
    """- d2 log P(data) / du du', (P + K, P + K).

    By differences of the score as an entry is tilted, p exp(t) / sum, in the rows and columns of
    those that are ``free``; as `sequence_scores`.  It holds where the model does not.
    """
    k, n = model.emissionprob.shape
    rows = np.append(np.repeat(np.arange(2 * k), np.repeat([k, n], k)), np.full(k, 2 * k))

    def gradient(p: Floats) -> Floats:
        tables = p[-k:], p[: k * k].reshape(k, k), p[k * k : -k].reshape(k, n)
        uses = expected_uses(HMM(*tables), data, weights)
        return np.where(free, uses / np.where(p > 0, p, 1.0), 0.0)

    # A tilt of entry j moves p by p_j (e_j - p_row).  What all of a row have in common is nothing
    # that the row may change by: the sandwich leaves it out.
    p = np.append(entries(model), model.startprob)
    at = gradient(p)
    bend = np.zeros((len(p), len(p)))
    for j in np.flatnonzero(free):
        tilted = p.copy()
        tilted[j] *= 1 + TILT
        row = rows == rows[j]
        tilted[row] /= tilted[row].sum()
        bend[:, j] = (at - gradient(tilted)) / (np.log1p(TILT) * p[j])
    scale = scale_of(p)
    both = scale[:, None] * (bend + bend.T) / 2 * scale
    return np.where(np.outer(free, free), both, 0.0)


def triple_information(model: HMM, windows: Ints) -> Information:
    """H and V per triple, each a chain of its own: see `standard_errors.triple_errors`.

    The distribution of the first state of a triple is one more row of entries, at the end.
    """
    k, prevalence = model.n_components, prevalence_of(model)
    p = np.concatenate([entries(model), prevalence])
    scale, size = scale_of(p), len(p)
    stationary = HMM(prevalence, model.transmat, model.emissionprob)
    inside = windows.shape[1] - TRIPLE + 1
    n_windows = max(TRIPLE_WINDOWS, -(-TRIPLES_PER_PARAMETER * size // inside))
    windows = windows[np.linspace(0, len(windows) - 1, min(n_windows, len(windows))).astype(int)]
    h, v, n = np.zeros((size, size)), np.zeros((size, size)), 0
    step = max(BATCH // (size * inside), 1)
    for first in range(0, len(windows), step):
        triples = np.lib.stride_tricks.sliding_window_view(
            windows[first : first + step], TRIPLE, axis=1
        ).reshape(-1, TRIPLE)
        complete = (triples != NOTHING).all(axis=1)
        score = gradients(stationary, triples, None, np.ones(len(triples), bool), 0)
        score = np.roll(score, -k, axis=1)
        centre(score[:, :-k], p[:-k], k)
        score[:, -k:] -= (score[:, -k:] @ prevalence)[:, None]
        score *= complete[:, None] * scale
        n += int(complete.sum())
        h += score.T @ score
        sums = score.reshape(-1, inside, size).sum(axis=1)
        v += sums.T @ sums
    visits = np.concatenate([np.repeat(prevalence, k), np.repeat(prevalence, model.n_symbols)])
    expected = np.append(visits, np.ones(k)) * p
    return Information(h / max(n, 1), scale, np.zeros(size), v / max(n, 1), expected=expected)


def start_information(model: HMM, starts: Blocks) -> Floats:
    """What the first blocks of sequences say about where they begin, (K, K): sum g g'."""
    matrix = np.zeros((model.n_components, model.n_components))
    for symbols, states, begins, weights, before in starts.batches(2**12):
        gradient = gradients(model, symbols, states, begins, before)[:, : model.n_components]
        centred = gradient - (gradient @ model.startprob)[:, None]
        matrix += (weights[:, None] * centred).T @ centred
    return matrix


def entries(model: HMM) -> Floats:
    """A and M in one vector, (K K + K N,)."""
    return np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()])


def scale_of(probability: Floats) -> Floats:
    """d, (P,): the root of each probability."""
    return np.asarray(np.sqrt(np.maximum(probability, SCALE_FLOOR)))


def centre(gradient: Floats, probability: Floats, k: int) -> Floats:
    """Take sum_row p G from every row of A and M, in place; returns it, (n, 2 K)."""
    n, means = len(gradient), []
    for place in (slice(0, k * k), slice(k * k, None)):
        table = gradient[:, place].reshape(n, k, -1)
        mean = np.einsum("nij,ij->ni", table, probability[place].reshape(k, -1))
        gradient[:, place] = (table - mean[..., None]).reshape(n, -1)
        means.append(mean)
    return np.hstack(means)


def gradients(
    model: HMM,
    symbols: Ints,
    states: Ints | None,
    begins: np.ndarray,
    before: int,
    kind: type = np.float64,
) -> Floats:
    """d log P(block | before) / d p for all tables, (n, K + K K + K N), each entry by itself.

    Windows (n, before + 8) begin where the chain is stationary, or with the sequence.
    """
    (n, length), (k, n_symbols) = symbols.shape, model.emissionprob.shape
    seen = symbols >= 0
    emitted = np.where(seen[..., None], model.emissionprob.T[np.maximum(symbols, 0)], 1.0)
    possible = np.ones(emitted.shape)
    if states is not None:
        possible = (states[..., None] < 0) | (states[..., None] == np.arange(k))
        emitted = emitted * possible
    ahead = np.empty((n, length, k))
    alpha = np.empty((n, length, k))
    scale = np.empty((n, length, 1))
    predicted = np.where(begins[:, None], model.startprob, prevalence_of(model))
    for t in range(length):
        ahead[:, t] = predicted
        joint = predicted * emitted[:, t]
        scale[:, t] = np.maximum(joint.sum(axis=1, keepdims=True), PROBABILITY_FLOOR)
        alpha[:, t] = joint / scale[:, t]
        predicted = alpha[:, t] @ model.transmat
    # What follows a place, with the block and without it; both scaled, so that they can be taken
    # from each other: alpha beta sums to one.
    result = np.zeros((n, k + k * k + k * n_symbols), kind)
    by_emission = result[:, k + k * k :].reshape(n, k, n_symbols)
    with_block, without = np.ones((n, k)), np.ones((n, k))
    arrivals = np.zeros((n, length, k))
    every = np.arange(n)
    for t in range(length - 1, -1, -1):
        change = with_block - without if t < before else with_block
        per_symbol = ahead[:, t] * change * possible[:, t] / scale[:, t]
        by_emission[every, :, np.maximum(symbols[:, t], 0)] += per_symbol * seen[:, t, None]
        arrivals[:, t] = change * emitted[:, t] / scale[:, t]
        if t > 0:
            with_block = (with_block * emitted[:, t] / scale[:, t]) @ model.transmat.T
            if t < before:
                without = (without * emitted[:, t] / scale[:, t]) @ model.transmat.T
    result[:, :k] = np.where(begins[:, None], arrivals[:, 0], 0.0)
    by_transition = np.matmul(alpha[:, :-1].transpose(0, 2, 1), arrivals[:, 1:])
    result[:, k : k + k * k] = by_transition.reshape(n, -1)
    return result


def pair_information(
    model: HMM, weights: Mapping[int, float], omega: Mapping[int, Any] | None = None
) -> Information:
    """H and V per pair, at the lags that have ``weights``.

    ``omega`` are the observed pair laws, (N, N) each, for the slope; else it is 0.  A symbol that
    the model never emits is certain to be as rare as the data says: it has no information.

    >>> coin = HMM([1.0], [[1.0]], [[.5, .5]])
    >>> coins = pair_information(coin, {1: 1.0})
    >>> coins.matrix[1:, 1:].round(9)  # a pair is two throws ...
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> coins.variance[1:, 1:].round(9)  # ... and each throw is in two pairs
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    k, p = model.n_components, entries(model)
    lags = {lag: weight for lag, weight in weights.items() if weight > 0}
    laws = {lag: PairJacobian.of(model, lag) for lag in lags}
    slope = np.zeros((1, len(p)))
    for lag, law in laws.items() if omega is not None else ():
        counts = sparse.csr_array(np.asarray(omega[lag]).reshape(1, -1))  # type: ignore[index]
        slope += lags[lag] * law.sums(counts)
    matrix = _centred(model, sum(lags[lag] * law.curvature() for lag, law in laws.items()))
    if set(lags) == {1}:
        variance = matrix + _centred(model, _overlaps(model, laws[1]))
    else:
        drawn = _simulated(model, laws)
        sums = np.asarray(sum(lags[lag] * law.sums(drawn[lag]) for lag, law in laws.items()))
        variance = _centred(model, sums.T @ sums / (N_PAIR_BLOCKS * PAIR_BLOCK))
    centre(slope, p, k)
    never = np.append(np.zeros(k * k, bool), np.tile(~model.emissionprob.any(axis=0), k))
    matrix[never], matrix[:, never] = 0.0, 0.0
    slope[0, never] = -np.repeat(prevalence_of(model), model.n_symbols)[never[k * k :]]
    scale = scale_of(p)
    both = scale[:, None] * scale
    return Information(both * matrix, scale, slope[0], both * variance)


def volume_slope(model: HMM, volume: Volume) -> Floats:
    """How the volume term changes with the transitions, (K K,), each at the cost of its row."""
    a, pi = model.transmat, prevalence_of(model)
    theta = pi[:, None] * a
    bound = volume.majoriser(theta)
    by_theta = bound.quadratic * theta - bound.log / np.maximum(theta, SCALE_FLOOR) + bound.linear
    z = np.linalg.inv(np.eye(len(pi)) - a + pi)
    by_a = pi[:, None] * (by_theta + z @ (a * by_theta).sum(axis=1))
    return np.asarray(by_a - (a * by_a).sum(axis=1, keepdims=True)).ravel()


def _centred(model: HMM, matrix: Any) -> Floats:
    """G_j - sum_row p G on both sides of a sum of G G', (P, P)."""
    p, k = entries(model), model.n_components
    half = np.array(matrix)
    centre(half, p, k)
    full = np.array(half.T, order="C")
    centre(full, p, k)
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
    for sums in (before, after):
        centre(sums, entries(model), k)
    total = shared + before.T @ (model.transmat @ fundamental(model)) @ after
    return np.asarray(total + total.T)


def _simulated(model: HMM, laws: Mapping[int, PairJacobian]) -> dict[int, Any]:
    """How often each pair is in each block that the model draws, by lag: (blocks, N N), sparse."""
    places = np.unique(
        np.add.outer([0, *laws], np.arange(PAIR_BLOCK))
    )  # of a block, those in pairs
    whole = len(places) > places[-1]
    windows = _consecutive(model, len(places)) if whole else _leaping(model, places)
    n = model.n_symbols
    block = np.repeat(np.arange(N_PAIR_BLOCKS), PAIR_BLOCK)
    counts = {}
    for lag in laws:
        first = int(np.searchsorted(places, lag))
        pairs = (windows[:, :PAIR_BLOCK] * n + windows[:, first : first + PAIR_BLOCK]).ravel()
        ones = np.ones(len(pairs))
        counts[lag] = sparse.csr_array((ones, (block, pairs)), shape=(N_PAIR_BLOCKS, n * n))
    return counts


def _consecutive(model: HMM, width: int) -> Ints:
    """A long sequence that the model draws, in blocks."""
    stationary = HMM(prevalence_of(model), model.transmat, model.emissionprob)
    symbols = stationary.sample(N_PAIR_BLOCKS * width, np.random.default_rng(SEED))[0]
    return symbols.astype(np.int64).reshape(N_PAIR_BLOCKS, width)


def _leaping(model: HMM, places: Ints) -> Ints:
    """Blocks of which only some ``places`` are drawn: the chain leaps over those between."""
    rng = np.random.default_rng(SEED)
    gaps = np.diff(places).tolist()
    leaps = {gap: np.linalg.matrix_power(model.transmat, gap) for gap in set(gaps)}
    states = _choices(rng, np.tile(prevalence_of(model), (N_PAIR_BLOCKS, 1)))
    symbols = [_choices(rng, model.emissionprob[states])]
    for gap in gaps:
        states = _choices(rng, leaps[gap][states])
        symbols.append(_choices(rng, model.emissionprob[states]))
    return np.stack(symbols, axis=1)


def _choices(rng: np.random.Generator, probabilities: Floats) -> Ints:
    """One choice per row."""
    reached = np.cumsum(probabilities, axis=1)
    uniform = rng.random((len(reached), 1)) * reached[:, -1:]
    return np.asarray((uniform >= reached[:, :-1]).sum(axis=1), np.int64)

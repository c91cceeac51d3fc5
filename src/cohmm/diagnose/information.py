"""What blocks of the data say about every probability of a maximum-likelihood model.

The score of a block is the gradient of log P(block | before), taken as the gradient of all its
window less that of what came before, with

    G_j = d log P / d p_j,     g_j = G_j - sum_row p G,     s_j = d_j g_j,     d = sqrt(p)

so that g is the change of log P as p_j grows at the cost of all others of its row.  The information
is J = sum s s' over the blocks.  No entry of p is divided by, so zeros have a score as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.diagnose.blocks import Blocks
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

AT_ONCE = 2**22  # numbers in the scores of the blocks that are looked at together
SINGLES = 1000  # parameters from which on scores are float32
LEAST = 1e-300
SMALLEST = 1e-12  # probability whose root is the scale of a zero


class Information(NamedTuple):
    """Sums over blocks; entries are those of A and then of M, row by row, P = K K + K N."""

    matrix: Floats
    """J, (P, P): sum s s'."""
    slope: Floats
    """sum g, (P,): how the log-likelihood changes as an entry grows at the cost of its row."""
    slope_error: Floats
    """Standard error of the slope, (P,), because not all blocks were looked at."""
    scale: Floats
    """d, (P,)."""
    expected: Floats
    """How often each entry is expected to have happened, (P,)."""
    n_blocks: float
    """How many blocks were looked at."""


def block_information(model: HMM, blocks: Blocks) -> Information:
    """The information that ``blocks`` hold about transitions and emissions.

    >>> from cohmm.data.sequences import Sequences
    >>> coin = HMM([1.0], [[1.0]], [[.5, .5]])
    >>> throws = Sequences.of([0, 1, 1, 0], [1, 1, 1, 1])
    >>> block_information(coin, Blocks.of(throws, 10)).matrix[1:, 1:].round(9).tolist()
    [[2.0, -2.0], [-2.0, 2.0]]
    """
    k, n = model.emissionprob.shape
    size = k * (k + n)
    probability = entries(model)
    scale = np.sqrt(np.maximum(probability, SMALLEST))
    kind = np.float64 if size <= SINGLES else np.float32
    matrix = np.zeros((size, size))
    total, squares, visits = np.zeros(size), np.zeros(size), np.zeros(2 * k)
    for symbols, states, begins, weights, before in blocks.parts(max(AT_ONCE // size, 16)):
        gradient = gradients(model, symbols, states, begins, before, kind)[:, k:]
        visits += weights @ _centred(gradient, probability, k)
        root = np.sqrt(weights)
        total += weights @ gradient
        squares += weights**2 @ gradient**2
        gradient *= (root[:, None] * scale).astype(kind)
        matrix += gradient.T @ gradient
    rows = np.repeat(visits, np.repeat([k, n], k))
    left = 0.0 if blocks.complete else max(1 - len(blocks) / max(blocks.weights.sum(), 1.0), 0.0)
    return Information(
        matrix, total, np.sqrt(left * squares), scale, rows * probability, blocks.effective
    )


def start_information(model: HMM, starts: Blocks) -> Floats:
    """What the first blocks of sequences say about where they begin, (K, K): sum g g'."""
    matrix = np.zeros((model.n_components, model.n_components))
    for symbols, states, begins, weights, before in starts.parts(2**12):
        gradient = gradients(model, symbols, states, begins, before)[:, : model.n_components]
        centred = gradient - (gradient @ model.startprob)[:, None]
        matrix += (weights[:, None] * centred).T @ centred
    return matrix


def entries(model: HMM) -> Floats:
    """A and M in one vector, (K K + K N,)."""
    return np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()])


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
        scale[:, t] = np.maximum(joint.sum(axis=1, keepdims=True), LEAST)
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


def _centred(gradient: Floats, probability: Floats, k: int) -> Floats:
    """Take sum_row p G from every row of A and M, in place; returns it, (n, 2 K)."""
    n = len(gradient)
    means = np.empty((n, 2 * k))
    for half, place in enumerate((slice(0, k * k), slice(k * k, None))):
        table = gradient[:, place].reshape(n, k, -1)
        mean = np.einsum("nij,ij->ni", table, probability[place].reshape(k, -1))
        table -= mean[..., None]
        gradient[:, place] = table.reshape(n, -1)
        means[:, half * k : (half + 1) * k] = mean
    return means

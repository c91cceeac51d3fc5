"""The slow and obvious versions: every path by itself, every pair in a loop.

Sequences are plain lists of codes; -1 is a missing observation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product

import numpy as np

from cohmm import HMM

Codes = Sequence[int]


# -- counting -------------------------------------------------------------------------------


def pair_counts(sequences: Sequence[Codes], lag: int, weights: Sequence[float] | None = None):
    """Counter of (a, b), b following a ``lag`` places on in the same sequence."""
    counts: Counter[tuple[int, int]] = Counter()
    for s, sequence in enumerate(sequences):
        for t in range(len(sequence) - lag):
            a, b = int(sequence[t]), int(sequence[t + lag])
            if a >= 0 and b >= 0:
                counts[a, b] += 1 if weights is None else weights[s]
    return counts


def pair_matrix(
    sequences: Sequence[Codes], n: int, lag: int, weights: Sequence[float] | None = None
) -> np.ndarray:
    """`pair_counts` as an (N, N) array."""
    matrix = np.zeros((n, n), np.int64 if weights is None else np.float64)
    for pair, count in pair_counts(sequences, lag, weights).items():
        matrix[pair] = count
    return matrix


def triple_counts(sequences: Sequence[Codes]) -> Counter[tuple[int, int, int]]:
    """Counter of (a, b, c), three observations in a row."""
    counts: Counter[tuple[int, int, int]] = Counter()
    for sequence in sequences:
        for t in range(len(sequence) - 2):
            a, b, c = (int(sequence[t + i]) for i in range(3))
            if a >= 0 and b >= 0 and c >= 0:
                counts[a, b, c] += 1
    return counts


# -- all paths ------------------------------------------------------------------------------


def path_probability(model: HMM, y: Codes, path: Codes) -> float:
    """P(states, symbols) of one sequence, factor by factor."""
    value = float(model.startprob[path[0]])
    for before, after in pairwise(path):
        value *= float(model.transmat[before, after])
    for symbol, state in zip(y, path, strict=True):
        if symbol >= 0:
            value *= float(model.emissionprob[state, symbol])
    return value


def all_paths(model: HMM, y: Codes) -> Iterator[tuple[tuple[int, ...], float]]:
    """Every path of states, and its probability together with the symbols."""
    for path in product(range(model.n_components), repeat=len(y)):
        yield path, path_probability(model, y, path)


def likelihood(model: HMM, y: Codes) -> float:
    """P(y), the sum over all paths."""
    return math.fsum(value for _, value in all_paths(model, y))


def posterior(model: HMM, y: Codes) -> np.ndarray:
    """P(state at t | y), (T, K)."""
    rows = np.zeros((len(y), model.n_components))
    for path, value in all_paths(model, y):
        for t, state in enumerate(path):
            rows[t, state] += value
    return rows / likelihood(model, y)


def filtered(model: HMM, y: Codes) -> np.ndarray:
    """P(state at t | symbols up to t), (T, K): the last posterior of every beginning of y."""
    return np.array([posterior(model, y[: t + 1])[-1] for t in range(len(y))])


def best_probability(model: HMM, y: Codes) -> float:
    """The largest probability of a path together with the symbols."""
    return max(value for _, value in all_paths(model, y))


def expected_counts(model: HMM, y: Codes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Expected starts (K,), transitions (K, K) and emissions (K, N) given y."""
    k, n = model.emissionprob.shape
    starts, transitions, emissions = np.zeros(k), np.zeros((k, k)), np.zeros((k, n))
    for path, value in all_paths(model, y):
        starts[path[0]] += value
        for before, after in pairwise(path):
            transitions[before, after] += value
        for symbol, state in zip(y, path, strict=True):
            if symbol >= 0:
                emissions[state, symbol] += value
    total = likelihood(model, y)
    return starts / total, transitions / total, emissions / total


def em_step(
    model: HMM, sequences: Sequence[Codes], pseudo: Sequence[float] = (0.0, 0.0, 0.0)
) -> tuple[float, HMM]:
    """log P(sequences), and the model after one step of Baum-Welch, row by row."""
    found = [expected_counts(model, y) for y in sequences]
    tables = (model.startprob[None], model.transmat, model.emissionprob)
    new = []
    for table, parts, extra in zip(tables, zip(*found, strict=True), pseudo, strict=True):
        counts = sum(parts).reshape(table.shape)
        rows = []
        for old, row in zip(table, counts, strict=True):
            filled = [c + extra if p > 0 else 0.0 for c, p in zip(row, old, strict=True)]
            total = math.fsum(filled)
            rows.append([c / total for c in filled] if total > 0 else list(old))
        new.append(rows)
    log_prob = math.fsum(math.log(likelihood(model, y)) for y in sequences)
    return log_prob, HMM(new[0][0], new[1], new[2])


def forecast(model: HMM, y: Codes, steps: int) -> np.ndarray:
    """P(symbol h places behind the end | y): what y, gaps and the symbol make together."""
    rows = [
        [likelihood(model, [*y, *[-1] * gap, n]) for n in range(model.n_symbols)]
        for gap in range(steps)
    ]
    return np.array(rows) / likelihood(model, y)


# -- longer sequences, in logarithms, of more digits where the machine has them --------------


def _log(values: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(np.asarray(values, np.longdouble))


def _log_frames(model: HMM, y: Codes) -> np.ndarray:
    frames = np.zeros((len(y), model.n_components), np.longdouble)
    for t, symbol in enumerate(y):
        if symbol >= 0:
            frames[t] = _log(model.emissionprob[:, symbol])
    return frames


def log_alpha(model: HMM, y: Codes) -> np.ndarray:
    """log P(symbols up to t, state at t), (T, K)."""
    frames, trans = _log_frames(model, y), _log(model.transmat)
    alpha = np.empty_like(frames)
    alpha[0] = _log(model.startprob) + frames[0]
    for t in range(1, len(y)):
        alpha[t] = np.logaddexp.reduce(alpha[t - 1][:, None] + trans, axis=0) + frames[t]
    return alpha


def log_beta(model: HMM, y: Codes) -> np.ndarray:
    """log P(symbols after t | state at t), (T, K)."""
    frames, trans = _log_frames(model, y), _log(model.transmat)
    beta = np.zeros_like(frames)
    for t in range(len(y) - 2, -1, -1):
        beta[t] = np.logaddexp.reduce(trans + frames[t + 1] + beta[t + 1], axis=1)
    return beta


def log_likelihood(model: HMM, y: Codes) -> float:
    """log P(y) by a forward pass in logarithms."""
    return float(np.logaddexp.reduce(log_alpha(model, y)[-1]))


def log_filtered(model: HMM, y: Codes) -> np.ndarray:
    """P(state at t | symbols up to t), (T, K), by a forward pass in logarithms."""
    alpha = log_alpha(model, y)
    return np.exp(alpha - np.logaddexp.reduce(alpha, axis=1, keepdims=True)).astype(float)


def log_posterior(model: HMM, y: Codes) -> np.ndarray:
    """P(state at t | y), (T, K), by two passes in logarithms."""
    both = log_alpha(model, y) + log_beta(model, y)
    return np.exp(both - np.logaddexp.reduce(both, axis=1, keepdims=True)).astype(float)


def log_expected_counts(model: HMM, y: Codes) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As `expected_counts`, by two passes in logarithms."""
    alpha, beta, frames = log_alpha(model, y), log_beta(model, y), _log_frames(model, y)
    trans, total = _log(model.transmat), np.logaddexp.reduce(alpha[-1])
    gamma = log_posterior(model, y)
    transitions = np.zeros_like(model.transmat)
    for t in range(len(y) - 1):
        step = alpha[t][:, None] + trans + frames[t + 1] + beta[t + 1]
        transitions += np.exp(step - total).astype(float)
    emissions = np.zeros_like(model.emissionprob)
    for symbol, row in zip(y, gamma, strict=True):
        if symbol >= 0:
            emissions[:, symbol] += row
    return gamma[0], transitions, emissions


def path_log_probability(model: HMM, y: Codes, path: Codes) -> float:
    """log P(states, symbols) of one sequence of any length, summed without rounding."""
    y, path = np.asarray(y), np.asarray(path)
    seen = y >= 0
    return math.fsum(
        [
            *_log(model.startprob[path[:1]]),
            *_log(model.transmat[path[:-1], path[1:]]),
            *_log(model.emissionprob[path[seen], y[seen]]),
        ]
    )


# -- the chain by itself --------------------------------------------------------------------


def pair_probability(model: HMM, stationary: np.ndarray, lag: int) -> np.ndarray:
    """P(a at t, b at t + lag), by summing over all states in between."""
    k, n = model.emissionprob.shape
    law = np.zeros((n, n))
    for path in product(range(k), repeat=lag + 1):
        weight = stationary[path[0]]
        for before, after in pairwise(path):
            weight *= model.transmat[before, after]
        for a in range(n):
            for b in range(n):
                law[a, b] += (
                    weight * model.emissionprob[path[0], a] * model.emissionprob[path[-1], b]
                )
    return law


def corners_of_the_dual(emissionprob: np.ndarray) -> list[np.ndarray]:
    """All corners of {x : M x >= 0, 1'x = 1}, one set of K - 1 rows after another."""
    m = np.array([row / row.max() for row in emissionprob.T if row.max() > 0])
    k = m.shape[1]
    corners = []
    for rows in combinations(range(len(m)), k - 1):
        values, vectors = np.linalg.svd(m[list(rows)])[1:]
        x = vectors[-1]
        if values[-1] < 1e-10 or abs(x.sum()) < 1e-12:
            continue
        x = x / x.sum()
        if (m @ x >= -1e-9 * np.abs(x).max()).all():
            corners.append(x)
    return corners


def is_scattered(emissionprob: np.ndarray) -> bool:
    """Definition 1 of the paper, by all corners: none is longer than 1, nor as long but e_k."""
    return all(
        x @ x < 1 - 1e-7 or (x @ x < 1 + 1e-7 and x.max() > 1 - 1e-6)
        for x in corners_of_the_dual(emissionprob)
    )

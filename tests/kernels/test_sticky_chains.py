"""Kernels of documents' chains, against the recursions with whole matrices."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.kernels import full_chains, sticky_chains
from tests.laws import close


def forward_backward(words: np.ndarray, m: np.ndarray, start: np.ndarray, a: np.ndarray):
    """Filtered, posteriors, expected transitions and the scales, with whole matrices."""
    length, k = len(words), len(start)
    filtered, scales = np.empty((length, k)), np.empty(length)
    for t, word in enumerate(words):
        now = m[word] * (start if t == 0 else filtered[t - 1] @ a)
        scales[t] = now.sum()
        filtered[t] = now / scales[t]
    later, moves, posteriors = np.ones(k), np.zeros((k, k)), np.empty((length, k))
    for t in range(length - 1, -1, -1):
        posteriors[t] = filtered[t] * later
        likely = m[words[t]] * later / scales[t]
        if t > 0:
            moves += filtered[t - 1][:, None] * a * likely
        later = a @ likely
    return filtered, posteriors, moves, scales


@pytest.mark.parametrize("switch", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("length", [1, 2, 30])
def test_both_kernels_are_the_recursion(switch: float, length: int) -> None:
    rng = np.random.default_rng(0)
    k, v = 5, 12
    m = rng.dirichlet(np.ones(v), size=k).T.copy()
    p = rng.dirichlet(np.ones(k))
    a = (1 - switch) * np.eye(k) + switch * p
    words = rng.integers(0, v, length).astype(np.int32)
    filtered, posteriors, moves, scales = forward_backward(words, m, p, a)
    found, its = np.empty((length, k)), np.empty(length)
    room, drawn, found_moves = np.empty((2, k)), np.empty(k), np.empty((k, k))

    sticky_chains.forward(words, m, p, switch, found, its)
    close(found, filtered)
    close(its, scales)
    draws = posteriors[0] + (moves / a * switch * p).sum(axis=0)
    sticky_chains.expected_draws(words, m, p, switch, its, room, drawn)
    close(drawn, draws)
    sticky_chains.backward(words, m, p, switch, found, its, room, drawn)
    close(found, posteriors)
    close(drawn, draws)

    full_chains.forward(words, m, p, a, found, its)
    close(found, filtered)
    full_chains.backward(words, m, a, found, its, room, found_moves)
    close(found, posteriors)
    close(found_moves, moves)
    close(found_moves.sum(), length - 1)


def test_a_part_touches_its_own_documents_alone() -> None:
    rng = np.random.default_rng(1)
    m = rng.dirichlet(np.ones(6), size=3).T.copy()
    symbols = rng.integers(0, 6, 40).astype(np.int32)
    offsets = np.array([0, 10, 10, 25, 40])
    prior, logs = np.full(3, 0.5), np.full(40, np.nan)
    sticky_chains.predict_words(symbols, offsets, (1, 3), m, prior, 0.3, logs)
    assert np.isnan(logs[:10]).all()
    assert np.isfinite(logs[10:25]).all()
    assert np.isnan(logs[25:]).all()
    counts, totals = np.zeros((6, 3)), np.zeros(4)
    own = np.full((2, 3), 1 / 3)
    weights = np.array([1.0, 1.0, 0.5, 1.0])
    sticky_chains.count_words(
        symbols, offsets, (1, 3), weights, m, prior, 0.3, 2, own, counts, totals
    )
    close(counts.sum(axis=1), 0.5 * np.bincount(symbols[10:25], minlength=6))
    assert (own[0] == 1 / 3).all()  # an empty document stays as it was
    assert (own[1] != 1 / 3).all()
    assert totals[1] == 7.0

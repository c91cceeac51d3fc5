"""Kernels of documents' chains, against the recursions with whole matrices."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cohmm.kernels import native
from cohmm.kernels.documents import DocumentChain, Reading
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


def inferred(words: np.ndarray, chain: DocumentChain, sweeps: int = 0, halves: bool = False):
    """One document, read by its chain."""
    n, k = len(words), len(chain.prior)
    out = Reading(
        np.empty((1, k)), np.empty(1), np.empty(n, np.int32), np.empty(n), np.empty((n, k))
    )
    native.infer_documents(words, np.array([0, n]), (0, 1), chain, halves, sweeps, 0.0, out)
    return out


def updated(prior: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return (prior + counts) / (prior + counts).sum(axis=-1, keepdims=True)


def best_path(words: np.ndarray, m: np.ndarray, start: np.ndarray, a: np.ndarray) -> list[int]:
    """Of all paths, the one of the largest probability."""

    def probability(path: tuple[int, ...]) -> float:
        joint = start[path[0]] * m[words[0], path[0]]
        for t in range(1, len(words)):
            joint *= a[path[t - 1], path[t]] * m[words[t], path[t]]
        return float(joint)

    return list(max(product(range(len(start)), repeat=len(words)), key=probability))


@pytest.mark.parametrize("switch", [0.05, 0.6, 1.0])
@pytest.mark.parametrize("length", [1, 2, 30])
@pytest.mark.parametrize("k", [1, 3, 5, 8, 13, 70])
def test_both_kinds_are_the_recursion(switch: float, length: int, k: int) -> None:
    rng = np.random.default_rng(0)
    v = 12
    m = rng.dirichlet(np.ones(v), size=k).T.copy()
    prior = 2 * rng.dirichlet(np.ones(k))
    rows = 3 * rng.dirichlet(np.ones(k), size=k)
    words = rng.integers(0, v, length).astype(np.int32)
    p, start, a = prior / 2, prior / 2, rows / 3
    for sweeps in range(3):
        sticky = (1 - switch) * np.eye(k) + switch * p
        _, posteriors, moves, scales = forward_backward(words, m, p, sticky)
        reading = inferred(words, DocumentChain(m, prior, switch), sweeps)
        close(reading.posteriors, posteriors)
        close(reading.shares[0], posteriors.mean(axis=0))
        close(reading.log_likelihoods[0], np.log(scales).sum())
        close(reading.probabilities, posteriors[np.arange(length), reading.topics])
        p = updated(prior, posteriors[0] + (moves / sticky * switch * p).sum(axis=0))

        _, posteriors, moves, scales = forward_backward(words, m, start, a)
        reading = inferred(words, DocumentChain(m, prior, rows=rows), sweeps)
        close(reading.posteriors, posteriors)
        close(reading.log_likelihoods[0], np.log(scales).sum())
        close(moves.sum(), length - 1)
        start, a = updated(prior, posteriors[0]), updated(rows, moves)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_topics_are_the_most_probable_of_all_words_together(k: int, length: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        m = rng.dirichlet(np.ones(6), size=k).T.copy()
        prior, rows = 2 * rng.dirichlet(np.ones(k)), 3 * rng.dirichlet(np.ones(k), size=k)
        words = rng.integers(0, 6, length).astype(np.int32)
        p = prior / 2
        topics = inferred(words, DocumentChain(m, prior, 0.4)).topics
        assert topics.tolist() == best_path(words, m, p, 0.6 * np.eye(k) + 0.4 * p)
        topics = inferred(words, DocumentChain(m, prior, rows=rows)).topics
        assert topics.tolist() == best_path(words, m, p, rows / 3)


def test_the_second_half_given_the_first() -> None:
    rng = np.random.default_rng(3)
    m = rng.dirichlet(np.ones(6), size=3).T.copy()
    prior, rows = np.full(3, 0.5), rng.dirichlet(np.ones(3), size=3)
    words = rng.integers(0, 6, 11).astype(np.int32)
    for chain in (DocumentChain(m, prior, 0.3), DocumentChain(m, prior, rows=rows)):
        both = inferred(words, chain, halves=True).log_likelihoods
        alone = inferred(words[:5], chain).log_likelihoods
        close(both + alone, inferred(words, chain).log_likelihoods)
        one = inferred(words[:1], chain, sweeps=4, halves=True)  # nothing to fit to
        close(one.log_likelihoods, inferred(words[:1], chain).log_likelihoods)


def test_words_are_predicted_by_counts_so_far() -> None:
    rng = np.random.default_rng(2)
    k, length, switch = 5, 9, 0.3
    m = rng.dirichlet(np.ones(6), size=k).T.copy()
    prior, rows = 2 * rng.dirichlet(np.ones(k)), 3 * rng.dirichlet(np.ones(k), size=k)
    words, offsets = rng.integers(0, 6, length).astype(np.int32), np.array([0, length])
    logs = np.empty(length)
    drawn, now = prior.copy(), prior / 2
    native.predict_words(words, offsets, (0, 1), DocumentChain(m, prior, switch), logs)
    for t, word in enumerate(words):
        jump = (switch if t else 1.0) * drawn / drawn.sum()
        stay = (1 - switch) * now if t else 0.0
        joint = m[word] * (stay + jump)
        close(logs[t], np.log(joint.sum()))
        drawn += m[word] * jump / joint.sum()
        now = joint / joint.sum()
    counts, now = rows.copy(), prior / 2
    native.predict_words(words, offsets, (0, 1), DocumentChain(m, prior, rows=rows), logs)
    for t, word in enumerate(words):
        joint = m[word] * (now[:, None] * counts / counts.sum(axis=1, keepdims=True))
        joint = joint if t else np.diag(m[word] * now)
        close(logs[t], np.log(joint.sum()))
        counts += joint / joint.sum() if t else 0.0
        now = joint.sum(axis=0) / joint.sum()


def test_a_part_touches_its_own_documents_alone() -> None:
    rng = np.random.default_rng(1)
    m = rng.dirichlet(np.ones(6), size=3).T.copy()
    symbols = rng.integers(0, 6, 40).astype(np.int32)
    offsets = np.array([0, 10, 10, 25, 40])
    prior, logs = np.full(3, 0.5), np.full(40, np.nan)
    chain = DocumentChain(m, prior, 0.3)
    native.predict_words(symbols, offsets, (1, 3), chain, logs)
    assert np.isnan(logs[:10]).all()
    assert np.isfinite(logs[10:25]).all()
    assert np.isnan(logs[25:]).all()
    counts, totals = np.zeros((6, 3)), np.zeros(4)
    own = np.full((2, 3), 1 / 3)
    weights = np.array([1.0, 1.0, 0.5, 1.0])
    native.count_words(symbols, offsets, (1, 3), weights, chain, 2, own, counts, totals)
    close(counts.sum(axis=1), 0.5 * np.bincount(symbols[10:25], minlength=6))
    assert (own[0] == 1 / 3).all()  # an empty document stays as it was
    assert (own[1] != 1 / 3).all()
    assert totals[1] == 7.0

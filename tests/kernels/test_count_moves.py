"""Expected transitions of sticky chains: against forward and backward with the whole matrix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cohmm.kernels import native
from cohmm.kernels.documents import DocumentChain
from tests.laws import close
from tests.topics.samples import documents_of

V = 6


def slowly(words, weight, m, prior, switch, sweeps):
    """All that `count_moves` adds for one document, (K, K)."""
    k = len(prior)
    p = prior / prior.sum()
    for last in [False] * sweeps + [True]:
        a = (1 - switch) * np.eye(k) + switch * p
        alpha = [p * m[words[0]]]
        for word in words[1:]:
            alpha.append(alpha[-1] @ a * m[word])
        beta = [np.ones(k)]
        for word in words[:0:-1]:
            beta.insert(0, a @ (m[word] * beta[0]))
        total = alpha[-1].sum()
        xi = [
            alpha[t - 1][:, None] * a * (m[words[t]] * beta[t]) / total
            for t in range(1, len(words))
        ]
        if last:
            return weight * sum(xi, start=np.zeros((k, k)))
        drawn = alpha[0] * beta[0] / total
        for moved in xi:
            drawn = drawn + (moved * (switch * p / a)).sum(axis=0)
        p = (prior + drawn) / (prior + drawn).sum()
    raise AssertionError


def counted(texts, weights, m, prior, switch, sweeps, part=None):
    documents = documents_of(texts, V)
    moves = np.zeros((len(prior), len(prior)))
    part = (0, len(texts)) if part is None else part
    chain = DocumentChain(m, prior, switch)
    native.count_moves(documents.symbols, documents.offsets, part, weights, chain, sweeps, moves)
    return moves


def a_model(seed: int, k: int):
    rng = np.random.default_rng(seed)
    m = np.ascontiguousarray(rng.dirichlet(np.full(V, 0.5), size=k).T) + 1e-6
    return rng, m / m.sum(axis=0), 2 * rng.dirichlet(np.ones(k))


@settings(deadline=None)
@given(
    st.lists(st.lists(st.integers(0, V - 1), max_size=11), min_size=1, max_size=5),
    st.integers(1, 9),
    st.floats(0.01, 1.0),
    st.integers(0, 3),
    st.integers(0, 99),
)
def test_moves_are_those_of_the_whole_matrix(texts, k, switch, sweeps, seed):
    rng, m, prior = a_model(seed, k)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=len(texts))
    moves = counted(texts, weights, m, prior, switch, sweeps)
    true = np.zeros((k, k))
    for text, weight in zip(texts, weights, strict=True):
        if len(text) > 1:
            true += slowly(text, weight, m, prior, switch, sweeps)
    close(moves, true)
    close(moves.sum(), sum(w * max(len(t) - 1, 0) for t, w in zip(texts, weights, strict=True)))


@pytest.mark.parametrize("cut", [0, 1, 2, 4])
def test_parts_add(cut: int) -> None:
    _, m, prior = a_model(0, 3)
    texts, weights = [[0, 1, 2, 3, 4, 5], [1], [], [5, 5, 0, 0, 2]], np.array([1.0, 2.0, 1.0, 0.5])
    whole = counted(texts, weights, m, prior, 0.3, 2)
    both = sum(counted(texts, weights, m, prior, 0.3, 2, part) for part in ((0, cut), (cut, 4)))
    close(whole, both)
    assert whole.min() > 0

"""Corpora whose topics are known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from cohmm.data.documents import Documents


def documents_of(texts: Sequence[Sequence[int]], n_words: int | None = None) -> Documents:
    """Documents of words that are named after their codes: w0, w1 ..."""
    lengths = [len(text) for text in texts]
    symbols = np.array([word for text in texts for word in text], np.int32)
    size = n_words or int(symbols.max(initial=-1)) + 1
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return Documents(symbols, offsets, tuple(f"w{i}" for i in range(size)))


def separable_topics(k: int, v: int, own: float = 0.05, seed: int = 0) -> np.ndarray:
    """Topics (K, V) of which each has an anchor, word k, of probability ``own``."""
    rng = np.random.default_rng(seed)
    topics = rng.dirichlet(np.full(v, 0.1), size=k)
    topics[:, :k] = 0
    topics *= (1 - own) / topics.sum(axis=1, keepdims=True)
    topics[np.arange(k), np.arange(k)] = own
    return topics


def sampled(topics: np.ndarray, n: int, length: int, alpha: float = 0.1, seed: int = 0):
    """``n`` documents by latent Dirichlet allocation."""
    rng = np.random.default_rng(seed)
    k, v = topics.shape
    texts = []
    for _ in range(n):
        law = rng.dirichlet(np.full(k, alpha)) @ topics
        texts.append(rng.choice(v, size=length, p=law / law.sum()))
    return documents_of(texts, v)


def error(found: np.ndarray, true: np.ndarray) -> float:
    """Mean total variation, topics matched."""
    cost = cdist(true, found, "cityblock") / 2
    return float(cost[linear_sum_assignment(cost)].mean())

"""Intervals of ratios: they cover, stay within bounds, and are nothing where nothing is known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from cohmm.topics.ratio_intervals import ratio_intervals

SIZES = (2, 3, 5, 10, 30, 100)
K = 6


def drawn(
    rng: np.random.Generator, base: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Words of every topic and of all, of documents that a few draws of topics make up."""
    lengths = np.maximum(rng.lognormal(4, 0.7, size=len(which)).astype(int), 1)
    gammas = rng.gamma(2.0 * base[which] + 1e-9)
    shares = gammas / gammas.sum(axis=1, keepdims=True)
    draws = 1 + rng.binomial(lengths - 1, 0.2)
    return lengths[:, None] * rng.multinomial(draws, shares) / draws[:, None], lengths


def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(len(SIZES)), SIZES)
    hits, n = np.zeros(len(SIZES)), 300
    for _ in range(n):
        base = rng.dirichlet(np.ones(K), size=len(SIZES))
        part, whole = drawn(rng, base, which)
        found = ratio_intervals(part, whole, which, len(SIZES))
        hits += ((found.low <= base) & (base <= found.high)).mean(axis=1)
    assert (hits / n > 0.85).all(), hits / n
    assert (hits / n < 0.95).all(), hits / n
    assert 0.88 < (hits / n).mean() < 0.92


def test_lengths_cover() -> None:
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(len(SIZES)), SIZES)
    hits, known = np.zeros(len(SIZES)), np.zeros(len(SIZES))
    for _ in range(300):
        runs = rng.poisson(2.0, size=(len(which), K))
        own = rng.gamma(4.0, size=(len(which), K))  # a document's words per run, 4 on average
        words = runs + rng.poisson(runs * own)
        found = ratio_intervals(words, runs, which, len(SIZES), kind="length")
        hits += ((found.low <= 5) & (found.high >= 5)).sum(axis=1)
        known += np.isfinite(found.low).sum(axis=1)
    assert (hits / known > 0.85).all(), hits / known
    assert (hits / known < 0.95).all(), hits / known


def test_one_group_of_equal_documents_is_the_mean_and_its_error() -> None:
    # The textbook's t interval of a mean, on the scale on which Wilson's is symmetric.
    shares = np.array([0.2, 0.3, 0.25, 0.4, 0.35])
    found = ratio_intervals(100 * shares[:, None], np.full(5, 100), np.zeros(5, int), 1)
    mean, error = shares.mean(), shares.std(ddof=1) / np.sqrt(5)
    assert found.value[0, 0] == pytest.approx(mean)
    for bound in (found.low[0, 0], found.high[0, 0]):
        spread = error * np.sqrt(bound * (1 - bound) / (mean * (1 - mean)))
        assert abs(bound - mean) == pytest.approx(student.ppf(0.95, 4) * spread)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from(["share", "length"]),
)
def test_intervals_hold_the_ratio_and_stay_within_bounds(
    seed: int, d: int, g: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    which = rng.integers(g, size=d)
    if kind == "share":
        whole = rng.integers(0, 9, size=d)
        part = rng.binomial(whole[:, None], rng.choice([0, 0.3, 1], size=(d, 2)))
    else:
        whole = rng.integers(0, 4, size=(d, 2))
        part = whole * rng.integers(1, 5, size=(d, 2))
    found = ratio_intervals(part, whole, which, g, kind=kind)  # type: ignore[arg-type]
    known = np.isfinite(found.low)
    assert (known == np.isfinite(found.high)).all()
    # As many documents with words as an interval needs.
    there = np.zeros((g, 2))
    np.add.at(there, which, whole[:, None] > 0 if whole.ndim == 1 else whole > 0)
    assert (known == (there > 1)).all()
    assert (np.isfinite(found.value) == (there > 0)).all()
    assert (found.low[known] <= found.value[known] + 1e-12).all()
    assert (found.value[known] <= found.high[known] + 1e-12).all()
    assert (found.low[known] >= (0 if kind == "share" else 1)).all()
    if kind == "share":
        assert (found.high[known] <= 1).all()


def test_a_topic_that_never_occurs_has_an_interval_with_a_length() -> None:
    part = np.zeros((6, 1))
    part[:3, 0] = [1, 0, 5]
    found = ratio_intervals(part, np.full(6, 10), [0, 0, 0, 1, 1, 1], 2)
    assert found.value[1, 0] == found.low[1, 0] == 0
    assert 0 < found.high[1, 0] < 0.6
    nowhere = ratio_intervals(np.zeros((2, 1)), [10, 10], [0, 0], 1)
    assert 0 < nowhere.high[0, 0] < 1


def test_a_wider_level_is_a_wider_interval() -> None:
    given_ = ([[2.0], [3.0], [5.0]], [10, 12, 9], [0, 0, 0], 1)
    narrow, wide = (ratio_intervals(*given_, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low
    assert narrow.high < wide.high

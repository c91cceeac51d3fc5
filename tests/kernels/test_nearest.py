"""Centres and points, against NumPy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.kernels import native


@given(st.integers(2, 6), st.integers(1, 1200), st.integers(0, 10**6))
def test_the_two_nearest_are_those_of_a_sort(k: int, n: int, seed: int) -> None:
    """Of two that are equally near, the first is the nearest: there are many such here."""
    distance = np.random.default_rng(seed).integers(-3, 4, (k, n)).astype(float)
    labels, least, second = np.empty(n, np.int64), np.empty(n), np.empty(n)
    native.two_nearest(distance, labels, least, second)
    np.testing.assert_array_equal(labels, distance.argmin(axis=0))
    np.testing.assert_array_equal([least, second], np.sort(distance, axis=0)[:2])


@given(st.integers(1, 5), st.integers(1, 4), st.integers(0, 10**6))
def test_centres_that_changed_are_means_and_others_stay(k: int, d: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, 20)]))
    points, weights = rng.normal(size=(len(labels), d)), rng.uniform(0.5, 2, len(labels))
    changed, before = rng.random(k) < 0.5, rng.normal(size=(k, d))
    centres = before.copy()
    native.move_centres(points, weights, labels, changed, centres)
    for cluster in range(k):
        mine = labels == cluster
        mean = np.average(points[mine], axis=0, weights=weights[mine])
        expected = mean if changed[cluster] else before[cluster]
        np.testing.assert_allclose(centres[cluster], expected, rtol=1e-12, atol=1e-12)

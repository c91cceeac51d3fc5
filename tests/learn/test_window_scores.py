"""Scores kept in parts: products and sums as of the dense matrix."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.learn.window_scores import WindowScores


def random_scores(n: int, k: int, n_symbols: int, width: int, seed: int) -> WindowScores:
    rng = np.random.default_rng(seed)
    return WindowScores(
        *(rng.normal(size=shape).astype(np.float32) for shape in ((n, k * k), (n, width, k))),
        rng.integers(0, n_symbols, (n, width)),
        *(rng.normal(size=(n_symbols, k)).astype(np.float32) for _ in range(2)),
    )


SIZES = st.tuples(
    st.integers(0, 12), st.integers(1, 4), st.integers(1, 5), st.integers(1, 4), st.integers(0, 99)
)


def by_definition(scores: WindowScores) -> np.ndarray:
    """A window, a place, a symbol and a state at a time."""
    n, width, _ = scores.posterior.shape
    emissions = np.zeros((n, *scores.slope.shape))
    for i in range(n):
        for t in range(width):
            emissions[i, scores.symbols[i, t]] += (
                scores.posterior[i, t] * scores.slope[scores.symbols[i, t]]
            )
            for symbol in range(len(scores.slope)):
                emissions[i, symbol] -= scores.posterior[i, t] * scores.centre[symbol]
    return np.hstack([scores.transitions, emissions.reshape(n, scores.slope.size)])


@given(SIZES)
def test_products_and_sums(sizes: tuple[int, int, int, int, int]) -> None:
    scores = random_scores(*sizes)
    n, size = scores.shape
    rng = np.random.default_rng(0)
    factor, x, weights = (rng.normal(size=m).astype(np.float32) for m in (size, size, n))
    for values, dense in (
        (scores, by_definition(scores)),
        (scores.scaled(factor), by_definition(scores) * factor),
    ):
        bound = {"rtol": 1e-4, "atol": 1e-4 * (1 + np.abs(dense).max(initial=0)) ** 2}
        assert dense.shape == values.shape
        np.testing.assert_allclose(values.dense(), dense, **bound)
        np.testing.assert_allclose(values.times(x), dense @ x, **bound)
        np.testing.assert_allclose(values.summed(weights), weights @ dense, **bound)
        np.testing.assert_allclose(values.trace(), (dense**2).sum(), **bound)
        np.testing.assert_allclose(values.products_of_windows(), dense @ dense.T, **bound)
        np.testing.assert_allclose(
            np.tril(values.products_of_coordinates()), np.tril(dense.T @ dense), **bound
        )

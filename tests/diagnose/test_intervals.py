"""Intervals of probabilities: what must hold at every level."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.diagnose.intervals import Estimates

LEVELS = st.floats(0.05, 4.0)


def some_uncertain(seed: int, n_rows: int, n: int, n_factors: int) -> Estimates:
    """Rows with estimates near zero among others, correlated, some of them pinned."""
    rng = np.random.default_rng(seed)
    estimate = rng.dirichlet(np.full(n, 0.5), size=n_rows).ravel()
    pinned = np.flatnonzero(estimate < 0.02)
    free = np.flatnonzero(estimate >= 0.02)
    factors = rng.normal(scale=0.05, size=(len(free), n_factors))
    return Estimates(
        estimate=estimate,
        rows=np.repeat(np.arange(n_rows), n),
        free=free,
        covariance=factors @ factors.T,
        bias=rng.exponential(0.01, len(free)) * rng.integers(0, 2),
        pinned=pinned,
        slope=rng.exponential(50, len(pinned)),
        curvature=rng.exponential(1000, len(pinned)),
        directions=np.zeros((0, len(estimate))),
        unknown=np.zeros(len(estimate), bool),
    )


@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 8), st.integers(1, 12), LEVELS)
def test_intervals_hold_the_estimate_and_stay_among_probabilities(
    seed: int, n_rows: int, n: int, n_factors: int, z: float
) -> None:
    uncertain = some_uncertain(seed, n_rows, n, n_factors)
    low, high = uncertain.interval(z)
    assert (low >= 0).all()
    assert (low <= uncertain.estimate).all()
    assert (uncertain.estimate <= high).all()
    assert (high <= 1).all()


@given(
    st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 8), st.integers(1, 12), LEVELS, LEVELS
)
def test_an_interval_of_a_higher_level_holds_that_of_a_lower(
    seed: int, n_rows: int, n: int, n_factors: int, z: float, other: float
) -> None:
    uncertain = some_uncertain(seed, n_rows, n, n_factors)
    narrow, wide = (uncertain.interval(level) for level in sorted((z, other)))
    assert (wide[0] <= narrow[0] + 1e-12).all()
    assert (narrow[1] <= wide[1] + 1e-12).all()

"""The volume term: its bound lies above it, and touches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.learn.pairs.start import plain_theta
from cohmm.learn.pairs.volume import Det, LogDet, volume_term
from tests.learn.pairs.test_theta_update import objective


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_the_volume_bound_is_above_and_touches(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    here, there = (rng.dirichlet(np.ones(k * k)).reshape(k, k) + 1e-9 for _ in range(2))
    term = LogDet()
    bound = term.majoriser(here)
    gap = objective(there, bound) - objective(here, bound)
    assert term.value(there) <= term.value(here) + gap + 1e-9


def test_the_volume_bound_has_the_slope_of_the_volume() -> None:
    rng = np.random.default_rng(1)
    k = 4
    here = rng.dirichlet(np.ones(k * k)).reshape(k, k)
    for term in (LogDet(), Det()):
        bound = term.majoriser(here)
        slope = bound.linear + bound.quadratic * here - bound.log / here
        for i in range(k):
            for j in range(k):
                step = np.zeros((k, k))
                step[i, j] = 1e-6
                numeric = (term.value(here + step) - term.value(here - step)) / 2e-6
                assert numeric == pytest.approx(slope[i, j], rel=1e-4)


def test_det_is_the_papers_literally() -> None:
    theta = plain_theta(3)
    assert Det().value(theta) == pytest.approx(abs(np.linalg.det(theta)))
    assert volume_term("det") == Det()
    with pytest.raises(ValueError, match="logdet, det, none"):
        volume_term("area")

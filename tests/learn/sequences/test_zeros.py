"""Zeros of emissions: the prior that prefers them."""

from __future__ import annotations

import pytest

from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.sequences.zeros import zeros_preferred


def test_the_floor_is_a_standard_error_once_that_is_small() -> None:
    model = random_hmm(100, 20, random_state=0)
    floors = {n: zeros_preferred(2.0, model, n).floor for n in (1e3, 1e5, 1e7, 1e9)}
    assert floors[1e3] == floors[1e5] == pytest.approx(0.3 / 100)
    assert floors[1e7] == pytest.approx(3 / 1e7**0.5, rel=0.01)
    assert floors[1e9] == pytest.approx(floors[1e7] / 10)
    assert zeros_preferred(2.0, model, 1e7).weight == 2.0

"""SQUAREM, on maps whose fixed point is known."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.learn.pairs.squarem import LEAST_SHARE, Jump


def test_a_linear_map_of_one_pace_is_jumped_to_its_end() -> None:
    end = (np.array([0.5, 0.3, 0.2]), np.array([[1.0, 2.0]]))
    x = (np.array([0.2, 0.2, 0.6]), np.array([[3.0, 1.0]]))

    def step(point: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        return tuple(a + 0.1 * (b - a) for a, b in zip(point, end, strict=True))

    x1 = step(x)
    jump = Jump.through(x, x1, step(x1), [1 / a for a in x])
    assert jump.length == pytest.approx(10)
    for found, true in zip(jump.at(jump.length), end, strict=True):
        np.testing.assert_allclose(found, true)
    for found, true in zip(jump.at(1.0), step(x1), strict=True):  # the map's own second step
        np.testing.assert_allclose(found, true)


def test_what_does_not_bend_has_no_end() -> None:
    x = (np.array([1.0, 2.0]),)
    line = [(x[0] + n,) for n in range(3)]
    assert Jump.through(*line, [np.ones(2)]).length == np.inf


def test_nothing_becomes_negative() -> None:
    jump = Jump.through((np.array([1.0, 4.0]),), (np.array([0.5, 3.0]),), (np.array([0.2, 2.5]),),
                        [np.ones(2)])  # fmt: skip
    kept = jump.kept_positive(np.array([-3.0, 2.0]), 0)
    np.testing.assert_allclose(kept, [LEAST_SHARE * 0.2, 2.0])

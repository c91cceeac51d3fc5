"""What holds in all tests: hypothesis draws the same examples, and learners obey their laws."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import settings

from cohmm.learn.pairs import min_volume, nmf
from cohmm.learn.pairs.min_volume import Evaluated, Problem
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.topics import pair_topics

settings.register_profile(
    "cohmm", derandomize=True, deadline=None, max_examples=60, database=None, print_blob=False
)
settings.register_profile("brief", settings.get_profile("cohmm"), max_examples=15)
settings.load_profile("cohmm")


def pytest_collection_finish() -> None:
    """What was imported stays: the garbage collector need not look through it again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _every_fit_obeys_the_laws() -> Iterator[None]:
    """The objective never rises, and Theta is feasible at every point that is evaluated."""
    evaluate = Problem.evaluate
    run = min_volume.algorithm_1

    def checked_evaluate(self: Problem, point: Point) -> Evaluated:
        for theta in (point.theta, (state := evaluate(self, point)).target.theta):
            assert (theta > 0).all()
            assert abs(theta.sum() - 1) < 1e-10
            assert np.abs(theta.sum(axis=0) - theta.sum(axis=1)).max() < 1e-10
        for m in (point.m, state.target.m):
            assert (m >= 0).all()
            np.testing.assert_allclose(m.sum(axis=0), 1, atol=1e-10)
        assert np.isfinite(state.objective)
        return state

    def checked_run(*args: object) -> object:
        result = run(*args)  # type: ignore[arg-type]
        objectives = [step.objective for step in result.history]
        assert all(after <= before for before, after in pairwise(objectives))
        return result

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "evaluate", checked_evaluate)
        for module in (min_volume, nmf, pair_topics):
            patch.setattr(module, "algorithm_1", checked_run)
        yield

"""EM on a pair law of which a part is known."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.pair_em import Held, pair_em
from cohmm.learn.pairs.pair_law import Point, pair_law
from cohmm.learn.run import Record
from tests import laws

TRUTH = random_hmm(8, 3, stay=0.4, random_state=2)
LAW = pair_law(TRUTH.pair_probability())
THETA = TRUTH.stationary()[:, None] * TRUTH.transmat
SETTINGS = {"max_iter": 20_000, "tol": 1e-9}


def somewhere(seed: int) -> Point:
    rng = np.random.default_rng(seed)
    m, theta = rng.random((8, 3)), rng.random((3, 3))
    return Point(m / m.sum(axis=0), theta / theta.sum())


@pytest.mark.parametrize("seed", range(3))
def test_with_emissions_held_there_is_one_answer(seed: int) -> None:
    begin = Point(TRUTH.emissionprob.T, somewhere(seed).theta)
    run = pair_em(LAW, begin, Held(emissions=True), 1e6, **SETTINGS)  # type: ignore[arg-type]
    assert run.converged
    assert run.point.m is begin.m
    laws.close(run.point.theta, THETA, 1e-4)


def test_with_transitions_held_emissions_are_learned() -> None:
    begin = Point(0.7 * TRUTH.emissionprob.T + 0.3 * somewhere(1).m, THETA)
    run = pair_em(LAW, begin, Held(transitions=True), 1e9, **SETTINGS)  # type: ignore[arg-type]
    a = run.point.theta / run.point.theta.sum(axis=1, keepdims=True)
    laws.close(a, TRUTH.transmat, 1e-12)
    assert LAW.negative_entropy - run.log_fit < 1e-6


def test_one_step_is_that_of_all_pairs_of_states() -> None:
    omega, (m, theta) = TRUTH.pair_probability(), somewhere(5)
    moved, emitted = np.zeros((3, 3)), np.zeros((8, 3))
    for a in range(8):
        for b in range(8):
            joint = np.array(
                [[m[a, i] * theta[i, j] * m[b, j] for j in range(3)] for i in range(3)]
            )
            joint *= omega[a, b] / joint.sum()
            moved += joint
            emitted[a] += joint.sum(axis=1)
            emitted[b] += joint.sum(axis=0)
    run = pair_em(LAW, Point(m, theta), Held(), 1.0, max_iter=2, tol=0.0)
    laws.close(run.point.theta, moved / moved.sum(), 1e-12)
    laws.close(run.point.m, emitted / emitted.sum(axis=0), 1e-12)


def test_the_divergence_never_rises_and_zeros_stay() -> None:
    m, theta = somewhere(6)
    m[0, 1] = theta[2, 0] = 0.0
    record = Record(None)
    run = pair_em(LAW, Point(m, theta), Held(), 1e6, max_iter=200, tol=1e-6, record=record)
    assert run.point.m[0, 1] == run.point.theta[2, 0] == 0
    steps = [step.objective for step in record.history]
    assert len(steps) > 3
    assert all(after <= before for before, after in pairwise(steps))
    assert steps[-1] == pytest.approx(LAW.negative_entropy - run.log_fit)


def test_all_held_is_no_step() -> None:
    point = somewhere(7)
    run = pair_em(LAW, point, Held(emissions=True, transitions=True), 1.0, max_iter=50, tol=0.0)
    assert run.point.m is point.m
    assert run.point.theta is point.theta

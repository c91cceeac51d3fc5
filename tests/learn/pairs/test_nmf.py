"""Plain factorisation: it fits exact pairs, and finds another model than the true one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from cohmm import HMM, Cooccurrence, count_pairs
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.learner import EvidenceWarning, Record
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.nmf import Held, nmf, pair_em
from cohmm.learn.pairs.pair_law import Point, pair_law
from tests import laws
from tests.strategies import random_model

quiet = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
TRUTH = random_hmm(8, 3, stay=0.4, random_state=2)
LAW = pair_law(TRUTH.pair_probability())
THETA = TRUTH.stationary()[:, None] * TRUTH.transmat
SETTINGS = {"max_iter": 20_000, "tol": 1e-9}


def counted(truth: HMM, length: int, lags: tuple[int, ...] = (1,)) -> Cooccurrence:
    return count_pairs(
        truth.sample(length, random_state=1)[0], lags=lags, n_symbols=truth.n_symbols
    )


@quiet
def test_exact_pairs_are_fitted_by_another_model():
    far = 0
    for seed in (1, 2, 3):
        truth = random_hmm(10, 3, random_state=seed)
        pairs = Cooccurrence.from_probability(truth.pair_probability())
        fit = nmf(pairs, 3, n_init=2, random_state=0)
        assert fit.divergence <= 1e-8
        found = fit.model.pair_probability()
        np.testing.assert_allclose(found, truth.pair_probability(), atol=1e-4)
        assert max(min_volume(pairs, 3, random_state=0).model.distance(truth)) < 1e-6
        far += min(fit.model.distance(truth)) > 0.05
    assert far >= 2


@quiet
def test_the_volume_term_is_what_helps():
    truth = random_hmm(30, 5, random_state=3)
    counts = counted(truth, 10**6)
    plain = nmf(counts, 5, n_init=2, random_state=0)
    small = min_volume(counts, 5, random_state=0)
    assert plain.divergence < small.divergence
    assert max(plain.model.distance(truth)) > 2 * max(small.model.distance(truth))


@quiet
def test_the_divergence_falls_and_the_best_start_is_kept():
    counts = counted(random_hmm(20, 5, random_state=0), 20_000)
    seen = []
    fit = nmf(counts, 5, n_init=3, random_state=0, callback=seen.append)
    divergences = [step.divergence for step in fit.history]
    assert all(after <= before for before, after in pairwise(divergences))
    assert [step.objective for step in fit.history] == divergences
    assert len(fit.starts) == len(set(fit.starts)) == 3
    assert fit.objective == min(fit.starts)
    assert fit.history[-1] in seen
    assert sum(step.n_iter == 1 for step in seen) == 3
    assert fit.converged
    short = nmf(counts, 5, n_init=1, random_state=0, max_iter=5)
    assert not short.converged
    assert nmf(counts, 5, n_init=1, random_state=0, tol=10.0).n_iter < fit.n_iter


@quiet
def test_a_start_is_the_first():
    truth = random_hmm(10, 3, random_state=0)
    counts = counted(truth, 20_000)
    start = random_model(3, 10, seed=1)
    fit = nmf(counts, 3, n_init=1, start=start)
    same = min_volume(counts, 3, volume="none", penalty=0.0, start=start)
    assert fit.model == same.model
    more = nmf(counts, 3, n_init=3, start=start, random_state=0)
    assert more.starts[0] == fit.starts[0]
    assert more.starts[1] != fit.starts[0]


@quiet
def test_the_shortest_lag_is_used():
    truth = random_hmm(10, 3, stay=0.5, random_state=0)
    options = {"n_init": 1, "max_iter": 30, "random_state": 0}
    one, several = (nmf(counted(truth, 20_000, lags), 3, **options) for lags in ((1,), (1, 2, 3)))
    assert one.model == several.model


def test_labels_smoothing_and_symbols_never_seen():
    truth = random_hmm(6, 2, stay=0.8, random_state=0)
    words = np.array(list("fedcba"))[truth.sample(20_000, random_state=0)[0]].tolist()
    counts = count_pairs(words, vocabulary=list("abcdefgh"))
    with pytest.warns(EvidenceWarning, match="2 of 8 symbols never occur") as caught:
        fit = nmf(counts, 2, random_state=0)
    assert len(caught) == 1
    assert fit.model.vocabulary == tuple("abcdefgh")
    assert (fit.model.emissionprob[:, 6:] == 0).all()
    assert (fit.model.emissionprob[:, :6] > 0).all()
    assert fit.model.log_likelihood(words) > -np.inf
    with pytest.warns(EvidenceWarning):
        rough = nmf(counts, 2, random_state=0, smoothing=500.0)
    assert rough.model.distance(fit.model).emission > 0.01


def test_as_many_states_as_stand_out():
    truth = random_hmm(20, 4, stay=0.6, random_state=0)
    fit = nmf(counted(truth, 10**5), "auto", n_init=1, max_iter=10, random_state=0)
    assert fit.model.n_components == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 4}, "n_components=4 states cannot be learned from pairs of 3 symbols"),
        ({"start": random_model(2, 4)}, r"cannot start from HMM\(2 states, 4 symbols\)"),
    ],
)
def test_wrong_arguments(options, message):
    arguments = {"n_components": 2, **options}
    with pytest.raises(ValueError, match=message):
        nmf(count_pairs([0, 1, 2, 0, 1] * 20), **arguments)


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

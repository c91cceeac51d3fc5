"""Scores of pairs and how far their sums vary, against differences and enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from cohmm import HMM
from cohmm.datasets.synthetic import random_hmm
from cohmm.diagnose import scores as module
from cohmm.diagnose.scores import Information, pair_information, volume_slope
from cohmm.learn.pairs.volume import Det, LogDet, NoVolume

STEP = 1e-6


def moved(model: HMM, change: np.ndarray, step: float) -> HMM:
    k = model.n_components
    return HMM(
        model.startprob,
        model.transmat + step * change[: k * k].reshape(k, k),
        model.emissionprob + step * change[k * k :].reshape(k, -1),
    )


def some_change(model: HMM, seed: int) -> np.ndarray:
    """A change of transitions and emissions that keeps the sums of all rows."""
    rng = np.random.default_rng(seed)
    k, n = model.emissionprob.shape
    tables = [rng.normal(size=(k, k)), rng.normal(size=(k, n))]
    return np.concatenate([(t - t.mean(axis=1, keepdims=True)).ravel() for t in tables])


def directional(model: HMM, change: np.ndarray, lag: int) -> np.ndarray:
    """d log P(a, b) along a change, (N, N), by differences."""
    ends = [np.log(moved(model, change, step).pair_probability(lag)) for step in (STEP, -STEP)]
    return (ends[0] - ends[1]) / (2 * STEP)


def long_run(model: HMM, change: np.ndarray, weights: dict[int, float], most: int) -> float:
    """The variance of the sum of the scores along a change, per pair, by enumeration."""
    scores = {lag: directional(model, change, lag) for lag in weights}
    reach = max(weights)
    stationary = HMM(model.stationary(), model.transmat, model.emissionprob)
    windows = np.array(list(product(range(model.n_symbols), repeat=most + reach + 1)))
    law = np.exp(stationary.log_likelihoods(list(windows)))

    def score(t: int) -> np.ndarray:
        return sum(
            w * scores[lag][windows[:, t], windows[:, t + lag]] for lag, w in weights.items()
        )

    now = score(0)
    total = law @ now**2
    return float(total + 2 * sum(law @ (now * score(t)) for t in range(1, most + 1)))


def bends(found: Information, change: np.ndarray) -> tuple[float, float]:
    u = change / found.scale
    return float(u @ found.matrix @ u), float(u @ found.variance @ u)


@pytest.mark.parametrize("seed", [0, 1])
def test_lag_one_in_closed_form(seed: int) -> None:
    model = random_hmm(2, 2, 0.0, random_state=seed)
    found = pair_information(model, {1: 1.0})
    change = some_change(model, seed)
    curvature, variance = bends(found, change)
    omega = model.pair_probability()
    assert curvature == pytest.approx((omega * directional(model, change, 1) ** 2).sum(), rel=1e-6)
    # What is left out beyond nine steps has decayed by the ninth power.
    left = abs(np.linalg.eigvals(model.transmat)).min() ** 9
    assert variance == pytest.approx(long_run(model, change, {1: 1.0}, 9), rel=1e-3 + 2 * left)
    assert abs(variance / curvature - 1) > 0.02  # overlapping does matter here


def test_other_lags_are_drawn() -> None:
    model = random_hmm(2, 2, 0.0, random_state=2)
    weights = {1: 0.7, 3: 0.3}
    found = pair_information(model, weights)
    change = some_change(model, 2)
    curvature, variance = bends(found, change)
    expected = sum(
        w * (model.pair_probability(lag) * directional(model, change, lag) ** 2).sum()
        for lag, w in weights.items()
    )
    assert curvature == pytest.approx(expected, rel=1e-6)
    assert variance == pytest.approx(long_run(model, change, weights, 6), rel=0.15)


def test_the_slope_is_that_of_the_likelihood() -> None:
    model, truth = (random_hmm(3, 2, 0.0, random_state=seed) for seed in (4, 5))
    omega = truth.pair_probability()
    found = pair_information(model, {1: 1.0}, {1: omega})
    change = some_change(model, 4)
    assert found.slope @ change == pytest.approx((omega * directional(model, change, 1)).sum())


@pytest.mark.parametrize("volume", [LogDet(), Det(), NoVolume()])
def test_the_volume_pulls_along_its_gradient(volume: LogDet | Det | NoVolume) -> None:
    model = random_hmm(3, 3, 0.0, stay=0.3, random_state=6)
    change = some_change(model, 6)
    change[9:] = 0

    def value(step: float) -> float:
        other = moved(model, change, step)
        return volume.value(other.stationary()[:, None] * other.transmat)

    expected = (value(STEP) - value(-STEP)) / (2 * STEP)
    assert volume_slope(model, volume) @ change[:9] == pytest.approx(expected, rel=1e-4, abs=1e-9)


def test_blocks_that_leap_vary_as_those_drawn_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_hmm(4, 2, 0.5, random_state=0)
    weights = {1: 0.5, 400: 0.3, 403: 0.2}
    leaping = pair_information(model, weights).variance
    monkeypatch.setattr(
        module,
        "_leaping",
        lambda model, places: module._consecutive(model, int(places[-1]) + 1)[:, places],
    )
    whole = pair_information(model, weights).variance
    np.testing.assert_allclose(leaping, whole, atol=0.1 * np.abs(whole).max())


def test_the_longest_lag_asks_for_no_more_room_than_another() -> None:
    model = HMM([0.5, 0.5], [[0.0, 1.0], [1.0, 0.0]], [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    even, odd = ({1: 0.5, 2**31 - odd: 0.5} for odd in (0, 1))
    assert np.isfinite(pair_information(model, even).variance).all()
    # A chain that alternates knows whether the lag is even, however long it is.
    law = module.PairJacobian.of(model, max(odd)).p
    np.testing.assert_allclose(law, model.pair_probability(1), rtol=1e-12)

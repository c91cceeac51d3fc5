"""Surprise: minus the log-probability of every symbol given those before it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from cohmm import HMM, PairwiseHMM
from cohmm.kernels import blocks
from cohmm.model.unseen_symbols import good_turing, with_rare
from tests import laws, oracles
from tests.strategies import models_and_data, random_model, with_gaps


@given(models_and_data())
def test_ratios_of_likelihoods(case: tuple[HMM, list[list[int]]]) -> None:
    model, data = case
    assume(all(oracles.likelihood(model, y) > 1e-12 for y in data))
    found = model.surprise(with_gaps(data))
    expected = []
    for y in data:
        before = [1.0, *(oracles.likelihood(model, y[: t + 1]) for t in range(len(y)))]
        expected += [-np.log(before[t + 1] / before[t]) for t in range(len(y))]
    laws.close(found, np.array(expected), 1e-9)
    assert (found >= 0).all()


def test_in_blocks_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = random_model(3, 5, seed=0)
    data = [model.sample(n, random_state=n)[0] for n in (40, 3, 1, 25, 7)]
    whole = model.surprise(data)
    assert -whole.sum() == pytest.approx(model.log_likelihood(data))
    for size in (1, 2, 10, 30):
        monkeypatch.setattr(blocks, "LONG_BLOCK", size)
        laws.close(model.surprise(data), whole, 1e-12)


def test_impossible_symbols_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[0.5, 0.5, 0], [0, 0.25, 0.75]])
    y = np.random.default_rng(0).integers(0, 3, 200)
    whole = model.surprise(y)
    assert 20 < np.isinf(whole).sum() < 180
    for size in (1, 7, 50):
        monkeypatch.setattr(blocks, "LONG_BLOCK", size)
        np.testing.assert_allclose(model.surprise(y), whole, rtol=1e-12)


def test_improbable_is_not_impossible() -> None:
    model = HMM([0.7, 0.3], [[1e-170, 1], [0.8, 0.2]], [[1, 1e-180], [1, 0]])
    assert -model.surprise([1, 1]).sum() == pytest.approx(model.log_likelihood([1, 1]), rel=1e-12)
    fading = HMM([0.5, 0.5], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    y = [0] * 500 + [1] * 520 + [0] * 400
    assert -fading.surprise(y).sum() == pytest.approx(fading.log_likelihood(y), rel=1e-12)


def test_impossible_symbols_are_infinite_and_passed_over() -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[0.5, 0.5, 0], [0, 0.25, 0.75]])
    found = model.surprise([[0, 0, 0], [2, 1, 2, 1]])
    expected = [np.log(2), np.inf, np.log(2), np.inf, np.log(4), np.inf, np.log(4)]
    laws.close(found[np.isfinite(expected)], np.array(expected)[np.isfinite(expected)])
    assert np.isinf(found).tolist() == np.isinf(expected).tolist()
    assert model.surprise([0, None, 0])[1] == 0


def test_many_impossible_symbols_are_passed_over_one_by_one() -> None:
    # Each is missing to those after it: a pass over the sequence for each would not end.
    model = HMM([1, 0], [[0, 1], [1, 0]], [[0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0]])
    y = np.random.default_rng(0).integers(0, 4, 20_000)
    states = np.arange(len(y)) % 2  # whatever is seen
    expected = -np.log(np.maximum(model.emissionprob[states, y], 1e-300))
    possible = model.emissionprob[states, y] > 0
    found = model.surprise(y)
    assert np.isinf(found).tolist() == (~possible).tolist()
    laws.close(found[possible], expected[possible], 1e-12)


def test_symbols_seen_once_say_how_rare_the_unseen_are() -> None:
    assert good_turing([5, 3, 1, 1]) == 0.2
    assert 0 < good_turing([50, 50]) < 0.01
    assert good_turing([1, 1]) == 0.5  # half of what comes may be new, but not all
    model = with_rare(random_model(2, 3, seed=0), 0.1)
    laws.rows_are_distributions(model.emissionprob)
    assert (model.emissionprob[:, 3] == 0.1).all()


@pytest.mark.parametrize("labels", [False, True])
def test_unseen_symbols_lower_the_score(labels: bool) -> None:
    y, _ = random_model(2, 5, seed=1).sample(3000, random_state=0)
    X = [f"s{symbol}" for symbol in y] if labels else y
    strange = ["new"] * 50 if labels else [9] * 50
    known = list(X[:50])
    fits = {
        unseen: PairwiseHMM(2, random_state=0, unseen=unseen).fit(X)
        for unseen in ("missing", "rare")
    }
    assert fits["missing"].score(strange) == pytest.approx(0, abs=1e-9)
    assert fits["rare"].score(strange) < 5 * fits["rare"].score(known)
    # One that is missing is still no surprise, and what is known is hardly less probable.
    assert fits["rare"].score([None] * 50) == pytest.approx(0, abs=1e-9)
    assert fits["rare"].score(known) == pytest.approx(fits["missing"].score(known), abs=0.5)
    assert fits["rare"].surprise(strange).min() > 5
    assert fits["rare"].predict(strange).shape == (50,)
    assert fits["rare"].forecast(known).shape == (1, 5)
    model = PairwiseHMM(1, unseen="rare")
    model.startprob_, model.transmat_, model.emissionprob_ = [1], [[1]], [[0.5, 0.5]]
    with pytest.raises(ValueError, match="unseen='rare' needs counts of symbols"):
        model.score([0, 1])


def test_the_first_state_may_be_known() -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0], [0, 1]])
    assert model.sample(4, 0)[1].tolist() == [0, 1, 0, 1]
    assert model.sample(4, 0, currstate=1)[1].tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="from 0 to 1, not 2"):
        model.sample(4, currstate=2)

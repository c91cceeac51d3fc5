"""Surprise: minus the log-probability of every symbol given those before it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from sklearn.model_selection import GridSearchCV, cross_val_score

from cohmm import HMM, EvidenceWarning, PairwiseHMM, SequenceKFold
from cohmm.datasets.synthetic import random_hmm
from cohmm.kernels import blocks
from cohmm.model.answers import good_turing, unseen_probability, with_unseen
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
    # Each of them is at most as probable as a symbol that was seen once ...
    for counts in ([5, 3, 1, 1], [50, 50], [1] * 40, [9, 2, 2, 1], [1], [7, 1, 0, 0, 0]):
        assert 0 < unseen_probability(counts) <= 1 / sum(counts)
    # ... and less the more there may be: by the vocabulary, or by how many were seen just once.
    assert unseen_probability([8, 1, 1, 0, 0, 0, 0]) == pytest.approx(0.2 / 4)
    assert unseen_probability([40] + [1] * 20 + [2] * 4) == pytest.approx(20 / 68 / (20 * 19 / 10))


def test_symbols_that_never_occur_have_mass_in_every_state() -> None:
    model = HMM([0.5, 0.5], np.full((2, 2), 0.5), [[0.5, 0.5, 0, 0], [0, 1, 0, 0]])
    filled = with_unseen(model, [6, 2, 0, 0])
    laws.rows_are_distributions(filled.emissionprob)
    assert filled.emissionprob[:, 2:] == pytest.approx(unseen_probability([6, 2, 0, 0]))
    assert filled.emissionprob[1, 0] == 0  # zeros of symbols that occur stay
    assert with_unseen(model, [6, 2, 1, 1]) is model
    data = [[0, 1, 0, 0, 1, 1], [1, 0, 0]] * 20
    fit = PairwiseHMM(1, n_features=4, random_state=0).fit
    with pytest.warns(EvidenceWarning, match="2 of 4 symbols never occur"):
        fitted = fit(data)
    assert (fitted.emissionprob_[:, 2:] > 0).all()
    assert fitted.model_ == fitted.fit_.model
    with pytest.warns(EvidenceWarning, match="2 of 4 symbols never occur"):
        exact = PairwiseHMM(1, n_features=4, smoothing=0, random_state=0).fit(data)
    assert (exact.emissionprob_[:, 2:] == 0).all()


@pytest.mark.parametrize("labels", [False, True])
def test_unseen_symbols_lower_the_score(labels: bool) -> None:
    y, _ = random_model(2, 5, seed=1).sample(3000, random_state=0)
    X = [f"s{symbol}" for symbol in y] if labels else y
    strange = ["new"] * 50 if labels else [9] * 50
    known = list(X[:50])
    fits = {
        unseen: PairwiseHMM(2, refine=False, random_state=0, unseen=unseen).fit(X)
        for unseen in ("missing", "rare")
    }
    assert fits["missing"].score(strange) == pytest.approx(0, abs=1e-9)
    assert fits["rare"].score(strange) < 5 * fits["rare"].score(known)
    # One that is missing is still no surprise, and what is known is hardly less probable.
    assert fits["rare"].score([None] * 50) == pytest.approx(0, abs=1e-9)
    assert fits["rare"].score(known) == fits["missing"].score(known)
    assert fits["rare"].surprise(strange).min() > 5
    assert fits["rare"].predict(strange).shape == (50,)
    assert fits["rare"].forecast(known).shape == (1, 5)
    model = PairwiseHMM(1, unseen="rare")
    model.startprob_, model.transmat_, model.emissionprob_ = [1], [[1]], [[0.5, 0.5]]
    assert model.score([0, 1]) == pytest.approx(-2 * np.log(2))
    with pytest.raises(
        ValueError, match=r"unseen symbol 7 .*unseen='rare' needs counts of symbols"
    ):
        model.score([0, 7])


def test_what_is_unseen_is_rare_in_every_answer() -> None:
    y = random_model(2, 4, seed=1).sample(2000, random_state=0)[0].tolist()
    fits = {
        unseen: PairwiseHMM(2, refine=False, random_state=0, unseen=unseen).fit(y)
        for unseen in ("error", "missing", "rare")
    }
    assert PairwiseHMM().unseen == "rare"
    gap, odd = [[0, None, 2], [1, 1]], [[0, 9, 2], [1, 1]]
    rare, missing = fits["rare"], fits["missing"]
    unseen = np.log(unseen_probability(rare.counts_.symbol_counts))
    assert rare.score_sequences(odd) == pytest.approx(rare.score_sequences(gap) + [unseen, 0])
    assert rare.surprise(odd) == pytest.approx(rare.surprise(gap) - [0, unseen, 0, 0, 0])
    assert rare.decode(odd)[0] == pytest.approx(rare.decode(gap)[0] + unseen)
    assert rare.bic(odd) == pytest.approx(rare.bic(gap) - 2 * unseen)
    for name in ("predict", "predict_proba", "filter", "forecast"):
        np.testing.assert_array_equal(getattr(rare, name)(odd), getattr(missing, name)(gap))
    with pytest.raises(ValueError, match=r"sequence 0, position 1.*: .*; unseen='rare' gives it"):
        fits["error"].score(odd)


def test_candidates_rank_as_with_all_symbols_known() -> None:
    rng = np.random.default_rng(2)
    chain = random_hmm(6, 3, zeros=0.4, stay=0.6, random_state=2)
    X: list[list[Any]] = [chain.sample(30, random_state=seed)[0].tolist() for seed in range(24)]
    for number, s in enumerate(rng.permutation(24)[:12]):  # each occurs once in all of the data
        X[s][int(rng.integers(30))] = 6 + number
    names = sorted({symbol for sequence in X for symbol in sequence})
    grid = {"n_components": [1, 2, 3]}
    means = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        for known in (None, names):
            model = PairwiseHMM(vocabulary=known, random_state=0)
            search = GridSearchCV(model, grid, cv=SequenceKFold(2), error_score="raise").fit(X)
            means.append(search.cv_results_["mean_test_score"])
        scores = cross_val_score(PairwiseHMM(2, random_state=0), X, cv=2, error_score="raise")
    assert np.isfinite(means).all()
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(*(np.argsort(mean) for mean in means))
    assert np.ptp(means[0] - means[1]) < 0.05 * np.ptp(means[0])


def test_the_first_state_may_be_known() -> None:
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0], [0, 1]])
    assert model.sample(4, 0)[1].tolist() == [0, 1, 0, 1]
    assert model.sample(4, 0, currstate=1)[1].tolist() == [1, 0, 1, 0]
    with pytest.raises(ValueError, match="from 0 to 1, not 2"):
        model.sample(4, currstate=2)

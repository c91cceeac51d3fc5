"""Data as users have it, in the symbols of a model: sequences that end, and files of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cohmm import HMM, PairwiseHMM, Sequences, count_pairs
from cohmm.data.sequences import END
from cohmm.model.answers import Answers, load_fitted
from cohmm.model.sampling import sample_to_end
from tests import oracles
from tests.strategies import random_model

SESSIONS = HMM(
    [0.8, 0.2, 0],
    [[0.5, 0.4, 0.1], [0.2, 0.5, 0.3], [0, 0, 1]],
    [[0.7, 0.2, 0.1, 0], [0.1, 0.2, 0.6, 0.1], [0, 0, 0, 1]],
)
LABELS = ("a", "b", "c", END)


def ending(labels: bool, place: int = 3) -> Answers:
    """The model of sessions, with labels or with numbers, and the end at a place among them."""
    order = [0, 1, 2]
    order.insert(place, 3)
    names = LABELS if labels else (0, 1, 2, END)
    vocabulary = tuple(names[n] for n in order)
    emission = SESSIONS.emissionprob[:, order]
    model = HMM(SESSIONS.startprob, SESSIONS.transmat, emission, vocabulary)
    return Answers(model, "rare", [9, 9, 9, 9], end=True)


@pytest.mark.parametrize(("labels", "place"), [(False, 3), (True, 3), (True, 1), (True, 0)])
def test_the_end_is_an_event_of_every_answer(labels: bool, place: int) -> None:
    answers = ending(labels, place)
    data = [[0, 1, 1], [2], [0, 0, 2, 1, 0]]
    X: list[list[Any]] = [[LABELS[n] for n in y] for y in data] if labels else data
    exact = [oracles.log_likelihood(SESSIONS, [*y, 3]) for y in data]
    assert answers.log_likelihoods(X) == pytest.approx(exact)
    nats = answers.surprise(X)
    assert nats.shape == (9,)
    assert -np.add.reduceat(nats, [0, 3, 4]) == pytest.approx(exact)
    posterior, (log_prob, states) = answers.posterior(X), answers.decode(X)
    assert posterior.shape == (9, 3)
    assert posterior[:, 2] == pytest.approx(0)  # in which only the end is
    assert states.shape == (9,)
    assert (states < 2).all()
    assert log_prob < sum(exact)
    best = [np.log(oracles.best_probability(SESSIONS, [*y, 3])) for y in data]
    assert log_prob == pytest.approx(sum(best))
    # What comes next says nothing of the end that is not there yet.
    np.testing.assert_allclose(answers.filter(X), SESSIONS.filter(data))


def test_forecasts_have_the_end_beside_the_symbols() -> None:
    answers = ending(True, 1)
    ahead = answers.forecast(["a", "c"], steps=3)
    likely = np.exp(oracles.log_likelihood(SESSIONS, [0, 2]))
    end_now = np.exp(oracles.log_likelihood(SESSIONS, [0, 2, 3]))
    end_next = sum(np.exp(oracles.log_likelihood(SESSIONS, [0, 2, n, 3])) for n in range(3))
    assert ahead[:2, 1] == pytest.approx([end_now / likely, (end_now + end_next) / likely])
    then_b = sum(np.exp(oracles.log_likelihood(SESSIONS, [0, 2, n, 1])) for n in range(3))
    assert ahead[1, 2] == pytest.approx(then_b / likely)  # b, if it has not ended before
    np.testing.assert_allclose(ahead.sum(axis=1), 1)
    assert answers.forecast(["a", "c", "b"], [2, 1]).shape == (2, 1, 4)


def test_what_is_unseen_and_ends() -> None:
    answers = ending(True, 1)
    odd, gap = [["a", "?"], ["?", "b", None]], [["a", None], [None, "b", None]]
    scores = answers.log_likelihoods(gap) + answers.log_unseen
    assert answers.log_likelihoods(odd) == pytest.approx(scores)
    assert answers.surprise(odd).sum() == pytest.approx(-scores.sum())
    with pytest.raises(ValueError, match="end=True needs a model whose symbols include '<end>'"):
        Answers(SESSIONS, end=True)


def test_whole_sequences_are_drawn() -> None:
    answers = ending(True, 2)
    sequences, states = answers.sample(4000, random_state=1)
    assert isinstance(sequences, Sequences)
    assert sequences.vocabulary == ("a", "b", "c")
    assert len(sequences) == 4000
    assert len(states) == sequences.n_observations
    again, _ = answers.sample(4000, random_state=1)
    np.testing.assert_array_equal(sequences.symbols, again.symbols)
    # Lengths: those of the chain until the end, given that it has a symbol at least.
    emission = SESSIONS.emissionprob
    going = SESSIONS.transmat * (1 - emission[:, 3])[:, None]
    expected = SESSIONS.startprob @ np.linalg.solve(np.eye(3) - going, 1 - emission[:, 3])
    expected /= 1 - SESSIONS.startprob @ emission[:, 3]
    error = sequences.lengths.std() / np.sqrt(4000)
    assert abs(sequences.lengths.mean() - expected) < 4 * error
    first = sequences.symbols[sequences.offsets[:-1]]
    begins = (SESSIONS.startprob @ emission)[:3]
    assert np.bincount(first) / 4000 == pytest.approx(begins / begins.sum(), abs=0.04)
    assert set(answers.sample(20, 0, currstate=1)[1][:1]) == {1}


@pytest.mark.parametrize(
    ("transmat", "emission", "message"),
    [
        ([[1, 0], [0.5, 0.5]], [[1, 0], [0.5, 0.5]], "hardly ever end: from state 0"),
        ([[1, 0], [0.5, 0.5]], [[0, 1], [0.5, 0.5]], "end at once, with probability 1.0"),
    ],
)
def test_sequences_that_cannot_be_drawn(transmat: Any, emission: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_to_end(HMM([1, 0], transmat, emission), 1, 5, np.random.default_rng(0))


def test_draws_of_an_estimator() -> None:
    model = PairwiseHMM(3, end=True, random_state=0)
    model.startprob_, model.transmat_, model.emissionprob_ = (
        SESSIONS.startprob,
        SESSIONS.transmat,
        SESSIONS.emissionprob,
    )
    assert model.vocabulary_ == (0, 1, 2, END)
    assert model.n_features == 3
    sequences, states = model.sample(n_sequences=7)
    assert len(sequences) == 7
    assert len(model.predict(sequences)) == len(states)
    for wrong in ({"n_samples": 5}, {}, {"n_samples": 5, "n_sequences": 2}):
        with pytest.raises(ValueError, match="end by themselves: give n_sequences"):
            model.sample(**wrong)
    plain = PairwiseHMM(1)
    plain.startprob_, plain.transmat_, plain.emissionprob_ = [1], [[1]], [[0.5, 0.5]]
    with pytest.raises(ValueError, match="n_sequences is for a model with end=True"):
        plain.sample(n_sequences=3)


@pytest.fixture(scope="module")
def sessions() -> Sequences:
    return ending(True).sample(400, random_state=0)[0]


def test_learning_how_sequences_end(sessions: Sequences) -> None:
    model = PairwiseHMM(3, end=True, refine=False, random_state=0).fit(sessions)
    assert model.vocabulary_ == LABELS
    truth = ending(True).log_likelihood(sessions)
    assert model.score(sessions) > truth + 0.05 * truth
    assert model.counts_.symbol_counts[3] == 400
    by_counts = PairwiseHMM(3, end=True, random_state=0).fit_counts(
        count_pairs(sessions.with_end())
    )
    assert by_counts.model_ == model.model_
    with pytest.raises(ValueError, match="end=True needs counts in which '<end>' is a symbol"):
        PairwiseHMM(3, end=True).fit_counts(count_pairs(sessions))
    with pytest.raises(ValueError, match=r"one sequence, of 4 symbols, with one end"):
        PairwiseHMM(1, end=True).fit([0, 1, 1, 0])
    with pytest.raises(ValueError, match="'<end>' stands for the end of a sequence"):
        PairwiseHMM(1, end=True).fit([["a", "<end>"], ["a"]])


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
def test_partial_fit_and_known_states_of_sessions() -> None:
    model = PairwiseHMM(1, end=True, random_state=0)
    model.partial_fit([[0, 1], [1]]).partial_fit([[0, 2, 2]])
    assert model.vocabulary_ == (0, 1, 2, END)
    assert model.counts_.symbol_counts.tolist() == [2, 2, 2, 3]
    assert len(model.predict([[0, 2]])) == 2
    labelled = PairwiseHMM(2, end=True, random_state=0)
    labelled.fit([[0, 1], [0, 1, 1]] * 20, states=[[0, 1], [0, 1, 1]] * 20)
    assert labelled.predict([[0, 1]]).tolist() == [0, 1]


def test_a_file_has_all_that_answers_need(tmp_path: Path, sessions: Sequences) -> None:
    path = tmp_path / "model.cohmm"
    options: dict[str, Any] = {"lags": (1, 2), "refine": False, "random_state": 3}
    model = PairwiseHMM(3, end=True, emissionprob_prior=None, **options).fit(sessions)
    model.save(path)
    loaded = PairwiseHMM.load(path)
    assert loaded.get_params() == model.get_params()
    odd = [["a", "never", "b"], ["c"]]
    for name in ("score", "surprise", "predict", "predict_proba", "forecast"):
        np.testing.assert_array_equal(getattr(loaded, name)(odd), getattr(model, name)(odd))
    drawn, same = (one.sample(n_sequences=5, random_state=0)[0] for one in (model, loaded))
    assert drawn.labels() == same.labels()
    assert HMM.load(path) == model.model_
    with pytest.raises(ValueError, match="save\\(path, counts=True\\)"):
        loaded.partial_fit(sessions)
    model.save(path, counts=True)
    again = PairwiseHMM.load(path).partial_fit(sessions)
    assert again.counts_.symbol_counts[3] == 800
    # A file that HMM.save wrote has no counts, and what is unseen is an error, as it was.
    random_model(2, 3, seed=0).save(path)
    plain = PairwiseHMM.load(path)
    assert (plain.n_components, plain.unseen) == (2, "error")
    with pytest.raises(ValueError, match="unseen symbol 7"):
        plain.score([0, 7])
    with pytest.raises(ValueError, match=r"volume=.* cannot hold"):
        model.set_params(volume=object()).save(path)
    assert load_fitted(path)[1] == {"n_components": 2, "unseen": "error"}

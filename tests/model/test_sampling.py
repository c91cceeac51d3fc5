"""Draws: repeatable, of the right law, and never impossible."""

import numpy as np
import pytest

from cohmm import HMM, count_pairs
from cohmm.model import sampling
from tests.strategies import random_model


def test_the_same_seed_draws_the_same():
    model = random_model(3, 5)
    symbols, states = model.sample(1000, random_state=7)
    assert symbols.shape == states.shape == (1000,)
    assert symbols.dtype == states.dtype == np.int32
    for random_state in (7, np.random.default_rng(7), np.int64(7)):
        again = model.sample(1000, random_state=random_state)
        np.testing.assert_array_equal(again, (symbols, states))
    other, _ = model.sample(1000, random_state=8)
    assert (other != symbols).any()
    assert (model.sample(1000)[0] != model.sample(1000)[0]).any()


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_moves_on(make):
    model = random_model(3, 5)
    generator = make(3)
    first, second = model.sample(500, generator)[0], model.sample(500, generator)[0]
    assert (first != second).any()
    np.testing.assert_array_equal(model.sample(500, make(3))[0], first)


def test_frequencies_are_the_probabilities():
    model = HMM(
        [0.2, 0.5, 0.3],
        [[0.1, 0.6, 0.3], [0.5, 0.0, 0.5], [0.25, 0.25, 0.5]],
        [[0.7, 0.2, 0.1, 0.0], [0.0, 0.5, 0.5, 0.0], [0.1, 0.1, 0.1, 0.7]],
    )
    n = 300_000
    symbols, states = model.sample(n, random_state=1)
    emitted = np.zeros((3, 4))
    np.add.at(emitted, (states, symbols), 1)
    visits = emitted.sum(axis=1)
    moves = count_pairs(states, n_symbols=3)[1]
    for k in range(3):
        noise = 4.5 * np.sqrt(0.25 / visits[k])
        np.testing.assert_allclose(emitted[k] / visits[k], model.emissionprob[k], atol=noise)
        np.testing.assert_allclose(moves[k] / moves[k].sum(), model.transmat[k], atol=noise)
    assert (emitted[model.emissionprob == 0] == 0).all()
    assert (moves[model.transmat == 0] == 0).all()
    first = np.bincount([model.sample(1, seed)[1][0] for seed in range(2000)], minlength=3) / 2000
    np.testing.assert_allclose(first, model.startprob, atol=4.5 * np.sqrt(0.25 / 2000))


def test_impossible_starts_are_never_drawn():
    model = HMM([0, 1, 0], np.full((3, 3), 1 / 3), np.eye(3))
    assert {model.sample(1, seed)[1][0] for seed in range(200)} == {1}


def test_a_long_draw_goes_on_where_its_pieces_meet(monkeypatch):
    cycle = HMM([0, 1, 0], np.roll(np.eye(3), 1, axis=1), np.eye(3))
    expected = (np.arange(1000) + 1) % 3
    for chunk in (1, 7, 999, 1000, 1001):
        monkeypatch.setattr(sampling, "CHUNK", chunk)
        symbols, states = cycle.sample(1000, random_state=0)
        np.testing.assert_array_equal(states, expected)
        np.testing.assert_array_equal(symbols, expected)


def test_nothing_drawn_is_impossible():
    for seed in range(5):
        model = random_model(8, 30, seed, concentration=0.02)
        assert model.log_likelihood(model.sample(20_000, seed)[0]) > -np.inf


@pytest.mark.parametrize("labels", [["a", "bcd"], [10, 7], [3, "x"]])
def test_labels_are_drawn_as_labels(labels):
    model = HMM([1.0], [[1.0]], [[0.5, 0.5]], vocabulary=labels)
    symbols, _ = model.sample(200, random_state=0)
    assert set(symbols.tolist()) == set(labels)
    if len({type(label) for label in labels}) == 1:
        assert np.isfinite(model.log_likelihood(symbols))


@pytest.mark.parametrize("n", [0, -5, 1.5, True, None, "3"])
def test_wrong_numbers(n):
    with pytest.raises(ValueError, match=f"whole number from 1, not {n!r}"):
        random_model(2, 2).sample(n)

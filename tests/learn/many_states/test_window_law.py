"""The law of windows against all paths."""

from itertools import product

import numpy as np
import pytest

from cohmm import HMM, EvidenceWarning, Triples, count_triples
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.many_states import window_law
from cohmm.learn.many_states.window_law import WindowLaw, window_probability
from tests import laws, oracles
from tests.strategies import random_model


@pytest.mark.parametrize(("k", "n", "tau"), [(2, 3, 1), (4, 2, 2), (3, 2, 3)])
def test_the_law_is_that_of_all_paths(k, n, tau):
    model = random_model(k, n)
    settled = HMM(model.stationary(), model.transmat, model.emissionprob)
    cells = window_probability(model, tau).ravel()
    expected = [oracles.likelihood(settled, y) for y in product(range(n), repeat=2 * tau + 1)]
    np.testing.assert_allclose(cells, expected, atol=1e-14)


def test_the_law_of_tau_1_is_that_of_triples():
    model = random_model(5, 4)
    np.testing.assert_allclose(window_probability(model, 1), model.triple_probability(), atol=1e-15)
    with pytest.raises(ValueError, match="tau must be a whole number from 1, not 0"):
        window_probability(model, 0)
    with pytest.raises(ValueError, match=r"4 symbols make [\d,]+ windows of 27"):
        window_probability(model, 13)


def test_the_frequency_is_that_of_all_places():
    law = WindowLaw.of(count_windows([0, 0, 1, 2, 1, 0], tau=1))
    np.testing.assert_allclose(law.frequency, np.array([4, 5, 3]) / 12)


def test_windows_are_drawn_as_often_as_they_occur():
    law = WindowLaw.of(Windows.from_probability(window_probability(random_model(2, 3), 1)))
    drawn = law.sample(200_000, np.random.default_rng(0))
    assert drawn.shape == (200_000, 3)
    shares = np.zeros((3, 3, 3))
    np.add.at(shares, tuple(drawn.T), 1 / len(drawn))
    np.testing.assert_allclose(shares, law.probability, atol=5e-3)


def test_symbols_never_seen_get_nothing():
    y = [0, 2, 2, 0, 2, 0, 0, 2] * 5
    with pytest.warns(EvidenceWarning, match=r"1 of 3 symbols never occur \(1 among them\)"):
        law = WindowLaw.of(count_triples(y))
    model = law.model(np.array([[0.5], [0.5]]), np.eye(1))
    assert model.emissionprob.tolist() == [[0.5, 0.0, 0.5]]
    assert not (law.sample(100, np.random.default_rng(0)) == 1).any()
    with pytest.warns(EvidenceWarning, match="'b' among them"):
        labels = WindowLaw.of(count_windows(list("acaccaca") * 3, vocabulary=["a", "b", "c"]))
    assert labels.model(np.array([[0.5], [0.5]]), np.eye(1)).vocabulary == ("a", "b", "c")


def test_a_model_is_stationary_or_near_it():
    law = WindowLaw.of(count_triples([0, 1, 0, 0, 1, 1, 0, 1]))
    m, a = np.full((2, 2), 0.5), np.array([[0.5, 0.5], [0.25, 0.75]])
    laws.close(law.model(m, a).startprob, [1 / 3, 2 / 3], 1e-9)
    laws.close(law.model(m, np.eye(2)).startprob, [0.5, 0.5], 1e-9)  # falls into parts


def test_what_is_too_large_or_empty(monkeypatch):
    empty = Triples(np.zeros((0, 3), np.int32), np.zeros(0, np.int64), 2)
    with pytest.raises(ValueError, match="nothing to learn from: Triples"):
        WindowLaw.of(empty)
    monkeypatch.setattr(window_law, "MOST_CELLS", 20)
    with pytest.raises(ValueError, match=r"3 symbols make 27 windows of 3, .* use a smaller tau"):
        WindowLaw.of(count_triples([0, 1, 2, 0]))

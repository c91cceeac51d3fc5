"""The test of model fit: what it computes, when it is quiet, and what it names."""

import numpy as np
import pytest

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.diagnose.model_fit import model_fit, orthonormal_tangent, triple_cube
from cohmm.learn import pairwise
from tests.diagnose.chains import second_order


@pytest.fixture(scope="module")
def truth():
    return random_hmm(12, 3, stay=0.6, random_state=1)


@pytest.fixture(scope="module")
def data(truth):
    return Sequences.of(truth.sample(10_000, random_state=1)[0], n_symbols=12)


def test_the_cube_is_that_of_all_triples(truth):
    functions = np.random.default_rng(0).normal(size=(2, 12))
    law = truth.triple_probability()
    expected = np.einsum("abc,ia,jb,kc->ijk", law, functions, functions, functions).ravel()
    found = triple_cube(functions @ truth.emissionprob.T, truth.transmat, truth.stationary())
    assert found == pytest.approx(expected)


def test_the_tangent_holds_every_small_change_of_parameters(truth):
    rng = np.random.default_rng(0)
    seen = rng.normal(size=(5, 12)) @ truth.emissionprob.T
    basis = orthonormal_tangent(seen, truth.transmat, truth.stationary())
    assert basis.T @ basis == pytest.approx(np.eye(basis.shape[1]), abs=1e-8)
    moved = [rng.normal(size=array.shape) for array in (seen, truth.transmat, truth.stationary())]
    sides = []
    for step in (1e-5, -1e-5):
        parts = (seen, truth.transmat, truth.stationary())
        sides.append(triple_cube(*(a + step * b for a, b in zip(parts, moved, strict=True))))
    change = (sides[0] - sides[1]) / 2e-5
    assert basis @ (basis.T @ change) == pytest.approx(change, abs=1e-6 * np.abs(change).max())


def test_a_right_model_is_left_in_peace(truth, data):
    for model in (truth, pairwise(data, 3, random_state=0).model):
        found = model_fit(model, data)
        assert found.fits
        assert found.blames == ""
        assert set(found.p_values) == {"pairs at lag 1", "pairs at lag 2", "triples"}
        assert str(found).startswith("nothing speaks against the model")


def test_level():
    """Of 60 true models, at 5 %, seven or more would be refused once in a thousand times."""
    refused = 0
    for seed in range(60):
        truth = random_hmm(8, 2, stay=0.3, random_state=seed)
        data = truth.sample(2_000, random_state=seed)[0]
        refused += not model_fit(truth, data, flips=99, n_cells=1, random_state=seed).fits
    assert refused < 9


def test_too_few_states_are_noticed(data):
    found = model_fit(pairwise(data, 2, random_state=0).model, data)
    assert not found.fits
    assert found.blames == "states"
    assert "pairs need more states" in str(found)


def test_a_chain_of_second_order_is_noticed_and_its_triples_are_named():
    data = second_order(4, 10_000, random_state=0)
    found = model_fit(pairwise(Sequences.of(data), 4, random_state=0).model, data)
    assert found.blames == "order"
    cell = found.cells[0]
    places = [data[i : len(data) - 2 + i] == symbol for i, symbol in enumerate(cell.symbols)]
    assert cell.counted == np.logical_and.reduce(places).sum()
    assert abs(cell.deviations) > 5
    assert " times, not " in str(found)


def test_many_short_sequences_that_do_not_begin_where_the_chain_stays():
    model = HMM([1, 0], [[0.9, 0.1], [0.0, 1.0]], [[0.6, 0.3, 0.1], [0.1, 0.1, 0.8]])
    rng = np.random.default_rng(0)
    sessions = [model.sample(8, rng)[0] for _ in range(800)]
    assert model_fit(model, sessions).fits
    elsewhere = HMM([0, 1], [[0.9, 0.1], [0.0, 1.0]], model.emissionprob)
    assert model_fit(elsewhere, sessions).p_value < 1  # it has an answer there as well


def test_rare_symbols_are_taken_together(truth):
    emission = np.hstack([0.999 * truth.emissionprob, np.full((3, 200), 0.001 / 200)])
    wide = HMM(truth.startprob, truth.transmat, emission)
    assert model_fit(wide, wide.sample(10_000, random_state=3)[0]).fits


def test_missing_symbols_are_passed_over(truth, data):
    symbols = data.symbols.copy()
    symbols[::50] = -1
    found = model_fit(truth, Sequences(symbols, data.offsets, 12))
    assert found.fits
    assert found.n_places == (symbols >= 0).sum()


def test_states_may_change_places(truth, data):
    one, other = model_fit(truth, data), model_fit(truth.with_states([2, 0, 1]), data)
    assert one.p_values == pytest.approx(other.p_values, abs=0.005)


def test_too_little_data_is_said(truth):
    with pytest.raises(ValueError, match=r"100 symbols are too few to test a model: at least"):
        model_fit(truth, truth.sample(100, random_state=0)[0])


def test_nothing_left_to_test_is_said():
    coin = random_hmm(2, 4, 0.0, random_state=0)
    with pytest.raises(ValueError, match="4 states can explain all pairs and triples of 2 symbols"):
        model_fit(coin, coin.sample(2_000, random_state=0)[0])


def test_long_data_is_looked_at_here_and_there(truth, monkeypatch):
    monkeypatch.setattr("cohmm.diagnose.model_fit.MAX_PLACES", 5_000)
    sequences = truth.sample(20_000, random_state=3)[0].reshape(-1, 40)
    found = model_fit(truth, [*sequences])
    assert found.n_places == 5_000
    assert found.fits

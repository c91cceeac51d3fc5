"""The law of windows against all paths."""

from __future__ import annotations

import tracemalloc
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, EvidenceWarning, Triples, count_triples, threads
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.windows import window_law
from cohmm.learn.windows import window_law as module
from cohmm.learn.windows.window_law import TripleLaw, WindowLaw, window_probability
from tests import laws, oracles
from tests.strategies import random_model

pytestmark = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


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
    monkeypatch.setattr(window_law, "MAX_CELLS", 20)
    with pytest.raises(ValueError, match=r"3 symbols make 27 windows of 3, .* use a smaller tau"):
        WindowLaw.of(count_triples([0, 1, 2, 0]))


def dense(triples: Triples) -> np.ndarray:
    cube = np.zeros((triples.n_symbols,) * 3)
    cube[tuple(triples.triples.T)] = triples.counts
    return cube / cube.sum()


def tables(n: int, k: int, seed: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.dirichlet(np.ones(n), k).T for _ in range(3)]


@given(st.lists(st.integers(0, 3), min_size=3, max_size=40), st.integers(0, 99), st.booleans())
def test_a_pass_is_the_dense_sum(y, seed, divided):
    triples = count_triples(y, n_symbols=max(y) + 1)
    law = TripleLaw.of(triples)
    n = len(law.pairs.seen)
    cube = dense(triples)[np.ix_(*[law.pairs.seen] * 3)]
    left, centre, right = tables(n, 2, seed)
    found = law.products(left, centre, right, divided=divided)
    expected = np.einsum("ak,bk,ck->abc", left, centre, right)
    ratio = cube / expected if divided else cube
    if divided:
        assert found.log_fit == pytest.approx(np.sum(cube * np.log(expected)))
    np.testing.assert_allclose(found.before, np.einsum("abc,bk,ck->ak", ratio, centre, right))
    np.testing.assert_allclose(found.middle, np.einsum("abc,ak,ck->bk", ratio, left, right))
    np.testing.assert_allclose(found.after, np.einsum("abc,ak,bk->ck", ratio, left, centre))
    np.testing.assert_allclose(
        law.compressed(left), np.einsum("abc,ai,bj,cl->ijl", cube, left, left, left)
    )
    assert law.negative_entropy == pytest.approx(np.sum(cube[cube > 0] * np.log(cube[cube > 0])))


def test_the_pairs_are_those_of_the_triples():
    y = np.random.default_rng(0).integers(0, 5, 300)
    triples = count_triples(y)
    cube = dense(triples)
    law = TripleLaw.of(triples)
    [pairs] = law.pairs.laws.values()
    np.testing.assert_allclose(pairs.omega, (cube.sum(axis=2) + cube.sum(axis=0)) / 2)
    assert law.pairs.n_pairs == triples.n_triples


def test_any_number_of_threads_and_parts(monkeypatch):
    y = np.random.default_rng(0).integers(0, 12, 3000)
    whole = TripleLaw.of(count_triples(y))
    factors = tables(12, 3, 0)
    once = whole.products(*factors, divided=True)
    monkeypatch.setattr(module, "PART", 50)
    found = []
    for n in (1, 2, 4):
        with threads(n):
            law = TripleLaw.of(count_triples(y))
            assert len(law._parts) > 4
            found.append(law.products(*factors, divided=True))
    for other in found[1:]:
        for a, b in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(a, b)
    for a, b in zip(found[0], once, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


def test_symbols_never_seen_take_no_part():
    triples = count_triples([0, 3, 0, 3, 3, 0, 0, 0], n_symbols=5)
    law = TripleLaw.of(triples)
    with pytest.warns(EvidenceWarning, match=r"3 of 5 symbols never occur \(1 among"):
        assert law.number_of_states(1) == 1
    assert law.pairs.seen.tolist() == [0, 3]
    assert law.products(*tables(2, 2, 0)).before.shape == (2, 2)


def test_nothing_of_size_n_squared_is_formed():
    n = 6000  # an N x N array of doubles would be 288 MB
    y = np.random.default_rng(0).integers(0, n, 20_000)
    triples = count_triples(y, n_symbols=n)
    tracemalloc.start()
    law = TripleLaw.of(triples)
    law.compressed(np.ones((len(law.pairs.seen), 2)))
    law.products(*tables(len(law.pairs.seen), 2, 0))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6


def test_nothing_to_learn_from():
    nothing = Triples(np.empty((0, 3), np.int32), np.empty(0, np.int64), 3)
    with pytest.raises(ValueError, match=r"nothing to learn from: .*0 distinct"):
        TripleLaw.of(nothing)
    with pytest.raises(ValueError, match="nothing to learn from"):
        TripleLaw.of(Triples(np.zeros((1, 3), np.int32), np.zeros(1), 3))

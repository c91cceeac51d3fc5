"""The law of triples: one pass against dense sums, for any number of threads."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Triples, count_triples, threads
from cohmm.learn.run import EvidenceWarning
from cohmm.learn.triples import triple_law as module
from cohmm.learn.triples.triple_law import TripleLaw

pytestmark = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


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

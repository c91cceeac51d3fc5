"""Triple counts against plain loops, and the law that counts add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Sequences, Triples, count_triples, threads
from cohmm.evidence import windows
from cohmm.evidence.windows import DENSE_CELLS, triple_counts
from tests import laws, oracles
from tests.strategies import sequences_of, with_gaps

SPREAD = 100  # times the code: too many symbols for a table of all triples


def as_dict(counts: Triples) -> dict[tuple[int, ...], int]:
    found = dict(zip(map(tuple, counts.triples.tolist()), counts.counts.tolist(), strict=True))
    assert len(found) == len(counts.counts)
    assert list(found) == sorted(found)
    return found


@given(sequences_of(3, most=4, longest=9), st.booleans())
def test_triples_are_those_of_the_loop(sequences, spread):
    if spread:
        sequences = [[code * SPREAD if code > 0 else code for code in s] for s in sequences]
    n = 2 * SPREAD + 1 if spread else 3
    assert (n**3 > DENSE_CELLS) == spread
    counts = triple_counts(Sequences.of(with_gaps(sequences), n_symbols=n))
    expected = oracles.triple_counts(sequences)
    assert as_dict(counts) == dict(expected)
    assert counts.n_triples == expected.total()
    assert counts.n_symbols == n
    assert counts.triples.dtype == np.int32
    assert counts.counts.dtype == np.int64


@given(sequences_of(4, most=4, missing=False), st.sampled_from([1, SPREAD]))
def test_parts_add_up(sequences, spread):
    data = [[code * spread for code in sequence] for sequence in sequences]
    words = [["wxyz"[code] for code in sequence] for sequence in sequences]

    def count(part):
        return triple_counts(Sequences.of(part))

    laws.parts_add_up(count, [[piece] for piece in data], data)
    laws.parts_add_up(count, [[piece] for piece in words], words)


@pytest.mark.parametrize("n_symbols", [5, 300])
def test_parts_inside_a_call_and_threads(monkeypatch, n_symbols):
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_symbols, 1000)
    lengths = [300, 1, 2, 697]
    whole = count_triples(y, lengths, n_symbols=n_symbols)
    monkeypatch.setattr(windows, "PART", 7)
    for n in (1, 2, 4):
        with threads(n):
            assert count_triples(y, lengths, n_symbols=n_symbols) == whole
    assert as_dict(whole) == dict(oracles.triple_counts(np.split(y, np.cumsum(lengths)[:-1])))


def test_triples_cross_no_border_and_no_gap():
    assert as_dict(count_triples([0, 1, 0, 1, 1, 1], [3, 3])) == {(0, 1, 0): 1, (1, 1, 1): 1}
    assert as_dict(count_triples([0, 0, None, 1, 1, 1])) == {(1, 1, 1): 1}


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([0, 1], {}, "no triple: 1 sequences, the longest of 2"),
        ([[0, 1], [0, 1]], {}, "no triple: 2 sequences, the longest of 2"),
        ([0, None, 1, 0], {}, "no triple"),
        ([], {}, "there is no data"),
        ([0, 1, -2], {}, "symbol -2 at position 2"),
        ([0, 1, 2], {"lengths": [4]}, "lengths sum to 4"),
        ([0, 1, 5], {"n_symbols": 3}, "unseen symbol 5"),
        ([0, 1, 2], {"n_symbols": 3_000_000}, "triples of 3,000,000 symbols: at most 2,000,000"),
    ],
)
def test_wrong_input(X, options, message):
    with pytest.raises(ValueError, match=message):
        count_triples(X, **options)


def test_what_does_not_add_up(monkeypatch):
    numbers, labels = count_triples([0, 1, 0]), count_triples(["a", "b", "a"])
    with pytest.raises(ValueError, match="labels and counts of numbers"):
        numbers + labels
    for wrong in (1, None, np.zeros(2)):
        with pytest.raises(TypeError):
            numbers + wrong
    assert sum([numbers]) == numbers
    assert numbers != labels
    assert numbers != count_triples([0, 1, 0], n_symbols=3)
    assert numbers != 3
    monkeypatch.setattr(windows, "MOST_SYMBOLS", 3)
    with pytest.raises(ValueError, match="triples of 4 symbols: at most 3"):
        labels + count_triples(["c", "d", "c"])


def random_law(n: int, zeros: float = 0.5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    law = rng.exponential(size=(n, n, n)) * (rng.random((n, n, n)) >= zeros)
    return law / law.sum()


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_a_given_law_keeps_every_probability(n):
    law = random_law(n, zeros=0.0 if n == 1 else 0.5)
    triples = Triples.from_probability(law, n_triples=100)
    assert triples.n_symbols == n
    assert triples.counts.dtype == np.float64
    assert triples.triples.dtype == np.int32
    assert triples.n_triples == pytest.approx(100, rel=1e-12)
    assert (triples.counts > 0).all()
    again = np.zeros((n, n, n))
    for triple, count in as_dict(triples).items():
        again[triple] = count
    np.testing.assert_allclose(again, 100 * law, rtol=1e-14, atol=0)


def test_laws_add_up_with_each_other_and_with_counts(tmp_path):
    law = random_law(3)
    one = Triples.from_probability(law, n_triples=10, vocabulary=["a", "b", "c"])
    both = one + Triples.from_probability(law, n_triples=30, vocabulary=["a", "b", "c"])
    np.testing.assert_allclose(both.counts, 4 * one.counts, rtol=1e-14)
    mixed = both + count_triples(["b", "d", "b"])
    assert mixed.vocabulary == ("a", "b", "c", "d")
    assert mixed.counts.dtype == np.float64
    assert mixed.n_triples == pytest.approx(41)
    assert as_dict(mixed)[1, 3, 1] == 1.0
    mixed.save(tmp_path / "law.cohmm")
    again = Triples.load(tmp_path / "law.cohmm")
    assert again == mixed
    assert again.counts.dtype == np.float64
    assert repr(one) == f"Triples(3 symbols, {len(one.counts)} distinct of 10 triples)"


def test_whole_numbers_are_not_the_same_value_as_a_law():
    counts = count_triples([0, 1, 0, 1])
    law = Triples(counts.triples, counts.counts.astype(float), 2)
    assert law != counts
    assert isinstance(counts.n_triples, int)
    assert isinstance(law.n_triples, float)


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (np.full((2, 2, 2), 1 / 8), {"n_triples": 0}, "n_triples must be finite and above 0, not"),
        (np.full((2, 2, 2), 1 / 8), {"n_triples": np.inf}, "above 0, not inf"),
        (np.full((2, 2, 2), 1 / 8), {"n_triples": np.nan}, "above 0, not nan"),
        (np.full((2, 2), 1 / 4), {}, r"of the shape \(N, N, N\), not \(2, 2\)"),
        (np.full((2, 2, 3), 1 / 12), {}, r"of the shape \(N, N, N\), not \(2, 2, 3\)"),
        (np.empty((0, 0, 0)), {}, "sums to 0, not to 1"),
        (np.full((2, 2, 2), 1 / 4), {}, "sums to 2, not to 1"),
        ([[[2.0, -1.0], [0, 0]], [[0, 0], [0, 0]]], {}, r"the entry -1.0 at \(0, 0, 1\)"),
        ([[[0, 0], [0, np.nan]], [[0, 1], [0, 0]]], {}, r"the entry nan at \(0, 1, 1\)"),
        ([[["a"]]], {}, "must be an array of numbers"),
        ([[[1.0]]], {"vocabulary": ["a", "b"]}, "2 labels for 1 symbols"),
    ],
)
def test_wrong_laws(law, options, message):
    with pytest.raises(ValueError, match=message):
        Triples.from_probability(law, **options)


def test_wrong_values():
    with pytest.raises(ValueError, match="2 counts for 1 triples"):
        Triples(np.zeros((1, 3), np.int32), np.ones(2, np.int64), 2)
    with pytest.raises(ValueError, match="1 labels for 2 symbols"):
        Triples(np.zeros((1, 3), np.int32), np.ones(1, np.int64), 2, ("a",))
    with pytest.raises(ValueError, match="symbols from 0 to 2: there are 2"):
        Triples(np.array([[0, 2, 1]], np.int32), np.ones(1), 2)
    with pytest.raises(ValueError, match="symbols from -1 to 1"):
        Triples(np.array([[0, -1, 1]], np.int32), np.ones(1), 2)
    with pytest.raises(ValueError, match="counts of triples must be a list of numbers, not array"):
        Triples(np.zeros((1, 3), np.int32), np.ones(1, bool), 2)
    for wrong in (np.nan, np.inf, -1.0):
        with pytest.raises(ValueError, match=rf"triples have {wrong} at \[1\]: a count must be"):
            Triples(np.array([[0, 0, 0], [0, 1, 0]], np.int32), np.array([1.0, wrong]), 2)


def test_triples_are_in_order_and_each_once():
    for rows in ([[0, 1, 0], [0, 0, 0]], [[0, 1, 0], [0, 1, 0]]):
        with pytest.raises(ValueError, match=r"must be in order, each once: .* comes after \(0, 1"):
            Triples(rows, [1, 2], 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], [1], 2), r"of the shape \(n, 3\), not \(1, 2\)"),
        (([[0.0, 1, 0]], [1], 2), "triples must be an array of whole numbers"),
        (([0, 1, 0], [1], 2), "triples must be an array of whole numbers"),
        (([[0, 1, 0]], [1], 2**31 - 1), "at most 2,000,000 can be counted"),
        (([[0, 1, 0]], [1], 0), "n_symbols must be a whole number from 1"),
        (([[0, 1, 0]], [2.0**1023, 2.0**1023], 2), "add up to inf"),
        (([[0, 1, 0]], [[1]], 2), "counts of triples must be a list of numbers"),
    ],
)
def test_more_wrong_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        Triples(*arguments)


def test_triples_share_nothing_with_the_caller():
    rows, amounts = np.array([[0, 1, 0]], np.int32), np.array([3])
    counts = Triples(rows, amounts, 2)
    rows[0], amounts[0] = 1, 9
    assert counts.triples.tolist() == [[0, 1, 0]]
    assert counts.counts.tolist() == [3]


def test_sums_that_overflow():
    counts = Triples([[0, 1, 0]], [2**62], 2)
    with pytest.raises(ValueError, match="more than int64 can hold"):
        counts + counts


@pytest.mark.parametrize("X", [[0, 1, 0, 400, 0], ["ü", "b", "ü"]])
def test_save_and_load(tmp_path, X):
    counts = count_triples(X)
    counts.save(tmp_path / "triples.cohmm")
    again = Triples.load(tmp_path / "triples.cohmm")
    assert again == counts
    assert again.vocabulary == counts.vocabulary
    assert again + counts == counts + counts

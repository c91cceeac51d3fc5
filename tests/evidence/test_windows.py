"""Window counts against plain loops, and the law that counts add up."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Sequences, count_triples, threads
from cohmm.evidence import windows
from cohmm.evidence.windows import Windows, count_windows, window_counts
from tests import laws
from tests.strategies import sequences_of, with_gaps


def in_a_loop(sequences, tau):
    counts: Counter[tuple[int, ...]] = Counter()
    for sequence in sequences:
        for t in range(len(sequence) - 2 * tau):
            window = tuple(int(code) for code in sequence[t : t + 2 * tau + 1])
            if min(window) >= 0:
                counts[window] += 1
    return counts


def as_dict(counts: Windows) -> dict[tuple[int, ...], int]:
    found = dict(zip(map(tuple, counts.windows.tolist()), counts.counts.tolist(), strict=True))
    assert len(found) == len(counts.counts)
    assert list(found) == sorted(found)
    return found


@given(sequences_of(3, most=4, longest=12), st.sampled_from([1, 2, 3]))
def test_windows_are_those_of_the_loop(sequences, tau):
    counts = window_counts(Sequences.of(with_gaps(sequences), n_symbols=3), tau)
    expected = in_a_loop(sequences, tau)
    assert as_dict(counts) == dict(expected)
    assert counts.n_windows == expected.total()
    assert counts.tau == tau
    assert counts.windows.dtype == np.int32
    assert counts.counts.dtype == np.int64


@given(sequences_of(4, most=4, longest=9, missing=False))
def test_parts_add_up(sequences):
    words = [["wxyz"[code] for code in sequence] for sequence in sequences]

    def count(part):
        return window_counts(Sequences.of(part))

    laws.parts_add_up(count, [[piece] for piece in sequences], sequences)
    laws.parts_add_up(count, [[piece] for piece in words], words)


def test_parts_inside_a_call_and_threads(monkeypatch):
    y = np.random.default_rng(0).integers(0, 3, 1000)
    lengths = [300, 4, 5, 691]
    whole = count_windows(y, lengths)
    monkeypatch.setattr(windows, "PART", 7)
    for n in (1, 2, 4):
        with threads(n):
            assert count_windows(y, lengths) == whole
    assert as_dict(whole) == dict(in_a_loop(np.split(y, np.cumsum(lengths)[:-1]), 2))


def test_windows_of_tau_1_are_triples():
    y = np.random.default_rng(0).integers(0, 4, 500)
    found, expected = count_windows(y, tau=1), count_triples(y)
    assert np.array_equal(found.windows, expected.triples)
    assert np.array_equal(found.counts, expected.counts)


def test_codes_of_past_middle_and_future():
    counts = count_windows([2, 0, 1, 1, 2], n_symbols=3)
    assert counts.past.tolist() == [2 * 3 + 0]
    assert counts.middle.tolist() == [1]
    assert counts.future.tolist() == [1 * 3 + 2]


@pytest.mark.parametrize(("n", "tau"), [(2, 1), (3, 2), (2, 3), (1, 1)])
def test_a_law_keeps_its_places(n, tau):
    law = np.random.default_rng(n).dirichlet(np.ones(n ** (2 * tau + 1)))
    law = law.reshape(n**tau, n, n**tau)
    counts = Windows.from_probability(law, n_windows=10.0)
    assert (counts.n_symbols, counts.tau) == (n, tau)
    again = np.zeros(law.shape)
    again[counts.past, counts.middle, counts.future] = counts.counts / 10
    np.testing.assert_allclose(again, law, atol=1e-15)
    assert counts.n_windows == pytest.approx(10)


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([0, 1, 0, 1], {}, "no window: 1 sequences, the longest of 4 .* have 5 .* smaller tau"),
        ([0, 1, None, 1, 0], {}, "no window"),
        ([0, 1, 0], {"tau": 0}, "tau must be a whole number from 1, not 0"),
        ([0, 1, 0], {"tau": True}, "not True"),
        ([0, 1, 0], {"tau": 1.0}, "not 1.0"),
        ([0, 1, 5, 1, 1], {"n_symbols": 3}, "unseen symbol 5"),
        ([0, 1], {"n_symbols": 10**5}, r"of 5 among 100,000 symbols .* tau=2 allows 5,\d+ symbols"),
    ],
)
def test_wrong_input(X, options, message):
    with pytest.raises(ValueError, match=message):
        count_windows(X, **options)


@pytest.mark.parametrize(
    ("law", "message"),
    [
        (np.full((4, 2, 3), 1 / 24), r"\(N\^tau, N, N\^tau\), not \(4, 2, 3\)"),
        (np.full((5, 2, 5), 1 / 50), r"not \(5, 2, 5\)"),
        (np.ones(1), r"not \(1,\)"),
        ("law", "array of numbers, not 'law'"),
        (np.full((4, 2, 4), 1 / 16), "sums to 2, not to 1"),
        (np.where(np.arange(8).reshape(2, 2, 2) == 3, -1.0, 2 / 7), r"entry -1.0 at \(0, 1, 1\)"),
        (np.full((2, 2, 2), np.nan), "entry nan at"),
    ],
)
def test_wrong_laws(law, message):
    with pytest.raises(ValueError, match=message):
        Windows.from_probability(law)
    with pytest.raises(ValueError, match="n_windows must be finite and above 0, not 0"):
        Windows.from_probability(law, n_windows=0)


def test_what_does_not_add_up(monkeypatch):
    numbers, labels = count_windows([0, 1, 0, 1, 0]), count_windows(list("ababa"))
    with pytest.raises(ValueError, match="labels and counts of numbers"):
        numbers + labels
    with pytest.raises(ValueError, match="windows of 5 and of 3 symbols do not add up"):
        numbers + count_windows([0, 1, 0], tau=1)
    for wrong in (1, None, np.zeros(2)):
        with pytest.raises(TypeError):
            numbers + wrong
    assert sum([numbers]) == numbers
    assert numbers != labels
    assert numbers != count_windows([0, 1, 0, 1, 0], n_symbols=3)
    assert numbers != 3
    monkeypatch.setattr(windows, "KEY_BITS", 5)
    with pytest.raises(ValueError, match="among 4 symbols cannot be counted: tau=2"):
        labels + count_windows(list("cdcdc"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros((1, 4), np.int32), np.ones(1, np.int64), 2), r"2 tau \+ 1\), not \(1, 4\)"),
        ((np.zeros((1, 1), np.int32), np.ones(1, np.int64), 2), r"not \(1, 1\)"),
        ((np.zeros((1, 3), np.int32), np.ones(2, np.int64), 2), "2 counts for 1 windows"),
        ((np.full((1, 3), 2, np.int32), np.ones(1, np.int64), 2), "from 2 to 2: there are 2"),
        ((np.zeros((1, 3), np.int32), np.ones(1, bool), 2), "must be a list of numbers, not array"),
        ((np.zeros((1, 3), np.int32), -np.ones(1), 2), r"windows have -1.0 at \[0\]"),
        ((np.zeros((1, 3), np.int32), np.ones(1), 2, ("a",)), "1 labels for 2 symbols"),
        (([[0, 1, 0], [0, 0, 0]], [1, 1], 2), "windows must be in order, each once"),
        (([[0] * 99], [1], 2), "among 2 symbols cannot be counted"),
        (([0, 1, 0], [1], 2), "windows must be an array of whole numbers"),
        (([[0, 1, 0]], [2**63], 2), "more than int64 can hold"),
    ],
)
def test_wrong_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        Windows(*arguments)


def test_windows_share_nothing_with_the_caller():
    rows, amounts = np.array([[0, 1, 0]], np.int32), np.array([3])
    counts = Windows(rows, amounts, 2)
    rows[0], amounts[0] = 1, 9
    assert counts.windows.tolist() == [[0, 1, 0]]
    assert counts.counts.tolist() == [3]


@pytest.mark.parametrize("X", [[0, 1, 0, 40, 0, 1], list("übübüb")])
def test_save_and_load(tmp_path, X):
    counts = count_windows(X)
    counts.save(tmp_path / "windows.cohmm")
    again = Windows.load(tmp_path / "windows.cohmm")
    assert again == counts
    assert again.vocabulary == counts.vocabulary
    assert again + counts == counts + counts

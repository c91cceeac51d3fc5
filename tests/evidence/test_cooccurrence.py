"""Pair counts against plain loops, and the law that counts add up."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from cohmm import (
    Cooccurrence,
    Sequences,
    StorageError,
    count_pairs,
    count_triples,
    count_windows,
    threads,
)
from cohmm.evidence.cooccurrence import LARGEST_DENSE
from cohmm.evidence.counting import pair_counts
from tests import laws, oracles
from tests.strategies import sequences_of, with_gaps

SPREAD = 520  # times the code: three symbols of a large vocabulary
LARGE = 2 * SPREAD + 1


def entries(matrix) -> dict[tuple[int, int], float]:
    """Everything that is stored, or not zero."""
    found = sparse.coo_array(matrix)
    pairs = zip(found.row.tolist(), found.col.tolist(), strict=True)
    return dict(zip(pairs, found.data.tolist(), strict=True))


def counted(sequences, n, lags=(1,), weights=None) -> Cooccurrence:
    """Counts of codes, none of them being no mistake."""
    return pair_counts(Sequences.of(with_gaps(sequences), n_symbols=n), lags, weights)


def spread(sequences):
    return [[code * SPREAD if code > 0 else code for code in sequence] for sequence in sequences]


# -- against loops --------------------------------------------------------------------------


@given(sequences_of(3, most=4, longest=8), st.sets(st.integers(1, 9), min_size=1, max_size=3))
def test_dense_counts(sequences, lags):
    counts = counted(sequences, 3, lags)
    assert counts.lags == tuple(sorted(lags))
    assert not counts.is_sparse
    for lag in lags:
        assert counts[lag].dtype == np.int64
        np.testing.assert_array_equal(counts[lag], oracles.pair_matrix(sequences, 3, lag))
    flat = [code for sequence in sequences for code in sequence if code >= 0]
    np.testing.assert_array_equal(counts.symbol_counts, np.bincount(flat, minlength=3))
    first = [sequence[0] for sequence in sequences if sequence[0] >= 0]
    np.testing.assert_array_equal(counts.start_counts, np.bincount(first, minlength=3))


@given(sequences_of(3, most=4, longest=8), st.sets(st.integers(1, 9), min_size=1, max_size=3))
def test_sparse_counts(sequences, lags):
    sequences = spread(sequences)
    counts = counted(sequences, LARGE, lags)
    assert counts.is_sparse
    for lag in lags:
        assert counts[lag].has_canonical_format
        assert entries(counts[lag]) == oracles.pair_counts(sequences, lag)
    assert counts.symbol_counts.sum() == sum(c >= 0 for sequence in sequences for c in sequence)


@given(
    sequences_of(3, most=4, longest=8),
    st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 2.0]), min_size=4, max_size=4),
    st.integers(1, 3),
)
def test_weighted_counts(sequences, weights, lag):
    weights = weights[: len(sequences)]
    for data, n in ((sequences, 3), (spread(sequences), LARGE)):
        counts = counted(data, n, lag, weights)
        expected = oracles.pair_counts(data, lag, weights)
        assert counts[lag].dtype == np.float64
        assert entries(counts[lag]) == pytest.approx(
            {pair: weight for pair, weight in expected.items() if weight}, rel=1e-14
        )
        each = [sum(c >= 0 for c in s) * w for s, w in zip(data, weights, strict=True)]
        np.testing.assert_allclose(counts.symbol_counts.sum(), sum(each), rtol=1e-14)
        starts = [w for s, w in zip(data, weights, strict=True) if s[0] >= 0]
        np.testing.assert_allclose(counts.start_counts.sum(), sum(starts), rtol=1e-14)


def test_a_large_vocabulary_at_length():
    rng = np.random.default_rng(0)
    n = 5000
    y = np.minimum(rng.zipf(1.3, 60_000), n) - 1
    y[rng.random(len(y)) < 0.01] = -1
    y[:2] = n - 1, 0
    cuts = [0, *sorted(rng.choice(len(y), 40, replace=False).tolist()), len(y)]
    sequences = [y[a:b] for a, b in itertools.pairwise(cuts) if b > a]
    X = np.ma.masked_less(y, 0)
    counts = count_pairs(X, [len(s) for s in sequences], lags=(1, 3), n_symbols=n)
    for lag in (1, 3):
        assert entries(counts[lag]) == oracles.pair_counts(sequences, lag)


def test_pairs_cross_no_border():
    joined = count_pairs([0, 0, 1, 1], lags=(1, 2))
    parted = count_pairs([0, 0, 1, 1], [2, 2])
    assert joined[1][0, 1] == 1
    assert parted[1].tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match="no pair at lag 2: 2 sequences, the longest of 2"):
        count_pairs([0, 0, 1, 1], [2, 2], lags=2)


def test_missing_observations_are_in_no_pair():
    counts = count_pairs([0, None, 1, 0], lags=(1, 2))
    assert counts[1].tolist() == [[0, 0], [1, 0]]
    assert counts[2].tolist() == [[0, 1], [0, 0]]
    assert counts.symbol_counts.tolist() == [2, 1]
    assert count_pairs([[None, 0, 0], [1, 1]]).start_counts.tolist() == [0, 1]


@pytest.mark.parametrize("lags", [2, (2,), [2], {2}, iter([2]), np.int64(2), np.array([2]), (2, 2)])
def test_lags_of_many_kinds(lags):
    assert count_pairs([0, 1, 0], lags=lags).lags == (2,)
    assert count_pairs([0, 1, 0, 1], lags=range(1, 4)).lags == (1, 2, 3)


def test_labels_are_counted_as_labels():
    counts = count_pairs(["b", "a", "b"])
    assert counts.vocabulary == ("a", "b")
    assert counts[1].tolist() == [[0, 1], [1, 0]]
    known = count_pairs(["b", "a", "?", "b"], vocabulary=["b", "a"], unseen="missing")
    assert known.vocabulary == ("b", "a")
    assert known[1].tolist() == [[0, 1], [0, 0]]


# -- counts add up --------------------------------------------------------------------------


@given(sequences_of(3, most=5), st.sampled_from([1, (1, 2)]))
def test_parts_add_up(sequences, lags):
    for data, n in ((sequences, 3), (spread(sequences), LARGE)):
        laws.parts_add_up(lambda part: counted(part, n, lags), [[s] for s in data], data)  # noqa: B023


@given(sequences_of(3, most=5), st.lists(st.sampled_from([0, 1, 2.5]), min_size=5, max_size=5))
def test_weighted_parts_add_up(sequences, weights):
    for data, n in ((sequences, 3), (spread(sequences), LARGE)):
        weighted = list(zip(data, weights, strict=False))

        def count(part):
            pieces, weight = zip(*part, strict=True)
            return counted(pieces, n, 1, weight)  # noqa: B023

        laws.parts_add_up(count, [[piece] for piece in weighted], weighted)


@given(sequences_of(4, most=4, missing=False))
def test_parts_of_different_vocabularies_add_up(sequences):
    words = [["wxyz"[code] for code in sequence] for sequence in sequences]

    def count(part):
        return pair_counts(Sequences.of(part))

    laws.parts_add_up(count, [[piece] for piece in words], words)


@given(sequences_of(4, most=4, missing=False))
def test_parts_of_different_sizes_add_up(sequences):
    """Codes without a vocabulary: a later part may know more symbols, up to sparse counts."""

    def count(part):
        return pair_counts(Sequences.of(part))

    for data in (sequences, [[code * 400 for code in sequence] for sequence in sequences]):
        laws.parts_add_up(count, [[piece] for piece in data], data)


@settings(max_examples=15)
@given(st.lists(st.lists(st.integers(0, 2 * LARGEST_DENSE), min_size=1), min_size=1, max_size=3))
def test_large_vocabularies_of_labels_unite(sequences):
    words = [[f"word {code}" for code in sequence] for sequence in sequences]
    background = [f"word {code}" for code in range(LARGEST_DENSE)]

    def count(part):
        return pair_counts(Sequences.of([*part, background]))

    left, right = count(words), count([background[::-1]])
    both = left + right
    assert both.is_sparse == (both.n_symbols > LARGEST_DENSE)
    assert both == count([*words, background[::-1], background])
    assert right + left == both


def test_the_whole_is_no_alias_of_a_part():
    part = count_pairs([0, 1, 0])
    whole = part + count_pairs([0, 1])
    with pytest.raises(ValueError, match="read-only"):
        whole[1][:] = 0
    assert not np.shares_memory(whole[1], part[1])
    assert part[1].tolist() == [[0, 1], [1, 0]]
    assert sum([part]) == part


def test_what_does_not_add_up():
    numbers, labels = count_pairs([0, 1]), count_pairs(["a", "b"])
    with pytest.raises(ValueError, match=r"lags \(1,\) and \(1, 2\)"):
        numbers + count_pairs([0, 1, 0], lags=(1, 2))
    for pair in ((numbers, labels), (labels, numbers)):
        with pytest.raises(ValueError, match="labels and counts of numbers"):
            sum(pair)
    for wrong in (1, None, "a", np.zeros(3)):
        with pytest.raises(TypeError):
            numbers + wrong
    assert numbers != "a"
    assert numbers != labels
    assert numbers != count_pairs([0, 1], n_symbols=3)
    assert numbers != count_pairs([0, 1], weights=[1])  # the same counts, of another kind
    assert count_pairs([0, 0, 1]) != count_pairs([0, 1, 1])


@pytest.mark.parametrize("n", [1, 2, 4])
def test_any_number_of_threads_counts_the_same(n):
    rng = np.random.default_rng(1)
    lengths = rng.integers(1, 900, 200)
    weights = rng.random(len(lengths))
    for n_symbols in (4, 2000):
        y = rng.integers(0, n_symbols, lengths.sum())
        with threads(1):
            plain = count_pairs(y, lengths, lags=(1, 7), n_symbols=n_symbols)
            weighed = count_pairs(y, lengths, weights=weights, n_symbols=n_symbols)
        with threads(n):
            assert count_pairs(y, lengths, lags=(1, 7), n_symbols=n_symbols) == plain
            assert count_pairs(y, lengths, weights=weights, n_symbols=n_symbols) == weighed
        assert plain.is_sparse == (n_symbols == 2000)


# -- a given law ----------------------------------------------------------------------------


def test_a_given_law():
    law = np.array([[0.5, 0.25], [0.25, 0.0]])
    for given_law in (law, law.tolist(), sparse.csr_array(law), sparse.coo_matrix(law)):
        counts = Cooccurrence.from_probability(given_law, n_pairs=8)
        assert counts[1].tolist() == [[4, 2], [2, 0]]
        assert counts.n_pairs() == 8
        np.testing.assert_array_equal(counts.probability(), law)
        assert counts.symbol_counts.tolist() == [6, 2]
    two = Cooccurrence.from_probability({3: law, 1: law.T}, vocabulary=["x", "y"])
    assert two.lags == (1, 3)
    assert two.vocabulary == ("x", "y")
    assert two.n_pairs(3) == 1e9


def test_a_given_sparse_law_stays_sparse():
    n = LARGEST_DENSE + 1
    law = sparse.coo_array(([0.5, 0.5, 0.0], ([0, n - 1, 3], [1, 0, 3])), shape=(n, n))
    counts = Cooccurrence.from_probability(law, n_pairs=4)
    assert counts.is_sparse
    assert counts[1].nnz == 2  # a stored zero is not a pair
    assert counts.probability()[n - 1, 0] == 0.5


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        ([[0.5, 0.5]], {}, r"lag 1 must be square, not \(1, 2\)"),
        ([0.5, 0.5], {}, "must be square"),
        ([[0.5, 0.6], [0, 0]], {}, "lag 1 sums to 1.1, not to 1"),
        ([[1.5, -0.5], [0, 0]], {}, r"entry -0.5 at \(0, 1\): no probability"),
        ([[np.nan, 1], [0, 0]], {}, "entry nan at"),
        (sparse.csr_array([[1.5, -0.5], [0, 0]]), {}, "entry -0.5"),
        ({}, {}, "no lag"),
        ({0: [[1.0]]}, {}, "a lag is a whole number from 1, not 0"),
        ({1: [[1.0]], 2: np.eye(2) / 2}, {}, "different shapes"),
        ([[1.0]], {"n_pairs": 0}, "n_pairs must be finite and above 0, not 0"),
        ([[1.0]], {"n_pairs": float("nan")}, "n_pairs must be finite and above 0, not nan"),
        ([[1.0]], {"vocabulary": ["a", "b"]}, "2 labels for 1 symbols"),
    ],
)
def test_what_is_no_law(law, options, message):
    with pytest.raises(ValueError, match=message):
        Cooccurrence.from_probability(law, **options)


# -- wrong input ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        ([0, -1], {}, "symbol -1 at position 1 is negative"),
        ([0, 1, 2], {"lengths": [2]}, "lengths sum to 2"),
        ([], {}, "there is no data"),
        ([0], {}, "no pair at lag 1: 1 sequences, the longest of 1"),
        ([0, 1, 0], {"lengths": [1, 1, 1]}, "no pair at lag 1: 3 sequences, the longest of 1"),
        ([0, None, 1, None], {}, "no pair at lag 1"),
        ([0, 1], {"lags": ()}, "lags is empty"),
        ([0, 1], {"lags": 0}, "a lag is a whole number from 1, not 0"),
        ([0, 1], {"lags": (1, -2)}, "from 1, not -2"),
        ([0, 1], {"lags": 1.5}, "from 1, not 1.5"),
        ([0, 1], {"lags": [1.0]}, "from 1, not 1.0"),
        ([0, 1], {"lags": True}, "from 1, not True"),
        ([0, 1], {"lags": "1"}, "from 1, not '1'"),
        ([0, 1], {"lags": None}, "from 1, not None"),
        ([[0, 1], [1, 0]], {"weights": [1.0]}, r"one number per sequence, \(2,\), not \(1,\)"),
        ([[0, 1], [1, 0]], {"weights": 2.0}, r"one number per sequence"),
        ([[0, 1], [1, 0]], {"weights": [1, -1]}, "weight of sequence 1 is -1.0"),
        ([[0, 1], [1, 0]], {"weights": [np.nan, 1]}, "weight of sequence 0 is nan"),
        ([[0, 1], [1, 0]], {"weights": [1, np.inf]}, "weight of sequence 1 is inf"),
        ([[0, 1], [1, 0]], {"weights": [0, 0]}, "no pair at lag 1"),
        ([0, 5], {"n_symbols": 3}, "unseen symbol 5 .sequence 0, position 1"),
        (["a", "q"], {"vocabulary": ["a"]}, "unseen symbol 'q'"),
    ],
)
def test_wrong_input(X, options, message):
    with pytest.raises(ValueError, match=message):
        count_pairs(X, **options)


def test_wrong_values():
    with pytest.raises(ValueError, match=r"lag 1 have the shape \(2, 2\), not \(3, 3\)"):
        Cooccurrence({1: np.eye(2)}, np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="2 start counts for 3 symbols"):
        Cooccurrence({1: np.eye(3)}, np.ones(3), np.ones(2))
    with pytest.raises(ValueError, match="1 labels for 3 symbols"):
        Cooccurrence({1: np.eye(3)}, np.ones(3), np.ones(3), ("a",))
    counts = count_pairs([0, 1])
    with pytest.raises(ValueError, match="lag 2 was not counted; there are 1"):
        counts[2]
    with pytest.raises(ValueError, match="no pair was counted at lag 1"):
        counted([[0]], 1).probability()
    with pytest.raises(AttributeError):
        counts.vocabulary = ("a", "b")


# -- a value checks itself, and is its own ---------------------------------------------------

GOOD = {1: np.array([[0, 2], [1, 0]])}, np.array([2, 2]), np.array([1, 0])


def csr(data, indices, indptr, n=2):
    """A CSR array whose parts were changed after it was made."""
    matrix = sparse.csr_array(np.eye(n))
    matrix.data, matrix.indices, matrix.indptr = map(np.asarray, (data, indices, indptr))
    return matrix


@pytest.mark.parametrize(
    ("place", "wrong", "message"),
    [
        (0, {1: [[0, -1], [1, 0]]}, r"lag 1 have -1 at \[0, 1\]: a count must be finite"),
        (0, {1: [[0, np.nan], [1, 0]]}, r"lag 1 have nan at \[0, 1\]"),
        (0, {1: [[0, np.inf], [1, 0]]}, r"lag 1 have inf at \[0, 1\]"),
        (0, {1: [[1e308, 1e308], [1, 0]]}, "lag 1 add up to inf, more than float64 can hold"),
        (0, {1: [[2**62, 2**62], [1, 0]]}, r"lag 1 add up to 9.22e\+18, more than int64 can"),
        (0, {1: np.array([[2**63, 0], [0, 0]], np.uint64)}, "more than int64 can hold"),
        (0, {1: [[True, False], [True, True]]}, "lag 1 must be an array of numbers"),
        (0, {1: [["a", "b"], ["c", "d"]]}, "lag 1 must be an array of numbers"),
        (0, {1: [[0, 1], [1]]}, "lag 1 must be an array of numbers"),
        (0, {1: None}, "lag 1 must be an array of numbers"),
        (0, {}, "counts must be a dictionary by lag"),
        (0, [[0, 1], [1, 0]], "counts must be a dictionary by lag"),
        (0, {0: np.eye(2)}, "a lag is a whole number from 1, not 0"),
        (0, {"1": np.eye(2)}, "a lag is a whole number from 1, not '1'"),
        (0, {2**70: np.eye(2)}, "a lag is at most 2,147,483,648, not 11805"),
        (0, {1: csr([1.0, 1.0], [0, 7], [0, 1, 2])}, "lag 1 are no sparse matrix: "),
        (0, {1: csr([1.0, 1.0], [0, -1], [0, 1, 2])}, "lag 1 are no sparse matrix: "),
        (0, {1: csr([1.0, 1.0], [0, 1], [0, 2, 1])}, "lag 1 are no sparse matrix: "),
        (0, {1: csr([1.0, -1.0], [0, 1], [0, 1, 2])}, "lag 1 have -1.0 at"),
        (0, {1: csr([1.0, np.nan], [0, 1], [0, 1, 2])}, "lag 1 have nan at"),
        (1, [-1, 2], r"symbol_counts have -1 at \[0\]"),
        (1, [np.nan, 2], "symbol_counts have nan"),
        (1, [[1, 2]], "symbol_counts must be a list of numbers"),
        (1, [], "n_symbols must be a whole number from 1, not 0"),
        (2, [0, np.inf], "start_counts have inf"),
        (2, None, "start_counts must be a list of numbers"),
    ],
)
def test_what_is_no_count(place, wrong, message):
    arguments = list(GOOD)
    arguments[place] = wrong
    with pytest.raises(ValueError, match=message):
        Cooccurrence(*arguments)


@pytest.mark.parametrize("n_pairs", [np.inf, np.nan, 0, -1, 1.7e308])
def test_wrong_numbers_of_pairs(n_pairs):
    with pytest.raises(ValueError, match=r"n_pairs must be finite and above 0|more than float64"):
        Cooccurrence.from_probability(np.full((2, 2), 0.2500002), n_pairs * 1.06)


def test_weights_that_overflow():
    with pytest.raises(ValueError, match="the weights of all observations add up to inf"):
        count_pairs([[0, 1], [1, 0]], weights=[1e308, 1e308])
    large = count_pairs([[0, 1], [1, 0]], weights=[1e307, 1e307])
    with pytest.raises(ValueError, match="add up to inf, more than float64 can hold"):
        sum([large] * 20)


def test_sums_that_overflow():
    counts = Cooccurrence({1: [[2**62 + 1]]}, [2**62 + 1], [1])
    with pytest.raises(
        ValueError, match=r"the counts of lag 1 add up to 9.22e\+18, more than int64"
    ):
        counts + counts


@pytest.mark.parametrize(
    "convert", [np.asarray, sparse.csr_array, sparse.coo_array, sparse.csc_array]
)
def test_counts_share_nothing_with_the_caller(convert):
    given = convert(np.array([[0, 2], [1, 0]]))
    symbols, starts = np.array([2, 2]), np.array([1, 0])
    by_lag = {1: given}
    counts = Cooccurrence(by_lag, symbols, starts)
    values = given if isinstance(given, np.ndarray) else given.data
    values[...] = 9
    symbols[:] = starts[:] = 9
    by_lag[2] = given
    assert counts.lags == (1,)
    assert np.asarray(counts[1] @ np.eye(2)).tolist() == [[0, 2], [1, 0]]
    assert counts.symbol_counts.tolist() == [2, 2]
    assert counts.start_counts.tolist() == [1, 0]
    own = counts[1] if isinstance(given, np.ndarray) else counts[1].data
    with pytest.raises(ValueError, match="read-only"):
        own[...] = 0


def test_a_sparse_matrix_is_made_canonical():
    unsorted = csr([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1], [0, 2, 4])
    counts = Cooccurrence({1: unsorted}, [1, 1], [0, 0])
    assert counts[1].toarray().tolist() == [[2, 1], [0, 7]]
    assert counts[1].has_canonical_format
    assert unsorted.data.tolist() == [1, 2, 3, 4]


def test_lags_are_put_in_order_and_kinds_of_numbers_united():
    counts = Cooccurrence(
        {3: np.eye(2, dtype=np.float32), 1: np.eye(2, dtype=np.int8)},
        np.array([1, 1], np.uint16),
        [0, 0],
    )
    assert counts.lags == (1, 3)
    assert (counts[1].dtype, counts[3].dtype) == (np.int64, np.float64)
    assert counts.symbol_counts.dtype == np.int64


def test_a_tuple_of_sequences_is_no_pair_of_data_and_lengths():
    assert count_pairs(([0, 1, 0], [1, 2])) == count_pairs([[0, 1, 0], [1, 2]])


def test_a_lag_beyond_all_data():
    for lag in (2**70, 10**30):
        with pytest.raises(ValueError, match="a lag is at most 2,147,483,648, not 1"):
            count_pairs([0, 1, 0], lags=lag)
    with pytest.raises(ValueError, match="no pair at lag 2147483648"):
        count_pairs([0, 1, 0], lags=2**31)
    with pytest.raises(ValueError, match="no pair at lag 2147483648"):
        count_pairs([[0, 1], [1, 0]], lags=2**31, weights=[1, 2])
    with pytest.raises(ValueError, match="no pair at lag 2147483648"):
        count_pairs([0, 3000, 0], lags=2**31)


def test_a_large_vocabulary_that_was_asked_for_is_counted():
    counts = count_pairs([0, 5 * 10**6, 0], n_symbols=10**7)
    assert counts.n_symbols == 10**7
    assert counts[1].nnz == 2
    with pytest.raises(ValueError, match="10,000,001 symbols of 3 observations"):
        count_pairs([0, 10**7, 0])


# -- files ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts",
    [
        count_pairs([0, 1, 2, 0], lags=(1, 2)),
        count_pairs([[0, 1], [1, 0]], weights=[0.1, 2]),
        count_pairs(["ä", "b", "ä"]),
        count_pairs([10, 30, 10], vocabulary=[30, 20, 10]),
        count_pairs([0, 3000, 0], lags=(1, 2)),
        Cooccurrence.from_probability([[0.5, 0.5], [0, 0]]),
    ],
    ids=repr,
)
def test_save_and_load(tmp_path, counts):
    counts.save(tmp_path / "counts.cohmm")
    again = Cooccurrence.load(tmp_path / "counts.cohmm")
    assert again == counts
    assert again.vocabulary == counts.vocabulary
    assert again.is_sparse == counts.is_sparse
    assert again + again == counts + counts


def test_a_damaged_sparse_matrix_is_not_loaded(tmp_path):
    counts = count_pairs([0, 3000, 0])
    counts[1].indices = np.full_like(counts[1].indices, 10**6)
    counts.save(tmp_path / "counts.cohmm")
    with pytest.raises(StorageError, match=r"counts\.cohmm is damaged"):
        Cooccurrence.load(tmp_path / "counts.cohmm")


def test_repr_says_what_it_is():
    text = repr(count_pairs([0, 1, 0, 1], lags=(1, 2)))
    assert text == "Cooccurrence(2 symbols, dense; pairs: 3 at lag 1, 2 at lag 2)"
    assert "3,001 symbols, sparse" in repr(count_pairs([0, 3000]))


@pytest.mark.parametrize("kind", [count_pairs, count_triples, count_windows])
def test_counts_times_a_number(kind: Any) -> None:
    counts = kind([0, 1, 0, 1, 1, 0, 1, 0])
    half = counts * 0.5
    assert type(half) is type(counts)
    assert half == 0.5 * counts == np.float64(0.5) * counts
    assert counts * 1 is counts
    twice = counts + counts
    amounts = (lambda c: c[1]) if isinstance(counts, Cooccurrence) else (lambda c: c.counts)
    np.testing.assert_array_equal(amounts(twice * 0.5), amounts(counts))
    for wrong in (-1, 0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"factor of counts must be .*, not {wrong}"):
            counts * wrong
    for wrong in ("2", True, None, [1, 2], counts):
        with pytest.raises(TypeError):
            counts * wrong

"""Counting kernels against plain loops, in any division of the data into parts."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Sequences
from cohmm.kernels import counting
from tests import oracles
from tests.strategies import sequences_of, with_gaps

N = 5


@st.composite
def cut_data(draw):
    """Sequences, and their symbols cut into contiguous parts."""
    sequences = draw(sequences_of(N, most=4, longest=9))
    length = sum(map(len, sequences))
    cuts = sorted(draw(st.sets(st.integers(1, length), max_size=4)) | {0, length})
    return sequences, Sequences.of(with_gaps(sequences)), list(pairwise(cuts))


def assert_all_symbols_are_counted(sequences, weights, found):
    true = np.zeros(N)
    for s, sequence in enumerate(sequences):
        for symbol in sequence:
            if symbol >= 0:
                true[symbol] += 1 if weights is None else weights[s]
    np.testing.assert_array_equal(found, true)


@given(cut_data(), st.integers(1, 4), st.booleans())
def test_count_dense(cut, lag, weighted):
    sequences, data, parts = cut
    weights = np.arange(1.0, len(data) + 1) / 4 if weighted else None
    kind = np.float64 if weighted else np.int64
    table, alone = np.zeros((N, N), kind), np.zeros(N, kind)
    for part in parts:
        counting.count_dense(data.symbols, data.offsets, part, lag, weights, table, alone)
    np.testing.assert_array_equal(table, oracles.pair_matrix(sequences, N, lag, weights))
    assert_all_symbols_are_counted(sequences, weights, table.sum(axis=1) + alone)


@given(cut_data(), st.integers(1, 4), st.booleans())
def test_rows_scattered_and_squeezed(cut, lag, weighted):
    sequences, data, parts = cut
    weights = np.arange(1.0, len(data) + 1) / 4 if weighted else None
    matrix = oracles.pair_matrix(sequences, N, lag)
    rows = np.zeros((len(parts), N), np.int64)
    alone = np.zeros(N, np.float64 if weighted else np.int64)
    for i, part in enumerate(parts):
        counting.count_rows(data.symbols, data.offsets, part, lag, weights, rows[i], alone)
    np.testing.assert_array_equal(rows.sum(axis=0), matrix.sum(axis=1))
    by_row = oracles.pair_matrix(sequences, N, lag, weights).sum(axis=1)
    assert_all_symbols_are_counted(sequences, weights, by_row + alone)

    starts = np.concatenate([[0], np.cumsum(rows.sum(axis=0))])
    places = starts[:-1] + np.cumsum(rows, axis=0) - rows
    columns = np.full(starts[-1], -1, np.int32)
    values = np.full(starts[-1], -1.0) if weighted else None
    for i, part in enumerate(parts):
        counting.scatter_rows(
            data.symbols, data.offsets, part, lag, places[i], columns, weights, values
        )
    kind = np.float64 if weighted else np.int64
    counts, sizes = np.empty(starts[-1], kind), np.empty(N, np.int64)
    indices, out = [], []
    for first, stop in ((0, 2), (2, N)):
        counting.squeeze_rows(
            starts, (first, stop), np.zeros(N, kind), columns, values, counts, sizes
        )
        kept = slice(starts[first], starts[first] + sizes[first:stop].sum())
        indices += columns[kept].tolist()
        out += counts[kept].tolist()
    np.testing.assert_array_equal(sizes, (matrix > 0).sum(axis=1))
    np.testing.assert_array_equal(indices, np.nonzero(matrix)[1])
    np.testing.assert_array_equal(
        out, oracles.pair_matrix(sequences, N, lag, weights)[np.nonzero(matrix)]
    )


def test_squeezed_columns_are_sorted_beyond_one_word_of_words():
    n = 64 * 64 * 2 + 3  # three words of words, the last of them not full
    columns = np.array([n - 1, 0, 4096, 63, 64, n - 1, 4095, 4096, n - 1], np.int32)
    starts = np.zeros(n + 1, np.int64)
    starts[1:] = len(columns)
    counts, sizes = np.empty(len(columns), np.int64), np.empty(n, np.int64)
    counting.squeeze_rows(starts, (0, n), np.zeros(n, np.int32), columns, None, counts, sizes)
    assert sizes[0] == 6
    assert not sizes[1:].any()
    assert columns[:6].tolist() == [0, 63, 64, 4095, 4096, n - 1]
    assert counts[:6].tolist() == [1, 1, 1, 1, 2, 3]


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_very_many_pairs_are_squeezed_alike(weighted):
    rng = np.random.default_rng(0)
    lengths = [0, 3, 200, 0, 40, 5]  # of 70 symbols: a quarter is 17
    columns = rng.integers(0, 70, sum(lengths)).astype(np.int32)
    values = rng.integers(0, 3, sum(lengths)).astype(float) if weighted else None
    starts = np.concatenate([[0], np.cumsum(lengths)])
    dense = np.zeros((6, 70))
    present = np.zeros((6, 70), bool)
    for r in range(6):
        for p in range(starts[r], starts[r + 1]):
            dense[r, columns[p]] += 1 if values is None else values[p]
            present[r, columns[p]] = True
    counts = np.empty(len(columns), np.float64 if weighted else np.int64)
    sizes = np.empty(6, np.int64)
    counting.squeeze_rows(starts, (0, 6), np.zeros(70), columns, values, counts, sizes)
    assert sizes.tolist() == present.sum(axis=1).tolist()
    assert columns[: sizes.sum()].tolist() == np.nonzero(present)[1].tolist()
    assert counts[: sizes.sum()].tolist() == dense[present].tolist()


@given(cut_data())
def test_triple_keys(cut):
    sequences, data, parts = cut
    table = np.zeros(N**3, np.int64)
    for part in parts:
        keys = np.full(part[1] - part[0], -7, np.int64)
        size = counting.triple_keys(data.symbols, data.offsets, part, N, keys)
        assert (keys[size:] == -7).all()
        counting.count_keys(keys, size, table)
    expected = np.zeros((N, N, N), np.int64)
    for triple, count in oracles.triple_counts(sequences).items():
        expected[triple] = count
    np.testing.assert_array_equal(table.reshape(N, N, N), expected)


def test_keys_of_the_largest_vocabulary_fit():
    n = 2_000_000
    symbols = np.full(3, n - 1, np.int32)
    keys = np.empty(3, np.int64)
    assert counting.triple_keys(symbols, np.array([0, 3]), (0, 3), n, keys) == 1
    assert int(keys[0]) == n**3 - 1

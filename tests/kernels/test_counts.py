"""Counting kernels against plain loops, in any division of the data into parts."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm import Sequences
from cohmm.kernels import counts as kernels
from cohmm.kernels import native
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
        native.count_dense(data.symbols, data.offsets, part, lag, weights, table, alone)
    np.testing.assert_array_equal(table, oracles.pair_matrix(sequences, N, lag, weights))
    assert_all_symbols_are_counted(sequences, weights, table.sum(axis=1) + alone)


@given(cut_data(), st.integers(1, 4), st.integers(1, 9), st.integers(1, N))
def test_buckets_filled_sorted_and_packed(cut, lag, most_pairs, most_rows):
    sequences, data, parts = cut
    matrix = oracles.pair_matrix(sequences, N, lag)
    row_sizes = np.zeros((len(parts), N), np.int64)
    alone = np.zeros(N, np.int64)
    for i, part in enumerate(parts):
        native.count_rows(data.symbols, data.offsets, part, lag, row_sizes[i], alone)
    np.testing.assert_array_equal(row_sizes.sum(axis=0), matrix.sum(axis=1))
    assert_all_symbols_are_counted(sequences, None, matrix.sum(axis=1) + alone)
    bucket_of = np.empty(N, np.int32)
    n_buckets = native.cut_rows(row_sizes.sum(axis=0), most_pairs, most_rows, bucket_of)
    assert_rows_are_cut(bucket_of, n_buckets, row_sizes.sum(axis=0), most_pairs, most_rows)
    rows_of = [np.flatnonzero(bucket_of == b) for b in range(n_buckets)]
    first_row = np.array([rows[0] for rows in rows_of])
    sizes = np.stack([row_sizes[:, rows].sum(axis=1) for rows in rows_of], axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    places = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
    keys = np.full(starts[-1], 2**32 - 1, np.uint32)
    for i, part in enumerate(parts):
        native.fill_buckets(
            data.symbols, data.offsets, part, lag, bucket_of, first_row, N, places[i], keys
        )
    indices, found = [], []
    widths, n_large, totals = np.zeros(N, np.int32), np.zeros(N, np.int32), np.zeros(N, np.int64)
    for b in range(n_buckets):
        bucket = np.sort(keys[starts[b] : starts[b + 1]])
        n = len(np.unique(bucket))
        columns, counts = np.empty(n, np.int32), np.empty(n, np.uint8)
        rows = slice(rows_of[b][0], rows_of[b][-1] + 1)
        out = kernels.PackedEntries(
            columns, counts, np.empty(0, np.int64), widths[rows], n_large[rows]
        )
        assert native.pack_equal(bucket, N, out, totals[rows]) == 0
        indices += columns.tolist()
        found += counts.tolist()
    np.testing.assert_array_equal(widths, (matrix > 0).sum(axis=1))
    np.testing.assert_array_equal(totals, matrix.sum(axis=1))
    np.testing.assert_array_equal(indices, np.nonzero(matrix)[1])
    np.testing.assert_array_equal(found, matrix[np.nonzero(matrix)])


def assert_rows_are_cut(bucket_of, n_buckets, sizes, most_pairs, most_rows):
    assert bucket_of[0] == 0
    assert bucket_of[-1] == n_buckets - 1
    assert set(np.diff(bucket_of)) <= {0, 1}
    n_rows, n_pairs = np.bincount(bucket_of), np.bincount(bucket_of, sizes)
    assert n_rows.max() <= most_rows
    assert ((n_pairs <= most_pairs) | (n_rows == 1)).all()


@given(cut_data())
def test_triples(cut):
    sequences, data, parts = cut
    table = np.zeros(N**3, np.int64)
    for part in parts:
        keys = np.full(part[1] - part[0], -7, np.int64)
        size = native.triple_keys(data.symbols, data.offsets, part, N, keys)
        assert (keys[size:] == -7).all()
        table += np.bincount(keys[:size], minlength=N**3)
    expected = np.zeros((N, N, N), np.int64)
    for triple, count in oracles.triple_counts(sequences).items():
        expected[triple] = count
    np.testing.assert_array_equal(table.reshape(N, N, N), expected)


def test_keys_of_the_largest_vocabulary_fit():
    n = 2_000_000
    symbols = np.full(3, n - 1, np.int32)
    keys = np.empty(3, np.int64)
    assert native.triple_keys(symbols, np.array([0, 3]), (0, 3), n, keys) == 1
    assert int(keys[0]) == n**3 - 1

"""Counting pairs: one pass, on all threads, the same counts for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.data.partitioned import Partitioned, count_data
from cohmm.data.parts import Parts
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.values import as_floats
from cohmm.evidence.grams import check_total
from cohmm.evidence.packed import PackedRows
from cohmm.evidence.pairs import LARGEST_DENSE, Cooccurrence, checked_lag
from cohmm.kernels import counts as kernels
from cohmm.kernels.counts import LARGEST_BYTE, PackedEntries, pack_equal
from cohmm.kernels.threads import n_threads, run, split
from cohmm.kernels.types import Floats, Ints

LARGEST_KEY = 2**32 - 1
BUCKET = 2**15  # pairs of a bucket: they are sorted in the cache
MOST_BUCKETS = 512  # where there are more pairs, buckets are larger: each is written at its end
WEIGHED_PARTS = 8  # sums of weights are made in this many parts, however many threads there are


def count_pairs(
    X: Any,
    lengths: Iterable[int] | None = None,
    lags: Iterable[int] | int = (1,),
    weights: Any = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Cooccurrence:
    """Count which symbol follows which, in one pass.

    Pairs never cross the border of two sequences, nor count where an observation is missing.

    Parameters
    ----------
    X, lengths, vocabulary, n_symbols, unseen, characters
        The data, as `Sequences.of` reads it; or a path, which `read_sequences` reads; or
        `Partitions`, each row of which is a sequence.
    lags : int or several
        Distances at which to count; 1 is the next symbol.
    weights : array, optional
        One weight per sequence, not below zero.

    >>> count_pairs([0, 1, 0, 1, 1])[1]
    array([[0, 2],
           [1, 1]])
    """
    if weights is not None and isinstance(X, (Parts, Partitioned)):
        raise ValueError("weights are for data in memory, not for parts of it")
    counted = count_data(
        X,
        lengths,
        pair_counts,
        as_lags(lags),
        weights,
        vocabulary=vocabulary,
        n_symbols=n_symbols,
        unseen=unseen,
        characters=characters,
    )
    return _with_pairs(*counted)


def _with_pairs(counts: Cooccurrence, n_sequences: int, longest: int) -> Cooccurrence:
    """``counts``, if there are any at every lag."""
    for lag in counts.lags:
        if counts.n_pairs(lag) == 0:
            raise ValueError(
                f"there is no pair at lag {lag}: {n_sequences} sequences, the longest of "
                f"{longest} symbols, never have two observations {lag} apart"
            )
    return counts


def as_lags(lags: Iterable[int] | int) -> list[int]:
    """Lags in order, if they are some."""
    wanted = sorted({checked_lag(lag) for lag in (lags if np.iterable(lags) else [lags])})
    if not wanted:
        raise ValueError("lags is empty: give at least one, such as (1,)")
    return wanted


def pair_counts(
    data: Sequences, lags: Iterable[int] | int = (1,), weights: Any = None
) -> Cooccurrence:
    """`count_pairs` of `Sequences`, where counting no pair at all is no mistake."""
    lags = as_lags(lags)
    weighing = None if weights is None else checked_weights(weights, data.lengths)
    count = dense_counts if data.n_symbols <= LARGEST_DENSE else _sparse_counts
    first = data.symbols[data.offsets[:-1]]
    known = first >= 0
    starts = np.bincount(
        first[known], None if weighing is None else weighing[known], data.n_symbols
    )
    found = {lag: count(data, lag, weighing) for lag in lags}
    return Cooccurrence._trusted(
        {lag: matrix for lag, (matrix, _) in found.items()},
        found[lags[0]][1],
        starts,
        data.vocabulary,
    )


def dense_counts(
    data: Sequences, lag: int, weights: Floats | None
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of pairs, and of symbols: those that begin a pair, and those that do not."""
    n, length = data.n_symbols, len(data.symbols)
    kind = np.int64 if weights is None else np.float64
    # A table a part is worth its room only where it is much smaller than the data.  Whole
    # numbers add up in any parts; weights are always summed in the same.
    worthwhile = max(1, length // (4 * n * n))
    parts = split(length, min(worthwhile, n_threads() if weights is None else WEIGHED_PARTS))

    def count(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        table, alone = np.zeros((n, n), kind), np.zeros(n, kind)
        kernels.count_dense(data.symbols, data.offsets, (first, stop), lag, weights, table, alone)
        return table, alone

    found = run(count, parts)
    table, alone = found[0]
    for other, others in found[1:]:
        table += other
        alone += others
    return table, table.sum(axis=1) + alone


def _sparse_counts(
    data: Sequences, lag: int, weights: Floats | None
) -> tuple[sparse.csr_array, np.ndarray]:
    """As `dense_counts`: pairs are cut into buckets by their first symbol, and sorted there."""
    if weights is not None:
        return _weighed_pairs(data, lag, weights)
    n, pairs = data.n_symbols, _sorted_pairs(data, lag)
    columns, counts = (np.empty(pairs.ends[-1], kind) for kind in (np.int32, np.int64))
    widths, totals = np.zeros(n, np.int64), np.zeros(n, np.int64)

    def merge(bucket: np.ndarray, entries: slice, rows: slice) -> None:
        kernels.merge_equal(
            bucket, n, columns[entries], counts[entries], widths[rows], totals[rows]
        )

    run(merge, pairs.tasks())
    indptr = np.concatenate([[0], np.cumsum(widths)])
    if indptr[-1] <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)  # of one type with the columns, which are not copied then
    matrix = sparse.csr_array((counts, columns, indptr), shape=(n, n))
    matrix.has_canonical_format = True
    return matrix, totals + pairs.alone


def packed_counts(data: Sequences, lag: int) -> tuple[PackedRows, np.ndarray]:
    """The pairs of a lag, as sparse counts of five bytes each; and how often symbols occur."""
    n, pairs = data.n_symbols, _sorted_pairs(data, lag)
    columns, small = (np.empty(pairs.ends[-1], kind) for kind in (np.int32, np.uint8))
    widths, n_large = np.zeros(n, np.int32), np.zeros(n, np.int32)
    totals = np.zeros(n, np.int64)

    def pack(bucket: np.ndarray, entries: slice, rows: slice) -> np.ndarray:
        large = np.empty(len(bucket) // (LARGEST_BYTE + 1), np.int64)
        out = PackedEntries(columns[entries], small[entries], large, widths[rows], n_large[rows])
        used = pack_equal(bucket, n, out, totals[rows])
        return large[:used].copy()

    large = np.concatenate(run(pack, pairs.tasks()))
    total = sum(map(len, pairs.buckets))
    return PackedRows(widths, n_large, columns, small, large, total), totals + pairs.alone


class _SortedPairs(NamedTuple):
    """Pairs in buckets of some first symbols, each in order.

    Within its bucket a pair (a, b) is the number (a - first) * N + b.
    """

    buckets: list[np.ndarray]
    ends: Ints
    """Where the distinct pairs of each bucket begin and end."""
    rows: Ints
    """Where its first symbols begin and end."""
    alone: Ints
    """How often each symbol occurs that begins no pair."""

    def tasks(self) -> list[tuple[np.ndarray, slice, slice]]:
        """Every bucket, with the places of its distinct pairs and of its rows."""
        places = zip(pairwise(self.ends), pairwise(self.rows), strict=True)
        return [
            (bucket, slice(*entries), slice(*rows))
            for bucket, (entries, rows) in zip(self.buckets, places, strict=True)
        ]


def _sorted_pairs(data: Sequences, lag: int) -> _SortedPairs:
    """A bucket has few enough rows to make a pair a 32-bit number, and few pairs."""
    n, symbols, offsets = data.n_symbols, data.symbols, data.offsets
    parts = split(len(symbols), min(n_threads(), max(1, len(symbols) // (4 * n))))
    sizes, alone = np.zeros((2, len(parts), n), np.int64)
    run(
        lambda i, part: kernels.count_rows(symbols, offsets, part, lag, sizes[i], alone[i]),
        list(enumerate(parts)),
    )
    most = max(BUCKET, len(symbols) // MOST_BUCKETS)
    bucket_of = np.empty(n, np.int32)
    n_buckets = kernels.cut_rows(sizes.sum(axis=0), most, LARGEST_KEY // n, bucket_of)
    rows = np.searchsorted(bucket_of, np.arange(n_buckets + 1))
    sizes = np.add.reduceat(sizes, rows[:-1], axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    places = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
    keys = np.empty(starts[-1], np.uint32)
    run(
        lambda i, part: kernels.fill_buckets(
            symbols, offsets, part, lag, bucket_of, rows, n, places[i], keys
        ),
        list(enumerate(parts)),
    )
    buckets = [keys[first:last] for first, last in pairwise(starts)]

    def sort(bucket: np.ndarray) -> int:
        kernels.radix_sort(bucket, 0, np.empty_like(bucket))
        return kernels.count_distinct(bucket)

    ends = np.concatenate([[0], np.cumsum(run(sort, [(bucket,) for bucket in buckets]))])
    return _SortedPairs(buckets, ends, rows, alone.sum(axis=0))


def _weighed_pairs(
    data: Sequences, lag: int, weights: Floats
) -> tuple[sparse.csr_array, np.ndarray]:
    n, symbols = data.n_symbols, data.symbols
    each = np.repeat(weights, data.lengths)
    behind = np.arange(len(symbols)) + lag
    begins = (behind < np.repeat(data.offsets[1:], data.lengths)) & (symbols >= 0)
    begins[begins] = symbols[behind[begins]] >= 0
    row, column = symbols[begins], symbols[behind[begins]]
    matrix = sparse.csr_array((each[begins], (row, column)), shape=(n, n))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()  # pairs of weight zero
    seen = symbols >= 0
    return matrix, np.bincount(symbols[seen], each[seen], n)


def checked_weights(weights: Any, lengths: Ints) -> Floats:
    """One weight per sequence, (S,), none below zero."""
    array = as_floats("weights", weights)
    n = len(lengths)
    if array.shape != (n,):
        raise ValueError(f"weights must have one number per sequence, ({n},), not {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        s = int(np.argmax(wrong))
        raise ValueError(f"the weight of sequence {s} is {array[s]}: it must be finite and >= 0")
    with np.errstate(over="ignore"):
        check_total("the weights of all observations", float(array @ lengths), array.dtype)
    return array

"""Counting pairs: one pass, on all threads, the same counts for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from cohmm.evidence.pairs import LARGEST_DENSE, Cooccurrence, checked_lag
from cohmm.evidence.sequences import Sequences, Unseen
from cohmm.kernels import counting
from cohmm.kernels.compiled import Floats, Ints
from cohmm.kernels.threads import n_threads, run, split

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
) -> Cooccurrence:
    """Count which symbol follows which, in one pass.

    Pairs never cross the border of two sequences, nor count where an observation is missing.

    Parameters
    ----------
    X, lengths, vocabulary, n_symbols, unseen
        The data, as `Sequences.of` reads it.
    lags : int or several
        Distances at which to count; 1 is the next symbol.
    weights : array, optional
        A weight a sequence, not below zero.

    >>> count_pairs([0, 1, 0, 1, 1])[1]
    array([[0, 2],
           [1, 1]])
    """
    data = Sequences.of(X, lengths, vocabulary=vocabulary, n_symbols=n_symbols, unseen=unseen)
    counts = pair_counts(data, lags, weights)
    for lag in counts.lags:
        if counts.n_pairs(lag) == 0:
            raise ValueError(
                f"there is no pair at lag {lag}: {len(data)} sequences, the longest of "
                f"{data.lengths.max()} symbols, never have two observations {lag} apart"
            )
    return counts


def pair_counts(
    data: Sequences, lags: Iterable[int] | int = (1,), weights: Any = None
) -> Cooccurrence:
    """`count_pairs` of `Sequences`, where counting no pair at all is no mistake."""
    lags = sorted({checked_lag(lag) for lag in (lags if isinstance(lags, Iterable) else [lags])})
    if not lags:
        raise ValueError("lags is empty: give at least one, such as (1,)")
    weighing = None if weights is None else _checked_weights(weights, len(data))
    count = _dense_counts if data.n_symbols <= LARGEST_DENSE else _sparse_counts
    first = data.symbols[data.offsets[:-1]]
    known = first >= 0
    starts = np.bincount(
        first[known], None if weighing is None else weighing[known], data.n_symbols
    )
    found = {lag: count(data, lag, weighing) for lag in lags}
    matrix, alone = found[lags[0]]
    return Cooccurrence(
        {lag: matrix for lag, (matrix, _) in found.items()},
        np.asarray(matrix.sum(axis=1)) + alone,
        starts,
        data.vocabulary,
    )


def _dense_counts(
    data: Sequences, lag: int, weights: Floats | None
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs, and how often each symbol begins none."""
    n, length = data.n_symbols, len(data.symbols)
    kind = np.int64 if weights is None else np.float64
    # A table a part is worth its room only where it is much smaller than the data.  Whole
    # numbers add up in any parts; weights are always summed in the same.
    worthwhile = max(1, length // (4 * n * n))
    parts = split(length, min(worthwhile, n_threads() if weights is None else WEIGHED_PARTS))

    def count(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        table, alone = np.zeros((n, n), kind), np.zeros(n, kind)
        counting.count_dense(data.symbols, data.offsets, (first, stop), lag, weights, table, alone)
        return table, alone

    tables = run(count, parts)
    for table, alone in tables[1:]:
        tables[0][0][...] += table
        tables[0][1][...] += alone
    return tables[0]


def _sparse_counts(
    data: Sequences, lag: int, weights: Floats | None
) -> tuple[sparse.csr_array, np.ndarray]:
    """As `_dense_counts`: a counting sort by the first symbol, then row by row."""
    n, symbols, offsets = data.n_symbols, data.symbols, data.offsets
    worthwhile = max(1, len(symbols) // (4 * n))
    parts = split(len(symbols), min(worthwhile, n_threads() if weights is None else WEIGHED_PARTS))
    rows = np.zeros((len(parts), n), np.int64)
    alone = np.zeros((len(parts), n), np.int64 if weights is None else np.float64)
    run(
        lambda i, part: counting.count_rows(
            symbols, offsets, part, lag, weights, rows[i], alone[i]
        ),
        list(enumerate(parts)),
    )
    starts = np.concatenate([[0], np.cumsum(rows.sum(axis=0))])
    places = starts[:-1] + np.cumsum(rows, axis=0) - rows
    columns = np.empty(starts[-1], np.int32)
    values = None if weights is None else np.empty(starts[-1])
    run(
        lambda i, part: counting.scatter_rows(
            symbols, offsets, part, lag, places[i], columns, weights, values
        ),
        list(enumerate(parts)),
    )
    counts = np.empty(starts[-1], np.int64 if weights is None else np.float64)
    sizes = np.empty(n, np.int64)
    row_parts = _even_rows(starts, n_threads())
    run(
        lambda *part: counting.squeeze_rows(
            starts,
            part,
            np.zeros(n, np.int32 if weights is None else np.float64),
            columns,
            values,
            counts,
            sizes,
        ),
        row_parts,
    )
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    kept = [slice(starts[a], starts[a] + indptr[b] - indptr[a]) for a, b in row_parts]
    indices, sums = (_joined([array[piece] for piece in kept]) for array in (columns, counts))
    matrix = sparse.csr_array((sums, indices, indptr), shape=(n, n))
    matrix.has_sorted_indices = True
    if weights is not None:
        matrix.eliminate_zeros()  # pairs of weight zero
    return matrix, alone.sum(axis=0)


def _joined(pieces: list[np.ndarray]) -> np.ndarray:
    """One array; a single piece is not copied."""
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _even_rows(starts: Ints, parts: int) -> list[tuple[int, int]]:
    """Ranges of rows with about the same number of pairs."""
    cuts = np.searchsorted(starts, [starts[-1] * part // parts for part in range(parts + 1)])
    cuts[0], cuts[-1] = 0, len(starts) - 1
    return [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]


def _checked_weights(weights: Any, n: int) -> Floats:
    array = np.ascontiguousarray(weights, np.float64)
    if array.shape != (n,):
        raise ValueError(f"weights must have one number a sequence, ({n},), not {array.shape}")
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        s = int(np.argmax(wrong))
        raise ValueError(f"the weight of sequence {s} is {array[s]}: it must be finite and >= 0")
    return array

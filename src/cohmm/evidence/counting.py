"""Counting pairs: one pass, on all threads, the same counts for any number of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.data.documents import Documents
from cohmm.data.memory import LARGEST_BATCH, NO_CAP, Budget
from cohmm.data.partitioned import Partitioned, count_data
from cohmm.data.parts import Parts
from cohmm.data.read_sequences import FileSequences
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.cooccurrence import LARGEST_DENSE, Cooccurrence, check_total, checked_lag
from cohmm.evidence.external_sum import UNLIMITED, ExternalSum, PackedRows, added_rows
from cohmm.evidence.prune import Selection, enlarged
from cohmm.kernels import native
from cohmm.kernels.counts import LARGEST_BYTE, PackedEntries
from cohmm.kernels.threads import n_threads, run, split
from cohmm.kernels.types import Floats, Ints

LARGEST_KEY = 2**32 - 1
CSR_ENTRY = 12  # bytes
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
    options: dict[str, Any] = {"vocabulary": vocabulary, "n_symbols": n_symbols}
    options |= {"unseen": unseen, "characters": characters}
    counts, n_sequences, longest = count_data(
        X, lengths, pair_counts, as_lags(lags), weights, **options
    )
    for lag in counts.lags:
        if counts.n_pairs(lag) == 0:
            raise ValueError(
                f"there is no pair at lag {lag}: {n_sequences} sequences, the longest of "
                f"{longest} symbols, never have two observations {lag} apart"
                + (hint_at_short_sequences(counts.vocabulary, n_sequences) if longest == 1 else "")
            )
    return counts  # type: ignore[no-any-return]


def hint_at_short_sequences(vocabulary: Vocabulary | None, n_sequences: int) -> str:
    """What to say further where every sequence is one symbol, of this vocabulary if there is one.

    Labels may be texts, and many sequences may be a column.
    """
    if vocabulary and any(len(str(label).split()) > 1 for label in vocabulary):
        return "; a string is one label: give its words as a list, text.split()"
    if vocabulary and min(len(str(label)) for label in vocabulary) > 1:
        return "; characters=True (--characters) reads text symbol by symbol"
    if n_sequences > 1:
        return "; one sequence is a flat list, or an array of the shape (n, 1)"
    return ""


def count_documents(
    documents: Documents | Partitioned, lags: Iterable[int] | int = (1,), weights: Any = None
) -> Cooccurrence:
    """Count which word follows which, within documents; empty ones have none.

    Parameters
    ----------
    documents : Documents
        The words.
    lags : int or several
        Distances at which to count; 1 is the next word.  A lag at which no document has a
        pair counts nothing, as long as another lag has some.
    weights : array, (D,), optional
        One weight per document, not below zero.

    >>> documents = Documents([0, 1, 0, 1], [0, 3, 3, 4], ("rain", "sun"))
    >>> count_documents(documents)[1]
    array([[0, 1],
           [1, 0]])
    """
    weights = documents.checked_weights(weights)
    counts: Cooccurrence = documents.map_sum(_document_pairs, as_lags(lags), weights)
    if not any(counts.n_pairs(lag) for lag in counts.lags):
        longest = int(documents.lengths.max(initial=0))
        raise ValueError(
            f"there is no pair of words at lag {', '.join(map(str, counts.lags))}: the longest of "
            f"{len(documents)} documents has {longest} word{'' if longest == 1 else 's'}"
        )
    return counts


def _document_pairs(documents: Documents, lags: list[int], weights: Floats | None) -> Cooccurrence:
    sequences, filled = documents.as_sequences()
    return pair_counts(sequences, lags, None if weights is None else weights[filled])


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
    weighing = data.checked_weights(weights, all_zero=True)
    if weighing is not None:
        with np.errstate(over="ignore"):
            total = float(weighing @ data.lengths)
        check_total("the weights of all observations", total, weighing.dtype)
    first = data.symbols[data.offsets[:-1]]
    known = first >= 0
    starts = np.bincount(
        first[known], None if weighing is None else weighing[known], data.n_symbols
    )
    if data.n_symbols <= LARGEST_DENSE:
        counted = {lag: dense_counts(data, lag, weighing) for lag in lags}
    elif weighing is None:
        counted = _sparse_counts(data, lags)
    else:
        counted = {lag: _weighed_pairs(data, lag, weighing) for lag in lags}
    by_lag = {lag: matrix for lag, (matrix, _) in counted.items()}
    return Cooccurrence._trusted(by_lag, counted[lags[0]][1], starts, data.vocabulary)


def _sparse_counts(data: Sequences, lags: list[int]) -> dict[int, tuple[Any, Ints]]:
    """By lag the counts of pairs, and of symbols; a block of symbols at a time."""
    budget = data.budget if isinstance(data, FileSequences) else NO_CAP
    budget = budget.beside(data.n_symbols, data.vocabulary is not None)
    length, everything = len(data.symbols), Selection.all(data.n_symbols, None)
    counted = {}
    for lag in lags:
        total, symbols = PairTotal(budget, len(lags)), np.zeros(data.n_symbols, np.int64)
        for block in split(length, -(-length // budget.batch(LARGEST_BATCH))):
            symbols += total.count(data, lag, block)
        counted[lag] = total.matrix(everything, budget, len(lags))[0], symbols
    return counted


class PairTotal:
    """The sum of the pair counts of one lag, a block of sequences at a time, in bounded memory.

    Up to `LARGEST_DENSE` symbols it is a table, beyond that an `ExternalSum`.
    """

    def __init__(self, budget: Budget = NO_CAP, n_lags: int = 1) -> None:
        self._table: Ints | None = None
        self.sparse = ExternalSum(PackedRows, budget.held(n_lags), budget.folder)

    def count(self, data: Sequences, lag: int, block: tuple[int, int]) -> Ints:
        """Add pairs that begin in a block of symbols; returns how often each symbol occurs there.

        Sums of pairs in blocks that follow one another do not depend on where they are cut.
        """
        if data.n_symbols <= LARGEST_DENSE:
            table, symbols = dense_counts(data, lag, None, block)
            self._add_table(table)
            return symbols
        part, symbols = packed_counts(data, lag, block)
        self.sparse.add(part)
        return symbols

    def absorb(self, other: PairTotal) -> None:
        """All that another total has."""
        if other._table is not None:
            self._add_table(other._table)
        self.sparse.absorb(other.sparse)

    @property
    def n_pairs(self) -> int:
        """How many pairs were counted."""
        return self.sparse.total + (0 if self._table is None else int(self._table.sum()))

    def matrix(self, selection: Selection, budget: Budget, n_lags: int) -> tuple[Any, int]:
        """The sum, of the symbols that stay, an array or a CSR array; and how many pairs it has.

        One that has no room in memory is mapped from a scratch file.
        """
        n, n_before = len(selection.codes), len(selection.places)
        runs = self.sparse.runs
        if self._table is not None and not runs:
            kept = selection.places >= 0
            table = enlarged(self._table, n_before) * np.outer(kept, kept)
            table = table[np.ix_(selection.codes, selection.codes)]
            return table, int(table.sum())
        if self._table is not None or not runs:
            runs.append(PackedRows.of(np.zeros((1, 1)) if self._table is None else self._table))
        places = None if selection.stays else selection.places
        fits = budget.fits(2 * CSR_ENTRY * sum(len(part.columns) for part in runs) * n_lags)
        if len(runs) == 1 and places is None and len(runs[0].widths) == n_before:
            rows = runs[0]
        else:
            room = budget.merging or UNLIMITED
            rows = added_rows(runs, n_before, places, room, budget.folder, on_disk=not fits)
        if not budget.fits(2 * CSR_ENTRY * len(rows.columns) * n_lags) and n > LARGEST_DENSE:
            return rows.mapped_matrix(selection.codes, n, budget.folder), rows.total
        matrix = rows.matrix(None if selection.stays else selection.codes, n)
        return (matrix if n > LARGEST_DENSE else matrix.toarray()), rows.total

    def _add_table(self, table: Ints) -> None:
        size = len(table)
        if self._table is None:
            self._table = np.zeros((size, size), np.int64)
        self._table = enlarged(self._table, size)
        self._table[:size, :size] += table


def dense_counts(
    data: Sequences, lag: int, weights: Floats | None, block: tuple[int, int] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of pairs that begin in a block, and of its symbols, whether they begin one or not."""
    begin, stop = block or (0, len(data.symbols))
    n, length = data.n_symbols, stop - begin
    kind = np.int64 if weights is None else np.float64
    # One table per part is worth its room only where it is much smaller than the data.  Whole
    # numbers add up in any parts; weights are always summed in the same.
    worthwhile = max(1, length // (4 * n * n))
    parts = split(length, min(worthwhile, n_threads() if weights is None else WEIGHED_PARTS))

    def count(first: int, stop: int) -> tuple[np.ndarray, np.ndarray]:
        table, alone = np.zeros((n, n), kind), np.zeros(n, kind)
        part = (begin + first, begin + stop)
        native.count_dense(data.symbols, data.offsets, part, lag, weights, table, alone)
        return table, alone

    tables = run(count, parts)
    table, alone = tables[0]
    for other, others in tables[1:]:
        table += other
        alone += others
    return table, table.sum(axis=1) + alone


def packed_counts(
    data: Sequences, lag: int, block: tuple[int, int]
) -> tuple[PackedRows, np.ndarray]:
    """As `dense_counts`, of pairs that begin in a block, as sparse counts of five bytes each.

    Pairs are cut into buckets by their first symbol, and sorted there.
    """
    n, pairs = data.n_symbols, _sorted_pairs(data, lag, block)
    columns, small = (np.empty(pairs.ends[-1], kind) for kind in (np.int32, np.uint8))
    widths, n_large = np.zeros(n, np.int32), np.zeros(n, np.int32)
    totals = np.zeros(n, np.int64)

    def pack(bucket: np.ndarray, entries: slice, rows: slice) -> np.ndarray:
        large = np.empty(len(bucket) // (LARGEST_BYTE + 1), np.int64)
        out = PackedEntries(columns[entries], small[entries], large, widths[rows], n_large[rows])
        used = native.pack_equal(bucket, n, out, totals[rows])
        return large[:used].copy()

    large = np.concatenate(run(pack, pairs.tasks()))
    total = sum(map(len, pairs.buckets))
    return PackedRows(total, widths, n_large, columns, small, large), totals + pairs.alone


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


def _sorted_pairs(data: Sequences, lag: int, block: tuple[int, int]) -> _SortedPairs:
    """A bucket has few enough rows to make a pair a 32-bit number, and few pairs."""
    n, symbols, offsets = data.n_symbols, data.symbols, data.offsets
    begin, length = block[0], block[1] - block[0]
    parts = [
        (begin + first, begin + last)
        for first, last in split(length, min(n_threads(), max(1, length // (4 * n))))
    ]
    sizes, alone = np.zeros((2, len(parts), n), np.int64)
    run(
        lambda i, part: native.count_rows(symbols, offsets, part, lag, sizes[i], alone[i]),
        list(enumerate(parts)),
    )
    most = max(BUCKET, length // MOST_BUCKETS)
    bucket_of = np.empty(n, np.int32)
    n_buckets = native.cut_rows(sizes.sum(axis=0), most, LARGEST_KEY // n, bucket_of)
    rows = np.searchsorted(bucket_of, np.arange(n_buckets + 1))
    sizes = np.add.reduceat(sizes, rows[:-1], axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes.sum(axis=0))])
    places = starts[:-1] + np.cumsum(sizes, axis=0) - sizes
    keys = np.empty(starts[-1], np.uint32)
    run(
        lambda i, part: native.fill_buckets(
            symbols, offsets, part, lag, bucket_of, rows, n, places[i], keys
        ),
        list(enumerate(parts)),
    )
    buckets = [keys[first:last] for first, last in pairwise(starts)]

    def sort(bucket: np.ndarray) -> int:
        bucket.sort()
        return int(np.count_nonzero(bucket[1:] != bucket[:-1])) + (len(bucket) > 0)

    ends = np.concatenate([[0], np.cumsum(run(sort, [(bucket,) for bucket in buckets]))])
    return _SortedPairs(buckets, ends, rows, alone.sum(axis=0))


def _weighed_pairs(
    data: Sequences, lag: int, weights: Floats
) -> tuple[sparse.csr_array, np.ndarray]:
    n, symbols = data.n_symbols, data.symbols
    weight_at = np.repeat(weights, data.lengths)
    later = np.arange(len(symbols)) + lag
    begins = (later < np.repeat(data.offsets[1:], data.lengths)) & (symbols >= 0)
    begins[begins] = symbols[later[begins]] >= 0
    row, column = symbols[begins], symbols[later[begins]]
    matrix = sparse.csr_array((weight_at[begins], (row, column)), shape=(n, n))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()  # pairs of weight zero
    seen = symbols >= 0
    return matrix, np.bincount(symbols[seen], weight_at[seen], n)

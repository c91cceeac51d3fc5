"""Sums of saved counts, read piece by piece: they need not fit into memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cohmm import storage
from cohmm.atomic_write import StorageError
from cohmm.data.memory import Budget, MemoryCapError, in_words
from cohmm.data.values import as_n_symbols
from cohmm.data.vocabulary import Vocabulary, codes_in, in_order, labels_for
from cohmm.evidence.file_pass import Pass, Sums, sums_of
from cohmm.evidence.grams import as_counts, check_total
from cohmm.evidence.packed import ENTRY, PackedRows, packed
from cohmm.evidence.packing import Packing
from cohmm.evidence.pair_sums import LargeRows, PairSums
from cohmm.evidence.pairs import Cooccurrence, checked_lag
from cohmm.evidence.selection import Frequent, Selection
from cohmm.evidence.totals import Tally
from cohmm.evidence.triple_totals import LargeTriples, TripleTotal
from cohmm.evidence.triples import Triples, check_size
from cohmm.kernels.types import Ints

CHUNK = 2**20  # entries that are read at a time

Path = str | os.PathLike[str]


class Described(NamedTuple):
    """What a file of pair counts says of itself."""

    lags: tuple[int, ...]
    n_symbols: int
    vocabulary: Vocabulary | None
    is_whole: bool
    """Whether all counts are whole numbers."""


def merge_saved(paths: Sequence[Path], how: Pass) -> Sums:
    """The sum of saved pair counts, as ``+`` gives it: labels are united."""
    first = described(paths[0])
    n, whole, labels = first.n_symbols, first.is_whole, set(first.vocabulary or ())
    for path in paths[1:]:
        found = described(path)
        if found.lags != first.lags:
            raise ValueError(f"{path} has counts of lags {found.lags}, {paths[0]} of {first.lags}")
        if (found.vocabulary is None) != (first.vocabulary is None):
            raise ValueError(
                f"{path} and {paths[0]}: counts of labels and counts of numbers do not add up"
            )
        labels.update(found.vocabulary or ())
        n, whole = max(n, found.n_symbols), whole and found.is_whole
    if not whole:
        return _loaded(paths, how)
    vocabulary = first.vocabulary
    if vocabulary is not None and len(labels) > len(vocabulary):
        vocabulary = in_order(labels)
    tally = Tally(first.lags, False, how.budget)
    for path in paths:
        add_saved(path, tally, n, vocabulary, how.budget)
    return sums_of(tally, vocabulary, how, as_given=True)


def merge_triples(paths: Sequence[Path], how: Pass) -> Triples | LargeTriples:
    """The sum of saved triple counts, as ``+`` gives it."""
    if how.frequent != Frequent():
        raise ValueError(f"{how.frequent}: triples alone do not tell how often symbols occur")
    found = [_described_triples(path) for path in paths]
    vocabulary, n = found[0].vocabulary, max(each.n_symbols for each in found)
    if len({each.vocabulary is None for each in found}) > 1:
        raise ValueError("counts of labels and counts of numbers do not add up")
    if vocabulary is not None:
        labels = {label for each in found for label in each.vocabulary or ()}
        vocabulary = vocabulary if len(labels) == len(vocabulary) else in_order(labels)
        n = len(labels)
    if not all(each.is_whole for each in found):
        _check_room("counts that are no whole numbers", paths, how.budget)
        return sum((Triples.load(path) for path in paths[1:]), Triples.load(paths[0]))
    check_size(n)
    total = TripleTotal(how.budget.held(1), how.budget.folder)
    for path in paths:
        add_saved_triples(path, total, vocabulary)
    same = np.arange(n)
    return total.sums(Selection(same, same.astype(np.int32), vocabulary), how.budget)


def add_saved(
    path: Path, tally: Tally, n: int, vocabulary: Vocabulary | None, budget: Budget
) -> None:
    """Add the pair counts of a file, among ``n`` symbols or those of a ``vocabulary``."""
    with storage.members(path, "cooccurrence") as saved:
        symbols, starts = (
            as_counts(name, saved.array(name)) for name in ("symbol_counts", "start_counts")
        )
        labels = labels_for(len(symbols), saved.header["vocabulary"])
        places = np.arange(len(symbols))
        if vocabulary is not None and labels is not None:
            places, n = codes_in(labels, vocabulary).astype(np.int64), len(vocabulary)
        tally.add_counts(_placed(symbols, places, n), _placed(starts, places, n))
        for lag, total in tally.pairs.items():
            part = _part(saved, lag, places, n, budget.held(len(tally.pairs)), budget)
            check_total(f"the counts of lag {lag}", total.n_pairs + part.total, np.dtype("i8"))
            total.add(part)


def add_saved_triples(path: Path, total: TripleTotal, vocabulary: Vocabulary | None) -> None:
    """Add the triple counts of a file, piece by piece, in the codes of a ``vocabulary``."""
    found = _described_triples(path)
    places = np.arange(found.n_symbols)
    if vocabulary is not None and found.vocabulary is not None:
        places = codes_in(found.vocabulary, vocabulary)
    with storage.members(path, "triples") as saved:
        for rows, counts in zip(
            saved.chunks("triples", CHUNK), saved.chunks("counts", CHUNK), strict=True
        ):
            if rows.shape != (len(counts), 3) or rows.min() < 0 or rows.max() >= len(places):
                raise ValueError(f"its triples are not those of {len(places):,} symbols")
            total.add_rows(places[rows], as_counts("the counts of triples", counts))


def _described_triples(path: Path) -> Described:
    with storage.members(path, "triples") as saved:
        n = as_n_symbols(saved.header["n_symbols"])
        whole = saved.kind_of("counts")[1].kind in "iu"
        return Described((), n, labels_for(n, saved.header["vocabulary"]), whole)


def described(path: Path) -> Described:
    """What a file of pair counts says of itself; counts are not read."""
    with storage.members(path, "cooccurrence") as saved:
        lags = tuple(map(checked_lag, saved.header["lags"]))
        (n,), _ = saved.kind_of("symbol_counts")
        names = ["symbol_counts", "start_counts"]
        names += [f"{lag}.counts" if f"{lag}.counts" in saved else f"{lag}.data" for lag in lags]
        whole = all(saved.kind_of(name)[1].kind in "iu" for name in names)
        return Described(lags, n, labels_for(n, saved.header["vocabulary"]), whole)


def _placed(values: Ints, places: Ints, n: int) -> Ints:
    out = np.zeros(n, np.int64)
    out[places] = values
    return out


def _part(
    saved: storage.Members, lag: int, places: Ints, n: int, limit: int | None, budget: Budget
) -> PackedRows:
    """The counts of a lag, with columns and rows in their new places."""
    if f"{lag}.counts" in saved:
        table = as_counts(f"the counts of lag {lag}", saved.array(f"{lag}.counts"), 2)
        if table.shape != (len(places),) * 2:
            raise ValueError(f"its counts of lag {lag} have the shape {table.shape}")
        rows = packed(table)
    else:
        rows = _streamed(saved, lag, len(places), limit, budget)
    return _moved(rows, places, n, limit, budget)


def _streamed(
    saved: storage.Members, lag: int, n: int, limit: int | None, budget: Budget
) -> PackedRows:
    ends = saved.array(f"{lag}.indptr").astype(np.int64)
    (size,), _ = saved.kind_of(f"{lag}.data")
    if len(ends) != n + 1 or ends[0] != 0 or ends[-1] != size or (np.diff(ends) < 0).any():
        raise ValueError(f"its rows of lag {lag} do not fit its {size:,} counts")
    out = Packing(n, on_disk=limit is not None and ENTRY * size > limit, folder=budget.folder)
    place = 0
    for counts, columns in zip(
        saved.chunks(f"{lag}.data", CHUNK), saved.chunks(f"{lag}.indices", CHUNK), strict=True
    ):
        if len(counts) != len(columns) or columns.min() < 0 or columns.max() >= n:
            raise ValueError(f"its columns of lag {lag} are not those of {n:,} symbols")
        rows = np.searchsorted(ends, np.arange(place, place + len(counts)), side="right") - 1
        out.append(rows, columns, as_counts(f"the counts of lag {lag}", counts))
        place += len(counts)
    return out.rows()


def _moved(rows: PackedRows, places: Ints, n: int, limit: int | None, budget: Budget) -> PackedRows:
    """The same rows among ``n``, in the order of their new places."""
    if len(places) == n and (places == np.arange(n)).all():
        return rows
    out = Packing(
        n, on_disk=limit is not None and ENTRY * len(rows.columns) > limit, folder=budget.folder
    )
    order = np.argsort(places)
    ends = np.concatenate([[0], np.cumsum(rows.widths[0 : len(rows.widths)], dtype=np.int64)])
    for entries, large in LargeRows(rows, order).ranges():
        here = np.searchsorted(ends, np.arange(entries.start, entries.stop), side="right") - 1
        out.append(places[here], places[rows.columns[entries]], rows.counts(entries, large))
    return out.rows()


def _loaded(paths: Sequence[Path], how: Pass) -> Sums:
    """Counts that are no whole numbers, added in memory."""
    if how.frequent != Frequent():
        raise ValueError(f"{how.frequent}: only whole counts can be pruned")
    _check_room("counts that are no whole numbers", paths, how.budget)
    counts = sum((Cooccurrence.load(path) for path in paths[1:]), Cooccurrence.load(paths[0]))
    pairs = PairSums(
        counts.counts,
        {lag: int(counts.n_pairs(lag)) for lag in counts.lags},
        counts.symbol_counts,
        counts.start_counts,
        counts.vocabulary,
        how.budget,
    )
    return Sums(pairs, None, 0)


def _check_room(what: str, paths: Sequence[Path], budget: Budget) -> None:
    try:
        size = 3 * sum(os.path.getsize(path) for path in paths)
    except OSError as error:
        raise StorageError(f"{error.filename} cannot be read: {error.strerror}") from None
    if budget.cap is not None and budget.room is not None and size > budget.room:
        raise MemoryCapError(
            f"a cap of {in_words(budget.cap)} is too small for {what}, which are added in memory: "
            f"{in_words(size)} are needed beside Python and its libraries"
        )

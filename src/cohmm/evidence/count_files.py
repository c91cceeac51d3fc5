"""Pairs and triples in files, counted in one pass as they stream by.

Memory does not grow with the length of the data, nor of a sequence; only grouped rows are held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from cohmm.atomic_write import StorageError
from cohmm.data.encoding import check_many
from cohmm.data.memory import Budget, Folder, MemoryCapError, ScratchArray
from cohmm.data.read_sequences import BATCH, NOT_INTEGERS, checked_batch, coder_of
from cohmm.data.readers.codes import Coder
from cohmm.data.readers.scan import NoDataError, Notice, Piece, in_batches, read_pieces
from cohmm.data.readers.source import Layout, Paths, Progress, Source, find_sources
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import PairTotal, as_lags, hint_at_short_sequences
from cohmm.evidence.external_sum import (
    IN_MEMORY,
    UNLIMITED,
    ExternalSum,
    KeyCounts,
    merged_blocks,
)
from cohmm.evidence.prune import Pruning, Selection, enlarged, select
from cohmm.evidence.windows import Triples, triple_counts
from cohmm.kernels.threads import one_ahead
from cohmm.kernels.types import Ints

BITS = 21  # of a symbol in the key of a triple: there are at most two million
BLOCK = 2**18  # triples that are made rows at a time


class Counted(NamedTuple):
    """What a pass over files gives; counts that have no room are mapped from scratch files."""

    pairs: Cooccurrence
    triples: Triples | None
    n_sequences: int
    n_pairs: dict[int, int]
    """How many pairs were counted, by lag."""
    n_triples: int | None


def _quiet(text: str) -> None:
    pass


@dataclass(frozen=True)
class Options:
    """How files are read and counted; see `count_files`."""

    layout: Layout = Layout()  # noqa: RUF009 - it is frozen
    lags: Iterable[int] | int = (1,)
    triples: bool = False
    integers: bool = False
    min_count: int | None = None
    max_vocabulary: int | None = None
    skip_bad: bool = False
    memory: int | str | None = None
    folder: Folder = None
    batch_size: int = BATCH
    progress: Progress | None = None
    notice: Notice = _quiet

    def __post_init__(self) -> None:
        _ = self.pruning
        checked_batch(self.batch_size)
        object.__setattr__(self, "lags", tuple(as_lags(self.lags)))
        _ = self.budget

    @cached_property
    def budget(self) -> Budget:
        """The memory that counting may take."""
        return Budget.of(self.memory, self.folder)

    @property
    def pruning(self) -> Pruning:
        """Which symbols are dropped."""
        return Pruning(self.min_count, self.max_vocabulary)

    def coder(self) -> Coder:
        """One that has met no symbol yet."""
        return coder_of(None, None, self.integers, "error")


def count_files(paths: Paths, layout: Layout | None = None, **options: Any) -> Counted:
    """Count pairs, and triples if asked for, in one pass over files.

    Parameters
    ----------
    paths, layout
        As for `read_files`.
    lags
        As for `count_pairs`.
    integers, batch_size, progress, notice
        As for `read_files`.
    triples : bool
        Count three symbols in a row as well.
    min_count : int, optional
        Keep symbols that occur so often at least.  Others are missing observations: a pair
        with one of them does not count.
    max_vocabulary : int, optional
        Keep so many symbols, the most frequent; of those that are equally frequent, the first
        by the alphabet, or by their code.
    skip_bad : bool
        Leave out files that cannot be read to their end, and say so; nothing of them counts.
    memory : int or str, optional
        A cap on the memory of this process, in bytes or as ``"2GB"``.  Sparse counts that have
        no room wait in scratch files; if the result has none, it is mapped from such a file,
        and its pages come and go.  The counts are the same with any cap.
    folder : path, optional
        For scratch files; default: the system's folder for temporary files.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "weather.txt")
    >>> _ = path.write_text("sun rain\\nrain rain sun\\n")
    >>> counts = count_files(path).pairs
    >>> counts.vocabulary, counts[1].tolist()
    (('rain', 'sun'), [[1, 1], [1, 0]])
    """
    how = Options(layout or Layout(), **options)
    return count_sources(find_sources(paths, how.layout.format), how)


def count_sources(sources: Sequence[Source], how: Options) -> Counted:
    """Count all sources."""
    for source in sources:
        how.layout.check(source)
    coder = how.coder()
    if how.skip_bad and how.layout.is_grouped:  # a sequence may go on in another file
        sources = _readable(sources, how)
    tally = Tally(how)
    if how.skip_bad and not how.layout.is_grouped:
        bad: list[str] = []
        for source in sources:
            part = count_one(source, how.coder() if how.integers else coder, how, bad, tally)
            if part is not None:
                tally.absorb(part)
        check_some(tally.n_observed > 0, sources, bad)
    else:
        _count(sources, coder, tally, how)
    return tally.result(coder.vocabulary, how)


def count_one(
    source: Source, coder: Coder, how: Options, bad: list[str], total: Tally | None = None
) -> Tally | None:
    """What one source has; None where it is empty, or bad and ``skip_bad`` leaves it out."""
    tally = Tally(how)
    try:
        _count([source], coder, tally, how, 0 if total is None else total.n_observed)
    except NoDataError:
        return None
    except (MemoryCapError, StorageError):
        raise
    except (ValueError, OSError) as error:
        if not how.skip_bad:
            raise
        bad.append(str(error))
        how.notice(f"left out: {error}")
        return None
    return tally


def check_some(any_data: bool, sources: Sequence[Source], bad: list[str]) -> None:
    """Whether something was read."""
    if any_data:
        return
    if bad:
        raise ValueError(
            f"none of {len(sources):,} files can be read to its end; the first: {bad[0]}"
        )
    raise NoDataError(sources)


def _readable(sources: Sequence[Source], how: Options) -> list[Source]:
    """Those of which every row can be read: rows are counted together with those of others."""
    quiet = replace(how, progress=None, notice=_quiet)
    good: list[Source] = []
    bad: list[str] = []
    for source in sources:
        n_bad = len(bad)
        if source.path is not None:  # standard input can be read only once
            count_one(source, how.coder(), quiet, bad)
        if len(bad) == n_bad:
            good.append(source)
        else:
            how.notice(f"left out: {bad[-1]}")
    check_some(bool(good), sources, bad)
    return good


def _count(
    sources: Sequence[Source], coder: Coder, tally: Tally, how: Options, n_before: int = 0
) -> None:
    """Add the pieces of some sources; of one that is bad, perhaps half."""
    labelled = coder.vocabulary is not None
    held = "the rows of all groups" if how.layout.is_grouped else "what is read"

    def progress(n: int) -> None:
        how.budget.check(held)
        if how.progress is not None:
            how.progress(n)

    pieces = read_pieces(
        sources, how.layout, coder, how.budget.chunk(how.batch_size), progress, how.notice
    )

    def size() -> int:
        n = coder.n_symbols if labelled else 0
        return how.budget.beside(n, labelled).batch(how.batch_size)

    batches = in_batches(pieces, size, max([2 if how.triples else 1, *how.lags]))  # type: ignore[misc]
    if all(source.n_bytes is not None for source in sources):  # a pipe might make it wait
        batches = one_ahead(batches)
    n = 1
    with closing(batches):
        for piece, stop in batches:
            n = max(n, coder.n_symbols if labelled else int(piece.codes.max()) + 1)
            if not labelled:
                check_many(n, n_before + tally.n_observed + len(piece.codes), NOT_INTEGERS)
            tally.keep_within(how.budget.beside(n, labelled))
            tally.add(piece, stop, n)
            how.budget.check(f"{n:,} {'labels' if labelled else 'symbols'} and their counts")


class Tally:
    """Counts of pieces that follow one another, of files or of saved counts."""

    def __init__(self, how: Options) -> None:
        lags: tuple[int, ...] = how.lags  # type: ignore[assignment]
        self.pairs = {lag: PairTotal(how.budget, len(lags)) for lag in lags}
        self.triples = ExternalSum(KeyCounts, None, how.budget.folder) if how.triples else None
        self.keep_within(how.budget)
        self.symbol_counts: Ints = np.zeros(1, np.int64)
        self.start_counts: Ints = np.zeros(1, np.int64)
        self.n_sequences = self.n_observed = 0

    def keep_within(self, budget: Budget) -> None:
        """Limit what may be held in memory from now on."""
        sums: list[ExternalSum[Any]] = [total.sparse for total in self.pairs.values()]
        sums += [] if self.triples is None else [self.triples]
        for each in sums:
            each.limit = budget.held(len(sums))

    def add(self, piece: Piece, stop: int, n: int) -> None:
        """What begins before ``stop`` in one more piece, of codes below ``n``."""
        data = Sequences._trusted(piece.codes, piece.offsets, n)
        symbols = [total.count(data, lag, (0, stop)) for lag, total in self.pairs.items()]
        first = piece.codes[piece.starts[piece.starts < stop]]
        self.add_counts(symbols[0], np.bincount(first[first >= 0], minlength=n))
        if self.triples is not None:
            triples = triple_counts(data, (0, stop))
            self.triples.add(KeyCounts.of(triple_keys(triples.triples), triples.counts))
        self.n_sequences += len(first)
        self.n_observed += stop

    def absorb(self, other: Tally) -> None:
        """All that another tally has counted."""
        for lag, total in self.pairs.items():
            total.absorb(other.pairs[lag])
        if self.triples is not None and other.triples is not None:
            self.triples.absorb(other.triples)
        self.add_counts(other.symbol_counts, other.start_counts)
        self.n_sequences += other.n_sequences
        self.n_observed += other.n_observed

    def add_counts(self, symbols: Ints, starts: Ints) -> None:
        """How often symbols occur, and begin a sequence."""
        self.symbol_counts = _plus(self.symbol_counts, symbols)
        self.start_counts = _plus(self.start_counts, starts)

    def result(self, vocabulary: Vocabulary | None, how: Options) -> Counted:
        """The sums, of the symbols that stay; there are some."""
        for lag, total in self.pairs.items():
            if total.n_pairs == 0:
                alone = self.symbol_counts.sum() == self.n_sequences
                raise ValueError(
                    f"there is no pair at lag {lag}: none of the {self.n_sequences:,} sequences "
                    f"has two observations {lag} apart"
                    + (hint_at_short_sequences(vocabulary, 1) if alone else "")
                )
        counted = self.sums(vocabulary, how)
        for lag, n_pairs in counted.n_pairs.items():
            if n_pairs == 0:
                raise ValueError(
                    f"no pair is left at lag {lag}: each had a symbol that {how.pruning} drops"
                )
        if counted.n_triples == 0:
            raise ValueError(
                f"there is no triple: none of the {self.n_sequences:,} sequences has three "
                "observations in a row"
            )
        return counted

    def sums(
        self, vocabulary: Vocabulary | None, how: Options, keep_order: bool = False
    ) -> Counted:
        """As `result`, where there may be none."""
        n = max(len(self.symbol_counts), 1 if vocabulary is None else len(vocabulary))
        chosen = select(
            enlarged(self.symbol_counts, n), vocabulary, how.pruning, how.notice, keep_order
        )
        budget = how.budget.beside(n, vocabulary is not None)
        n_lags = len(self.pairs)
        by_lag, n_pairs = {}, {}
        for lag, total in self.pairs.items():
            by_lag[lag], n_pairs[lag] = total.matrix(chosen, budget, n_lags)
        symbols, starts = chosen.of(self.symbol_counts), chosen.of(self.start_counts)
        pairs = Cooccurrence._trusted(by_lag, symbols, starts, chosen.vocabulary)
        triples, n_triples = None, None
        if self.triples is not None:
            triples, n_triples = sum_triples(self.triples, chosen, budget)
        return Counted(pairs, triples, self.n_sequences, n_pairs, n_triples)


def _plus(left: Ints, right: Ints) -> Ints:
    left = enlarged(left, len(right))
    left[: len(right)] += right
    return left


def triple_keys(rows: Ints) -> Ints:
    """Triples as numbers, whatever the number of symbols will be."""
    a, b, c = rows.astype(np.int64).T
    return np.asarray(a << 2 * BITS | b << BITS | c)


def _triple_rows(keys: Ints) -> Ints:
    symbol = 2**BITS - 1
    parts = (keys >> 2 * BITS, keys >> BITS & symbol, keys & symbol)
    return np.stack(parts, axis=1).astype(np.int32)


def sum_triples(
    total: ExternalSum[KeyCounts], chosen: Selection, budget: Budget
) -> tuple[Triples, int]:
    """The sum, of the symbols that stay, mapped where it has no room; and how many triples."""
    room = budget.merging or UNLIMITED
    if not chosen.stays:
        placed = ExternalSum(KeyCounts, budget.held(1), budget.folder)
        for keys, counts in merged_blocks(total.runs, room):
            rows = chosen.places[_triple_rows(keys)]
            kept = (rows >= 0).all(axis=1)
            placed.add(KeyCounts.of(triple_keys(rows[kept]), counts[kept]))
        total = placed
    fits = budget.fits(sum(run.needs for run in total.runs))
    merged = KeyCounts.merged(total.runs, room, budget.folder, on_disk=not fits)
    flat = ScratchArray(np.int32, IN_MEMORY if fits else 0, budget.folder)
    for keys, _ in merged.blocks(BLOCK):
        flat.append(_triple_rows(keys).ravel())
    counts = merged.counts.mapped() if isinstance(merged.counts, ScratchArray) else merged.counts
    fields = flat.mapped().reshape(-1, 3), counts, len(chosen.codes), chosen.vocabulary
    return Triples._trusted(*fields), merged.total

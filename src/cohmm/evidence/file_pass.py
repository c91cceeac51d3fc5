"""One pass over files: what is asked of it, and what it counts."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from cohmm.atomic_write import StorageError
from cohmm.data.encoding import check_many
from cohmm.data.memory import Budget, MemoryCapError
from cohmm.data.read_sequences import BATCH, NOT_INTEGERS, checked_batch, coder_of
from cohmm.data.readers.codes import Coder
from cohmm.data.readers.layout import Layout
from cohmm.data.readers.pieces import Piece, Pieces
from cohmm.data.readers.reading import NoDataError, Notice, read_pieces
from cohmm.data.readers.source import Progress, Source
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.counting import pair_counts
from cohmm.evidence.pair_sums import PairSums, summed
from cohmm.evidence.pair_totals import enlarged
from cohmm.evidence.selection import Frequent, select
from cohmm.evidence.totals import Tally
from cohmm.evidence.triple_totals import LargeTriples
from cohmm.evidence.triples import Triples
from cohmm.kernels.threads import one_ahead

NO_PAIR = Sequences(np.zeros(1, np.int32), np.array([0, 1]), 1)


class Sums(NamedTuple):
    """What a pass over files gives, before it is a value or a file."""

    pairs: PairSums
    triples: Triples | LargeTriples | None
    n_sequences: int


@dataclass(frozen=True)
class Pass:
    """How files are read and counted."""

    layout: Layout
    lags: tuple[int, ...]
    triples: bool
    integers: bool
    batch_size: int
    budget: Budget
    frequent: Frequent
    skip_bad: bool
    progress: Progress | None
    notice: Notice

    def coder(self) -> Coder:
        """One that has met no symbol yet."""
        return coder_of(None, None, self.integers, "error")

    def tally(self) -> Tally:
        """One that has counted nothing yet."""
        return Tally(self.lags, self.triples, self.budget)


def plan(
    layout: Layout | None = None,
    lags: Iterable[int] | int = (1,),
    *,
    triples: bool = False,
    integers: bool = False,
    min_count: int | None = None,
    max_vocabulary: int | None = None,
    skip_bad: bool = False,
    memory: int | str | None = None,
    folder: str | os.PathLike[str] | None = None,
    batch_size: int = BATCH,
    progress: Progress | None = None,
    notice: Notice | None = None,
) -> Pass:
    """What was asked for, checked before anything is read."""
    return Pass(
        layout or Layout(),
        pair_counts(NO_PAIR, lags).lags,
        triples,
        integers,
        checked_batch(batch_size),
        Budget.of(memory, folder),
        Frequent(min_count, max_vocabulary),
        skip_bad,
        progress,
        notice or _quiet,
    )


def count_sources(sources: Sequence[Source], how: Pass) -> Sums:
    """Count all sources."""
    for source in sources:
        how.layout.check(source)
    coder = how.coder()
    if how.skip_bad and how.layout.is_grouped:  # a sequence may go on in another file
        sources = _readable(sources, how)
    if how.skip_bad and not how.layout.is_grouped:
        tally = _apart(sources, coder, how)
    else:
        tally = how.tally()
        _count(sources, coder, tally, how)
    return finished(tally, coder.vocabulary, how)


def _count(
    sources: Sequence[Source], coder: Coder, tally: Tally, how: Pass, n_before: int = 0
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

    batches = _batches(pieces, size)
    if all(source.n_bytes is not None for source in sources):  # a pipe might make it wait
        batches = one_ahead(batches)
    n = 1
    with closing(batches):
        for piece in batches:
            n = max(n, coder.n_symbols if labelled else int(piece.codes.max()) + 1)
            if not labelled:
                n_observed = n_before + tally.n_observed + len(piece.codes)
                check_many(n, n_observed, NOT_INTEGERS)
            tally.keep_within(how.budget.beside(n, labelled))
            tally.add(piece, n)
            how.budget.check(f"{n:,} {'labels' if labelled else 'symbols'} and their counts")
    tally.close(n)


def _batches(pieces: Iterable[Piece], size: Callable[[], int]) -> Generator[Piece]:
    """Pieces of about ``size()`` symbols, that no longer know where their sequences begin."""
    held, nowhere = Pieces(), np.empty(0, np.int64)
    for piece in pieces:
        most, first = size(), 0
        while first < len(piece.codes):
            last = first + max(most - len(held), 1)
            places = np.searchsorted(piece.starts, [first, last])
            starts = piece.starts[slice(*places)] - first
            held.add(Piece(piece.codes[first:last], starts, nowhere, nowhere))
            if len(held) >= most:
                yield held.take()
            first = last
    if len(held):
        yield held.take()


def _apart(sources: Sequence[Source], coder: Coder, how: Pass) -> Tally:
    """Count each source by itself, and add those that are whole."""
    total = how.tally()
    bad: list[str] = []
    for source in sources:
        tally = count_one(source, how.coder() if how.integers else coder, how, bad, total)
        if tally is not None:
            total.absorb(tally)
    check_some(total.n_observed > 0, sources, bad)
    return total


def count_one(
    source: Source, coder: Coder, how: Pass, bad: list[str], total: Tally | None = None
) -> Tally | None:
    """What one source has; None where it is empty, or bad and ``skip_bad`` leaves it out."""
    tally = how.tally()
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


def _readable(sources: Sequence[Source], how: Pass) -> list[Source]:
    """Those of which every row can be read: rows are counted together with those of others."""
    quiet = replace(how, progress=None, notice=_quiet)
    good: list[Source] = []
    bad: list[str] = []
    for source in sources:
        if source.path is None:
            good.append(source)  # it can be read only once
            continue
        n_bad = len(bad)
        count_one(source, how.coder(), quiet, bad)
        if len(bad) == n_bad:
            good.append(source)
        else:
            how.notice(f"left out: {bad[-1]}")
    check_some(bool(good), sources, bad)
    return good


def finished(tally: Tally, vocabulary: Vocabulary | None, how: Pass) -> Sums:
    """The sums of what was counted, of the symbols that were asked for; there are some."""
    for lag, total in tally.pairs.items():
        if total.n_pairs == 0:
            raise ValueError(
                f"there is no pair at lag {lag}: none of the {tally.n_sequences:,} sequences "
                f"has two observations {lag} apart{_hint(tally, vocabulary)}"
            )
    sums = sums_of(tally, vocabulary, how)
    for lag, n_pairs in sums.pairs.n_pairs.items():
        if n_pairs == 0:
            raise ValueError(
                f"no pair is left at lag {lag}: each had a symbol that {how.frequent} drops"
            )
    if sums.triples is not None and sums.triples.n_triples == 0:
        raise ValueError(
            f"there is no triple: none of the {tally.n_sequences:,} sequences has three "
            "observations in a row"
        )
    return sums


def sums_of(tally: Tally, vocabulary: Vocabulary | None, how: Pass, as_given: bool = False) -> Sums:
    """As `finished`, where there may be none; symbols in a new order, or ``as_given``."""
    counts = enlarged(tally.symbol_counts, 1 if vocabulary is None else len(vocabulary))
    chosen = select(counts, vocabulary, how.frequent, how.notice, as_given)
    budget = how.budget.beside(len(counts), vocabulary is not None)
    n = len(tally.pairs)
    results = {lag: summed(total, chosen, budget, n) for lag, total in tally.pairs.items()}
    pairs = PairSums(
        {lag: matrix for lag, (matrix, _) in results.items()},
        {lag: n for lag, (_, n) in results.items()},
        chosen.of(counts),
        chosen.of(enlarged(tally.start_counts, len(counts))),
        chosen.vocabulary,
        budget,
    )
    triples = None if tally.triples is None else tally.triples.sums(chosen, budget)
    return Sums(pairs, triples, tally.n_sequences)


def _hint(tally: Tally, vocabulary: Vocabulary | None) -> str:
    """What to say further where every sequence is one long symbol."""
    alone = tally.symbol_counts.sum() == tally.n_sequences
    if alone and vocabulary and min(map(len, map(str, vocabulary))) > 1:
        return "; characters=True (--characters) reads text symbol by symbol"
    return ""


def _quiet(text: str) -> None:
    pass

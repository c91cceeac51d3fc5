"""Triple counts that are added up in bounded memory: what has no room waits on disk."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cohmm import storage
from cohmm.data.memory import Budget
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.grams import merged
from cohmm.evidence.packed import Folder, Stored
from cohmm.evidence.selection import Selection
from cohmm.evidence.temporary import DiskArray, telling
from cohmm.evidence.triples import Triples, triple_counts
from cohmm.kernels.types import Ints

BITS = 21  # of a symbol in a key: there are at most two million, whatever their number will be
SYMBOL = 2**BITS - 1
ENTRY = 16  # bytes
LEAST_BLOCK = 2**10  # entries that are read at a time


class Run(NamedTuple):
    """Distinct triples as keys in order, and how often each occurs; in memory or on disk."""

    keys: Stored
    counts: Stored

    @property
    def n_bytes(self) -> int:
        """What it takes, here or there."""
        return ENTRY * len(self.keys)


class TripleTotal:
    """The sum of triple counts; parts of more than ``limit`` bytes together go to ``folder``."""

    def __init__(self, limit: int | None = None, folder: Folder = None) -> None:
        self.limit, self._folder = limit, folder
        self._held: list[tuple[int, Run]] = []  # and how often it has been added to
        self._runs: list[Run] = []

    def count(self, data: Sequences) -> None:
        """Add the triples of some sequences."""
        counts = triple_counts(data)
        self.add_rows(counts.triples, counts.counts)

    def add_rows(self, rows: Ints, counts: Ints) -> None:
        """Add distinct triples, in any order."""
        keys = _keys(rows)
        order = np.argsort(keys, kind="stable")
        self.add(Run(keys[order], counts[order]))

    def add(self, run: Run) -> None:
        """Add distinct triples."""
        level = 0
        while self._held and self._held[-1][0] == level:
            run = _sum([self._held.pop()[1], run])
            level += 1
        self._held.append((level, run))
        if self.limit is not None and sum(run.n_bytes for _, run in self._held) > self.limit:
            whole = _sum([run for _, run in self._held])
            self._held.clear()
            self._runs.append(
                _written([(np.asarray(whole.keys), np.asarray(whole.counts))], self._folder)
            )

    def absorb(self, other: TripleTotal) -> None:
        """All that another total has."""
        for _, run in other._held:
            self.add(run)
        self._runs += other._runs

    def sums(self, chosen: Selection, budget: Budget) -> Triples | LargeTriples:
        """The sum, of the chosen symbols in their new order."""
        n, vocabulary = chosen.n_symbols, chosen.vocabulary
        runs = [run for _, run in self._held] + self._runs
        in_memory = budget.fits(4 * sum(run.n_bytes for run in runs))
        room = 2**28 if budget.merging is None else budget.merging
        chunks = _placed(_merged(runs, room), chosen)
        if in_memory:
            found = list(chunks)
            keys = np.concatenate([np.empty(0, np.int64), *(keys for keys, _ in found)])
            counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in found)])
            order = np.argsort(keys, kind="stable")
            return Triples._trusted(_rows(keys[order]), counts[order], n, vocabulary)
        if chosen.moves:
            runs = [_written([chunk], budget.folder) for chunk in chunks]
            chunks = _merged(runs, room)
        run = _written(chunks, budget.folder)
        total = sum(int(part.sum()) for part in _parts(run.counts, LEAST_BLOCK))
        return LargeTriples(run, n, vocabulary, total, budget.folder)


@dataclass(frozen=True)
class LargeTriples:
    """Triple counts on disk, on their way to a file."""

    run: Run
    n_symbols: int
    vocabulary: Vocabulary | None
    n_triples: int
    folder: Folder

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        header = {"n_symbols": self.n_symbols, "vocabulary": self.vocabulary}
        storage.save(path, "triples", header, self._arrays())

    def value(self) -> Triples:
        """As a value, mapped from a file that has no name."""
        folder = self.folder or tempfile.gettempdir()
        with telling(os.fspath(folder)), tempfile.TemporaryFile(dir=folder) as file:
            storage.write(file, "triples", {}, self._arrays())
            file.flush()
            arrays = storage.mapped(file)
        fields = arrays["triples"], arrays["counts"], self.n_symbols, self.vocabulary
        return Triples._trusted(*fields)

    def _arrays(self) -> dict[str, np.ndarray | storage.Stream]:
        n, size = len(self.run.keys), 2**18
        rows = (_rows(keys) for keys in _parts(self.run.keys, size))
        return {
            "triples": storage.Stream(np.dtype(np.int32), (n, 3), rows),
            "counts": storage.Stream(np.dtype(np.int64), (n,), _parts(self.run.counts, size)),
        }


Chunk = tuple[Ints, Ints]


def _keys(rows: Ints) -> Ints:
    a, b, c = rows.astype(np.int64).T
    return np.asarray(a << 2 * BITS | b << BITS | c)


def _rows(keys: Ints) -> Ints:
    parts = (keys >> 2 * BITS, keys >> BITS & SYMBOL, keys & SYMBOL)
    return np.stack(parts, axis=1).astype(np.int32)


def _sum(runs: Sequence[Run]) -> Run:
    return Run(*merged(*(np.concatenate(each) for each in zip(*runs, strict=True))))


def _written(chunks: Sequence[Chunk] | Iterator[Chunk], folder: Folder) -> Run:
    keys, counts = DiskArray(folder, np.int64), DiskArray(folder, np.int64)
    for chunk in chunks:
        keys.append(chunk[0])
        counts.append(chunk[1])
    return Run(keys, counts)


def _parts(values: Stored, size: int) -> Iterator[Ints]:
    for first in range(0, len(values), size):
        yield values[first : first + size]


def _merged(runs: Sequence[Run], room: int) -> Iterator[Chunk]:
    """The sum of all runs, in order: what is certain to be complete, from blocks of each."""
    size = max(room // 6 // ENTRY // max(len(runs), 1), LEAST_BLOCK)
    blocks = [zip(_parts(run.keys, size), _parts(run.counts, size), strict=True) for run in runs]
    empty = (np.empty(0, np.int64), np.empty(0, np.int64))
    heads = [next(block, empty) for block in blocks]
    while any(len(keys) for keys, _ in heads):
        bound = min(keys[-1] for keys, _ in heads if len(keys))
        cuts = [int(np.searchsorted(keys, bound, side="right")) for keys, _ in heads]
        yield _total(
            [(keys[:cut], counts[:cut]) for (keys, counts), cut in zip(heads, cuts, strict=True)]
        )
        for j, cut in enumerate(cuts):
            keys, counts = heads[j]
            heads[j] = (keys[cut:], counts[cut:]) if cut < len(keys) else next(blocks[j], empty)


def _total(parts: list[Chunk]) -> Chunk:
    keys, counts = merged(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    return keys, counts


def _placed(chunks: Iterator[Chunk], chosen: Selection) -> Iterator[Chunk]:
    """Triples of the chosen symbols, each chunk in their new order."""
    for keys, counts in chunks:
        rows = chosen.places[_rows(keys)]
        kept = (rows >= 0).all(axis=1)
        placed = _keys(rows[kept])
        order = np.argsort(placed, kind="stable")
        yield placed[order], counts[kept][order]

"""Short blocks of the data, each with what came before it: all that standard errors need of it.

Given the symbols before it, a block tells what those did not: its score is the gradient of
log P(block | before), and scores of different blocks are uncorrelated.  Some thousands of blocks
stand for data of any length, so the data itself need not be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.partitioned import Partitioned
from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

BLOCK = 8  # symbols
BEFORE = 24  # symbols that it is given
BEFORE_LARGE = 16  # and where there are more than `LARGE` parameters
LARGE = 1000
PER_PARAMETER = 12  # blocks; the inverse of a covariance needs about ten times its size
FEWEST = 4000  # blocks that are kept, where there are so many
MOST_SYMBOLS = 2**21  # kept: 4 MB as 16-bit numbers
MOST_STARTS = 4096  # sequences whose first block is kept
NOTHING = -2  # where there is no symbol: before the sequence, or after it
SEED = 16  # of the choice of blocks: the same data gives the same errors


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some blocks of the data.

    Parameters
    ----------
    symbols : int array, (n, before + 8)
        What came before each block, and the block; -1 is missing, -2 is no place of the sequence.
    begins : bool array, (n,)
        Whether the first symbol is the first of its sequence.
    weights : array, (n,)
        How many blocks of the data each stands for.
    states : int array, (n, before + 8), or None
        States that are known, -1 where they are not.
    complete : bool
        Whether these are all blocks of the data.
    """

    symbols: Ints
    begins: np.ndarray
    weights: Floats
    states: Ints | None = None
    complete: bool = True

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def before(self) -> int:
        """Places before each block."""
        return int(self.symbols.shape[1]) - BLOCK

    @property
    def effective(self) -> float:
        """As how many blocks of equal weight they count."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @classmethod
    def of(
        cls,
        data: Sequences | Partitioned,
        most: int,
        before: int = BEFORE,
        *,
        weights: Any = None,
        states: Ints | None = None,
    ) -> Blocks:
        """Blocks of ``data``, at most so many: one at a random place in each of equal shares.

        ``weights`` (S,) is how often each sequence counts, ``states`` (T,) what is known of them.

        >>> data = Sequences.of([0, 1] * 6)
        >>> Blocks.of(data, 100, before=8).symbols
        array([[-2, -2, -2, -2, -2, -2, -2, -2,  0,  1,  0,  1,  0,  1,  0,  1],
               [ 0,  1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  1, -2, -2, -2, -2]],
              dtype=int8)
        """
        lengths = np.asarray(data.lengths, np.int64)
        counts = -(-lengths // BLOCK)
        ends = np.cumsum(counts)
        share = counts.astype(np.float64)
        if weights is not None:
            share = share * np.asarray(weights, np.float64)
        total = float(share.sum())
        rng = np.random.default_rng(SEED)
        if ends[-1] <= most:
            chosen = np.arange(ends[-1])
            each = np.repeat(share / np.maximum(counts, 1), counts)
            chosen, each = chosen[each > 0], each[each > 0]
        else:
            places = (np.arange(most) + rng.random(most)) * (total / most)
            bounds = np.cumsum(share)
            which = np.minimum(np.searchsorted(bounds, places, side="right"), len(counts) - 1)
            inside = (places - (bounds - share)[which]) / share[which]
            inside = np.minimum((inside * counts[which]).astype(np.int64), counts[which] - 1)
            chosen, times = np.unique((ends - counts)[which] + inside, return_counts=True)
            each = times.astype(np.float64) * (total / most)
        return cls._at(data, chosen, each, before, states, bool(ends[-1] <= most))

    @classmethod
    def starts(
        cls,
        data: Sequences | Partitioned,
        *,
        weights: Any = None,
        states: Ints | None = None,
    ) -> Blocks:
        """The first block of every sequence, or of `MOST_STARTS` of them."""
        lengths = np.asarray(data.lengths, np.int64)
        counts = -(-lengths // BLOCK)
        each = np.ones(len(counts)) if weights is None else np.asarray(weights, np.float64)
        kept = np.flatnonzero((each > 0) & (lengths > 0))
        total = each[kept].sum()
        if len(kept) > MOST_STARTS:
            kept = kept[np.linspace(0, len(kept) - 1, MOST_STARTS).astype(np.int64)]
        share = each[kept] * (total / each[kept].sum())
        return cls._at(data, (np.cumsum(counts) - counts)[kept], share, 0, states, True)

    @classmethod
    def simulated(cls, model: HMM, n: int, total: float, before: int = BEFORE) -> Blocks:
        """Blocks that the model itself draws, which stand for a ``total`` number of them."""
        width = before + BLOCK
        settled = HMM(prevalence_of(model), model.transmat, model.emissionprob)
        symbols = settled.sample(n * width, np.random.default_rng(SEED))[0].reshape(n, width)
        return cls(
            _small(symbols, model.n_symbols),
            np.zeros(n, bool),
            np.full(n, total / n),
            complete=False,
        )

    @classmethod
    def _at(
        cls,
        data: Sequences | Partitioned,
        chosen: Ints,
        weights: Floats,
        before: int,
        states: Ints | None,
        complete: bool,
    ) -> Blocks:
        """Blocks by their numbers in the data."""
        lengths = np.asarray(data.lengths, np.int64)
        ends, counts = np.cumsum(lengths), -(-lengths // BLOCK)
        bounds = np.cumsum(counts)
        sequence = np.searchsorted(bounds, chosen, side="right")
        within = (chosen - (bounds - counts)[sequence]) * BLOCK
        offset = (ends - lengths)[sequence]
        first = offset + np.maximum(within - before, 0)
        last = np.minimum(offset + within + BLOCK, ends[sequence])
        n, width = len(chosen), before + BLOCK
        column = before - (within - np.maximum(within - before, 0))
        rows = np.repeat(np.arange(n), last - first)
        steps = np.arange(len(rows)) - np.repeat(
            np.cumsum(last - first) - (last - first), last - first
        )
        columns = column[rows] + steps
        symbols = np.full((n, width), NOTHING, np.int64)
        symbols[rows, columns] = data.spans(first, last).symbols
        known = None
        if states is not None:
            known = np.full((n, width), -1, np.int64)
            known[rows, columns] = states[first[rows] + steps]
            known = _small(known, int(known.max()) + 1)
        return cls(_small(symbols, data.n_symbols), first == offset, weights, known, complete)

    def parts(self, most: int) -> Iterator[tuple[Ints, Ints | None, np.ndarray, Floats, int]]:
        """At most so many at a time, alike in how many places come before the block.

        Symbols, known states, begins, weights, and the places before.
        """
        length = (self.symbols[:, : self.before] != NOTHING).sum(axis=1)
        for before in np.unique(length):
            rows = np.flatnonzero(length == before)
            for first in range(0, len(rows), most):
                part = rows[first : first + most]
                place = slice(self.before - int(before), None)
                yield (
                    self.symbols[part, place].astype(np.int64),
                    None if self.states is None else self.states[part, place].astype(np.int64),
                    self.begins[part],
                    self.weights[part],
                    int(before),
                )


def n_blocks(n_parameters: int, before: int) -> int:
    """How many blocks are kept of a model with so many parameters, at most."""
    wanted = max(FEWEST, PER_PARAMETER * n_parameters)
    return int(min(wanted, MOST_SYMBOLS // (before + BLOCK)))


def n_before(n_parameters: int) -> int:
    """How many symbols each block is given."""
    return BEFORE if n_parameters <= LARGE else BEFORE_LARGE


def _small(numbers: Ints, bound: int) -> Ints:
    for kind in (np.int8, np.int16):
        if bound <= np.iinfo(kind).max:
            return numbers.astype(kind)
    return numbers.astype(np.int32)

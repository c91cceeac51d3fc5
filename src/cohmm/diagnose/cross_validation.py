"""Parts of sequences to learn from, and parts that are held out.

Where there are many sequences they are dealt out whole; a few long ones are cut into blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.data.encoding import MISSING
from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Ints

GROUPS, FEWEST_GROUPS = 100, 10
SMALLEST = 50  # symbols of a block
MANY = 50  # sequences: of fewer, blocks are cut


class Groups(NamedTuple):
    """Pieces of the data, each of one group."""

    pieces: Sequences
    """Whole sequences, or blocks of them."""
    group: Ints
    """(S,), of every piece, from 0."""
    blocks: bool
    """Whether sequences were cut."""

    @property
    def n(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    def split(self, fold: int, folds: int) -> tuple[Sequences, Sequences, Ints]:
        """What to learn from, what is held out, and the groups of the latter's pieces.

        Neighbouring blocks that are learned from are joined again.
        """
        held = self.group % folds == fold
        offsets = self.pieces.offsets
        test = self.pieces.spans(offsets[:-1][held], offsets[1:][held])
        kept = ~held
        first, last = offsets[:-1][kept], offsets[1:][kept]
        if self.blocks:
            return _joined(self.pieces, first, last), test, self.group[held]
        return self.pieces.spans(first, last), test, self.group[held]

    def fair_split(self, fold: int, folds: int) -> tuple[Sequences, Sequences, Ints]:
        """As `split`, but symbols that occur in what is held out alone are missing there.

        No model could have learned them: all would give that data probability zero.
        """
        train, test, group = self.split(fold, folds)
        known = np.append(train.symbol_counts > 0, True)  # a place is missing, -1, as it was
        symbols = np.where(known[test.symbols], test.symbols, np.int32(MISSING))
        return train, Sequences(symbols, test.offsets, test.n_symbols, test.vocabulary), group


def grouped(data: Sequences, random_state: int = 0) -> Groups:
    """Cut or deal ``data`` into at most a hundred groups of about the same size.

    >>> parts = grouped(Sequences.of([0, 1] * 1000))
    >>> parts.n, parts.blocks, len(parts.split(0, 5)[1].symbols)
    (40, True, 400)
    """
    total = len(data.symbols)
    n = min(GROUPS, total // SMALLEST)
    if n < FEWEST_GROUPS:
        raise ValueError(
            f"{total:,} symbols are too few to hold some out: at least "
            f"{FEWEST_GROUPS * SMALLEST:,} are needed"
        )
    if len(data) >= MANY:
        order = np.random.default_rng(random_state).permutation(len(data))
        ends = np.cumsum(data.lengths[order]) - data.lengths[order]
        group = np.empty(len(data), np.int64)
        group[order] = np.minimum(ends * n // max(total, 1), n - 1)
        _, group = np.unique(group, return_inverse=True)  # a long sequence may leave gaps
        return Groups(data, group, blocks=False)
    places = np.unique(np.concatenate([data.offsets, np.arange(n) * total // n]))
    whole = Sequences(data.symbols, places, data.n_symbols, data.vocabulary)
    return Groups(whole, np.minimum(places[:-1] * n // total, n - 1), blocks=True)


def _joined(pieces: Sequences, first: Ints, last: Ints) -> Sequences:
    """Pieces that touch, as one: what was one sequence, or two (a border more or less)."""
    begins = np.concatenate([[True], first[1:] != last[:-1]])
    starts = first[begins]
    stops = last[np.concatenate([begins[1:], [True]])]
    whole = Sequences(
        pieces.symbols, np.array([0, len(pieces.symbols)]), pieces.n_symbols, pieces.vocabulary
    )
    return whole.spans(starts, stops)

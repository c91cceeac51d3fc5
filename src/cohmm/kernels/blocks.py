"""Long sequences cut into blocks, and the joints between them.

A *block* is a stretch of one sequence, a *joint* the border of two blocks of the same sequence.
What a block must know of its neighbours, the two vectors at each joint, is first computed by a
short warm-up (a hidden chain forgets) and then *checked*: leaving a block gives the same
vectors anew, and where the two differ by more than `TOLERANCE` the block is run again, in
order, from the right one.  So the answer is that of the plain recursion, for chains that never
forget as well.  Blocks and groups depend on the data alone, never on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from cohmm.kernels.recursions import Blocks
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints, Part

LANES = 8  # blocks that run side by side
TOLERANCE = 1e-12
NEGLIGIBLE = 1e-300
WARM_UP = 32
LONG_BLOCK = 16384
SHORT_BLOCK = 2048  # two passes over it should find it in the cache
SHORTEST_BLOCK = 1024  # shorter ones are not worth their warm-up
PARTS = 64
SMALL = 2**20  # symbols times columns squared: a third of a millisecond
GROUP_BYTES = 2**25  # of the rows of a group that are kept, one group per thread

# Instead of a joint: the sequence ends here, or nothing is known of what comes before.
SEQUENCE_END = -1
UNKNOWN = -2
# Instead of a lost place: a possible state has become too faint to be exact.
FADED = -2


def short_block(width: int) -> int:
    """The symbols in a block of which all rows are kept: fewer where there are many states."""
    return max(1, min(SHORT_BLOCK, GROUP_BYTES // (LANES * width * 8)))


def cut_blocks(offsets: Ints, size: int) -> tuple[Ints, Ints]:
    """Cut the sequences ``offsets[s]:offsets[s + 1]`` into blocks of at most ``size`` symbols.

    Returns ``blocks``, one row (first, last, left joint, right joint, sequence) per block, and
    ``joints``, one row (border, begin, end) per joint: where it is, and the limits of its sequence.

    >>> blocks, joints = cut_blocks(np.array([0, 3, 8]), 3)
    >>> blocks.tolist(), joints.tolist()
    ([[0, 3, -1, -1, 0], [3, 6, -1, 0, 1], [6, 8, 0, -1, 1]], [[6, 3, 8]])
    """
    lengths = np.diff(offsets)
    if len(lengths) and 0 < lengths.min() <= lengths.max() <= size:  # one block per sequence
        none = np.full(len(lengths), SEQUENCE_END)
        blocks = np.column_stack([offsets[:-1], offsets[1:], none, none, np.arange(len(lengths))])
        return blocks, np.empty((0, 3), np.int64)
    per_sequence = -(-lengths // size)
    sequence = np.repeat(np.arange(len(per_sequence)), per_sequence)
    first_block = np.cumsum(per_sequence) - per_sequence
    rank = np.arange(len(sequence)) - first_block[sequence]
    begin, end = offsets[sequence], offsets[sequence + 1]
    first = begin + rank * size
    last = np.minimum(first + size, end)
    joined = rank > 0
    left = np.where(joined, np.cumsum(joined) - 1, SEQUENCE_END)
    right = np.where(last < end, np.cumsum(joined), SEQUENCE_END)
    blocks = np.column_stack([first, last, left, right, sequence]).astype(np.int64)
    joints = np.column_stack([first, begin, end])[joined].astype(np.int64)
    return np.ascontiguousarray(blocks), np.ascontiguousarray(joints)


def groups_of(blocks: Ints) -> Ints:
    """Numbers of blocks, (groups, `LANES`), the longest first so that few have to wait; -1: none.

    >>> groups_of(np.array([[0, 3], [3, 9], [9, 12]]))
    array([[ 1,  0,  2, -1, -1, -1, -1, -1]])
    """
    order = np.argsort(blocks[:, 0] - blocks[:, 1], kind="stable")
    groups = np.full((-(-len(order) // LANES), LANES), -1, np.int64)
    groups.ravel()[: len(order)] = order
    return groups


class Cut(NamedTuple):
    """Sequences cut into blocks."""

    symbols: Ints
    blocks: Ints
    joints: Ints
    groups: Ints

    @classmethod
    def of(cls, symbols: Ints, offsets: Ints, longest: int) -> Cut:
        """Blocks of at most ``longest`` symbols, of a size that fills groups."""
        total = int(offsets[-1] - offsets[0])
        n_groups = -(-total // (LANES * longest))
        size = max(min(longest, SHORTEST_BLOCK), -(-total // (LANES * max(n_groups, 1))))
        blocks, joints = cut_blocks(offsets, size)
        return cls(symbols, blocks, joints, groups_of(blocks))

    @property
    def work(self) -> Blocks:
        """All groups, for a kernel."""
        return Blocks(self.symbols, self.blocks, self.groups)

    def alone(self, block: int) -> Blocks:
        """A group of one block, for a kernel."""
        group = np.full((1, LANES), -1, np.int64)
        group[0, 0] = block
        return Blocks(self.symbols, self.blocks, group)

    def run(self, task: Callable[..., None], width: int, most: int = PARTS) -> None:
        """``task(number, first, stop)`` for at most so many ranges of groups.

        On threads, unless all of it takes less time than they do.
        """
        parts = [(number, *part) for number, part in enumerate(split(len(self.groups), most))]
        if len(self.symbols) * width**2 > SMALL:
            run(task, parts)
        else:
            for part in parts:
                task(*part)

    @property
    def right_of(self) -> Ints:
        """The block to the right of each joint; the one before it is to the left."""
        return np.flatnonzero(self.blocks[:, 2] >= 0)

    def by_sequence(self, log_prob: Floats, lost: Ints, n: int) -> tuple[Floats, Ints]:
        """Sums of log-probabilities, and first lost places or `FADED` or -1, of n sequences."""
        if len(self.blocks) == n:  # one block per sequence, in order
            return log_prob, lost
        totals = np.bincount(self.blocks[:, 4], log_prob, n).astype(np.float64)
        places = np.full(n, -1, np.int64)
        places[self.blocks[lost == FADED, 4]] = FADED
        impossible = np.flatnonzero(lost >= 0)[::-1]  # the first of a sequence is written last
        places[self.blocks[impossible, 4]] = lost[impossible]
        return totals, places


def warm_up(cut: Cut, through: Callable[[Blocks, Part], None], *, backward: bool = False) -> Ints:
    """Compute the vectors at all joints; returns how far back each warm-up began.

    A chain forgets where it started.  Starting further and further back, the warm-up is doubled
    until two results agree, or until it meets the end of the sequence, where it is exact.
    ``through(work, part)`` does that, from blocks of `WARM_UP` symbols on.
    """
    if not len(cut.joints):
        return np.empty(0, np.int64)
    blocks = np.zeros((len(cut.joints), 5), np.int64)
    border, begin, end = cut.joints.T
    if backward:
        blocks[:, 0], blocks[:, 1] = border, np.minimum(border + WARM_UP, end)
        blocks[:, 2], blocks[:, 3] = np.arange(len(blocks)), SEQUENCE_END
    else:
        blocks[:, 0], blocks[:, 1] = np.maximum(border - WARM_UP, begin), border
        blocks[:, 2] = np.where(blocks[:, 0] == begin, SEQUENCE_END, UNKNOWN)
        blocks[:, 3] = np.arange(len(blocks))
    work = Blocks(cut.symbols, blocks, groups_of(blocks))
    run(lambda *part: through(work, part), split(len(work.groups), PARTS))
    lengths: Ints = blocks[:, 1] - blocks[:, 0]
    return lengths


def differ(a: Floats, b: Floats) -> bool:
    """Whether probabilities differ by more than the factor ``1 + TOLERANCE``.

    What a state weighs now says nothing of what it will weigh: the next symbols may
    favour one of probability 1e-20 by any factor.  So no difference is too small, until it
    is too small for a double.
    """
    return bool(a.size) and not bool(
        (np.abs(a - b) <= TOLERANCE * np.maximum(a, b) + NEGLIGIBLE).all()
    )


def scores_differ(a: Floats, b: Floats) -> bool:
    """As `differ`, of logarithms; infinities may be equal, but have no difference."""
    with np.errstate(invalid="ignore"):
        return not bool(((a == b) | (np.abs(a - b) <= TOLERANCE)).all())


def settle(
    joints: Iterable[int],
    before: Floats,
    after: Floats,
    again: Callable[[int], None],
    differ: Callable[[Floats, Floats], bool] = differ,
) -> None:
    """Where a block began with other vectors than its neighbour left, run it again, in order."""
    if not differ(before, after):
        return
    for joint in joints:
        if differ(before[joint], after[joint]):
            before[joint] = after[joint]
            again(joint)

"""Long sequences cut into blocks, and the joints between them.

What a block must know of its neighbours, the two vectors at each joint, is first found by a
short warm-up (a hidden chain forgets) and then *checked*: leaving a block gives the same
vectors anew, and where the two differ by more than `TOLERANCE` the block is run again, in
order, from the right one.  So the answer is that of the plain recursion, for chains that never
forget as well.  Blocks and gangs depend on the data alone, never on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from cohmm.kernels import chain_steps
from cohmm.kernels.chain_steps import ENDS, UNKNOWN
from cohmm.kernels.compiled import Floats, Ints, Part
from cohmm.kernels.simd import aligned_zeros
from cohmm.kernels.threads import run, split
from cohmm.kernels.tiles import GANG

TOLERANCE = 1e-12
WARM_UP = 32
LONG_BLOCK = 16384
SHORT_BLOCK = 2048  # two passes over it should find it in the cache
SHORTEST_BLOCK = 1024  # shorter ones are not worth their warm-up
PARTS = 64
NONE = np.empty((0, 3), np.int64)  # joints, for a kernel that is not to warm up
GANG_BYTES = 2**25  # of the rows of a gang that are kept, one gang per thread


def short_block(width: int) -> int:
    """The symbols in a block of which all rows are kept: fewer where there are many states."""
    return max(1, min(SHORT_BLOCK, GANG_BYTES // (GANG * width * 8)))


class Cut(NamedTuple):
    """Sequences cut into blocks: see `cohmm.kernels.chain`."""

    blocks: Ints
    joints: Ints
    gangs: Ints

    @classmethod
    def of(cls, offsets: Ints, longest: int) -> Cut:
        """Blocks of at most ``longest`` symbols, of a size that fills gangs."""
        total = int(offsets[-1] - offsets[0])
        n_gangs = -(-total // (GANG * longest))
        size = max(min(longest, SHORTEST_BLOCK), -(-total // (GANG * max(n_gangs, 1))))
        blocks, joints = chain_steps.cut_blocks(offsets, size)
        return cls(blocks, joints, gangs_of(blocks))

    @property
    def parts(self) -> list[Part]:
        """Ranges of gangs, to be run side by side."""
        return split(len(self.gangs), PARTS)

    @property
    def longest(self) -> int:
        """The length of the longest block."""
        return int((self.blocks[:, 1] - self.blocks[:, 0]).max())

    @property
    def right_of(self) -> Ints:
        """The block to the right of each joint; the one before it is to the left."""
        return np.flatnonzero(self.blocks[:, 2] >= 0)

    def by_sequence(self, log_prob: Floats, lost: Ints, n: int) -> tuple[Floats, Ints]:
        """Sums of log-probabilities, and first lost places, of every sequence."""
        totals = np.bincount(self.blocks[:, 4], log_prob, n).astype(np.float64)
        places = np.full(n, -1, np.int64)
        for block in np.flatnonzero(lost >= 0)[::-1]:
            places[self.blocks[block, 4]] = lost[block]
        return totals, places


def gangs_of(blocks: Ints) -> Ints:
    """Numbers of blocks, (gangs, `GANG`), the longest first so that few have to wait; -1 for none.

    >>> gangs_of(np.array([[0, 3], [3, 9], [9, 12]]))
    array([[ 1,  0,  2, -1, -1, -1, -1, -1]])
    """
    order = np.argsort(blocks[:, 0] - blocks[:, 1], kind="stable")
    gangs = np.full((-(-len(order) // GANG), GANG), -1, np.int64)
    gangs.ravel()[: len(order)] = order
    return gangs


def alone(block: int) -> Ints:
    """A gang of one block."""
    gang = np.full((1, GANG), -1, np.int64)
    gang[0, 0] = block
    return gang


class Space:
    """Arrays to work in, given out to threads and taken back."""

    def __init__(self, *shapes: tuple[int, ...], fill: float = 0.0):
        self.shapes = shapes
        self.fill = fill
        self.free: list[list[Floats]] = []

    def take(self) -> list[Floats]:
        """Arrays of the shapes, all ``fill`` when they are new."""
        try:
            return self.free.pop()
        except IndexError:
            arrays = [aligned_zeros(shape) for shape in self.shapes]
            for array in arrays if self.fill else []:
                array.fill(self.fill)
            return arrays

    def give(self, arrays: list[Floats]) -> None:
        """Take arrays back."""
        self.free.append(arrays)


def warm_up(
    cut: Cut, through: Callable[[Ints, Ints, Part], None], *, backward: bool = False
) -> Ints:
    """Find what is given at all joints; returns how far back each warm-up began.

    A chain forgets where it started.  Starting further and further back, the warm-up is doubled
    until two results agree, or until it meets the end of the sequence, where it is exact.
    ``through(blocks, gangs, part)`` does that, from blocks of `WARM_UP` symbols on.
    """
    blocks = np.empty((len(cut.joints), 5), np.int64)
    border, begin, end = cut.joints.T
    if backward:
        blocks[:, 0], blocks[:, 1] = border, np.minimum(border + WARM_UP, end)
        blocks[:, 2], blocks[:, 3] = np.arange(len(blocks)), ENDS
    else:
        blocks[:, 0], blocks[:, 1] = np.maximum(border - WARM_UP, begin), border
        blocks[:, 2] = np.where(blocks[:, 0] == begin, ENDS, UNKNOWN)
        blocks[:, 3] = np.arange(len(blocks))
    gangs = gangs_of(blocks)
    if len(blocks):
        run(lambda *part: through(blocks, gangs, part), split(len(gangs), PARTS))
    lengths: Ints = blocks[:, 1] - blocks[:, 0]
    return lengths


def settle(
    joints: Iterable[int],
    given: Floats,
    found: Floats,
    again: Callable[[int], None],
    differ: Callable[[Floats, Floats, float], bool] = chain_steps.differ,
) -> None:
    """Where what was given at a joint is not what was found, give that and run again, in order."""
    if not differ(given.ravel(), found.ravel(), TOLERANCE):
        return
    for joint in joints:
        if differ(given[joint], found[joint], TOLERANCE):
            given[joint] = found[joint]
            again(joint)

"""Long sequences cut into blocks, and the joints between them.

What a block must know of its neighbours, the two vectors at each joint, is first found by a
short warm-up (a hidden chain forgets) and then *checked*: leaving a block gives the same
vectors anew, and where the two differ by more than `TOLERANCE` the block is run again, in
order, from the right one.  So the answer is that of the plain recursion, for chains that never
forget as well.  Blocks depend on the data alone, never on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from cohmm.kernels import chain_steps
from cohmm.kernels.compiled import Floats, Ints, Part
from cohmm.kernels.threads import split

TOLERANCE = 1e-12
WARM_UP = 64
LONG_BLOCK = 16384
SHORT_BLOCK = 2048  # two passes over it should find it in the cache
PARTS = 64


class Cut(NamedTuple):
    """Sequences cut into blocks: see `cohmm.kernels.chain`."""

    blocks: Ints
    joints: Ints

    @classmethod
    def of(cls, offsets: Ints, size: int) -> Cut:
        """Blocks of at most ``size`` symbols."""
        return cls(*chain_steps.cut_blocks(offsets, size))

    @property
    def parts(self) -> list[Part]:
        """Ranges of blocks, to be run side by side."""
        return split(len(self.blocks), PARTS)

    @property
    def joint_parts(self) -> list[Part]:
        """Ranges of joints, to be run side by side."""
        return split(len(self.joints), PARTS) if len(self.joints) else []

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


def settle(
    joints: Iterable[int],
    given: Floats,
    found: Floats,
    again: Callable[[int], None],
    differ: Callable[[Floats, Floats, float], bool] = chain_steps.differ,
) -> None:
    """Where what was given at a joint is not what was found, give that and run again, in order."""
    for joint in joints:
        if differ(given[joint], found[joint], TOLERANCE):
            given[joint] = found[joint]
            again(joint)

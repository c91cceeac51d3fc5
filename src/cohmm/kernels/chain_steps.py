"""How sequences are cut into blocks, and when two vectors at a joint are the same.

Conventions are those of `cohmm.kernels.chain`.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, inlined, kernel

# A probability below this is treated as lost; logarithms decide what it was.
SMALLEST = 1e-300
# Instead of a joint: the sequence ends here, or nothing is known of what is behind the border.
ENDS = -1
UNKNOWN = -2


@kernel
def cut_blocks(offsets: Ints, size: int) -> tuple[Ints, Ints]:
    """Cut the sequences ``offsets[s]:offsets[s + 1]`` into blocks of at most ``size`` symbols.

    Returns ``blocks``, a row (first, last, left, right, sequence) a block, and ``joints``, a
    row (border, begin, end) a joint: where it is, and the limits of its sequence.
    """
    n_blocks = 0
    for s in range(len(offsets) - 1):
        n_blocks += (offsets[s + 1] - offsets[s] + size - 1) // size
    blocks = np.empty((n_blocks, 5), np.int64)
    joints = np.empty((n_blocks - (len(offsets) - 1), 3), np.int64)
    block = joint = 0
    for s in range(len(offsets) - 1):
        begin, end = offsets[s], offsets[s + 1]
        first = begin
        while first < end:
            last = min(first + size, end)
            left = joint - 1 if first > begin else -1
            right = -1
            if last < end:
                joints[joint, 0] = last  # a tuple would take two seconds to compile
                joints[joint, 1] = begin
                joints[joint, 2] = end
                right = joint
                joint += 1
            blocks[block, 0] = first
            blocks[block, 1] = last
            blocks[block, 2] = left
            blocks[block, 3] = right
            blocks[block, 4] = s
            block += 1
            first = last
    return blocks, joints


@kernel
def differ(a: Floats, b: Floats, tolerance: float) -> bool:
    """Whether probabilities differ by more than the factor ``1 + tolerance``.

    What a state weighs now says nothing of what it will weigh: the next symbols may
    favour one of probability 1e-20 by any factor.  So no difference is too small, until it
    is too small for a double.
    """
    for k in range(len(a)):
        if not abs(a[k] - b[k]) <= tolerance * max(a[k], b[k]) + SMALLEST:
            return True
    return False


@inlined
def lengthen(blocks: Ints, gang: Ints, joints: Ints, backward: int, agree: Ints) -> bool:
    """Double the warm-ups of a gang that do not ``agree`` with shorter ones yet; whether any was.

    The warm-up of joint j is block j, before it or, with ``backward`` 1, behind it.  One of more
    than a quarter of what there is will do.
    """
    again = False
    for b in range(len(gang)):
        block = gang[b]
        if block < 0 or agree[b]:
            continue
        size = blocks[block, 1] - blocks[block, 0]
        room = abs(joints[block, 1 + backward] - joints[block, 0])
        if size <= room // 4:
            again = True
            if backward:
                blocks[block, 1] += size
            else:
                blocks[block, 0] -= size
    return again

"""What a block is entered with: recursions that start far enough back to have forgotten where.

Conventions are those of `cohmm.kernels.chain`.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain_steps import differ, filter_step, likelihood_step, observe
from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, fused_kernel


@fused_kernel
def warm_forward(
    lanes: Lanes,
    symbols: Ints,
    joints: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    emit: Floats,
    shortest: int,
    tolerance: float,
    forward: Floats,
) -> None:
    """Fill ``forward`` for the joints ``part[0]:part[1]``.

    The filter forgets where it started.  Starting further and further back, the warm-up is
    doubled until two filtered distributions agree to ``tolerance``, or until it meets
    the begin of the sequence, where the answer is exact.
    """
    width = trans.shape[1]
    n_states = trans.shape[0]
    predicted = np.empty(width)
    earlier = np.empty(width)
    for joint in range(part[0], part[1]):
        border, begin = joints[joint, 0], joints[joint, 1]
        row = forward[joint]
        warm_up = shortest
        longest = border - begin
        rounds = 0
        while True:
            earlier[:] = row
            place = max(border - warm_up, begin)
            if place == begin:
                predicted[:] = start
            else:
                predicted[:] = 0.0
                predicted[:n_states] = 1.0 / n_states
            observe(lanes, emit, symbols[place], predicted, row)
            for t in range(place + 1, border):
                filter_step(lanes, row, trans, emit, symbols[t], predicted)
            rounds += 1
            if place == begin or (rounds > 1 and not differ(row, earlier, tolerance)):
                break
            if warm_up > longest // 4:
                break  # the block before it is the better warm-up
            warm_up *= 2


@fused_kernel
def warm_backward(
    lanes: Lanes,
    symbols: Ints,
    joints: Ints,
    part: Part,
    back: Floats,
    emit: Floats,
    shortest: int,
    tolerance: float,
    backward: Floats,
) -> None:
    """Fill ``backward`` for the joints ``part[0]:part[1]``, as `warm_forward` does."""
    width = back.shape[1]
    weighted = np.empty(width)
    earlier = np.empty(width)
    for joint in range(part[0], part[1]):
        border, end = joints[joint, 0], joints[joint, 2]
        row = backward[joint]
        warm_up = shortest
        longest = end - border
        rounds = 0
        while True:
            earlier[:] = row
            place = min(border + warm_up, end)
            row[:] = 1.0
            for t in range(place - 1, border - 1, -1):
                likelihood_step(lanes, row, back, emit, symbols[t], weighted)
            rounds += 1
            if place == end or (rounds > 1 and not differ(row, earlier, tolerance)):
                break
            if warm_up > longest // 4:
                break
            warm_up *= 2

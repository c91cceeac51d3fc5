"""The best path through every sequence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cohmm.kernels import viterbi as kernels
from cohmm.kernels.compiled import Floats, Ints, Part
from cohmm.kernels.threads import run, split
from cohmm.model import joints
from cohmm.model.joints import Cut
from cohmm.model.tables import Tables

BATCH = 2**22  # symbols decoded at a time, where there are many sequences
POINTERS = 2**27  # bytes of back-pointers, at most, however long a sequence is


def viterbi(logs: Tables, symbols: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The best path of every sequence, and the first impossible place of each or -1."""
    states = np.empty(len(symbols), np.int32)
    lost = np.empty(len(offsets) - 1, np.int64)
    most = POINTERS // (logs.width * _narrowest(logs.n_states).itemsize)
    for first, stop in _batches(offsets, min(BATCH, most)):
        begin, end = offsets[first], offsets[stop]
        places = _viterbi_batch(
            logs, symbols[begin:end], offsets[first : stop + 1] - begin, states[begin:end], most
        )
        lost[first:stop] = np.where(places >= 0, places + begin, -1)
    return states, lost


def _batches(offsets: Ints, size: int) -> Iterator[Part]:
    """Ranges of whole sequences of about ``size`` symbols, at least one sequence each."""
    first, n = 0, len(offsets) - 1
    while first < n:
        stop = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
        stop = min(max(stop, first + 1), n)
        yield first, stop
        first = stop


def _viterbi_batch(logs: Tables, symbols: Ints, offsets: Ints, states: Ints, most: int) -> Ints:
    """Decode sequences of ``most`` symbols together, or one that is longer.

    Of a longer one only the scores at joints are kept on the way to its end; back-pointers are
    found again on the way back, a stretch of ``most`` symbols at a time.
    """
    n = len(offsets) - 1
    cut = Cut.of(offsets, joints.LONG_BLOCK)
    given = np.zeros((len(cut.joints), logs.width))
    found = np.zeros_like(given)
    lost = np.empty(len(cut.blocks), np.int64)
    final = np.zeros(n, np.int64)
    stretches = _stretches(cut, most)
    long = len(stretches) > 1
    # Zeros, as the rest of an impossible sequence stays unwritten, and is followed nevertheless.
    size = max(int(cut.blocks[stop - 1, 1] - cut.blocks[first, 0]) for first, stop in stretches)
    who = np.zeros((size, logs.width), _narrowest(logs.n_states))

    def warm(first: int, stop: int) -> None:
        kernels.warm_viterbi(
            logs.lanes, symbols, cut.joints, (first, stop), logs.start, logs.trans, logs.emit,
            joints.WARM_UP, joints.TOLERANCE, given,
        )  # fmt: skip

    def blocks(first: int, stop: int, origin: int) -> None:
        kernels.viterbi_blocks(
            logs.lanes, symbols, cut.blocks, (first, stop), logs.start, logs.trans, logs.emit,
            given, found, lost, who, origin, final,
        )  # fmt: skip

    def stretch(first: int, stop: int) -> None:
        origin = int(cut.blocks[first, 0])
        parts = split(stop - first, joints.PARTS)
        run(blocks, [(first + a, first + b, origin) for a, b in parts])

    def again(joint: int) -> None:
        block = int(right_of[joint])
        blocks(block, block + 1, int(cut.blocks[block, 0]) if long else 0)

    right_of = cut.right_of
    run(warm, cut.joint_parts)
    for first, stop in stretches:
        stretch(first, stop)
    joints.settle(range(len(given)), given, found, again, kernels.scores_differ)
    if not long:
        run(
            lambda first, stop: kernels.trace_back(offsets, (first, stop), who, final, states),
            split(n, joints.PARTS),
        )
    else:
        state = final.copy()
        for first, stop in reversed(stretches):
            stretch(first, stop)
            begin, end = cut.blocks[first, 0], cut.blocks[stop - 1, 1]
            kernels.trace_back(np.array([0, end - begin]), (0, 1), who, state, states[begin:end])
            state[0] = who[0, states[begin]]
    return cut.by_sequence(np.zeros(len(lost)), lost, n)[1]


def _stretches(cut: Cut, most: int) -> list[Part]:
    """Ranges of blocks: all of them, or so many as have about ``most`` symbols."""
    n = len(cut.blocks)
    if cut.blocks[-1, 1] <= most:
        return [(0, n)]
    size = max(most // joints.LONG_BLOCK, 1)
    return [(first, min(first + size, n)) for first in range(0, n, size)]


def _narrowest(n_states: int) -> np.dtype[np.unsignedinteger]:
    """The smallest type that holds a state: one byte for most models."""
    return np.dtype(np.uint8 if n_states <= 256 else np.uint16 if n_states <= 65536 else np.uint32)


def path_log_probs(logs: Tables, symbols: Ints, offsets: Ints, states: Ints) -> Floats:
    """log P(states, symbols) of every sequence."""
    log_prob = np.empty(len(offsets) - 1)
    run(
        lambda first, stop: kernels.path_log_probs(
            symbols, offsets, (first, stop), states, logs.start, logs.trans, logs.emit, log_prob
        ),
        split(len(log_prob), joints.PARTS),
    )
    return log_prob

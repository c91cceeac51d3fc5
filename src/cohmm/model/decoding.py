"""The best path through every sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.kernels import viterbi as kernels
from cohmm.kernels.compiled import Floats, Ints, Part
from cohmm.kernels.threads import run, split
from cohmm.kernels.tiles import GANG
from cohmm.model import joints
from cohmm.model.joints import Cut
from cohmm.model.tables import Tables

SCORES = 2**27  # bytes of scores, at most, however long a sequence is


def viterbi(logs: Tables, symbols: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The best path of every sequence, and the first impossible place of each or -1.

    A block is scored a little beyond its end, and the path through it traced back from the best
    state there: paths that end in different states soon meet.  Whether they have met is checked;
    where not, the block is traced again from the state through which the path of the next goes.
    """
    n = len(offsets) - 1
    cut = Cut.of(offsets, _block_size(logs))
    given = np.zeros((len(cut.joints), logs.width))
    lengths = _warm_up(logs, symbols, cut, given)
    found = np.zeros_like(given)
    lost = np.empty(len(cut.blocks), np.int64)
    states = np.empty(len(symbols), np.int32)
    passed = np.full(len(cut.blocks), -1, np.int64)
    known = np.full(len(cut.blocks), -1, np.int64)
    ends = cut.blocks[:, 1].copy()
    before = np.flatnonzero(cut.blocks[:, 3] >= 0)  # blocks with another behind them
    ends[before] += np.minimum(lengths // 2, cut.blocks[before + 1, 1] - cut.blocks[before + 1, 0])
    longest = int((ends - cut.blocks[:, 0]).max())
    space = joints.Space((longest + 1, GANG, logs.width), fill=-np.inf)

    def blocks(gangs: Ints, first: int, stop: int) -> None:
        arrays = space.take()
        _score(
            logs, symbols, cut.blocks, gangs, (first, stop), given, found, lost, ends, known,
            passed, states, arrays[0], joints.NONE,
        )  # fmt: skip
        space.give(arrays)

    right_of = cut.right_of
    run(blocks, [(cut.gangs, *part) for part in cut.parts])
    joints.settle(
        range(len(given)),
        given,
        found,
        lambda j: blocks(joints.alone(right_of[j]), 0, 1),
        kernels.scores_differ,
    )
    for block in before[::-1]:
        last = cut.blocks[block, 1]
        if passed[block] != states[last]:
            ends[block], known[block] = last + 1, states[last]
            blocks(joints.alone(block), 0, 1)
    return states, cut.by_sequence(np.zeros(len(lost)), lost, n)[1]


def _block_size(logs: Tables) -> int:
    """So many symbols that the scores of two gangs, for two threads, do not take too much."""
    return max(1, min(joints.SHORT_BLOCK, SCORES // (2 * 2 * GANG * logs.width * 8)))


def _warm_up(logs: Tables, symbols: Ints, cut: Cut, given: Floats) -> Ints:
    """Fill the scores ``given`` at the joints; returns how long the warm-ups were."""

    space = joints.Space((2, GANG, logs.width), fill=-np.inf)

    def through(blocks: Ints, gangs: Ints, part: Part) -> None:
        unused = np.empty(len(blocks), np.int64)
        arrays = space.take()
        _score(
            logs, symbols, blocks, gangs, part, given, given, unused, blocks[:, 1].copy(), unused,
            unused, np.empty(0, np.int32), arrays[0], cut.joints,
        )  # fmt: skip
        space.give(arrays)

    return joints.warm_up(cut, through)


def _score(logs: Tables, symbols: Ints, blocks: Ints, gangs: Ints, part: Part, *rest: Any) -> None:
    given, found, lost, ends, known, passed, states, rows, borders = rest
    kernels.score_gangs(
        symbols, blocks, gangs, part, logs.start, logs.trans, logs.back, logs.emit, given, found,
        lost, ends, known, passed, states, borders, joints.TOLERANCE, rows, np.ones(1),
    )  # fmt: skip


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

"""The best path through every sequence."""

from __future__ import annotations

import numpy as np

from cohmm.kernels import blocks, native
from cohmm.kernels.blocks import LANES, Cut
from cohmm.kernels.recursions import Blocks, Borders, Paths, Tables
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints, Part

SCORES = 2**27  # bytes of scores, at most, however long a sequence is


def viterbi(logs: Tables, symbols: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """The best path of every sequence, and where each is impossible, up to 3 symbols late, or -1.

    A block is scored a little beyond its end, and the path through it traced back from the best
    state there: paths that end in different states soon meet.  Whether they have met is checked;
    where not, the block is traced again from the state through which the path of the next goes.
    """
    n = len(offsets) - 1
    cut = Cut.of(symbols, offsets, _block_size(logs))
    n_blocks = len(cut.blocks)
    borders, lengths = _warm_up(logs, cut)
    ends = cut.blocks[:, 1].copy()
    before = np.flatnonzero(cut.blocks[:, 3] >= 0)  # blocks with another after them
    ends[before] += np.minimum(lengths // 2, cut.blocks[before + 1, 1] - cut.blocks[before + 1, 0])
    known, passed = np.full(n_blocks, -1, np.int64), np.full(n_blocks, -1, np.int64)
    lost, states = np.empty(n_blocks, np.int64), np.empty(len(symbols), np.int32)
    paths = Paths(ends, known, passed, lost, states)

    def through(work: Blocks, part: Part) -> None:
        native.viterbi(work, part, logs, borders, paths)

    right_of = cut.right_of
    cut.run(lambda _, *part: through(cut.work, part), logs.width)
    blocks.settle(
        range(len(right_of)),
        borders.before,
        borders.after,
        lambda joint: through(cut.alone(right_of[joint]), (0, 1)),
        blocks.scores_differ,
    )
    for block in before[::-1]:
        last = cut.blocks[block, 1]
        if passed[block] != states[last]:
            ends[block], known[block] = last + 1, states[last]
            through(cut.alone(block), (0, 1))
    return states, cut.by_sequence(np.zeros(n_blocks), lost, n)[1]


def _block_size(logs: Tables) -> int:
    """So many symbols that the scores of two groups, for two threads, do not take too much."""
    return max(1, min(blocks.SHORT_BLOCK, SCORES // (2 * 2 * LANES * logs.width * 8)))


def _warm_up(logs: Tables, cut: Cut) -> tuple[Borders, Ints]:
    """The scores at the joints, and how long the warm-ups were."""
    shape = len(cut.joints), logs.width
    before = np.zeros(shape)
    warm = Borders(before, before, cut.joints)
    lengths = blocks.warm_up(
        cut, lambda work, part: native.viterbi(work, part, logs, warm, Paths())
    )
    return Borders(before, np.zeros(shape)), lengths


def path_log_probs(logs: Tables, symbols: Ints, offsets: Ints, states: Ints) -> Floats:
    """log P(states, symbols) of every sequence."""
    log_prob = np.empty(len(offsets) - 1)
    run(
        lambda first, stop: native.path_log_probs(
            symbols, offsets, (first, stop), states, logs, log_prob
        ),
        split(len(log_prob), blocks.PARTS),
    )
    return log_prob

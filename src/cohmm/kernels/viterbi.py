"""Viterbi's recursion, in logarithms; conventions as in `cohmm.kernels.chain`."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain import look_up
from cohmm.kernels.chain_steps import ENDS
from cohmm.kernels.compiled import Floats, Ints, Part, kernel
from cohmm.kernels.gang import LOWEST_SCORE, best_source, score_step
from cohmm.kernels.tiles import GANG


@kernel
def scores_differ(a: Floats, b: Floats, tolerance: float) -> bool:
    """As `differ`, of logarithms; infinities may be equal, but have no difference."""
    for k in range(len(a)):  # noqa: SIM110
        if a[k] != b[k] and not abs(a[k] - b[k]) <= tolerance:
            return True
    return False


@kernel
def score_gangs(
    symbols: Ints,
    blocks: Ints,
    gangs: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    back: Floats,
    emit: Floats,
    scores: Floats,
    scores_out: Floats,
    lost: Ints,
    ends: Ints,
    known: Ints,
    passed: Ints,
    states: Ints,
    rows: Floats,
    one: float,
) -> None:
    """Viterbi through the blocks of every gang in ``part``.

    ``scores[joint]`` is the best log-probability by last state, less its maximum.  A block is
    scored up to ``ends[block]``, beyond its own last symbol, so that the path through it hardly
    depends on where it is traced from: ``known[block]``, or the best state where that is -1.
    ``passed[block]`` is the state behind the block through which its path has been traced, for
    comparison with that of the next block.  ``states``, where wanted, (T,), takes the path.
    ``lost`` as in `cohmm.kernels.chain.filter_gangs`.

    No back-pointers are kept: the state before another is found again from the scores, in
    ``rows`` (longest + 1, `GANG`, W).  Where no path is wanted, ``rows`` may be (2, `GANG`, W).
    ``one`` is 1.0 (`score_step`).
    """
    n_states, ring = trans.shape[0], len(rows)
    missing = len(emit) - 1
    index = np.full(GANG, missing)
    waits = np.zeros(GANG, np.int64)
    first = np.zeros(GANG, np.int64)
    lanes = np.zeros(GANG, np.int64)
    tops = np.zeros(GANG)
    for g in range(part[0], part[1]):
        n = 0
        latest = 0
        for b in range(GANG):
            block = gangs[g, b] if gangs[g, b] >= 0 else gangs[g, 0]
            lanes[b] = block
            first[b] = blocks[block, 0]
            n = max(n, ends[block] - first[b])
            lost[block] = -1
            for k in range(n_states):
                rows[0, b, k] = 0.0
        for b in range(GANG):
            waits[b] = n - (ends[lanes[b]] - first[b])
            latest = max(latest, waits[b])
        after = 0
        for t in range(n):
            here = after
            after = here + 1 if here + 1 < ring else 0
            look_up(symbols, first, np.int64(1), waits, t, latest, missing, index)
            for b in range(GANG if t <= latest else 0):
                left = blocks[lanes[b], 2]
                if t == waits[b] and left >= 0:
                    for k in range(n_states):
                        rows[here, b, k] = scores[left, k]
            low = score_step(trans, rows, here, emit, index, rows, after, tops, one)
            for b in range(GANG if t <= latest else 0):
                left = blocks[lanes[b], 2]
                if t == waits[b] and left < 0:
                    tops[b] = -np.inf
                    for k in range(n_states):
                        value = emit[index[b], k] + (start[k] if left == ENDS else 0.0)
                        rows[after, b, k] = value
                        tops[b] = max(tops[b], value)
                    low = True
            if low:
                for b in range(GANG):
                    if tops[b] == -np.inf and lost[lanes[b]] < 0:
                        lost[lanes[b]] = first[b] + t - waits[b]
                _lower_scores(rows, after, tops, n_states)
        for b in range(GANG):
            right = blocks[lanes[b], 3]
            if right >= 0:
                at = (waits[b] + blocks[lanes[b], 1] - first[b]) % ring
                top = -np.inf
                for k in range(n_states):
                    top = max(top, rows[at, b, k])
                for k in range(n_states):
                    scores_out[right, k] = rows[at, b, k] - top
        if len(states):
            _trace_gang(back, blocks, lanes, n, first, waits, latest, known, passed, states, rows)


@kernel
def _lower_scores(rows: Floats, at: int, tops: Floats, n_states: int) -> None:
    """Keep the scores small, so that their differences stay exact; those of nothing become 0."""
    for b in range(GANG):
        if tops[b] == -np.inf:
            for k in range(n_states):
                rows[at, b, k] = 0.0
        elif tops[b] < LOWEST_SCORE:
            for k in range(n_states):
                rows[at, b, k] -= tops[b]
            tops[b] = 0.0


@kernel
def _trace_gang(
    back: Floats, blocks: Ints, lanes: Ints, n: int, first: Ints, waits: Ints, latest: int,
    known: Ints, passed: Ints, states: Ints, rows: Floats,
) -> None:  # fmt: skip
    """The best path through each block, from its end: the first of the best states before."""
    n_states = back.shape[0]
    path = np.empty((n, GANG), np.int32)
    for b in range(GANG):
        state = known[lanes[b]]
        if state < 0:
            state = 0
            for k in range(1, n_states):
                if rows[n, b, k] > rows[n, b, state]:
                    state = k
        path[n - 1, b] = state
    for t in range(n - 2, -1, -1):
        for b in range(GANG):
            if t >= latest or t >= waits[b]:
                path[t, b] = best_source(rows, t + 1, b, back, path[t + 1, b])
    for b in range(GANG):
        last = blocks[lanes[b], 1]
        for t in range(waits[b], waits[b] + last - first[b]):
            states[first[b] + t - waits[b]] = path[t, b]
        behind = waits[b] + last - first[b]
        passed[lanes[b]] = path[behind, b] if behind < n else -1


@kernel
def path_log_probs(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    states: Ints,
    start: Floats,
    trans: Floats,
    emit: Floats,
    log_prob: Floats,
) -> None:
    """``log_prob[s] = log P(states, symbols)`` of every sequence, from tables of logarithms."""
    for s in range(part[0], part[1]):
        first = offsets[s]
        total = start[states[first]] + emit[symbols[first], states[first]]
        for t in range(first + 1, offsets[s + 1]):
            total += trans[states[t - 1], states[t]] + emit[symbols[t], states[t]]
        log_prob[s] = total

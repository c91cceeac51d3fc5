"""Viterbi's recursion, in logarithms; conventions as in `cohmm.kernels.chain`."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain import CHUNK, look_up
from cohmm.kernels.chain_steps import ENDS, lengthen
from cohmm.kernels.compiled import Floats, Ints, Part, inlined, kernel
from cohmm.kernels.gang import LOWEST_SCORE, score_steps
from cohmm.kernels.tiles import GANG
from cohmm.kernels.way_back import best_source, trace_steps


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
    joints: Ints,
    tolerance: float,
    rows: Floats,
    one: Floats,
) -> None:
    """Viterbi through the blocks of every gang in ``part``.

    ``scores[joint]`` is the best log-probability by last state, less its maximum.  A block is
    scored up to ``ends[block]``, beyond its own last symbol, so that the path through it hardly
    depends on where it is traced from: ``known[block]``, or the best state where that is -1.
    ``passed[block]`` is the state behind the block through which its path has been traced, for
    comparison with that of the next block.  ``states``, where wanted, (T,), takes the path.
    ``lost`` as in `cohmm.kernels.chain.filter_gangs`.

    No back-pointers are kept: the state before another is found again from the scores, in
    ``rows`` (longest + 1, `GANG`, W), minus infinity in the padding.  Where no path is wanted,
    ``rows`` may be (2, `GANG`, W).
    ``joints`` and ``tolerance`` as in `cohmm.kernels.chain.filter_gangs`; ``ends`` are then those
    of the blocks.  ``one``, (1,), is 1.0 (`score_steps`).
    """
    n_states, ring = trans.shape[0], len(rows)
    missing = len(emit) - 1
    index = np.full((GANG, ring + CHUNK), missing)
    waits = np.zeros(GANG, np.int64)
    first = np.zeros(GANG, np.int64)
    lanes = np.zeros(GANG, np.int64)
    tops = np.zeros(GANG)
    lowered = np.zeros(ring, np.bool_)
    agree, previous = np.zeros(GANG, np.int64), np.zeros((GANG, n_states))
    for g in range(part[0], part[1]):
        for b in range(GANG):
            previous[b, 0] = 1.0  # nothing agrees with that
        while True:
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
            here = 0
            t = 0
            while t < n:
                at = t if len(states) else t % CHUNK
                until = min(at - t % CHUNK + CHUNK, n - t + at)
                if t % CHUNK == 0:
                    end = t + until - at
                    look_up(symbols, first, np.int64(1), waits, t, end, n, missing, index, at)
                if t <= latest:
                    until = at + 1
                for b in range(GANG if t <= latest else 0):
                    left = blocks[lanes[b], 2]
                    if t == waits[b] and left >= 0:
                        for k in range(n_states):
                            rows[here, b, k] = scores[left, k]
                done = score_steps(trans, rows, here, emit, index, at, until, tops, one)
                for place in range(here + 1, min(here + abs(done) + 1, ring)):
                    lowered[place] = False
                low = done < 0
                t += abs(done) - 1
                here = (here + abs(done)) % ring
                for b in range(GANG if t <= latest else 0):
                    left = blocks[lanes[b], 2]
                    if t == waits[b] and left < 0:
                        tops[b] = -np.inf
                        for k in range(n_states):
                            value = emit[index[b, at], k] + (start[k] if left == ENDS else 0.0)
                            rows[here, b, k] = value
                            tops[b] = max(tops[b], value)
                        low = True
                if low:
                    for b in range(GANG):
                        if tops[b] == -np.inf and lost[lanes[b]] < 0:
                            t_lost = t
                            while t_lost > waits[b] and _is_lost(rows, t_lost, b, n_states):
                                t_lost -= 1
                            lost[lanes[b]] = first[b] + t_lost - waits[b]
                    _lower_scores(rows, here, tops, n_states)
                    lowered[here] = True
                t += 1
            for b in range(GANG):
                right = blocks[lanes[b], 3]
                if right >= 0:
                    at = (waits[b] + blocks[lanes[b], 1] - first[b]) % ring
                    agree[b] = 1
                    top = -np.inf
                    for k in range(n_states):
                        top = max(top, rows[at, b, k])
                    for k in range(n_states):
                        value = rows[at, b, k] - top
                        scores_out[right, k] = value
                        differs = not abs(value - previous[b, k]) <= tolerance
                        if value != previous[b, k] and differs:  # infinities may be equal
                            agree[b] = 0
                        previous[b, k] = value
            if len(joints) == 0 or not lengthen(blocks, gangs[g], joints, 0, agree):
                break
        if len(states):
            _trace_gang(
                back, emit, blocks, lanes, n, first, waits, known, passed, states, rows,
                lowered, index,
            )  # fmt: skip


@inlined
def _is_lost(rows: Floats, t: int, b: int, n_states: int) -> bool:
    """Whether nothing was possible before step t already, where its row is still there."""
    for k in range(n_states if t < len(rows) else 0):
        if rows[t, b, k] != -np.inf:
            return False
    return t < len(rows)


@inlined
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


@inlined
def _trace_gang(
    back: Floats, emit: Floats, blocks: Ints, lanes: Ints, n: int, first: Ints,
    waits: Ints, known: Ints, passed: Ints, states: Ints, rows: Floats, lowered: Ints, index: Ints,
) -> None:  # fmt: skip
    """The best path through each block, from its end: the first of the best states before.

    The state before another is the one whose score, carried forward again, is exactly that of the
    other.  Only where scores have been ``lowered`` since does the largest have to be found.
    """
    n_states = back.shape[0]
    path = np.empty((n, GANG), np.int32)
    here = np.zeros(GANG, np.int64)
    for b in range(GANG):
        state = known[lanes[b]]
        if state < 0:
            state = 0
            for k in range(1, n_states):
                if rows[n, b, k] > rows[n, b, state]:
                    state = k
        here[b] = state
        path[n - 1, b] = state
    t = n - 2
    while t >= 0:
        until = t
        while until >= 0 and not lowered[until + 2]:
            until -= 1
        if until < t:
            done = trace_steps(rows, back, emit, index, until + 1, t + 1, here, path)
            t -= abs(done) - 1
            if done > 0:
                t -= 1
                continue
        for b in range(GANG):
            if here[b] < 0 or lowered[t + 2]:
                here[b] = best_source(rows, t + 1, b, back, path[t + 1, b])
                path[t, b] = here[b]
        t -= 1
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
        first, last = offsets[s], offsets[s + 1]
        total = start[states[first]] + emit[symbols[first], states[first]]
        even = odd = 0.0  # two sums, so that one addition need not wait for the other
        for t in range(first + 1, last - 1, 2):
            even += trans[states[t - 1], states[t]] + emit[symbols[t], states[t]]
            odd += trans[states[t], states[t + 1]] + emit[symbols[t + 1], states[t + 1]]
        if (last - first) % 2 == 0:
            t = last - 1
            total += trans[states[t - 1], states[t]] + emit[symbols[t], states[t]]
        log_prob[s] = total + even + odd

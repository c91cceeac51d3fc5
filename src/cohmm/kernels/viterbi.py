"""Viterbi's recursion, in logarithms; conventions as in `cohmm.kernels.chain`."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, kernel
from cohmm.kernels.simd import best_row_plus_matrix


@kernel
def scores_differ(a: Floats, b: Floats, tolerance: float) -> bool:
    """As `differ`, of logarithms; infinities may be equal, but have no difference."""
    for k in range(len(a)):  # noqa: SIM110
        if a[k] != b[k] and not abs(a[k] - b[k]) <= tolerance:
            return True
    return False


@kernel
def _normalise_scores(row: Floats) -> float:
    best: float = row.max()
    if best > -np.inf:
        row -= best
    return best


@kernel
def warm_viterbi(
    lanes: Lanes,
    symbols: Ints,
    joints: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    emit: Floats,
    shortest: int,
    tolerance: float,
    scores: Floats,
) -> None:
    """Fill ``scores``, the best log-probability by last state, less its maximum, at the joints.

    As `warm_forward`, in (max, +).
    """
    width = trans.shape[1]
    n_states = trans.shape[0]
    best = np.empty(width)
    who = np.empty(width, np.int64)
    earlier = np.empty(width)
    for joint in range(part[0], part[1]):
        border, begin = joints[joint, 0], joints[joint, 1]
        row = scores[joint]
        warm_up = shortest
        rounds = 0
        while True:
            earlier[:] = row
            place = max(border - warm_up, begin)
            row[:] = -np.inf
            row[:n_states] = 0.0
            if place == begin:
                row[:] = start
            row += emit[symbols[place]]
            for t in range(place + 1, border):
                best_row_plus_matrix(lanes, row, trans, best, who)
                row[:] = best + emit[symbols[t]]
            _normalise_scores(row)
            rounds += 1
            if place == begin or (rounds > 1 and not scores_differ(row, earlier, tolerance)):
                break
            if warm_up > (border - begin) // 4:
                break
            warm_up *= 2


@kernel
def viterbi_blocks(
    lanes: Lanes,
    symbols: Ints,
    blocks: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    emit: Floats,
    scores: Floats,
    scores_out: Floats,
    lost: Ints,
    who: Ints,
    origin: int,
    final: Ints,
) -> None:
    """Viterbi through every block in ``part``.

    ``who[t - origin, k]`` is the state before state k at symbol t on the best path (unused where
    a sequence begins), ``final[s]`` the last state of the best path of sequence s.  ``lost``
    as in `forward_blocks`.
    """
    width = trans.shape[1]
    row = np.empty(width)
    best = np.empty(width)
    for b in range(part[0], part[1]):
        first, last, left, right = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3]
        lost[b] = -1
        if left >= 0:
            row[:] = scores[left]
            best_row_plus_matrix(lanes, row, trans, best, who[first - origin])
        else:
            best[:] = start
        for t in range(first, last):
            if t > first:
                best_row_plus_matrix(lanes, row, trans, best, who[t - origin])
            emission = emit[symbols[t]]
            top = -np.inf
            for k in range(width):
                row[k] = best[k] + emission[k]
                top = max(top, row[k])
            if top == -np.inf:
                lost[b] = t
                break
            if top < -512.0:  # keep the scores small, so that their differences stay exact
                for k in range(width):
                    row[k] -= top
        if right >= 0:
            _normalise_scores(row)
            scores_out[right] = row
        else:
            final[blocks[b, 4]] = np.argmax(row)


@kernel
def trace_back(offsets: Ints, part: Part, who: Ints, final: Ints, states: Ints) -> None:
    """Follow the back-pointers of the sequences ``part[0]:part[1]`` into ``states``."""
    for s in range(part[0], part[1]):
        state = final[s]
        states[offsets[s + 1] - 1] = state
        for t in range(offsets[s + 1] - 1, offsets[s], -1):
            state = who[t, state]
            states[t - 1] = state


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

"""Forward and backward recursions over a concatenation of sequences.

Conventions, here and in `cohmm.kernels.viterbi`:

- ``symbols`` is one int32 array for all sequences; -1 is a missing observation.
- Tables have one row per symbol and one column per state, the columns padded with
  impossible states (`simd.padded`).  The last row belongs to the missing observation:
  ones, it says nothing of the state.
- A *block* is a stretch ``[first, last)`` of one sequence.  A *joint* is the border of
  two blocks of the same sequence: ``left`` and ``right`` are a block's joints, `ENDS` where
  the sequence itself begins or ends, `UNKNOWN` where nothing is known of what is there.
- Eight blocks run side by side, a *gang* (`cohmm.kernels.gang`): ``gangs`` has one row of
  numbers of blocks per gang, -1 where there is none: the first block then runs once more, for
  nothing.  The blocks of a gang end together; shorter ones wait for their begin, as a chain
  that sees nothing.
- At every joint, ``forward[joint]`` is the distribution filtered up to the border and
  ``backward[joint]`` the likelihood of everything behind the border, scaled to sum to one,
  both for the last state before it.  A kernel starts a block from the values that it is
  given for the joints, and returns in ``*_out`` what it found on leaving the block, so
  that the caller can compare the two (`cohmm.model.inference`).
- What is not wanted is an empty array, so that there is one compiled version of a kernel.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain_steps import ENDS, SMALLEST, lengthen
from cohmm.kernels.compiled import Floats, Ints, Part, Whole, fused_kernel, inlined
from cohmm.kernels.gang import LOWEST_PRODUCT, LOWEST_TOTAL, ask_for, filter_steps

# Instead of a lost place: nothing is impossible, but a state has nearly underflowed.
FADED = -2
CHUNK = 32  # steps whose symbols are looked up at once
LINE = 16  # symbols in a cache line


@inlined
def line_up(blocks: Ints, gang: Ints, least: Whole, first: Ints, waits: Ints) -> Whole:
    """Where each block of a gang begins, and how many steps it waits; returns all steps."""
    n = 0
    for b in range(len(waits)):
        block = gang[b] if gang[b] >= 0 else gang[0]
        first[b] = blocks[block, 0]
        waits[b] = -(blocks[block, 1] - first[b])
        n = max(n, -waits[b])
    for b in range(len(waits)):
        waits[b] += n + least
    return n + least


@inlined
def look_up(
    symbols: Ints, first: Ints, direction: Whole, waits: Ints, begin: Whole, end: Whole, n: Whole,
    missing: int, index: Ints, at: int,
) -> None:  # fmt: skip
    """Which rows of the table each block meets in the steps [begin, end): ``index[b, at:]``.

    That of nothing while it waits, and from step n on.
    """
    for b in range(len(waits)):
        unseen = min(max(waits[b] - begin, 0), end - begin)
        for k in range(unseen):
            index[b, at + k] = missing
        seen = max(min(end, n) - begin - unseen, 0)
        place, to = first[b] + direction * (begin + unseen - waits[b]), at + unseen
        for k in range(
            CHUNK, 2 * CHUNK + LINE, LINE
        ):  # eight places at once: no machine foresees that
            ask_for(symbols, place + direction * k)
        if direction > 0:  # two loops over neighbours, for vectors
            for k in range(seen):
                symbol = symbols[place + k]
                index[b, to + k] = symbol if symbol >= 0 else missing
        else:
            for k in range(seen):
                symbol = symbols[place - k]
                index[b, to + k] = symbol if symbol >= 0 else missing
        for k in range(to + seen, at + end - begin):
            index[b, k] = missing


@inlined
def _observe_watchfully(
    rows: Floats, at: int, emit: Floats, seen: Ints, n_states: int, scales: Floats,
    totals: Floats, product: Floats, faint: float, faded: Ints,
) -> bool:  # fmt: skip
    """The rest of a step from predicted rows; ``faded`` where a possible state is too faint."""
    low = False
    for b in range(len(seen)):
        total = 0.0
        n_faint = 0
        for k in range(n_states):
            predicted, emission = rows[at, b, k], emit[seen[b], k]
            value = predicted * emission
            rows[at, b, k] = value
            total += value
            n_faint += (value < faint) & (predicted > 0.0) & (emission > 0.0)
        if n_faint:
            faded[b] = 1
        totals[b] = total
        low |= not (total >= LOWEST_TOTAL and product[b] * total >= LOWEST_PRODUCT)
    if not low:
        for b in range(len(seen)):
            scales[b] = 1.0 / totals[b]
            product[b] *= totals[b]
    return low


@inlined
def _rescale(
    rows: Floats, at: int, n_states: int, place: Ints, totals: Floats, factors: Floats, step: int,
    scales: Floats, product: Floats, log_prob: Floats, lost: Ints,
) -> None:  # fmt: skip
    """After a step that came out low: take logarithms, and bring faint rows back to one."""
    for b in range(len(totals)):
        total = totals[b]
        scales[b] = 1.0
        if not total >= SMALLEST:
            if lost[b] < 0:
                lost[b] = place[b]
            for k in range(n_states):
                rows[at, b, k] = 1.0 / n_states
            product[b] = 1.0
            continue
        if total >= LOWEST_TOTAL:
            log_prob[b] += np.log(product[b] * total)
            product[b] = 1.0
            scales[b] = 1.0 / total
            continue
        log_prob[b] += np.log(product[b]) + np.log(total)
        product[b] = 1.0
        for k in range(n_states):
            rows[at, b, k] /= total
        factors[step, b] /= total


@fused_kernel
def run_gang(
    symbols: Ints,
    first: Ints,
    direction: Whole,
    waits: Ints,
    observed: Ints,
    initial: Floats,
    n: Whole,
    beyond: Whole,
    trans: Floats,
    emit: Floats,
    rows: Floats,
    factors: Floats,
    index: Ints,
    scales: Floats,
    log_prob: Floats,
    lost: Ints,
    out: Floats,
    faint: float,
) -> None:
    """Filter a gang for n steps, and ``beyond`` them as if nothing were observed.

    Afterwards ``rows[(n + beyond) % len(rows)] * scales`` are its distributions.

    Block b begins after ``waits[b]`` steps with ``initial[b]``: the distribution before its first
    symbol ``symbols[first[b]]`` where ``observed[b]`` is 0, that of the state which emits it
    where it is 1.  ``direction`` is 1 or -1: which symbol is the next.  ``log_prob[b]`` and
    ``lost[b]`` as in `filter_gangs`; ``factors[t]`` is what the step t was multiplied by, where
    there are as many rows, and ``index[:, t]`` the rows of ``emit`` that it met; `CHUNK` of them
    will do.
    """
    n_states = trans.shape[0]
    missing = len(emit) - 1
    seen, place = np.full(len(waits), missing), np.full(len(waits), missing)
    faded = np.zeros(len(waits), np.int64)
    totals, product, before = np.ones(len(waits)), np.ones(len(waits)), np.ones(len(waits))
    latest = 0
    for b in range(len(waits)):
        scales[b] = 1.0
        log_prob[b] = 0.0
        lost[b] = -1
        latest = max(latest, waits[b])
        for k in range(n_states):
            rows[0, b, k] = 1.0 / n_states
    here = 0
    t = 0
    while t < n + beyond:
        at = t % index.shape[1]
        until = at - t % CHUNK + CHUNK
        until = min(until, n + beyond - t + at)
        if t % CHUNK == 0:
            end = t + until - at
            look_up(symbols, first, direction, waits, t, end, n, missing, index, at)
        if t <= latest or faint > 0.0 or len(out):  # there is something to do between the steps
            until = at + 1
        for b in range(len(waits) if t <= latest else 0):
            if t == waits[b] and not observed[b]:
                faded[b] = 0
                scales[b] = product[b] = 1.0
                log_prob[b] = 0.0
                for k in range(n_states):
                    rows[here, b, k] = initial[b, k]
        if faint > 0.0:  # predict first, and see what becomes of each state
            for b in range(len(waits)):
                seen[b] = index[b, at]
                index[b, at] = missing
                before[b] = product[b]
        done = filter_steps(
            trans, rows, here, emit, index, at, until, t - at, scales, factors, totals, product
        )
        low = done < 0
        t += abs(done) - 1
        here = (here + abs(done)) % len(rows)
        step = min(t, len(factors) - 1)
        if faint > 0.0:
            for b in range(len(waits)):
                product[b] = before[b]
            low = _observe_watchfully(
                rows, here, emit, seen, n_states, scales, totals, product, faint, faded
            )
        if low:
            for b in range(len(waits)):
                place[b] = first[b] + direction * (t - waits[b])
            _rescale(
                rows, here, n_states, place, totals, factors, step, scales, product, log_prob, lost
            )
        for b in range(len(waits) if t <= latest else 0):
            if t == waits[b] and observed[b]:  # instead of what the step made of nothing
                total = 0.0
                faded[b] = 0
                symbol = index[b, at] if faint == 0.0 else seen[b]
                for k in range(n_states):
                    likely = emit[symbol, k]
                    value = initial[b, k] * likely
                    rows[here, b, k] = value
                    total += value
                    if value < faint and initial[b, k] > 0.0 and likely > 0.0:
                        faded[b] = 1
                scales[b] = product[b] = 1.0
                log_prob[b] = np.log(total)
                if not total >= SMALLEST:
                    lost[b] = first[b]
                for k in range(n_states):
                    rows[here, b, k] = rows[here, b, k] / total if lost[b] < 0 else 1.0 / n_states
                factors[step, b] = 1.0 / total
        if len(out):
            for b in range(len(waits)):
                if t >= waits[b]:
                    for k in range(n_states):
                        out[first[b] + t - waits[b], k] = rows[here, b, k] * scales[b]
        t += 1
    for b in range(len(waits)):
        log_prob[b] += np.log(product[b])
        if lost[b] >= 0:
            log_prob[b] = -np.inf
        elif faded[b]:
            lost[b] = FADED


@inlined
def enter_forward(
    blocks: Ints, gang: Ints, start: Floats, forward: Floats, initial: Floats, observed: Ints
) -> None:
    """What the blocks of a gang begin with, for `run_gang`."""
    n_states = initial.shape[1]
    for b in range(len(observed)):
        observed[b] = 1
        left = blocks[gang[b] if gang[b] >= 0 else gang[0], 2]
        if left >= 0:
            observed[b] = 0
        for k in range(n_states):
            if left >= 0:
                initial[b, k] = forward[left, k]
            else:
                initial[b, k] = start[k] if left == ENDS else 1.0 / n_states


@inlined
def enter_backward(
    blocks: Ints, gang: Ints, backward: Floats, initial: Floats, observed: Ints, first: Ints
) -> None:
    """What they end with, for `run_gang` in reverse, and their last symbols as the first."""
    for b in range(len(observed)):
        observed[b] = 1
        block = gang[b] if gang[b] >= 0 else gang[0]
        first[b] = blocks[block, 1] - 1
        right = blocks[block, 3]
        for k in range(initial.shape[1]):
            initial[b, k] = backward[right, k] if right >= 0 else 1.0


@fused_kernel
def filter_gangs(
    symbols: Ints,
    blocks: Ints,
    gangs: Ints,
    part: Part,
    backward: int,
    start: Floats,
    trans: Floats,
    emit: Floats,
    given: Floats,
    found: Floats,
    log_prob: Floats,
    lost: Ints,
    out: Floats,
    last_rows: Floats,
    faint: float,
    joints: Ints,
    tolerance: float,
    rows: Floats,
) -> None:
    """Take the blocks of every gang in ``part`` from their ``given`` left joints to their right.

    ``log_prob[block] = log P(its symbols | all symbols of the sequence before it)``,
    ``lost[block]`` is the first place whose probability is zero, or `FADED` where the
    probability of a possible state fell below ``faint``, or -1; ``out``, where wanted, takes the
    filtered distribution of every symbol, (T, K), and ``last_rows``, where wanted, that of the
    last symbol of every sequence.  ``rows``, (2, `GANG`, W), is space to work in.

    With ``backward`` 1, from right to left: the likelihood of what follows, times the emission,
    is a filter in reverse, with the transposed ``trans``.  ``found`` takes it one step further,
    to the last state before the border; all else is for the other direction.

    Where ``joints`` are given, the blocks are their warm-ups, which are doubled (in ``blocks``)
    until what is found at each joint agrees with what was found before, to ``tolerance``.
    """
    n_states, size = trans.shape[0], gangs.shape[1]  # not GANG: loops would be unrolled
    first, waits, observed, places = (
        np.zeros(size, np.int64), np.zeros(size, np.int64),
        np.zeros(size, np.int64), np.zeros(size, np.int64),
    )  # fmt: skip
    initial = np.zeros((size, n_states))
    scales, log_probs = np.zeros(size), np.zeros(size)
    factors, index = np.ones((1, size)), np.zeros((size, CHUNK), np.int64)  # not wanted
    agree, previous = np.zeros(size, np.int64), np.zeros((size, n_states))
    for g in range(part[0], part[1]):
        for b in range(size):
            previous[b, 0] = -1.0  # nothing agrees with that
        while True:
            n = line_up(blocks, gangs[g], np.int64(0), first, waits)
            if backward:
                enter_backward(blocks, gangs[g], given, initial, observed, first)
            else:
                enter_forward(blocks, gangs[g], start, given, initial, observed)
            run_gang(
                symbols, first, 1 - 2 * backward, waits, observed, initial, n, backward, trans,
                emit, rows, factors, index, scales, log_probs, places, out, faint,
            )  # fmt: skip
            at = (n + backward) % len(rows)
            for b in range(size):
                block = gangs[g, b]
                if block < 0:
                    continue
                joint, sequence = blocks[block, 3 - backward], blocks[block, 4]
                if not backward:
                    log_prob[block] = log_probs[b]
                    lost[block] = places[b]
                agree[b] = 1
                for k in range(n_states):
                    value = rows[at, b, k] * scales[b]
                    if joint >= 0:
                        found[joint, k] = value
                    elif len(last_rows):
                        last_rows[sequence, k] = value
                    largest = max(value, previous[b, k])
                    if not abs(value - previous[b, k]) <= tolerance * largest + SMALLEST:
                        agree[b] = 0
                    previous[b, k] = value
            if len(joints) == 0 or not lengthen(blocks, gangs[g], joints, backward, agree):
                break

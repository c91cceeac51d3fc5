"""Forward and backward through blocks, for posteriors and expected counts.

With the filtered rows ``u[t + 1] = (u[t] @ trans) * emit[y_t] * f_t``, whose factors f_t keep
them from vanishing, the backward rows ``b[t] = (b[t + 1] * emit[y_t] * f_t) @ back`` have the
same product with them everywhere: scaled so that it is one at the end, ``u * b`` is the
posterior without any further sum or division, and ``u[t] (x) (b[t + 1] * emit[y_t] * f_t)`` the
expected transition before it is multiplied by the transition probabilities.

Conventions are those of `cohmm.kernels.chain`.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain import CHUNK, enter_forward, line_up, run_gang
from cohmm.kernels.compiled import Floats, Ints, Part, Whole, fused_kernel, inlined
from cohmm.kernels.gang import HIGHEST, add_outer_products, smooth_steps

STRETCH = CHUNK  # steps whose outer products are added up in registers


@inlined
def _find_lost(
    back: Floats, rows: Floats, place: Whole, after: Whole, gang: Ints, blocks: Ints, lost: Ints
) -> None:
    """After a step back that came out too large: the blocks in which it did."""
    for b in range(len(gang)):
        for k in range(back.shape[0]):
            value = 0.0
            for i in range(back.shape[0]):
                value += rows[place, b, i] * back[i, k]
            if gang[b] >= 0 and not value <= HIGHEST:
                lost[gang[b]] = blocks[gang[b], 0]
        if gang[b] >= 0 and lost[gang[b]] >= 0:
            for k in range(back.shape[0]):
                rows[after, b, k] = 0.0


@inlined
def _leave(rows: Floats, at: Whole, b: int, left: int, n_states: int, backward_out: Floats) -> None:
    """Hand the backward row of a block over at its left joint, and forget it."""
    if left >= 0:
        total = 0.0
        for k in range(n_states):
            total += rows[at, b, k]
        for k in range(n_states):
            backward_out[left, k] = rows[at, b, k] / total if total > 0.0 else 0.0
    for k in range(n_states):
        rows[at, b, k] = 0.0


@inlined
def _hide(rows: Floats, n: Whole, b: int, n_states: int, kept: Floats) -> None:
    """Clear the rows of a block that does not count; the first is needed again."""
    for k in range(n_states):
        kept[b, k] = rows[0, b, k]
    for at in range(n):
        for k in range(n_states):
            rows[at, b, k] = 0.0


@inlined
def _keep(
    gamma: Floats, gang: Ints, first: Ints, waits: Ints, t: Whole, n_states: int, out: Floats,
    best: Ints,
) -> None:  # fmt: skip
    """Write the posteriors of a step, or their most probable states."""
    for b in range(len(waits)):
        if t < waits[b] or gang[b] < 0:
            continue
        place = first[b] + t - waits[b]
        if len(out):
            for k in range(n_states):
                out[place, k] = gamma[b, k]
        if len(best):
            state = 0
            for k in range(1, n_states):
                if gamma[b, k] > gamma[b, state]:
                    state = k
            best[place] = state


@fused_kernel
def smooth_gangs(
    symbols: Ints,
    blocks: Ints,
    gangs: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    back: Floats,
    emit: Floats,
    forward: Floats,
    backward: Floats,
    forward_out: Floats,
    backward_out: Floats,
    log_prob: Floats,
    lost: Ints,
    weights: Floats,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
    out: Floats,
    best: Ints,
    filtered: Floats,
    rows: Floats,
    gamma: Floats,
) -> None:
    """Forward and backward through the blocks of every gang in ``part``.

    ``starts`` (W,), ``transitions`` (W, W) *before* they are multiplied by the transition
    probabilities, and ``emissions`` (one row per symbol, the last for the missing), where wanted,
    grow by what is expected, as often as ``weights``, (S,), says for its sequence.  Where they are
    not wanted, ``out`` may take the posterior of every symbol, (T, K), and ``best`` the first of
    its most probable states, (T,).

    Space to work in: ``filtered`` (longest block + 2, `GANG`, W), ``rows``
    (`STRETCH` + 1, `GANG`, W), ``gamma`` (`GANG`, W).
    """
    n_states, size = trans.shape[0], gangs.shape[1]  # not GANG: loops would be unrolled
    missing = len(emit) - 1
    count, keep = len(emissions) > 0, len(out) > 0 or len(best) > 0
    first, waits, observed, places, quiet = (
        np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(size, np.int64),
        np.zeros(size, np.int64), np.zeros(size, np.int64),
    )  # fmt: skip
    index = np.zeros((size, len(filtered) + CHUNK), np.int64)
    into = np.zeros(index.shape, np.int64)
    for b in range(size):
        for step in range(into.shape[1]):
            into[b, step] = b
    initial = np.zeros((size, n_states))
    scales, log_probs = np.zeros(size), np.zeros(size)
    factors = np.ones((len(filtered), size))
    unwanted = np.zeros((0, n_states))
    sums = emissions if count else gamma
    for g in range(part[0], part[1]):
        gang = gangs[g]
        n = line_up(blocks, gang, np.int64(1), first, waits)  # one step to leave at the left
        enter_forward(blocks, gang, start, forward, initial, observed)
        run_gang(
            symbols, first, np.int64(1), waits, observed, initial, n, np.int64(0), trans, emit,
            filtered, factors, index, scales, log_probs, places, unwanted, 0.0,
        )  # fmt: skip
        latest = 0
        silent = False
        for b in range(size):
            latest = max(latest, waits[b])
            quiet[b] = 0
            block = gang[b]
            if block < 0:
                for k in range(n_states):
                    initial[b, k] = 0.0
                continue
            log_prob[block] = log_probs[b]
            lost[block] = places[b]
            weight = weights[blocks[block, 4]] if count else 1.0
            if weight == 0.0:  # it is followed all the same: is anything lost?
                weight, quiet[b], silent = 1.0, 1, True
            right = blocks[block, 3]
            # The likelihood of what follows, scaled: its product with the last filtered row is 1,
            # or the weight, as all that is counted is linear in it.
            total = 0.0
            for k in range(n_states):
                likely = backward[right, k] if right >= 0 else 1.0
                if right >= 0:
                    forward_out[right, k] = filtered[n, b, k] * scales[b]
                initial[b, k] = likely * weight
                total += filtered[n, b, k] * likely
            if not total >= 1.0 / HIGHEST and lost[block] < 0:
                lost[block] = first[b]
            for k in range(n_states):
                initial[b, k] = initial[b, k] / total if lost[block] < 0 else 0.0
        if count:
            into = index
        if count and silent:  # what is not wanted goes to the row of the missing
            into = index.copy()
            for b in range(size):
                for step in range(n if quiet[b] else 0):
                    into[b, step] = missing
        top = n  # the steps [bottom, top) are in rows[0 : top - bottom]
        while top > 0:
            bottom = max(top - STRETCH, 0)
            if top < n:
                for b in range(size):
                    for k in range(n_states):
                        rows[top - bottom, b, k] = rows[0, b, k]
            t: Whole = top - 1
            while t >= bottom:
                if keep:
                    for b in range(size):
                        for k in range(n_states):
                            gamma[b, k] = 0.0
                if t < n - 1:
                    until = t if keep or t <= latest else max(bottom, latest + 1)
                    done = smooth_steps(
                        back, rows, emit, index, until - bottom, t - bottom + 1, bottom, factors,
                        filtered, sums, into,
                    )  # fmt: skip
                    t -= abs(done) - 1
                    if done < 0:
                        at = t - bottom
                        _find_lost(back, rows, at + 1, at, gang, blocks, lost)
                else:
                    for b in range(size):
                        at = t - bottom
                        for k in range(n_states):
                            value = initial[b, k]
                            rows[at, b, k] = value * emit[index[b, t], k] * factors[t, b]
                            sums[into[b, t], k] += value * filtered[t + 1, b, k]
                if keep:
                    _keep(gamma, gang, first, waits, t, n_states, out, best)
                if t <= latest:
                    at = t - bottom
                    for b in range(size):
                        if gang[b] < 0:
                            continue
                        left = blocks[gang[b], 2]
                        if t == waits[b] and left < 0:
                            for k in range(n_states):
                                if count and not quiet[b]:
                                    starts[k] += start[k] * rows[at, b, k]
                                rows[at, b, k] = 0.0
                        elif t == waits[b] - 1:
                            _leave(rows, at, b, left, n_states, backward_out)
                t -= 1
            if count:
                for b in range(size if silent else 0):
                    if quiet[b]:
                        _hide(rows, top - bottom, b, n_states, gamma)
                add_outer_products(filtered, bottom, rows, top - bottom, n_states, transitions)
                for b in range(size if silent else 0):
                    if quiet[b]:
                        for k in range(n_states):
                            rows[0, b, k] = gamma[b, k]
            top = bottom

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

from cohmm.kernels.chain import enter_forward, line_up, look_up, run_gang
from cohmm.kernels.compiled import Floats, Ints, Part, Whole, fused_kernel
from cohmm.kernels.gang import HIGHEST, add_outer_products, smooth_step
from cohmm.kernels.tiles import GANG

STRETCH = 32  # steps whose outer products are added up in registers


@fused_kernel
def _find_lost(
    back: Floats, rows: Floats, place: Whole, after: Whole, gang: Ints, blocks: Ints, lost: Ints
) -> None:
    """After a step back that came out too large: the blocks in which it did."""
    for b in range(GANG):
        for k in range(back.shape[0]):
            value = 0.0
            for i in range(back.shape[0]):
                value += rows[place, b, i] * back[i, k]
            if gang[b] >= 0 and not value <= HIGHEST:
                lost[gang[b]] = blocks[gang[b], 0]
        if gang[b] >= 0 and lost[gang[b]] >= 0:
            for k in range(back.shape[0]):
                rows[after, b, k] = 0.0


@fused_kernel
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
    grow by what is expected, as often as ``weights``, (S,), says for its sequence.  ``out``,
    where wanted, takes the posterior of every symbol, (T, K), and ``best`` the first of its
    most probable states, (T,).

    Space to work in: ``filtered`` (longest block + 2, `GANG`, W), ``rows``
    (`STRETCH` + 1, `GANG`, W), ``gamma`` (`GANG`, W).
    """
    n_states = trans.shape[0]
    missing = len(emit) - 1
    count, keep = len(emissions) > 0, len(out) > 0 or len(best) > 0
    first, waits, observed, places, index, into = (
        np.zeros(GANG, np.int64), np.zeros(GANG, np.int64), np.zeros(GANG, np.int64),
        np.zeros(GANG, np.int64), np.zeros(GANG, np.int64), np.zeros(GANG, np.int64),
    )  # fmt: skip
    initial = np.zeros((GANG, n_states))
    scales, log_probs, weight = np.zeros(GANG), np.zeros(GANG), np.zeros(GANG)
    grown = np.ones(GANG) if keep else weight  # posteriors are not weighted
    factors = np.ones((len(filtered), GANG))
    unwanted = np.zeros((0, n_states))
    sums = emissions if count and not keep else gamma
    for g in range(part[0], part[1]):
        gang = gangs[g]
        n = line_up(blocks, gang, np.int64(1), first, waits)  # one step to leave at the left
        enter_forward(blocks, gang, start, forward, initial, observed)
        run_gang(
            symbols, first, np.int64(1), waits, observed, initial, n, np.int64(0), trans, emit,
            filtered, factors, scales, log_probs, places, unwanted, 0.0,
        )  # fmt: skip
        latest = 0
        for b in range(GANG):
            into[b] = b
            latest = max(latest, waits[b])
            weight[b] = 0.0
            block = gang[b]
            if block < 0:
                for k in range(n_states):
                    initial[b, k] = 0.0
                continue
            log_prob[block] = log_probs[b]
            lost[block] = places[b]
            weight[b] = weights[blocks[block, 4]]
            right = blocks[block, 3]
            # The likelihood of what follows, scaled: its product with the last filtered row is 1.
            total = 0.0
            for k in range(n_states):
                likely = backward[right, k] if right >= 0 else 1.0
                if right >= 0:
                    forward_out[right, k] = filtered[n, b, k] * scales[b]
                initial[b, k] = likely
                total += filtered[n, b, k] * likely
            if not total >= 1.0 / HIGHEST and lost[block] < 0:
                lost[block] = first[b]
            for k in range(n_states):
                initial[b, k] = initial[b, k] / total if lost[block] < 0 else 0.0
        top = n  # the steps [bottom, top) are in rows[0 : top - bottom]
        while top > 0:
            bottom = max(top - STRETCH, 0)
            if top < n:
                for b in range(GANG):
                    for k in range(n_states):
                        rows[top - bottom, b, k] = rows[0, b, k]
            for t in range(top - 1, bottom - 1, -1):
                at = t - bottom
                look_up(symbols, first, np.int64(1), waits, t, latest, missing, index)
                if count and not keep:
                    for b in range(GANG):
                        into[b] = index[b]
                if keep:
                    for b in range(GANG):
                        for k in range(n_states):
                            gamma[b, k] = 0.0
                if t < n - 1:
                    if smooth_step(
                        back, rows, at + 1, emit, index, factors, rows, at, filtered, t,
                        sums, into, grown,
                    ):  # fmt: skip
                        _find_lost(back, rows, at + 1, at, gang, blocks, lost)
                else:
                    for b in range(GANG):
                        for k in range(n_states):
                            value = initial[b, k]
                            rows[at, b, k] = value * emit[index[b], k] * factors[t, b]
                            value *= filtered[t + 1, b, k]
                            sums[into[b], k] += value if keep else value * weight[b]
                if keep:
                    for b in range(GANG):
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
                        if count:
                            for k in range(n_states):
                                emissions[index[b], k] += weight[b] * gamma[b, k]
                if t <= latest:
                    for b in range(GANG):
                        if gang[b] < 0:
                            continue
                        left = blocks[gang[b], 2]
                        if t == waits[b] and left < 0:
                            for k in range(n_states):
                                if count:
                                    starts[k] += weight[b] * start[k] * rows[at, b, k]
                                rows[at, b, k] = 0.0
                        elif t == waits[b] - 1:
                            _leave(rows, at, b, left, n_states, backward_out)
            if count:
                add_outer_products(
                    filtered, bottom, rows, top - bottom, weight, n_states, transitions
                )
            top = bottom

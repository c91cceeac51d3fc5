"""Forward and backward recursions over a concatenation of sequences.

Conventions, here and in `cohmm.kernels.viterbi`:

- ``symbols`` is one int32 array for all sequences; -1 is a missing observation.
- Tables have one row per symbol and one column per state, the columns padded with
  impossible states (`simd.padded`).  The last row belongs to the missing observation:
  ones, it says nothing of the state; the index -1 finds it.
- A *block* is a stretch ``[first, last)`` of one sequence.  A *joint* is the border of
  two blocks of the same sequence: ``left`` and ``right`` are a block's joints, -1 where
  the sequence itself begins or ends.
- At every joint, ``forward[joint]`` is the distribution filtered up to the border and
  ``backward[joint]`` the likelihood, up to a factor, of everything behind the border,
  both for the last state before it.  A kernel starts a block from the values that it is
  given for the joints, and returns in ``*_out`` what it found on leaving the block, so
  that the caller can compare the two (`cohmm.model.inference`).
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain_steps import SMALLEST, filter_step, likelihood_step, observe
from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, fused_kernel
from cohmm.kernels.simd import row_times_matrix, scale, weigh

# Factors are multiplied up to here before one logarithm is taken for all of them.
_TINY = 1e-150
# Instead of a lost place: nothing is impossible, but a state has nearly underflowed.
FADED = -2


@fused_kernel
def _filter_block(
    lanes: Lanes,
    symbols: Ints,
    block: Ints,
    start: Floats,
    trans: Floats,
    emit: Floats,
    forward: Floats,
    row: Floats,
    predicted: Floats,
    keep: Floats | None,
    faint: float,
) -> tuple[float, int]:
    """Filter one block, starting from its left joint; ``row`` is left at its last symbol.

    With ``keep``, an array of one row per symbol of the block, all filtered distributions are
    kept.  Returns the log-likelihood and the first impossible place, or else `FADED` where a
    possible state came below the probability ``faint``, or -1.
    """
    first, last, left = block[0], block[1], block[2]
    if left >= 0:
        row[:] = forward[left]
        row_times_matrix(lanes, row, trans, predicted)
    else:
        predicted[:] = start
    log_prob = 0.0
    product = 1.0
    outcome = -1
    for t in range(first, last):
        if t == first:
            step = observe(lanes, emit, symbols[first], predicted, row)
        else:
            step = filter_step(lanes, row, trans, emit, symbols[t], predicted)
        if step == 0.0:
            return -np.inf, t
        if faint > 0.0:
            emission = emit[symbols[t]]
            n_faint = 0
            for k in range(trans.shape[0]):
                n_faint += (row[k] < faint) & (predicted[k] > 0.0) & (emission[k] > 0.0)
            if n_faint:
                outcome = FADED
        if step < _TINY:
            log_prob += np.log(step)
        else:
            product *= step
        if product < _TINY:
            log_prob += np.log(product)
            product = 1.0
        if keep is not None:
            for k in range(trans.shape[0]):
                keep[t - first, k] = row[k]
    return log_prob + np.log(product), outcome


@fused_kernel
def forward_blocks(
    lanes: Lanes,
    symbols: Ints,
    blocks: Ints,
    part: Part,
    start: Floats,
    trans: Floats,
    emit: Floats,
    forward: Floats,
    forward_out: Floats,
    log_prob: Floats,
    lost: Ints,
    out: Floats | None,
    last_rows: Floats,
    faint: float,
) -> None:
    """Log-likelihood of every block in ``part``, and its filtered distributions.

    ``log_prob[block] = log P(its symbols | all symbols of the sequence before it)``,
    ``lost[block]`` is the first place whose probability is zero, or `FADED` where the
    probability of a possible state fell below ``faint``, or -1; ``out``, where it is not
    None, takes the filtered distribution of every symbol, (T, K), and ``last_rows`` that of
    the last symbol of every sequence.
    """
    row = np.empty(trans.shape[1])
    predicted = np.empty(trans.shape[1])
    for b in range(part[0], part[1]):
        if out is not None:
            log_prob[b], lost[b] = _filter_block(
                lanes, symbols, blocks[b], start, trans, emit, forward, row, predicted,
                out[blocks[b, 0] : blocks[b, 1]], faint,
            )  # fmt: skip
        else:
            log_prob[b], lost[b] = _filter_block(
                lanes, symbols, blocks[b], start, trans, emit, forward, row, predicted, None, faint
            )
        if blocks[b, 3] >= 0:
            forward_out[blocks[b, 3]] = row
        else:
            last_rows[blocks[b, 4]] = row[: trans.shape[0]]


@fused_kernel
def backward_blocks(
    lanes: Lanes,
    symbols: Ints,
    blocks: Ints,
    part: Part,
    back: Floats,
    emit: Floats,
    backward: Floats,
    backward_out: Floats,
) -> None:
    """Take the likelihood of what follows through every block in ``part``, right to left."""
    width = back.shape[1]
    row = np.empty(width)
    weighted = np.empty(width)
    for b in range(part[0], part[1]):
        first, last, left, right = blocks[b, 0], blocks[b, 1], blocks[b, 2], blocks[b, 3]
        if left < 0:
            continue
        if right >= 0:
            row[:] = backward[right]
        else:
            row[:] = 1.0
        for t in range(last - 1, first - 1, -1):
            likelihood_step(lanes, row, back, emit, symbols[t], weighted)
        backward_out[left] = row


@fused_kernel
def _add_outer_products(left: Floats, right: Floats, first: int, last: int, total: Floats) -> None:
    """``total += left[first - 1 : last - 1].T @ right[first : last]``, four rows at a time."""
    n_states, width = total.shape
    t = first
    while t + 4 <= last:
        for i in range(n_states):
            a, b, c, d = left[t - 1, i], left[t, i], left[t + 1, i], left[t + 2, i]
            for j in range(width):
                total[i, j] += (
                    a * right[t, j]
                    + b * right[t + 1, j]
                    + c * right[t + 2, j]
                    + d * right[t + 3, j]
                )
        t += 4
    while t < last:
        for i in range(n_states):
            a = left[t - 1, i]
            for j in range(width):
                total[i, j] += a * right[t, j]
        t += 1


@fused_kernel
def smooth_blocks(
    lanes: Lanes,
    symbols: Ints,
    blocks: Ints,
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
    counts: tuple[Floats, Floats, Floats] | None,
    out: Floats | None,
    best: Ints | None,
) -> None:
    """Forward and backward through every block in ``part``.

    ``counts``, where it is not None, is a tuple of three arrays to add to, with padded
    columns: expected starts, expected transitions *before* they are multiplied by the
    transition probabilities, and expected emissions (one row per symbol, the last for the
    missing), each as often as ``weights``, (S,), says for its sequence.  ``out``, where it is
    not None, takes the posterior of every symbol, (T, K), and ``best`` the first of its most
    probable states, (T,).
    """
    width = trans.shape[1]
    n_states = trans.shape[0]
    longest = 0
    for b in range(part[0], part[1]):
        longest = max(longest, blocks[b, 1] - blocks[b, 0])
    # Row 0 is the state before the block, row t - first + 1 the one of symbol t.
    filtered = np.zeros((longest + 1, width))
    weighted = np.zeros((longest + 1, width))
    row = np.empty(width)
    predicted = np.empty(width)
    for b in range(part[0], part[1]):
        block = blocks[b]
        first, last, left, right = block[0], block[1], block[2], block[3]
        weight = weights[block[4]]
        log_prob[b], lost[b] = _filter_block(
            lanes, symbols, block, start, trans, emit, forward, row, predicted, filtered[1:], 0.0
        )
        if right >= 0:
            forward_out[right] = row
        if lost[b] >= 0:
            row[:] = 0.0
            if left >= 0:
                backward_out[left] = row
            continue
        n = last - first
        filtered[0] = forward[left] if left >= 0 else start
        if right >= 0:
            row[:] = backward[right]
        else:
            row[:] = 1.0
        for t in range(n, -1, -1):
            if t == 0 and left < 0:
                break
            total = weigh(lanes, row, filtered, t, predicted)
            if not total >= SMALLEST:
                lost[b] = max(first, first + t - 1)
                break
            factor = 1.0 / total
            if t < n:  # the step from t to t + 1, now that its scale is known
                for k in range(width):
                    weighted[t + 1, k] *= factor * weight
            if t == 0:
                break
            scale(lanes, predicted, factor)
            if out is not None:
                for k in range(n_states):
                    out[first + t - 1, k] = predicted[k]
            if best is not None:
                best[first + t - 1] = np.argmax(predicted[:n_states])
            if counts is not None:
                emitted = counts[2][symbols[first + t - 1]]
                for k in range(width):
                    emitted[k] += weight * predicted[k]
            likelihood_step(lanes, row, back, emit, symbols[first + t - 1], weighted[t])
        if left >= 0:
            backward_out[left] = row
        if counts is not None and lost[b] < 0:
            if left < 0:
                for k in range(width):  # predicted still holds the first symbol's posterior
                    counts[0][k] += weight * predicted[k]
            _add_outer_products(filtered, weighted, 2 if left < 0 else 1, n + 1, counts[1])

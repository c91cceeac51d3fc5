"""The same recursions in logarithms: slow, and right where a double would underflow.

Scaling loses a state whose filtered probability falls under 1e-308.  That is harmless,
unless a later symbol is possible in that state alone: the scaled recursion then sees
probability zero where the truth is finite.  `cohmm.model.inference` comes here with such
a sequence, and only with such a one.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, kernel


@kernel
def first_impossible(symbols: Ints, start: Floats, trans: Floats, emit: Floats) -> int:
    """The first place of one sequence that no path reaches, or -1."""
    n_states = len(trans)
    alive = start[:n_states] > -np.inf
    after = np.empty(n_states, np.bool_)
    for t in range(len(symbols)):
        if t > 0:
            for j in range(n_states):
                after[j] = False
                for i in range(n_states):
                    if alive[i] and trans[i, j] > -np.inf:
                        after[j] = True
                        break
            alive[:] = after
        emission = emit[symbols[t]]
        none = True
        for k in range(n_states):
            alive[k] = alive[k] and emission[k] > -np.inf
            none = none and not alive[k]
        if none:
            return t
    return -1


@kernel
def _log_sum_of_products(left: Floats, right: Floats) -> float:
    """``log(exp(left) @ exp(right))``"""
    top: float = -np.inf
    for i in range(len(left)):
        top = max(top, left[i] + right[i])
    if top > -np.inf:
        total = 0.0
        for i in range(len(left)):
            total += np.exp(left[i] + right[i] - top)
        top += np.log(total)
    return top


@kernel
def log_forward(symbols: Ints, start: Floats, trans: Floats, emit: Floats, out: Floats) -> float:
    """log P(symbols), of one sequence.

    ``out``, (T, K), takes log P(symbols up to t, state at t); of the shape (1, K), the last
    of them alone.
    """
    n_states = len(trans)
    row = start[:n_states] + emit[symbols[0], :n_states]
    after = np.empty(n_states)
    out[0] = row
    for t in range(1, len(symbols)):
        for j in range(n_states):
            after[j] = _log_sum_of_products(row, trans[:, j]) + emit[symbols[t], j]
        row[:] = after
        out[min(t, len(out) - 1)] = row
    return _log_sum_of_products(row, np.zeros(n_states))


@kernel
def log_backward(symbols: Ints, trans: Floats, emit: Floats, out: Floats) -> None:
    """``out[t, k] = log P(symbols after t | state k at t)``."""
    n_states = len(trans)
    out[-1] = 0.0
    for t in range(len(symbols) - 2, -1, -1):
        ahead = out[t + 1] + emit[symbols[t + 1], :n_states]
        for i in range(n_states):
            out[t, i] = _log_sum_of_products(trans[i, :n_states], ahead)


@kernel
def add_log_counts(
    symbols: Ints,
    trans: Floats,
    emit: Floats,
    ahead: Floats,
    behind: Floats,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
) -> None:
    """Add the expected counts of one sequence.

    ``ahead`` and ``behind`` are what `log_forward` and `log_backward` gave.
    """
    n_states = len(trans)
    for t in range(len(symbols)):
        # The log-likelihood; from here and not from the end, so that rounding errors cancel.
        log_prob = _log_sum_of_products(ahead[t], behind[t])
        for k in range(n_states):
            posterior = np.exp(ahead[t, k] + behind[t, k] - log_prob)
            emissions[symbols[t], k] += posterior
            if t == 0:
                starts[k] += posterior
            else:
                weight = behind[t, k] + emit[symbols[t], k] - log_prob
                for i in range(n_states):
                    transitions[i, k] += np.exp(ahead[t - 1, i] + trans[i, k] + weight)

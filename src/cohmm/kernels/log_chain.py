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
def _log_sum(terms: Floats) -> float:
    top: float = terms.max()
    if top > -np.inf:
        top += np.log(np.exp(terms - top).sum())
    return top


@kernel
def log_forward(
    symbols: Ints, start: Floats, trans: Floats, emit: Floats, out: Floats | None
) -> tuple[float, int]:
    """log P(symbols up to t, state at t) for one sequence; ``out``, (T, K), may be None.

    Returns the log-likelihood and the first impossible place, or -1.
    """
    n_states = len(trans)
    row = start[:n_states] + emit[symbols[0], :n_states]
    after = np.empty(n_states)
    for t in range(len(symbols)):
        if t > 0:
            for j in range(n_states):
                after[j] = _log_sum(row + trans[:, j]) + emit[symbols[t], j]
            row[:] = after
        if row.max() == -np.inf:
            return -np.inf, t
        if out is not None:
            out[t] = row
    return _log_sum(row), -1


@kernel
def log_backward(symbols: Ints, trans: Floats, emit: Floats, out: Floats) -> None:
    """``out[t, k] = log P(symbols after t | state k at t)``."""
    n_states = len(trans)
    out[-1] = 0.0
    for t in range(len(symbols) - 2, -1, -1):
        ahead = out[t + 1] + emit[symbols[t + 1], :n_states]
        for i in range(n_states):
            out[t, i] = _log_sum(trans[i, :n_states] + ahead)


@kernel
def add_log_counts(
    symbols: Ints,
    trans: Floats,
    emit: Floats,
    ahead: Floats,
    behind: Floats,
    log_prob: float,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
) -> None:
    """Add the expected counts of one sequence.

    ``ahead`` and ``behind`` are what `log_forward` and `log_backward` gave.
    """
    n_states = len(trans)
    for t in range(len(symbols)):
        for k in range(n_states):
            posterior = np.exp(ahead[t, k] + behind[t, k] - log_prob)
            emissions[symbols[t], k] += posterior
            if t == 0:
                starts[k] += posterior
            else:
                weight = behind[t, k] + emit[symbols[t], k] - log_prob
                for i in range(n_states):
                    transitions[i, k] += np.exp(ahead[t - 1, i] + trans[i, k] + weight)

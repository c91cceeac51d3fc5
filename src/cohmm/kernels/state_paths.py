"""Drawing the states behind what was seen: forward filtering, backward sampling."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, kernel


@kernel
def draw_states(
    symbols: Ints,
    offsets: Ints,
    start: Floats,
    trans: Floats,
    emit: Floats,
    uniforms: Floats,
    states: Ints,
) -> None:
    """Fill ``states`` with a path from its law given the symbols; -1 is a symbol that is missing.

    ``offsets`` (S + 1,) are the borders of sequences, ``emit`` is (K, N), and ``uniforms`` (T,) has
    one number for each place.  With f[t] the law of the state at t given the symbols up to there:

        w = f[t] * trans[:, states[t + 1]]
        states[t] = searchsorted(cumsum(w), uniforms[t] * w.sum())
    """
    k = len(start)
    forward = np.empty((len(symbols), k))
    weights = np.empty(k)
    for sequence in range(len(offsets) - 1):
        first, last = offsets[sequence], offsets[sequence + 1]
        for t in range(first, last):
            total = 0.0
            for j in range(k):
                value = 0.0
                if t == first:
                    value = start[j]
                else:
                    for i in range(k):
                        value += forward[t - 1, i] * trans[i, j]
                if symbols[t] >= 0:
                    value *= emit[j, symbols[t]]
                forward[t, j] = value
                total += value
            for j in range(k):
                forward[t, j] /= total
        for t in range(last - 1, first - 1, -1):
            total = 0.0
            for i in range(k):
                weights[i] = forward[t, i]
                if t < last - 1:
                    weights[i] *= trans[i, states[t + 1]]
                total += weights[i]
            left = uniforms[t] * total
            state = 0
            while state < k - 1 and left >= weights[state]:
                left -= weights[state]
                state += 1
            while weights[state] == 0.0:  # what rounding left over
                state -= 1
            states[t] = state

"""Drawing a path of a chain, by Walker's alias tables: one uniform number a draw."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, kernel


@kernel
def sample_path(
    state: int,
    uniforms: Floats,
    trans_cut: Floats,
    trans_alias: Ints,
    emit_cut: Floats,
    emit_alias: Ints,
    symbols: Ints,
    states: Ints,
) -> int:
    """Walk the chain from ``state``, the first to emit, by alias tables.

    ``uniforms`` has one row per symbol: what is emitted, where it goes next.  Returns the state
    after the last symbol.
    """
    for t in range(len(symbols)):
        states[t] = state
        symbols[t] = _draw(uniforms[t, 0], emit_cut[state], emit_alias[state])
        state = _draw(uniforms[t, 1], trans_cut[state], trans_alias[state])
    return state


@kernel
def _draw(uniform: float, cut: Floats, alias: Ints) -> int:
    scaled = uniform * len(cut)
    column = min(int(scaled), len(cut) - 1)
    return column if scaled - column < cut[column] else alias[column]


@kernel
def alias_tables(probabilities: Floats) -> tuple[Floats, Ints]:
    """Walker's alias tables of every row: (cut, alias), both of the shape of ``probabilities``."""
    n_rows, n = probabilities.shape
    cut = np.ones((n_rows, n))
    alias = np.zeros((n_rows, n), np.int32)
    small = np.empty(n, np.int64)
    large = np.empty(n, np.int64)
    for r in range(n_rows):
        scaled = probabilities[r] * n
        n_small = n_large = 0
        for i in range(n):
            if scaled[i] < 1.0:
                small[n_small] = i
                n_small += 1
            else:
                large[n_large] = i
                n_large += 1
        while n_small > 0 and n_large > 0:
            n_small -= 1
            poor, rich = small[n_small], large[n_large - 1]
            cut[r, poor] = scaled[poor]
            alias[r, poor] = rich
            scaled[rich] -= 1.0 - scaled[poor]
            if scaled[rich] < 1.0:
                n_large -= 1
                small[n_small] = rich
                n_small += 1
        # What rounding left over holds one whole column, unless it has no mass at all.
        for i in range(n_small):
            if probabilities[r, small[i]] == 0.0:
                cut[r, small[i]] = 0.0
                alias[r, small[i]] = np.argmax(probabilities[r])
    return cut, alias

"""Forward-backward as in a textbook, one sequence after the other: for little data.

The kernels that are fast on much data (`cohmm.kernels.smoothing`) take eight seconds to compile,
and on little data they wait for each other; this one takes one, and has no gangs to fill.
Rows, factors and what is lost are as described there.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain_steps import SMALLEST
from cohmm.kernels.compiled import Floats, Ints, fused_kernel
from cohmm.kernels.gang import HIGHEST


@fused_kernel
def smooth_short(
    symbols: Ints,
    offsets: Ints,
    weights: Floats,
    start: Floats,
    trans: Floats,
    emit: Floats,
    log_prob: Floats,
    lost: Ints,
    filtered: Floats,
    factors: Floats,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
    out: Floats,
) -> None:
    """Forward and backward through all sequences ``offsets[s]:offsets[s + 1]``.

    ``filtered``, (T, K), takes the law of the state given the symbols up to its own, and
    ``factors``, (T,), what each row of it was multiplied by.  ``lost[s]`` is a place of sequence s
    where something underflowed, or -1; what it adds is then of no use.  All else is as in
    `cohmm.kernels.smoothing.smooth_gangs`, expected counts and posteriors where wanted:

        filtered[t] = filtered[t - 1] @ trans * emit[symbols[t]] * factors[t]
        later[t - 1] = trans @ (later[t] * emit[symbols[t]] * factors[t])
        out[t] = filtered[t] * later[t]
    """
    n_states, count, keep = len(trans), len(emissions) > 0, len(out) > 0
    missing = len(emit) - 1
    later, seen = np.empty(n_states), np.empty(n_states)
    for s in range(len(weights)):
        first, last, weight = offsets[s], offsets[s + 1], weights[s]
        log_prob[s] = 0.0
        lost[s] = -1
        for t in range(first, last):
            symbol = symbols[t] if symbols[t] >= 0 else missing
            for j in range(n_states):
                filtered[t, j] = start[j] if t == first else 0.0
            for i in range(n_states if t > first else 0):
                for j in range(n_states):
                    filtered[t, j] += filtered[t - 1, i] * trans[i, j]
            total = 0.0
            for j in range(n_states):
                filtered[t, j] *= emit[symbol, j]
                total += filtered[t, j]
            if not total >= SMALLEST:
                lost[s] = t
                break
            log_prob[s] += np.log(total)
            factors[t] = 1.0 / total
            for j in range(n_states):
                filtered[t, j] *= factors[t]
        if lost[s] >= 0:
            log_prob[s] = -np.inf
            continue
        for k in range(n_states):
            later[k] = 1.0
        for t in range(last - 1, first - 1, -1):
            symbol = symbols[t] if symbols[t] >= 0 else missing
            for k in range(n_states):
                gamma = filtered[t, k] * later[k]
                if keep:
                    out[t, k] = gamma
                if count:
                    emissions[symbol, k] += weight * gamma
                    if t == first:
                        starts[k] += weight * gamma
                seen[k] = later[k] * emit[symbol, k] * factors[t]
            for i in range(n_states if t > first else 0):
                total = 0.0
                for k in range(n_states):
                    total += trans[i, k] * seen[k]
                if count:
                    share = weight * filtered[t - 1, i]
                    for k in range(n_states):
                        transitions[i, k] += share * seen[k]
                later[i] = total
                if not total <= HIGHEST:
                    lost[s] = t

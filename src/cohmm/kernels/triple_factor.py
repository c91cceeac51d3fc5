"""The pass over distinct triples: the cost of learning from them.

For a triple (a, b, c) of probability v, and tables ``left``, ``centre`` and ``right`` of a
row per symbol:

    p = sum(left[a] * centre[b] * right[c])       what the model expects
    w = v / p, or v where nothing is divided
    before[a] += w * centre[b] * right[c]         and so for the two other symbols
    log_fit += v * log p

Triples are in order, so that the product of the first two rows serves a whole run of them.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Part, fused_kernel

NOTHING = 1e-300  # so that a triple that neither occurs nor is expected has the ratio 0


@fused_kernel
def triple_pass(
    borders: Ints,
    before: Ints,
    middle: Ints,
    after: Ints,
    probability: Floats,
    part: Part,
    divided: bool,
    left: Floats,
    centre: Floats,
    right: Floats,
    out: tuple[Floats, Floats, Floats],
) -> float:
    """Add to ``out`` what the runs in ``part`` give; returns their log-fit.

    A run is the triples from ``borders[r]``, all of which begin with ``before[r], middle[r]``.
    NumPy, for a dense law T::

        W = T / einsum("ak,bk,ck", left, centre, right) if divided else T
        before = einsum("abc,bk,ck->ak", W, centre, right), and so on
    """
    k = left.shape[1]
    both = np.empty(k)
    total = np.empty(k)
    log_fit = 0.0
    for r in range(part[0], part[1]):
        a, b = before[r], middle[r]
        for j in range(k):
            both[j] = left[a, j] * centre[b, j]
            total[j] = 0.0
        for i in range(borders[r], borders[r + 1]):
            c = after[i]
            weight = probability[i]
            if divided:
                expected = 0.0
                for j in range(k):
                    expected += both[j] * right[c, j]
                expected = max(expected, NOTHING)
                log_fit += weight * np.log(expected)
                weight /= expected
            for j in range(k):
                total[j] += weight * right[c, j]
                out[2][c, j] += weight * both[j]
        for j in range(k):
            out[0][a, j] += centre[b, j] * total[j]
            out[1][b, j] += left[a, j] * total[j]
    return log_fit

"""Counting what follows what, within sequences, at a given lag.

Observations of code -1 are missing and take part in no pair.  ``part`` is a range of
symbols, in which a pair starts, or a range of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Part, kernel
from cohmm.kernels.simd import trailing_zeros


@kernel
def count_dense(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    lag: int,
    weights: Floats | None,
    counts: Ints,
    alone: Ints,
) -> None:
    """Add every pair of symbols t, t + lag with t in ``part`` to ``counts[a, b]``.

    NumPy: ``np.add.at(counts, (y[:-lag], y[lag:]), weight)`` for each sequence y, with a
    weight of one where there are no ``weights``.  Symbols that no pair begins with are added
    to ``alone``, so that all symbols are counted.
    """
    s = np.searchsorted(offsets, part[0], side="right") - 1
    t = part[0]
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - lag, part[1])
        while t < stop:
            a, b = symbols[t], symbols[t + lag]
            if a >= 0 and b >= 0:
                if weights is None:
                    counts[a, b] += 1
                else:
                    counts[a, b] += weights[s]
            elif a >= 0:
                if weights is None:
                    alone[a] += 1
                else:
                    alone[a] += weights[s]
            t += 1
        t = _count_rest(symbols, t, min(end, part[1]), weights, s, alone)
        s += 1


@kernel
def _count_rest(
    symbols: Ints, first: int, last: int, weights: Floats | None, s: Any, alone: Ints
) -> int:
    """Count the symbols at the end of sequence ``s``; returns the place behind them."""
    for t in range(first, last):
        if symbols[t] >= 0:
            if weights is None:
                alone[symbols[t]] += 1
            else:
                alone[symbols[t]] += weights[s]
    return last


@kernel
def count_rows(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    lag: int,
    weights: Floats | None,
    rows: Ints,
    alone: Ints,
) -> None:
    """``rows[a] += 1`` for every pair (a, b) that starts in ``part``; ``alone`` as above."""
    s = np.searchsorted(offsets, part[0], side="right") - 1
    t = part[0]
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - lag, part[1])
        while t < stop:
            if symbols[t] >= 0:
                if symbols[t + lag] >= 0:
                    rows[symbols[t]] += 1
                elif weights is None:
                    alone[symbols[t]] += 1
                else:
                    alone[symbols[t]] += weights[s]
            t += 1
        t = _count_rest(symbols, t, min(end, part[1]), weights, s, alone)
        s += 1


@kernel
def scatter_rows(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    lag: int,
    place: Ints,
    columns: Ints,
    weights: Floats | None,
    values: Floats | None,
) -> None:
    """Write b of every pair (a, b) that starts in ``part`` behind ``place[a]``, in order.

    With ``weights``, a weight a sequence, the pair's goes to the same place in ``values``.
    """
    s = np.searchsorted(offsets, part[0], side="right") - 1
    t = part[0]
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - lag, part[1])
        while t < stop:
            a, b = symbols[t], symbols[t + lag]
            if a >= 0 and b >= 0:
                columns[place[a]] = b
                if values is not None and weights is not None:
                    values[place[a]] = weights[s]
                place[a] += 1
            t += 1
        t = end
        s += 1


@kernel
def squeeze_rows(
    starts: Ints,
    part: Part,
    sums: Ints,
    columns: Ints,
    values: Floats | None,
    counts: Ints,
    sizes: Ints,
) -> None:
    """Merge equal columns in the rows of ``part``, sort them, and close the gaps, in place.

    Row r has ``columns[starts[r]:starts[r + 1]]``.  Afterwards the rows follow one another from
    ``starts[part[0]]`` on, each with its ``sizes[r]`` distinct columns, ascending, and their
    ``counts``, the sums of ``values`` or of ones.  ``sums`` is scratch: a zero for every symbol.

    A bit for every column, and one for every word of such bits, give the columns back in
    order without sorting: the time is linear in the number of pairs.  A row of very many
    pairs does without, and looks at every column.
    """
    one = np.uint64(1)
    n_symbols = len(sums)
    n_words = (n_symbols + 63) // 64
    bits = np.zeros(n_words, np.uint64)
    words = np.zeros((n_words + 63) // 64, np.uint64)
    seen = np.zeros(n_symbols, np.bool_)
    out = starts[part[0]]
    for r in range(part[0], part[1]):
        begin = out
        if starts[r + 1] - starts[r] > n_symbols // 4:
            for p in range(starts[r], starts[r + 1]):
                if values is None:
                    sums[columns[p]] += 1
                else:
                    sums[columns[p]] += values[p]
                    seen[columns[p]] = True
            for column in range(n_symbols):
                if sums[column] != 0 or seen[column]:
                    columns[out] = column
                    counts[out] = sums[column]
                    sums[column] = 0
                    seen[column] = False
                    out += 1
            sizes[r] = out - begin
            continue
        for p in range(starts[r], starts[r + 1]):
            b = np.uint32(columns[p])
            if values is None:
                sums[b] += 1
            else:
                sums[b] += values[p]
            w = b >> np.uint32(6)
            bits[w] |= one << np.uint64(b & np.uint32(63))
            words[w >> np.uint32(6)] |= one << np.uint64(w & np.uint32(63))
        if starts[r + 1] > starts[r]:
            for i in range(len(words)):
                x = words[i]
                words[i] = 0
                while x:
                    w = i * 64 + trailing_zeros(x)
                    x &= x - one
                    z = bits[w]
                    bits[w] = 0
                    while z:
                        b = w * 64 + trailing_zeros(z)
                        z &= z - one
                        columns[out] = b
                        counts[out] = sums[b]
                        sums[b] = 0
                        out += 1
        sizes[r] = out - begin


@kernel
def triple_keys(symbols: Ints, offsets: Ints, part: Part, n_symbols: int, keys: Ints) -> int:
    """Keys (a * N + b) * N + c of the triples that start in ``part``; returns how many."""
    s = np.searchsorted(offsets, part[0], side="right") - 1
    t = part[0]
    n = 0
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - 2, part[1])
        while t < stop:
            a, b, c = symbols[t], symbols[t + 1], symbols[t + 2]
            if a >= 0 and b >= 0 and c >= 0:
                keys[n] = (np.int64(a) * n_symbols + b) * n_symbols + c
                n += 1
            t += 1
        t = end
        s += 1
    return n


@kernel
def count_keys(keys: Ints, n: int, counts: Ints) -> None:
    """``counts[key] += 1`` for the first ``n`` keys."""
    for i in range(n):
        counts[keys[i]] += 1

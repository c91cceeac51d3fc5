"""Counting what follows what, within sequences, at a given lag.

Observations of code -1 are missing and take part in no pair.  ``part`` is the range of symbols
in which a pair starts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Part, kernel

DIGIT = 11  # bits: so many counts fit the nearest cache


@kernel
def sequence_at(offsets: Ints, place: int) -> int:
    """The last sequence that begins at a place or before it.

    NumPy: ``np.searchsorted(offsets, place, side="right") - 1``, of which numba compiles a lot.
    """
    first, last = 0, len(offsets)
    while first < last:
        middle = (first + last) // 2
        if offsets[middle] <= place:
            first = middle + 1
        else:
            last = middle
    return first - 1


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
    s = sequence_at(offsets, part[0])
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
    symbols: Ints, offsets: Ints, part: Part, lag: int, sizes: Ints, alone: Ints
) -> None:
    """``sizes[a] += 1`` for every pair (a, b) that starts in ``part``; ``alone`` as above."""
    s = sequence_at(offsets, part[0])
    t = part[0]
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - lag, part[1])
        while t < stop:
            if symbols[t] >= 0:
                if symbols[t + lag] >= 0:
                    sizes[symbols[t]] += 1
                else:
                    alone[symbols[t]] += 1
            t += 1
        t = _count_rest(symbols, t, min(end, part[1]), None, s, alone)
        s += 1


@kernel
def cut_rows(sizes: Ints, most_pairs: int, most_rows: int, bucket_of: Ints) -> int:
    """Contiguous rows in buckets, ``bucket_of`` (N,); returns how many buckets there are.

    A bucket has at most ``most_pairs``, ``sizes`` (N,) being those of each row, but for a row that
    has more by itself; and at most ``most_rows``.
    """
    bucket, n_rows, n_pairs = 0, 0, 0
    for row in range(len(sizes)):
        if n_rows == most_rows or (n_rows and n_pairs + sizes[row] > most_pairs):
            bucket += 1
            n_rows = n_pairs = 0
        bucket_of[row] = bucket
        n_rows += 1
        n_pairs += sizes[row]
    return bucket + 1


@kernel
def fill_buckets(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    lag: int,
    bucket_of: Ints,
    first_row: Ints,
    n_symbols: int,
    place: Ints,
    keys: Ints,
) -> None:
    """Write every pair (a, b) that starts in ``part`` behind ``place[bucket_of[a]]``.

    Within its bucket a pair is the number (a - first) * N + b, which 32 bits must hold.
    """
    s = sequence_at(offsets, part[0])
    t = part[0]
    while t < part[1]:
        end = offsets[s + 1]
        stop = min(end - lag, part[1])
        while t < stop:
            a, b = symbols[t], symbols[t + lag]
            if a >= 0 and b >= 0:
                bucket = bucket_of[a]
                row = np.uint32(a - first_row[bucket])
                keys[place[bucket]] = row * np.uint32(n_symbols) + np.uint32(b)
                place[bucket] += 1
            t += 1
        t = min(end, part[1])
        s += 1


@kernel
def _digit(key: Any, shift: int) -> Any:
    return (np.uint64(key) >> np.uint64(shift)) & np.uint64((1 << DIGIT) - 1)


@kernel
def radix_sort(keys: Ints, lowest: int, space: Ints) -> None:
    """Sort whole numbers by their bits from ``lowest`` on; ``space`` is as long as ``keys``.

    NumPy: ``keys[:] = keys[np.argsort(keys >> lowest, kind="stable")]``.  By `DIGIT` bits at a
    time, the lowest first, but for those that all keys share.  Numbers that fit the cache are
    sorted faster than by comparisons.
    """
    here, there, n_passes = keys, space, 0
    counts = np.empty(1 << DIGIT, np.int64)
    different = np.uint64(0)
    for i in range(len(keys)):
        different |= np.uint64(keys[i] ^ keys[0])
    for shift in range(lowest, 64, DIGIT):
        if _digit(different, shift) == 0:
            continue
        for digit in range(len(counts)):
            counts[digit] = 0
        for i in range(len(keys)):
            counts[_digit(here[i], shift)] += 1
        place = 0
        for digit in range(len(counts)):
            n = counts[digit]
            counts[digit] = place
            place += n
        for i in range(len(keys)):
            digit = _digit(here[i], shift)
            there[counts[digit]] = here[i]
            counts[digit] += 1
        here, there = there, here
        n_passes += 1
    for i in range(len(keys) if n_passes % 2 else 0):
        keys[i] = space[i]


@kernel
def count_distinct(keys: Ints) -> int:
    """How many different numbers a sorted array has."""
    n = min(len(keys), 1)
    for i in range(1, len(keys)):
        n += keys[i] != keys[i - 1]
    return n


@kernel
def merge_equal(
    keys: Ints, n_symbols: int, columns: Ints, counts: Ints, sizes: Ints, totals: Ints
) -> None:
    """The columns of a bucket's sorted ``keys``, how often each occurs; sizes and sums of its rows.

    ``columns`` and ``counts`` have the length that `count_distinct` gives.
    """
    run = 0
    for i in range(len(keys)):  # without a branch: where runs end is chance
        columns[run] = i + 1
        run += i + 1 < len(keys) and keys[i] != keys[i + 1]
    begin = 0
    row = 0
    base = np.int64(0)
    for run in range(len(columns)):
        end = columns[run]
        key = np.int64(keys[begin])
        while key >= base + n_symbols:
            row += 1
            base += n_symbols
        sizes[row] += 1
        columns[run] = key - base
        counts[run] = end - begin
        totals[row] += end - begin
        begin = end


@kernel
def triple_keys(symbols: Ints, offsets: Ints, part: Part, n_symbols: int, keys: Ints) -> int:
    """Keys (a * N + b) * N + c of the triples that start in ``part``; returns how many."""
    s = sequence_at(offsets, part[0])
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

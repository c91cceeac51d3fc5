"""Sums of sparse counts, five bytes per entry: see `cohmm.evidence.packed`.

A count up to 255 is a byte; a larger one is the byte 0, and stands in a list of its own, in the
order of the entries.  Of all pairs counted, at most one in 256 has a place in that list.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Ints, kernel

LARGEST_BYTE = 255
BYTE, ROW = np.uint64(8), np.uint64(40)  # bits below the column and below the row in a key
COLUMN = 2**32 - 1


@kernel
def pack_equal(
    keys: Ints,
    n_symbols: int,
    columns: Ints,
    small: Ints,
    large: Ints,
    widths: Ints,
    n_large: Ints,
    totals: Ints,
) -> int:
    """The distinct ``keys`` of a bucket, as `merge_equal` of `cohmm.kernels.pair_counts`.

    ``large`` needs a place for every 256 keys; returns how many were used.
    """
    run = 0
    for i in range(len(keys)):  # without a branch: where runs end is chance
        columns[run] = i + 1
        run += i + 1 < len(keys) and keys[i] != keys[i + 1]
    begin = 0
    row = 0
    used = 0
    first = np.int64(0)
    for run in range(len(columns)):
        end = columns[run]
        key = np.int64(keys[begin])
        while key >= first + n_symbols:
            row += 1
            first += n_symbols
        count = end - begin
        columns[run] = key - first
        widths[row] += 1
        totals[row] += count
        if count <= LARGEST_BYTE:
            small[run] = count
        else:
            small[run] = 0
            large[used] = count
            n_large[row] += 1
            used += 1
        begin = end
    return used


@kernel
def entry_keys(
    starts: Ints,
    large_starts: Ints,
    columns: Ints,
    small: Ints,
    large: Ints,
    places: Ints,
    kept: Ints,
    keys: Ints,
    large_keys: Ints,
    large_counts: Ints,
) -> tuple[int, int]:
    """Entries of the same rows of several parts as numbers: row, column, and count, of a byte.

    Row i of part j is in ``columns[starts[j, i]:starts[j, i + 1]]``, and its large counts begin
    at ``large_starts[j, i]``.  Column c becomes ``places[c]``, or goes where that is below 0, and
    stays where there are no ``places``; a row goes where ``kept`` is not set.  Returns
    how many keys and large counts there are.
    """
    n, m = 0, 0
    same = len(places) == 0
    for j in range(starts.shape[0]):
        for i in range(starts.shape[1] - 1):
            if not kept[i]:
                continue
            row = np.uint64(i) << ROW
            place = large_starts[j, i]
            for e in range(starts[j, i], starts[j, i + 1]):
                c = columns[e]
                if not same:
                    c = places[c]
                keys[n] = row | np.uint64(c) << BYTE | np.uint64(small[e])
                if small[e] == 0:
                    if c >= 0:
                        large_keys[m] = keys[n]
                        large_counts[m] = large[place]
                        m += 1
                    place += 1
                n += c >= 0
    return n, m


@kernel
def sum_keys(
    keys: Ints,
    large_counts: Ints,
    columns: Ints,
    small: Ints,
    large: Ints,
    widths: Ints,
    n_large: Ints,
) -> tuple[int, int]:
    """Add what `entry_keys` made and was sorted; returns the entries and large counts written.

    ``large_counts`` are in the order of their keys.  Nothing is decided by a branch that chance
    would have to guess.
    """
    n, m, place = 0, 0, 0
    total = np.int64(0)
    for t in range(len(keys)):
        key = keys[t]
        count = np.int64(key & np.uint64(LARGEST_BYTE))
        if count == 0:
            count = large_counts[place]
            place += 1
        total += count
        last = t + 1 == len(keys) or (keys[t + 1] ^ key) > np.uint64(LARGEST_BYTE)
        row = np.int64(key >> ROW)
        beyond = last and total > LARGEST_BYTE
        columns[n] = np.int64(key >> BYTE) & COLUMN
        small[n] = 0 if beyond else total
        widths[row] += last
        n += last
        if beyond:
            large[m] = total
            n_large[row] += 1
            m += 1
        total *= not last
    return n, m

"""Counting what follows what, within sequences, at a given lag; formulas are in ``plain.hpp``.

`native.count_dense` adds pairs to a table (N, N).  Where a table is too large, ``count_rows`` says
how many pairs each symbol begins, ``cut_rows`` makes buckets of rows, ``fill_buckets`` writes pairs
there as 32-bit keys, and ``pack_equal`` makes rows of a sparse matrix of each bucket, once sorted.

Sums of sparse counts have five bytes per entry: see `cohmm.evidence.external_sum`.  A count up to
255 is a byte; a larger one is the byte 0, and stands in a list of its own, in the order of the
entries.  Of all pairs counted, at most one in 256 has a place in that list.  ``entry_keys`` makes
numbers of the entries of some rows, and ``sum_keys`` adds those that are equal, once sorted.
"""

from __future__ import annotations

from typing import NamedTuple

from cohmm.kernels.types import Ints

LARGEST_BYTE = 255


class PackedEntries(NamedTuple):
    """Where entries of rows are written."""

    columns: Ints
    """int32"""
    small: Ints
    """uint8: counts, 0 where they are large"""
    large: Ints
    """int64"""
    widths: Ints
    """int32: how many entries a row has"""
    n_large: Ints
    """int32: how many of them are large"""


class PackedParts(NamedTuple):
    """The same rows of several parts, in arrays that they share.

    Row i of part j is in ``columns[starts[j, i]:starts[j, i + 1]]``, and its large counts begin at
    ``large_starts[j, i]``.
    """

    starts: Ints
    large_starts: Ints
    columns: Ints
    small: Ints
    large: Ints

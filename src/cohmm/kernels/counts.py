"""Counting what follows what, within sequences, at a given lag.

Sequence s is ``symbols[offsets[s]:offsets[s + 1]]``, int32 codes; -1 is missing and takes part in
no pair.  ``part`` is the range of symbols in which a pair starts.  The formulas are in
``_native/plain.hpp``.

``count_dense`` adds pairs to a table (N, N), with one weight per sequence or None.  Where a table
is too large, ``count_rows`` says how many pairs each symbol begins, ``cut_rows`` makes buckets of
rows, ``fill_buckets`` writes pairs there as 32-bit keys, ``radix_sort`` sorts each bucket, and
``pack_equal`` makes rows of a sparse matrix of it.  ``count_triples`` and ``triple_keys`` are for
three symbols in a row.

Sums of sparse counts have five bytes per entry: see `cohmm.evidence.external_sum`.  A count up to
255 is a byte; a larger one is the byte 0, and stands in a list of its own, in the order of the
entries.
Of all pairs counted, at most one in 256 has a place in that list.

`pack_equal` writes the distinct keys of a bucket; ``out.large`` needs a place for every 256 keys.
It returns how many were used.

`entry_keys` makes numbers of the entries of some rows: row, column, and count, of a byte.
Column c becomes ``places[c]``, or goes where that is below 0, and stays where there are no
``places``; a row goes where ``kept`` is not set.  `sum_keys` adds what was sorted by row and
column; its large counts are in the order of their keys.  Both return how many entries and large
counts were written.
"""

from __future__ import annotations

from typing import NamedTuple

from cohmm._native import count_dense as count_dense
from cohmm._native import count_distinct as count_distinct
from cohmm._native import count_rows as count_rows
from cohmm._native import count_triples as count_triples
from cohmm._native import cut_rows as cut_rows
from cohmm._native import entry_keys as entry_keys
from cohmm._native import fill_buckets as fill_buckets
from cohmm._native import pack_equal as pack_equal
from cohmm._native import radix_sort as radix_sort
from cohmm._native import sum_keys as sum_keys
from cohmm._native import triple_keys as triple_keys
from cohmm.kernels.types import Ints

LARGEST_BYTE = 255
BYTE = 8  # bits below the column in a key


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

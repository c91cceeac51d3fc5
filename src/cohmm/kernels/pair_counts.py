"""Counting what follows what, within sequences, at a given lag.

Sequence s is ``symbols[offsets[s]:offsets[s + 1]]``, int32 codes; -1 is missing and takes part in
no pair.  ``part`` is the range of symbols in which a pair starts.  The formulas are in
``_native/pair_counts.hpp``.

``count_dense`` adds pairs to a table (N, N), with one weight per sequence or None.  Where a table
is too large, ``count_rows`` says how many pairs each symbol begins, ``cut_rows`` makes buckets of
rows, ``fill_buckets`` writes pairs there as 32-bit keys, ``radix_sort`` sorts each bucket, and
``merge_equal`` makes rows of a CSR matrix of it.  ``count_triples`` and ``triple_keys`` are for
three symbols in a row.
"""

from cohmm._native import count_dense as count_dense
from cohmm._native import count_distinct as count_distinct
from cohmm._native import count_rows as count_rows
from cohmm._native import count_triples as count_triples
from cohmm._native import cut_rows as cut_rows
from cohmm._native import fill_buckets as fill_buckets
from cohmm._native import merge_equal as merge_equal
from cohmm._native import radix_sort as radix_sort
from cohmm._native import triple_keys as triple_keys

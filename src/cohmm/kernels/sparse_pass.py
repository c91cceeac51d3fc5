"""The passes over the non-zeros of sparse counts: the cost of learning from large vocabularies.

`sparse_pass`, of a sparse pair law: for row n with the non-zeros (l, v), and tables ``left`` and
``right`` of one row per symbol:

    p = left[n] . right[l]            what the model expects
    out[n] += (v / p) * right[l]      what the update of M and Theta needs
    fit[n] += v * log p               what the objective needs

NumPy, dense:
``law = left @ right.T; out = (V / law) @ right; fit = (V * log(law)).sum(axis=1)``.
`sparse_times` is ``out = V @ right``.

Tables and values are float32, in columns padded to a multiple of `WIDTH`; sums over a
stretch of 128 non-zeros are float32, sums of those float64.  Both work on the rows in ``part``.

`triple_pass`: for a triple (a, b, c) of probability v, and tables ``left``, ``centre`` and
``right`` of one row per symbol, (N, K):

    p = sum(left[a] * centre[b] * right[c])       what the model expects
    w = v / p, or v where nothing is divided
    out.before[a] += w * centre[b] * right[c]     and so for the two other symbols
    log_fit += v * log p                          which is returned

Triples are in order, and run r of them, from ``borders[r]``, begins with ``before[r], middle[r]``;
a part is a range of runs.  NumPy, for a dense law T::

    W = T / einsum("ak,bk,ck", left, centre, right) if divided else T
    before = einsum("abc,bk,ck->ak", W, centre, right), and so on
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cohmm.kernels import native
from cohmm.kernels.recursions import aligned_zeros
from cohmm.kernels.types import Floats

WIDTH = 16

Singles = NDArray[np.float32]


def table_width(n_states: int) -> int:
    """Columns of a table for ``n_states`` states.

    >>> table_width(20), table_width(100), table_width(200)
    (32, 112, 208)
    """
    return -(-n_states // WIDTH) * WIDTH


def empty_table(n: int, n_states: int) -> Singles:
    """Zeros in the shape of a table, from the beginning of a cache line."""
    return aligned_zeros((n, table_width(n_states)), np.float32)


def table(values: Floats, scale: Floats | None = None) -> Singles:
    """``values``, one row per symbol, each times its ``scale``, as a padded float32 table.

    What is below 1e-18 becomes zero: products of such would be subnormal, and slow.
    """
    out = empty_table(*values.shape)
    scale = np.ones(len(values)) if scale is None else scale
    native.fill_table(np.ascontiguousarray(values), scale, out)
    return out

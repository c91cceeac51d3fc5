"""A sparse matrix times a table of several columns, whose rows are read once for all of them."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, fused_kernel
from cohmm.kernels.table_rows import GROUP, weighted_sum
from cohmm.kernels.tri_factor import STRETCH, Singles


@fused_kernel
def sparse_times(
    lanes: Lanes,
    indptr: Ints,
    columns: Ints,
    values: Singles,
    part: Part,
    right: Singles,
    out: Floats,
) -> None:
    """``out[rows] = matrix[rows] @ right``, for the rows in ``part`` of a CSR matrix.

    ``right`` is a table as in `cohmm.kernels.tri_factor`, of which ``out`` has the columns before
    the padding.  Sums over `STRETCH` non-zeros are float32, sums of those float64.
    """
    n_columns = out.shape[1]
    stretch = np.empty(right.shape[1], np.float32)
    spare_columns = np.zeros(GROUP, columns.dtype)
    spare_values = np.zeros(GROUP, np.float32)
    for r in range(part[0], part[1]):
        for k in range(n_columns):
            out[r, k] = 0.0
        first, last = indptr[r], indptr[r + 1]
        while first < last:
            n = min(last - first, STRETCH)
            if n >= GROUP:
                n -= n % GROUP
                weighted_sum(lanes, values[first:], right, columns, first, n, stretch)
            else:  # the rest of a row is filled up with non-zeros of value 0
                for i in range(GROUP):
                    spare_columns[i] = columns[first + i] if i < n else columns[first]
                    spare_values[i] = values[first + i] if i < n else np.float32(0.0)
                weighted_sum(lanes, spare_values, right, spare_columns, 0, GROUP, stretch)
            for k in range(n_columns):
                out[r, k] += stretch[k]
            first += n

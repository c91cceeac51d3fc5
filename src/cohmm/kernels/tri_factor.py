"""The pass over the non-zeros of a sparse pair law: the cost of learning from large vocabularies.

For row n with the non-zeros (l, v), and tables ``left`` and ``right`` of one row per symbol:

    p = left[n] . right[l]            what the model expects
    out[n] += (v / p) * right[l]      what the update of M and Theta needs
    fit[n] += v * log p               what the objective needs

Tables and values are float32, in columns padded to a multiple of `WIDTH`; sums over a
stretch of `STRETCH` non-zeros are float32, sums of those float64.  NumPy, dense:
``ratio = V / (left @ right.T); out = ratio @ right; fit = (V * log(left @ right.T)).sum(1)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, fused_kernel, kernel
from cohmm.kernels.simd import aligned_zeros
from cohmm.kernels.table_rows import (
    GROUP,
    ROOT_HALF,
    SMALLEST,
    WIDTH,
    bits_of,
    dots,
    dots_and_sum,
    float_of,
    weighted_sum,
)

STRETCH = 128
MOST_VECTORS = 8  # more states than 128 go through memory in panels of that width
TINY = 1e-18

Singles = NDArray[np.float32]

_ROOT_HALF = np.int32(ROOT_HALF)


def table_width(n_states: int) -> int:
    """Columns of a table for ``n_states`` states.

    >>> table_width(20), table_width(100), table_width(200)
    (32, 112, 224)
    """
    return WIDTH * len(table_lanes(n_states)) * _panels(n_states)


def table_lanes(n_states: int) -> Lanes:
    """A tuple whose length is the number of vectors in a panel of columns."""
    return (0,) * -(-n_states // (WIDTH * _panels(n_states)))


def _panels(n_states: int) -> int:
    return -(-n_states // (WIDTH * MOST_VECTORS))


def table(values: Floats, scale: Floats | None = None) -> Singles:
    """``values``, one row per symbol, each times its ``scale``, as a padded float32 table.

    What is tiny becomes zero: products of such would be subnormal, and a hundred times slower.
    """
    out = aligned_zeros((len(values), table_width(values.shape[1])), np.float32)
    _fill(np.ascontiguousarray(values), np.ones(len(values)) if scale is None else scale, out)
    return out


@kernel
def _fill(values: Floats, scale: Floats, out: Singles) -> None:
    """``out[:, :K] = np.where(values * scale[:, None] < TINY, 0, values * scale[:, None])``"""
    for r in range(len(values)):
        for k in range(values.shape[1]):
            value = values[r, k] * scale[r]
            out[r, k] = np.float32(value if value >= TINY else 0.0)


@fused_kernel
def _log_sum(values: Singles, first: int, n: int, expected: Singles) -> float:
    """``sum(values * log(expected))``

    The exponent is read off the bits of a number, and the logarithm of what remains, in
    [sqrt(1/2), sqrt(2)), is a series in z = (x - 1) / (x + 1), good to 2e-8 there: so
    the loop is vectorised, which a call of log would prevent.
    """
    total = 0.0
    for i in range(n):
        p = max(expected[i], SMALLEST)
        shifted = bits_of(p) - _ROOT_HALF
        exponent = shifted >> np.int32(23)
        x = float_of((shifted & np.int32(0x007FFFFF)) + _ROOT_HALF)
        z = (x - np.float32(1.0)) / (x + np.float32(1.0))
        z2 = z * z
        series = np.float32(0.4) + z2 * np.float32(0.2857142857)
        series = np.float32(0.6666666667) + z2 * series
        series = np.float32(2.0) + z2 * series
        log_p = np.float32(exponent) * np.float32(0.6931471806) + z * series
        total += np.float64(values[first + i] * log_p)
    return total


@fused_kernel
def _divide(values: Singles, first: int, n: int, expected: Singles, ratios: Singles) -> None:
    """``ratios[:n] = values / expected``"""
    for i in range(n):
        ratios[i] = values[first + i] / max(expected[i], SMALLEST)


@fused_kernel
def _narrow_pass(
    lanes: Lanes,
    indptr: Ints,
    columns: Ints,
    values: Singles,
    part: Part,
    left: Singles,
    right: Singles,
    out: Floats,
    fit: Floats,
) -> None:
    """`sparse_pass` for tables of one panel."""
    n_states = out.shape[1]
    stretch = np.empty(right.shape[1], np.float32)
    for r in range(part[0], part[1]):
        for k in range(n_states):
            out[r, k] = 0.0
        total = 0.0
        first, last = indptr[r], indptr[r + 1]
        while first < last:
            n = min(last - first, STRETCH)
            total += dots_and_sum(lanes, left[r], right, columns, values, first, n, stretch)
            for k in range(n_states):
                out[r, k] += stretch[k]
            first += n
        fit[r] = total


@fused_kernel
def _wide_pass(
    lanes: Lanes,
    indptr: Ints,
    columns: Ints,
    values: Singles,
    part: Part,
    left: Singles,
    right: Singles,
    out: Floats,
    fit: Floats,
) -> None:
    """`sparse_pass` for tables of several panels."""
    width = right.shape[1]
    n_states = out.shape[1]
    expected = np.zeros(STRETCH, np.float32)
    ratios = np.zeros(STRETCH, np.float32)
    stretch = np.empty(width, np.float32)
    spare_columns = np.zeros(GROUP, columns.dtype)
    spare_values = np.zeros(GROUP, np.float32)
    for r in range(part[0], part[1]):
        for k in range(n_states):
            out[r, k] = 0.0
        total = 0.0
        first, last = indptr[r], indptr[r + 1]
        while first < last:
            n = min(last - first, STRETCH)
            if n >= GROUP:
                n -= n % GROUP
                dots(lanes, left[r], right, columns, first, n, expected)
                total += _log_sum(values, first, n, expected)
                _divide(values, first, n, expected, ratios)
                weighted_sum(lanes, ratios, right, columns, first, n, stretch)
            else:  # the rest of a row is filled up with non-zeros of value 0
                for i in range(GROUP):
                    spare_columns[i] = columns[first + i] if i < n else columns[first]
                    spare_values[i] = values[first + i] if i < n else np.float32(0.0)
                dots(lanes, left[r], right, spare_columns, 0, GROUP, expected)
                total += _log_sum(spare_values, 0, GROUP, expected)
                _divide(spare_values, 0, GROUP, expected, ratios)
                weighted_sum(lanes, ratios, right, spare_columns, 0, GROUP, stretch)
            for k in range(n_states):
                out[r, k] += stretch[k]
            first += n
        fit[r] = total


def sparse_pass(
    lanes: Lanes,
    indptr: Ints,
    columns: Ints,
    values: Singles,
    part: Part,
    left: Singles,
    right: Singles,
    out: Floats,
    fit: Floats,
) -> None:
    """The pass described above, for the rows in ``part``; ``out`` (N, K) and ``fit`` (N,)."""
    run = _narrow_pass if right.shape[1] == WIDTH * len(lanes) else _wide_pass
    run(lanes, indptr, columns, values, part, left, right, out, fit)

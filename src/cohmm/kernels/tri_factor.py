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

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from cohmm.kernels.compiled import Floats, Ints, Lanes, Part, fused_kernel, vector_code

WIDTH = 16
STRETCH = 64
MOST_VECTORS = 8  # more states than 128 go through memory in panels of that width
SMALLEST = np.float32(1e-30)
TINY = 1e-18

Singles = NDArray[np.float32]

_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_SINGLES = ir.VectorType(ir.FloatType(), WIDTH)
_FUSED = ("contract",)
_GROUP = 8
_ROOT_HALF = np.int32(0x3F3504F3)  # the bits of sqrt(1/2)
_LINE = 16  # float32 in a cache line
_AHEAD = 16  # non-zeros


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


def table(values: Floats) -> Singles:
    """``values``, one row per symbol, as a padded float32 table.

    What is tiny becomes zero: products of such would be subnormal, and a hundred times slower.
    """
    out = np.zeros((len(values), table_width(values.shape[1])), np.float32)
    out[:, : values.shape[1]] = np.where(values < TINY, 0.0, values)
    return out


def _constant(value: int) -> Any:
    return ir.Constant(_INT64, value)


def _load(builder: Any, data: Any, offset: Any) -> Any:
    place = builder.bitcast(builder.gep(data, [offset]), _SINGLES.as_pointer())
    return builder.load(place, align=4)


def _store(builder: Any, value: Any, data: Any, offset: Any) -> None:
    place = builder.bitcast(builder.gep(data, [offset]), value.type.as_pointer())
    builder.store(value, place, align=4)


def _multiply_add(builder: Any, a: Any, b: Any, register: Any) -> None:
    product = builder.fmul(a, b, flags=_FUSED)
    builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)


def _shuffle(builder: Any, a: Any, b: Any, mask: list[int]) -> Any:
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(_INT32, len(mask)), mask))


def _prefetch(builder: Any, data: Any, offset: Any, width: int) -> None:
    """Ask for the cache lines of a row before they are needed."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
    function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    read, keep, is_data = (ir.Constant(_INT32, n) for n in (0, 3, 1))
    for line in range(0, width, _LINE):
        place = builder.gep(data, [builder.add(offset, _constant(line))])
        builder.call(function, [builder.bitcast(place, byte), read, keep, is_data])


def _loop(builder: Any, start: Any, stop: Any, step: int) -> Any:
    return cgutils.for_range_slice(builder, start, stop, _constant(step), inc=True)


def _sums_of(builder: Any, vectors: list[Any]) -> Any:
    """The sum of each of ``_GROUP`` vectors, in one: at each level, halves of two are added."""
    lanes = WIDTH  # that belong to one sum
    while len(vectors) > 1:
        low = [
            vector * WIDTH + first + lane
            for vector in range(2)
            for first in range(0, WIDTH, lanes)
            for lane in range(lanes // 2)
        ]
        high = [lane + lanes // 2 for lane in low]
        vectors = [
            builder.fadd(_shuffle(builder, a, b, low), _shuffle(builder, a, b, high))
            for a, b in zip(vectors[::2], vectors[1::2], strict=True)
        ]
        lanes //= 2
    [both] = vectors
    even = list(range(0, WIDTH, 2))
    odd = [lane + 1 for lane in even]
    return builder.fadd(_shuffle(builder, both, both, even), _shuffle(builder, both, both, odd))


@vector_code
def _dots(
    typing: Any, lanes: Any, row: Any, right: Any, columns: Any, first: Any, n: Any, out: Any
) -> Any:
    """``out[:n] = right[columns[first : first + n]] @ row``, n a multiple of `_GROUP`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_in, table_in, columns_in, out_in = (
            make_array(signature.args[a])(context, builder, args[a]) for a in (1, 2, 3, 6)
        )
        _, width = cgutils.unpack_tuple(builder, table_in.shape)
        [n_columns] = cgutils.unpack_tuple(builder, columns_in.shape)
        last = builder.sub(n_columns, _constant(1))
        sums = [cgutils.alloca_once(builder, _SINGLES) for _ in range(_GROUP)]

        def row_at(position: Any) -> Any:
            column = builder.load(builder.gep(columns_in.data, [position]))
            return builder.mul(builder.sext(column, _INT64), width)

        with _loop(builder, _constant(0), args[5], _GROUP) as (i, _):
            rows = []
            for g in range(_GROUP):
                builder.store(ir.Constant(_SINGLES, [0.0] * WIDTH), sums[g])
                at = builder.add(builder.add(args[4], i), _constant(g))
                rows.append(row_at(at))
                ahead = builder.add(at, _constant(_AHEAD))
                inside = builder.icmp_signed("<", ahead, last)
                ahead = builder.select(inside, ahead, last)
                _prefetch(builder, table_in.data, row_at(ahead), WIDTH * lanes.count)
            with _loop(builder, _constant(0), width, WIDTH * lanes.count) as (panel, _):
                for vector in range(lanes.count):
                    offset = builder.add(panel, _constant(vector * WIDTH))
                    factor = _load(builder, row_in.data, offset)
                    for g in range(_GROUP):
                        entries = _load(builder, table_in.data, builder.add(rows[g], offset))
                        _multiply_add(builder, factor, entries, sums[g])
            totals = _sums_of(builder, [builder.load(register) for register in sums])
            _store(builder, totals, out_in.data, i)
        return context.get_dummy_value()

    return types.void(lanes, row, right, columns, types.int64, types.int64, out), codegen


@vector_code
def _weighted_sum(
    typing: Any, lanes: Any, factors: Any, right: Any, columns: Any, first: Any, n: Any, out: Any
) -> Any:
    """``out[:] = factors[:n] @ right[columns[first : first + n]]``, n a multiple of `_GROUP`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factors_in, table_in, columns_in, out_in = (
            make_array(signature.args[a])(context, builder, args[a]) for a in (1, 2, 3, 6)
        )
        _, width = cgutils.unpack_tuple(builder, table_in.shape)
        chains = 4 if lanes.count <= 4 else 2  # sums that need not wait; they divide _GROUP
        sums = [
            [cgutils.alloca_once(builder, _SINGLES) for _ in range(lanes.count)]
            for _ in range(chains)
        ]
        zeros = ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH)
        undefined = ir.Constant(_SINGLES, ir.Undefined)
        with _loop(builder, _constant(0), width, WIDTH * lanes.count) as (panel, _):
            for chain in sums:
                for register in chain:
                    builder.store(ir.Constant(_SINGLES, [0.0] * WIDTH), register)
            with _loop(builder, _constant(0), args[5], chains) as (i, _):
                for c, chain in enumerate(sums):
                    here = builder.add(i, _constant(c))
                    scalar = builder.load(builder.gep(factors_in.data, [here]))
                    single = builder.insert_element(undefined, scalar, ir.Constant(_INT32, 0))
                    factor = builder.shuffle_vector(single, undefined, zeros)
                    at = builder.add(args[4], here)
                    column = builder.load(builder.gep(columns_in.data, [at]))
                    base = builder.add(builder.mul(builder.sext(column, _INT64), width), panel)
                    for vector, register in enumerate(chain):
                        offset = builder.add(base, _constant(vector * WIDTH))
                        _multiply_add(
                            builder, factor, _load(builder, table_in.data, offset), register
                        )
            for vector in range(lanes.count):
                total = builder.load(sums[0][vector])
                for chain in sums[1:]:
                    total = builder.fadd(total, builder.load(chain[vector]))
                _store(builder, total, out_in.data, builder.add(panel, _constant(vector * WIDTH)))
        return context.get_dummy_value()

    return types.void(lanes, factors, right, columns, types.int64, types.int64, out), codegen


@vector_code
def _bits_of(typing: Any, number: Any) -> Any:
    """The bits of a float32, as an int32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _INT32)

    return types.int32(types.float32), codegen


@vector_code
def _float_of(typing: Any, bits: Any) -> Any:
    """The float32 with the bits of an int32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen


@fused_kernel
def _divide(values: Singles, first: int, n: int, expected: Singles, ratios: Singles) -> float:
    """``ratios[:n] = values / expected``; returns ``sum(values * log(expected))``.

    The exponent is read off the bits of a number, and the logarithm of what remains, in
    [sqrt(1/2), sqrt(2)), is a series in z = (x - 1) / (x + 1), good to 2e-8 there: so
    the loop is vectorised, which a call of log would prevent.
    """
    total = 0.0
    for i in range(n):
        p = max(expected[i], SMALLEST)
        value = values[first + i]
        ratios[i] = value / p
        shifted = _bits_of(p) - _ROOT_HALF
        exponent = shifted >> np.int32(23)
        x = _float_of((shifted & np.int32(0x007FFFFF)) + _ROOT_HALF)
        z = (x - np.float32(1.0)) / (x + np.float32(1.0))
        z2 = z * z
        series = np.float32(0.4) + z2 * np.float32(0.2857142857)
        series = np.float32(0.6666666667) + z2 * series
        series = np.float32(2.0) + z2 * series
        total += np.float64(value * (np.float32(exponent) * np.float32(0.6931471806) + z * series))
    return total


@fused_kernel
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
    width = right.shape[1]
    n_states = out.shape[1]
    expected = np.zeros(STRETCH, np.float32)
    ratios = np.zeros(STRETCH, np.float32)
    stretch = np.empty(width, np.float32)
    spare_columns = np.zeros(_GROUP, columns.dtype)
    spare_values = np.zeros(_GROUP, np.float32)
    for r in range(part[0], part[1]):
        for k in range(n_states):
            out[r, k] = 0.0
        total = 0.0
        first, last = indptr[r], indptr[r + 1]
        while first < last:
            n = min(last - first, STRETCH)
            if n >= _GROUP:
                n -= n % _GROUP
                _dots(lanes, left[r], right, columns, first, n, expected)
                total += _divide(values, first, n, expected, ratios)
                _weighted_sum(lanes, ratios, right, columns, first, n, stretch)
            else:  # the rest of a row is filled up with non-zeros of value 0
                for i in range(_GROUP):
                    spare_columns[i] = columns[first + i] if i < n else columns[first]
                    spare_values[i] = values[first + i] if i < n else np.float32(0.0)
                _dots(lanes, left[r], right, spare_columns, 0, _GROUP, expected)
                total += _divide(spare_values, 0, _GROUP, expected, ratios)
                _weighted_sum(lanes, ratios, right, spare_columns, 0, _GROUP, stretch)
            for k in range(n_states):
                out[r, k] += stretch[k]
            first += n
        fit[r] = total

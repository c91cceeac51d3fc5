"""Vector code of the pass over non-zeros: dot products with rows of a table, and sums of rows.

Tables are float32, as in `cohmm.kernels.tri_factor`; ``lanes`` is a tuple whose length is the
number of vectors in a panel of columns, so that it is known when the code is compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array

from cohmm.kernels.compiled import vector_code
from cohmm.kernels.simd import add as add_up
from cohmm.kernels.simd import over_elements

WIDTH = 16
GROUP = 8  # non-zeros at a time
SMALLEST = np.float32(1e-30)

_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_SINGLES = ir.VectorType(ir.FloatType(), WIDTH)
_FUSED = ("contract",)
_LINE = 16  # float32 in a cache line
_AHEAD = 16  # non-zeros
FEW_VECTORS = 5  # in a row: of more, fewer rows go together
ROOT_HALF = 0x3F3504F3  # the bits of sqrt(1/2)


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
    """The sum of each of several vectors, in one: at each level, halves of two are added.

    Their number is a power of two, up to `WIDTH`.
    """
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
    while lanes > 1:
        low = [
            first + lane for first in range(0, both.type.count, lanes) for lane in range(lanes // 2)
        ]
        high = [lane + lanes // 2 for lane in low]
        both = builder.fadd(_shuffle(builder, both, both, low), _shuffle(builder, both, both, high))
        lanes //= 2
    return both


@vector_code
def dots(
    typing: Any, lanes: Any, row: Any, right: Any, columns: Any, first: Any, n: Any, out: Any
) -> Any:
    """``out[:n] = right[columns[first : first + n]] @ row``, n a multiple of `GROUP`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_in, table_in, columns_in, out_in = (
            make_array(signature.args[a])(context, builder, args[a]) for a in (1, 2, 3, 6)
        )
        _, width = cgutils.unpack_tuple(builder, table_in.shape)
        [n_columns] = cgutils.unpack_tuple(builder, columns_in.shape)
        last = builder.sub(n_columns, _constant(1))
        sums = [cgutils.alloca_once(builder, _SINGLES) for _ in range(GROUP)]

        def row_at(position: Any) -> Any:
            column = builder.load(builder.gep(columns_in.data, [position]))
            return builder.mul(builder.sext(column, _INT64), width)

        with _loop(builder, _constant(0), args[5], GROUP) as (i, _):
            rows = []
            for g in range(GROUP):
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
                    for g in range(GROUP):
                        entries = _load(builder, table_in.data, builder.add(rows[g], offset))
                        _multiply_add(builder, factor, entries, sums[g])
            totals = _sums_of(builder, [builder.load(register) for register in sums])
            _store(builder, totals, out_in.data, i)
        return context.get_dummy_value()

    return types.void(lanes, row, right, columns, types.int64, types.int64, out), codegen


@vector_code
def weighted_sum(
    typing: Any, lanes: Any, factors: Any, right: Any, columns: Any, first: Any, n: Any, out: Any
) -> Any:
    """``out[:] = factors[:n] @ right[columns[first : first + n]]``, n a multiple of `GROUP`."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        factors_in, table_in, columns_in, out_in = (
            make_array(signature.args[a])(context, builder, args[a]) for a in (1, 2, 3, 6)
        )
        _, width = cgutils.unpack_tuple(builder, table_in.shape)
        chains = 4 if lanes.count <= 4 else 2  # sums that need not wait; they divide GROUP
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


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _logarithms(builder: Any, p: Any) -> Any:
    """Those of a vector of numbers above zero.

    The exponent is read off the bits of a number, and the logarithm of what remains, in
    [sqrt(1/2), sqrt(2)), is a series in z = (x - 1) / (x + 1), good to 2e-8 there.
    """
    whole = ir.VectorType(_INT32, p.type.count)

    def same(value: float) -> Any:
        return ir.Constant(p.type, [float(np.float32(value))] * p.type.count)

    def times_plus(a: Any, b: Any, c: Any) -> Any:
        return builder.fadd(builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)

    root = ir.Constant(whole, [ROOT_HALF] * p.type.count)
    bits = ir.Constant(whole, [23] * p.type.count)
    fraction = ir.Constant(whole, [0x007FFFFF] * p.type.count)
    shifted = builder.sub(builder.bitcast(p, whole), root)
    exponent = builder.sitofp(builder.ashr(shifted, bits), p.type)
    x = builder.bitcast(builder.add(builder.and_(shifted, fraction), root), p.type)
    z = builder.fdiv(builder.fsub(x, same(1)), builder.fadd(x, same(1)))
    z2 = builder.fmul(z, z)
    series = times_plus(z2, same(2 / 7), same(2 / 5))
    series = times_plus(z2, series, same(2 / 3))
    series = times_plus(z2, series, same(2))
    return times_plus(exponent, same(np.log(2)), builder.fmul(z, series))


@vector_code
def dots_and_sum(
    typing: Any, lanes: Any, row: Any, right: Any, columns: Any, values: Any, first: Any, n: Any,
    out: Any,
) -> Any:  # fmt: skip
    """``p = right[c] @ row; out[:] = (v / p) @ right[c]; return v @ log(p)``.

    c are ``columns[first : first + n]``, and v the same of ``values``; the table has one panel.

    Rows are still in the nearest cache when they are needed again, sums stay in registers, and
    logarithms are found while rows are waited for.  So few non-zeros go together that all rows
    and sums have registers; the last ones are filled up with non-zeros of value 0.
    """
    group = 4 if lanes.count <= FEW_VECTORS else 2
    numbers = ir.VectorType(ir.FloatType(), group)
    wide = ir.VectorType(ir.DoubleType(), group)
    width = WIDTH * lanes.count

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_in, table_in, columns_in, values_in, out_in = (
            make_array(signature.args[a])(context, builder, args[a]) for a in (1, 2, 3, 4, 7)
        )
        begin, count = args[5], args[6]
        [n_columns] = cgutils.unpack_tuple(builder, columns_in.shape)
        end = builder.sub(n_columns, _constant(1))
        left = [_load(builder, row_in.data, _constant(v * WIDTH)) for v in range(lanes.count)]
        sums = [
            cgutils.alloca_once_value(builder, ir.Constant(_SINGLES, [0.0] * WIDTH))
            for _ in range(lanes.count)
        ]
        logs = cgutils.alloca_once_value(builder, ir.Constant(wide, [0.0] * group))

        def row_at(place: Any) -> Any:
            column = builder.load(builder.gep(columns_in.data, [place]))
            return builder.mul(builder.sext(column, _INT64), _constant(width))

        def entry(base: Any, v: int) -> Any:
            return _load(builder, table_in.data, builder.add(base, _constant(v * WIDTH)))

        def add(rows: list[Any], observed: Any) -> None:
            dots = [builder.fmul(left[0], entry(base, 0)) for base in rows]
            for v in range(1, lanes.count):
                for g, base in enumerate(rows):
                    product = builder.fmul(left[v], entry(base, v), flags=_FUSED)
                    dots[g] = builder.fadd(product, dots[g], flags=_FUSED)
            expected = _sums_of(builder, dots)
            smallest = ir.Constant(numbers, [float(SMALLEST)] * group)
            enough = builder.fcmp_ordered(">", expected, smallest)
            expected = builder.select(enough, expected, smallest)
            gained = builder.fmul(observed, _logarithms(builder, expected))
            builder.store(builder.fadd(builder.load(logs), builder.fpext(gained, wide)), logs)
            ratios = builder.fdiv(observed, expected)
            for g, base in enumerate(rows):
                ratio = _shuffle(builder, ratios, ratios, [g] * WIDTH)
                for v, register in enumerate(sums):
                    _multiply_add(builder, ratio, entry(base, v), register)

        whole = builder.and_(count, _constant(-group))
        with _loop(builder, _constant(0), whole, group) as (i, _):
            at = builder.add(begin, i)
            places = [builder.add(at, _constant(g)) for g in range(group)]
            for place in places:
                ahead = _smaller(builder, builder.add(place, _constant(_AHEAD)), end)
                _prefetch(builder, table_in.data, row_at(ahead), width)
            place = builder.bitcast(builder.gep(values_in.data, [at]), numbers.as_pointer())
            add([row_at(place) for place in places], builder.load(place, align=4))
        with builder.if_then(builder.icmp_signed("<", whole, count)):
            last = builder.sub(builder.add(begin, count), _constant(1))
            rows, observed = [], ir.Constant(numbers, [0.0] * group)
            for g in range(group):
                wanted = builder.add(builder.add(begin, whole), _constant(g))
                place = _smaller(builder, wanted, last)
                rows.append(row_at(place))
                value = builder.load(builder.gep(values_in.data, [place]))
                is_there = builder.icmp_signed("<=", wanted, last)
                value = builder.select(is_there, value, ir.Constant(ir.FloatType(), 0.0))
                observed = builder.insert_element(observed, value, ir.Constant(_INT32, g))
            add(rows, observed)
        for v, register in enumerate(sums):
            _store(builder, builder.load(register), out_in.data, _constant(v * WIDTH))
        return over_elements(builder, builder.load(logs), add_up)

    whole_number = types.int64
    kinds = (lanes, row, right, columns, values, whole_number, whole_number, out)
    return types.float64(*kinds), codegen


@vector_code
def bits_of(typing: Any, number: Any) -> Any:
    """The bits of a float32, as an int32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], _INT32)

    return types.int32(types.float32), codegen


@vector_code
def float_of(typing: Any, bits: Any) -> Any:
    """The float32 with the bits of an int32."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.FloatType())

    return types.float32(types.int32), codegen

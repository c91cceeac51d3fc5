"""Steps of a recursion for eight blocks side by side: a *gang*.

A single row of K numbers that meets a K x K matrix leaves the processor waiting: product,
sum, division and scaling come one after the other.  Eight rows from eight blocks of the data
make it a small matrix product, whose tile of 8 rows by up to 24 columns stays in registers.

The rows of a gang are an array (steps, `GANG`, W), W as `simd.padded` says; what is in the
padding stays zero, or minus infinity for logarithms.  ``table`` has one row per symbol, and
``index``, (`GANG`, steps), says which row each block meets in step k.  A call takes the steps k in
[first, last) until one of them asks for attention, and returns how many it took, negative where
the last one asks: between steps nothing is left to do outside.  Nothing here is compiled anew for
another K.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from cohmm.kernels import simd
from cohmm.kernels.compiled import vector_code
from cohmm.kernels.simd import LANE, constant
from cohmm.kernels.tiles import AVX512, GANG, Step, over_steps, over_tiles, tile_of

LOOK = 4  # steps after which rows are scaled
LOWEST_TOTAL = 1e-60  # a row that sums to less after them is rescaled at once
LOWEST_PRODUCT = 1e-200  # totals are multiplied up to here before one logarithm is taken
LOWEST_SCORE = -512.0  # above it, differences of scores stay exact
HIGHEST = 1e290  # of a backward row: what comes near it has been lost by underflow before
# Of a tile of outer products: by fours nothing is wasted on 20 states, but with one vector per row
# four sums would wait for each other.
OUTER_ROWS = 4 if AVX512 else 8
_WHOLE = types.int64


def _next_in_ring(builder: Any, rows: Any, place: Any) -> Any:
    after = builder.add(place, constant(1))
    ring = simd.shape_of(builder, rows)[0]
    return builder.select(builder.icmp_signed("==", after, ring), constant(0), after)


def _row_of(builder: Any, array: Any, place: Any) -> Any:
    """Where ``array[place]`` begins, or its last row, of an array with `GANG` columns."""
    last = builder.sub(simd.shape_of(builder, array)[0], constant(1))
    return builder.mul(simd.smaller(builder, place, last), constant(GANG))


def _is_looked_at(builder: Any, k: Any, last: Any) -> Any:
    """Whether step k is one after which rows are added up: every fourth, and the last."""
    fourth = builder.icmp_signed("==", builder.and_(k, constant(LOOK - 1)), constant(LOOK - 1))
    return builder.or_(fourth, builder.icmp_signed("==", builder.add(k, constant(1)), last))


def _over_states(builder: Any, step: Step, base: Any, nothing: float, combine: Any) -> Any:
    """``combine`` over the states of each block's row, the rows beginning at ``base``."""
    totals = [cgutils.alloca_once(builder, simd.DOUBLES) for _ in range(GANG)]
    for total in totals:
        builder.store(simd.doubles(nothing), total)
    columns = cgutils.for_range_slice(builder, constant(0), step.width, constant(LANE), inc=True)
    with columns as (column, _):
        for b, total in enumerate(totals):
            value = simd.load(builder, step.rows.data, builder.add(step.row(base, b), column))
            builder.store(combine(builder, builder.load(total), value), total)
    return simd.reduced(builder, [builder.load(total) for total in totals], combine)


@vector_code
def ask_for(typing: Any, array: Any, place: Any) -> Any:
    """Ask for the cache line of ``array[place]``, which need not exist."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (array_,) = simd.arrays(context, builder, signature, args, 0)
        simd.prefetch(builder, array_.data, args[1])
        return context.get_dummy_value()

    return types.void(array, _WHOLE), codegen


@vector_code
def filter_steps(
    typing: Any, matrix: Any, rows: Any, place: Any, table: Any, index: Any, first: Any, last: Any,
    t: Any, scales: Any, factors: Any, totals: Any, product: Any,
) -> Any:  # fmt: skip
    """``rows[place + 1] = (rows[place] @ matrix) * table[index[:, k]] * scales``, step by step.

    ``place`` goes round in ``rows``.  After every fourth step, and the last, ``totals`` are the
    sums of the new rows, ``scales`` become their reciprocals, for the next step, and ``product`` is
    multiplied by them; after the others ``scales`` are ones.  ``factors[t + k]``, or the last row
    of ``factors``, takes the scales of the step.  A step asks for attention where a total or a
    product has become too low: ``scales`` and ``product`` are then left as they were.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, scales_, factors_, totals_, product_ = simd.arrays(
            context, builder, signature, args, 0, 1, 3, 4, 8, 9, 10, 11
        )
        here, low = (cgutils.alloca_once(builder, kind) for kind in (simd.INT64, ir.IntType(1)))
        builder.store(args[2], here)

        def one_step(k: Any) -> Any:
            place = builder.load(here)
            after = _next_in_ring(builder, rows_, place)
            builder.store(after, here)
            step = Step(builder, matrix_, rows_, place)
            base = step.offset(after)
            now = simd.load(builder, scales_.data, constant(0))
            to = _row_of(builder, factors_, builder.add(args[7], k))
            simd.store(builder, now, factors_.data, to)

            def finish(b: int, vectors: list[Any], columns: list[Any]) -> None:
                likely = step.table_row(index_, k, b)
                scale = step.number(scales_, constant(0), b)
                for vector, column in zip(vectors, columns, strict=True):
                    width = vector.type.count
                    at = builder.add(likely, column)
                    value = builder.fmul(vector, simd.load(builder, table_.data, at, width))
                    value = builder.fmul(value, simd.splat(builder, scale, width))
                    simd.store(builder, value, rows_.data, builder.add(step.row(base, b), column))

            step.product(simd.multiply_add, 0.0, finish)
            with builder.if_else(_is_looked_at(builder, k, args[6])) as (looked_at, passed_over):
                with looked_at:
                    total = _over_states(builder, step, base, 0.0, simd.add)
                    products = builder.fmul(simd.load(builder, product_.data, constant(0)), total)
                    simd.store(builder, total, totals_.data, constant(0))
                    too_low = builder.or_(
                        builder.fcmp_unordered("<", total, simd.doubles(LOWEST_TOTAL)),
                        builder.fcmp_unordered("<", products, simd.doubles(LOWEST_PRODUCT)),
                    )
                    too_low = simd.any_of(builder, too_low)
                    builder.store(too_low, low)
                    with builder.if_then(builder.not_(too_low), likely=True):
                        inverse = builder.fdiv(simd.doubles(1.0), total)
                        simd.store(builder, inverse, scales_.data, constant(0))
                        simd.store(builder, products, product_.data, constant(0))
                with passed_over:
                    simd.store(builder, simd.doubles(1.0), scales_.data, constant(0))
                    builder.store(ir.Constant(ir.IntType(1), 0), low)
            return builder.load(low)

        return over_steps(builder, args[5], args[6], one_step)

    kinds = (matrix, rows, _WHOLE, table, index, _WHOLE, _WHOLE, _WHOLE)
    return _WHOLE(*kinds, scales, factors, totals, product), codegen


@vector_code
def smooth_steps(
    typing: Any, matrix: Any, rows: Any, table: Any, index: Any, first: Any, last: Any, t: Any,
    factors: Any, filtered: Any, sums: Any, into: Any,
) -> Any:  # fmt: skip
    """``b = rows[k + 1] @ matrix; rows[k] = b * table[index[:, t + k]] * factors[t + k]``, down.

    Row ``into[:, t + k]`` of ``sums`` grows by ``b * filtered[t + k + 1]``.  A step asks for
    attention where something in b has become larger than `HIGHEST`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, factors_, filtered_, sums_, into_ = simd.arrays(
            context, builder, signature, args, 0, 1, 2, 3, 7, 8, 9, 10
        )
        highest = cgutils.alloca_once(builder, simd.DOUBLES)

        def one_step(k: Any) -> Any:
            step = Step(builder, matrix_, rows_, builder.add(k, constant(1)))
            when = builder.add(args[6], k)
            base, past = step.offset(k), step.offset(builder.add(when, constant(1)))
            builder.store(simd.doubles(0.0), highest)

            def finish(b: int, vectors: list[Any], columns: list[Any]) -> None:
                likely, grown = (step.table_row(which, when, b) for which in (index_, into_))
                scale = step.number(factors_, when, b)
                out, before = step.row(base, b), step.row(past, b)
                for vector, column in zip(vectors, columns, strict=True):
                    width = vector.type.count
                    at, to, alpha_at, emitted = (
                        builder.add(row, column) for row in (out, grown, before, likely)
                    )
                    emission = simd.load(builder, table_.data, emitted, width)
                    factor = builder.fmul(emission, simd.splat(builder, scale, width))
                    simd.store(builder, builder.fmul(vector, factor), rows_.data, at)
                    alpha = simd.load(builder, filtered_.data, alpha_at, width)
                    total = simd.load(builder, sums_.data, to, width)
                    total = simd.multiply_add(builder, alpha, vector, total)
                    simd.store(builder, total, sums_.data, to)
                for vector in vectors:
                    largest = simd.full_width(builder, vector, 0.0)
                    builder.store(simd.larger(builder, largest, builder.load(highest)), highest)

            step.product(simd.multiply_add, 0.0, finish)
            return simd.any_of(
                builder,
                builder.fcmp_unordered(">", builder.load(highest), simd.doubles(HIGHEST)),
            )

        return over_steps(builder, args[4], args[5], one_step, down=True)

    kinds = (matrix, rows, table, index, _WHOLE, _WHOLE, _WHOLE, factors, filtered, sums, into)
    return _WHOLE(*kinds), codegen


@vector_code
def score_steps(
    typing: Any, matrix: Any, rows: Any, place: Any, table: Any, index: Any, first: Any, last: Any,
    tops: Any, one: Any,
) -> Any:  # fmt: skip
    """``rows[place + 1] = max_i(rows[place][i] + matrix[i]) + table[index[:, k]]``, step by step.

    ``place`` goes round in ``rows``; after every fourth step, and the last, ``tops`` are the
    largest of the new rows.  The step asks for attention where one of them is below `LOWEST_SCORE`.
    ``one``, (1,), is 1.0, in a way that the compiler cannot know: additions and maxima wait for
    the same units of some processors, multiplications do not, and ``row * one + matrix`` is
    exactly the sum.  It is read from memory so that it need not be kept beside the accumulators.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, tops_, one_ = simd.arrays(
            context, builder, signature, args, 0, 1, 3, 4, 7, 8
        )
        nothing = float("-inf")
        here = cgutils.alloca_once(builder, simd.INT64)
        builder.store(args[2], here)
        low = cgutils.alloca_once(builder, ir.IntType(1))

        def better(builder: Any, score: Any, entry: Any, best: Any) -> Any:
            if AVX512:
                one = builder.load(one_.data)
                same = simd.splat(builder, one, entry.type.count)
                return simd.larger(builder, simd.one_rounding(builder, score, same, entry), best)
            return simd.larger(builder, builder.fadd(score, entry), best)

        def one_step(k: Any) -> Any:
            place = builder.load(here)
            after = _next_in_ring(builder, rows_, place)
            builder.store(after, here)
            step = Step(builder, matrix_, rows_, place)
            base = step.offset(after)

            def finish(b: int, vectors: list[Any], columns: list[Any]) -> None:
                likely = step.table_row(index_, k, b)
                for vector, column in zip(vectors, columns, strict=True):
                    at = builder.add(likely, column)
                    entry = simd.load(builder, table_.data, at, vector.type.count)
                    value = builder.fadd(vector, entry)
                    simd.store(builder, value, rows_.data, builder.add(step.row(base, b), column))

            step.product(better, nothing, finish)
            builder.store(ir.Constant(ir.IntType(1), 0), low)
            with builder.if_then(_is_looked_at(builder, k, args[6])):
                tops = _over_states(builder, step, base, nothing, simd.larger)
                simd.store(builder, tops, tops_.data, constant(0))
                below = builder.fcmp_unordered("<", tops, simd.doubles(LOWEST_SCORE))
                builder.store(simd.any_of(builder, below), low)
            return builder.load(low)

        return over_steps(builder, args[5], args[6], one_step)

    kinds = (matrix, rows, _WHOLE, table, index, _WHOLE, _WHOLE, tops, one)
    return _WHOLE(*kinds), codegen


@vector_code
def add_outer_products(
    typing: Any, left: Any, first: Any, right: Any, n: Any, n_states: Any, total: Any
) -> Any:
    """``total += sum(outer(left[first + t, b], right[t, b]))`` over t < n and b.

    ``total`` is (W, W); what it has beyond the last state grows by zeros.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left_, right_, total_ = simd.arrays(context, builder, signature, args, 0, 2, 5)
        _, width = simd.shape_of(builder, total_)
        steps = builder.mul(args[3], constant(GANG))
        base = builder.mul(args[1], builder.mul(width, constant(GANG)))

        def body(column: Any, widths: list[int]) -> None:
            starts = [constant(sum(widths[:v])) for v in range(len(widths))]

            def entries(step: Any) -> list[Any]:
                here = builder.add(builder.mul(step, width), column)
                return [
                    simd.load(builder, right_.data, builder.add(here, start), size)
                    for start, size in zip(starts, widths, strict=True)
                ]

            rows = cgutils.for_range_slice(
                builder, constant(0), args[4], constant(OUTER_ROWS), inc=True
            )
            with rows as (row, _):

                def factor(b: int, step: Any) -> Any:
                    at = builder.add(base, builder.add(builder.mul(step, width), row))
                    return builder.load(builder.gep(left_.data, [builder.add(at, constant(b))]))

                tile = tile_of(
                    builder, OUTER_ROWS, steps, widths, entries, factor, simd.multiply_add, 0.0
                )
                for b, vectors in enumerate(tile):
                    at = builder.mul(builder.add(row, constant(b)), width)
                    for vector, start in zip(vectors, starts, strict=True):
                        to = builder.add(builder.add(at, column), start)
                        before = simd.load(builder, total_.data, to, vector.type.count)
                        simd.store(builder, builder.fadd(before, vector), total_.data, to)

        over_tiles(builder, args[4], body)
        return context.get_dummy_value()

    kinds = (left, types.int64, right, types.int64, types.int64, total)
    return types.void(*kinds), codegen

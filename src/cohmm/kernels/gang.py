"""One step of a recursion for eight blocks side by side: a *gang*.

A single row of K numbers that meets a K x K matrix leaves the processor waiting: product,
sum, division and scaling come one after the other.  Eight rows from eight blocks of the data
make it a small matrix product, whose tile of 8 rows by up to 24 columns stays in registers.

The rows of a gang are an array (steps, `GANG`, W), W as `simd.padded` says; what is in the
padding stays zero, or minus infinity for logarithms.  A ``place`` is an index into the first
axis.  ``table`` has one row per symbol, and ``index``, (`GANG`,), says which row each block
meets.  Nothing here is compiled anew for another K.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from cohmm.kernels import simd
from cohmm.kernels.compiled import vector_code
from cohmm.kernels.simd import LANE, constant
from cohmm.kernels.tiles import AVX512, GANG, Step, over_tiles, tile_of

LOWEST_TOTAL = 1e-6  # a row that sums to less is rescaled at once
LOWEST_PRODUCT = 1e-250  # factors are multiplied up to here before one logarithm is taken
LOWEST_SCORE = -512.0  # above it, differences of scores stay exact
HIGHEST = 1e290  # of a backward row: what comes near it has been lost by underflow before


def _smaller(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


@vector_code
def filter_step(
    typing: Any, matrix: Any, rows: Any, place: Any, table: Any, index: Any, scales: Any,
    out: Any, after: Any, totals: Any, product: Any,
) -> Any:  # fmt: skip
    """``out[after] = (rows[place] @ matrix) * table[index] * scales`` and its ``totals``.

    ``scales`` become the reciprocals of the totals, for the next step, and ``product`` is
    multiplied by them.  Returns whether a total or a product has become too low: ``scales`` and
    ``product`` are then left as they were.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, scales_, out_, totals_, product_ = simd.arrays(
            context, builder, signature, args, 0, 1, 3, 4, 5, 6, 8, 9
        )
        step = Step(builder, matrix_, rows_, args[2])
        base = step.offset(args[7])
        sums = [cgutils.alloca_once_value(builder, simd.doubles(0.0)) for _ in range(GANG)]
        likely = [step.table_row(index_, b) for b in range(GANG)]
        scale = step.scalars(scales_)

        def finish(b: int, vector: Any, column: Any) -> None:
            width = vector.type.count
            emission = simd.load(builder, table_.data, builder.add(likely[b], column), width)
            value = builder.fmul(emission, simd.splat(builder, scale[b], width))
            value = builder.fmul(vector, value)
            simd.store(builder, value, out_.data, builder.add(step.row(base, b), column))
            value = simd.full_width(builder, value, 0.0)
            builder.store(builder.fadd(builder.load(sums[b]), value), sums[b])

        step.product(simd.multiply_add, 0.0, finish)
        totals = simd.reduced(builder, [builder.load(s) for s in sums], simd.add)
        products = builder.fmul(simd.load(builder, product_.data, constant(0)), totals)
        simd.store(builder, totals, totals_.data, constant(0))
        low = builder.or_(
            builder.fcmp_unordered("<", totals, simd.doubles(LOWEST_TOTAL)),
            builder.fcmp_unordered("<", products, simd.doubles(LOWEST_PRODUCT)),
        )
        low = simd.any_of(builder, low)
        with builder.if_then(builder.not_(low)):
            inverse = builder.fdiv(simd.doubles(1.0), totals)
            simd.store(builder, inverse, scales_.data, constant(0))
            simd.store(builder, products, product_.data, constant(0))
        return low

    place, after = types.int64, types.int64
    return types.boolean(
        matrix, rows, place, table, index, scales, out, after, totals, product
    ), codegen


@vector_code
def smooth_step(
    typing: Any, matrix: Any, rows: Any, place: Any, table: Any, index: Any, scales: Any,
    out: Any, after: Any, filtered: Any, here: Any, sums: Any, into: Any, weights: Any,
) -> Any:  # fmt: skip
    """``b = rows[place] @ matrix; out[after] = b * table[index] * scales[here]``.

    Row ``into[block]`` of ``sums`` grows by ``weights * b * filtered[here + 1]``.  Returns whether
    something in b has become larger than `HIGHEST`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, scales_, out_, filtered_, sums_, into_, weights_ = (
            simd.arrays(context, builder, signature, args, 0, 1, 3, 4, 5, 6, 8, 10, 11, 12)
        )
        step = Step(builder, matrix_, rows_, args[2])
        base, past = step.offset(args[7]), step.offset(builder.add(args[9], constant(1)))
        highest = cgutils.alloca_once_value(builder, simd.doubles(0.0))
        likely, grown = (
            [step.table_row(which, b) for b in range(GANG)] for which in (index_, into_)
        )
        scale, weight = step.scalars(scales_, args[9]), step.scalars(weights_)

        def finish(b: int, vector: Any, column: Any) -> None:
            width = vector.type.count
            at, to, before, emitted = (
                builder.add(row, column)
                for row in (step.row(base, b), grown[b], step.row(past, b), likely[b])
            )
            emission = simd.load(builder, table_.data, emitted, width)
            factor = builder.fmul(emission, simd.splat(builder, scale[b], width))
            simd.store(builder, builder.fmul(vector, factor), out_.data, at)
            alpha = simd.load(builder, filtered_.data, before, width)
            alpha = builder.fmul(alpha, simd.splat(builder, weight[b], width))
            total = simd.load(builder, sums_.data, to, width)
            simd.store(builder, simd.multiply_add(builder, alpha, vector, total), sums_.data, to)
            vector = simd.full_width(builder, vector, 0.0)
            builder.store(simd.larger(builder, vector, builder.load(highest)), highest)

        step.product(simd.multiply_add, 0.0, finish)
        return simd.any_of(
            builder,
            builder.fcmp_unordered(">", builder.load(highest), simd.doubles(HIGHEST)),
        )

    place, after, here = types.int64, types.int64, types.int64
    return types.boolean(
        matrix, rows, place, table, index, scales, out, after, filtered, here, sums, into, weights
    ), codegen


@vector_code
def score_step(
    typing: Any, matrix: Any, rows: Any, place: Any, table: Any, index: Any, out: Any,
    after: Any, tops: Any, one: Any,
) -> Any:  # fmt: skip
    """``out[after] = max_i(rows[place][i] + matrix[i]) + table[index]``, ``tops`` its largest.

    Returns whether one of the largest is below `LOWEST_SCORE`.  ``one`` is 1.0, in a way that
    the compiler cannot know: additions and maxima wait for the same units of some processors,
    multiplications do not, and ``row * one + matrix`` is exactly the sum.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        matrix_, rows_, table_, index_, out_, tops_ = simd.arrays(
            context, builder, signature, args, 0, 1, 3, 4, 5, 7
        )
        step = Step(builder, matrix_, rows_, args[2])
        base = step.offset(args[6])
        nothing = float("-inf")
        best = [cgutils.alloca_once_value(builder, simd.doubles(nothing)) for _ in range(GANG)]
        likely = [step.table_row(index_, b) for b in range(GANG)]

        def finish(b: int, vector: Any, column: Any) -> None:
            width = vector.type.count
            entry = simd.load(builder, table_.data, builder.add(likely[b], column), width)
            value = builder.fadd(vector, entry)
            simd.store(builder, value, out_.data, builder.add(step.row(base, b), column))
            value = simd.full_width(builder, value, nothing)
            builder.store(simd.larger(builder, value, builder.load(best[b])), best[b])

        def better(builder: Any, score: Any, entry: Any, best: Any) -> Any:
            if AVX512:
                same = simd.splat(builder, args[8], entry.type.count)
                return simd.larger(builder, simd.one_rounding(builder, score, same, entry), best)
            return simd.larger(builder, builder.fadd(score, entry), best)

        step.product(better, nothing, finish)
        tops = simd.reduced(builder, [builder.load(b) for b in best], simd.larger)
        simd.store(builder, tops, tops_.data, constant(0))
        low = builder.fcmp_unordered("<", tops, simd.doubles(LOWEST_SCORE))
        return simd.any_of(builder, low)

    whole = types.int64
    return types.boolean(
        matrix, rows, whole, table, index, out, whole, tops, types.float64
    ), codegen


@vector_code
def add_outer_products(
    typing: Any, left: Any, first: Any, right: Any, n: Any, weights: Any, n_states: Any, total: Any
) -> Any:
    """``total += sum(weights[b] * outer(left[first + t, b], right[t, b]))`` over t < n and b.

    ``total`` is (W, W); its rows beyond the last state grow by zeros.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left_, right_, weights_, total_ = simd.arrays(context, builder, signature, args, 0, 2, 4, 6)
        _, width = simd.shape_of(builder, total_)
        steps = builder.mul(args[3], constant(GANG))
        base = builder.mul(args[1], builder.mul(width, constant(GANG)))

        def body(column: Any, widths: list[int]) -> None:
            starts = [constant(sum(widths[:v])) for v in range(len(widths))]

            def entries(step: Any) -> list[Any]:
                here = builder.add(builder.mul(step, width), column)
                lane = builder.and_(step, constant(GANG - 1))
                weight = builder.load(builder.gep(weights_.data, [lane]))
                return [
                    builder.fmul(
                        simd.load(builder, right_.data, builder.add(here, start), size),
                        simd.splat(builder, weight, size),
                    )
                    for start, size in zip(starts, widths, strict=True)
                ]

            rows = cgutils.for_range_slice(builder, constant(0), width, constant(GANG), inc=True)
            with rows as (row, _):

                def factor(b: int, step: Any) -> Any:
                    at = builder.add(base, builder.add(builder.mul(step, width), row))
                    return builder.load(builder.gep(left_.data, [builder.add(at, constant(b))]))

                tile = tile_of(builder, steps, widths, entries, factor, simd.multiply_add, 0.0)
                for b, vectors in enumerate(tile):
                    at = builder.mul(builder.add(row, constant(b)), width)
                    for vector, start in zip(vectors, starts, strict=True):
                        to = builder.add(builder.add(at, column), start)
                        before = simd.load(builder, total_.data, to, vector.type.count)
                        simd.store(builder, builder.fadd(before, vector), total_.data, to)

        over_tiles(builder, args[5], body)
        return context.get_dummy_value()

    kinds = (left, types.int64, right, types.int64, weights, types.int64, total)
    return types.void(*kinds), codegen


@vector_code
def best_source(typing: Any, rows: Any, place: Any, block: Any, table: Any, index: Any) -> Any:
    """The first i with the largest ``rows[place, block, i] + table[index, i]``."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows_, table_ = simd.arrays(context, builder, signature, args, 0, 3)
        _, width = simd.shape_of(builder, table_)
        whole = ir.VectorType(simd.INT64, LANE)
        best = cgutils.alloca_once_value(builder, simd.doubles(float("-inf")))
        who = cgutils.alloca_once_value(builder, ir.Constant(whole, list(range(LANE))))
        row = builder.mul(builder.add(builder.mul(args[1], constant(GANG)), args[2]), width)
        entry = builder.mul(args[4], width)
        columns = cgutils.for_range_slice(builder, constant(0), width, constant(LANE), inc=True)
        with columns as (column, _):
            score = builder.fadd(
                simd.load(builder, rows_.data, builder.add(row, column)),
                simd.load(builder, table_.data, builder.add(entry, column)),
            )
            so_far = builder.load(best)
            better = builder.fcmp_ordered(">", score, so_far)
            here = builder.add(simd.splat(builder, column), ir.Constant(whole, list(range(LANE))))
            builder.store(builder.select(better, here, builder.load(who)), who)
            builder.store(builder.select(better, score, so_far), best)
        top = simd.over_elements(builder, builder.load(best), simd.larger)
        best_of_all = builder.fcmp_ordered("==", builder.load(best), simd.splat(builder, top))
        beyond = ir.Constant(whole, [2**62] * LANE)
        first = builder.select(best_of_all, builder.load(who), beyond)
        return simd.over_elements(builder, first, _smaller)

    return types.int64(rows, types.int64, types.int64, table, types.int64), codegen

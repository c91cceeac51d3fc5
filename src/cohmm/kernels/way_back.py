"""Viterbi's way back through the scores of a gang; conventions as in `cohmm.kernels.gang`."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from cohmm.kernels import simd
from cohmm.kernels.compiled import vector_code
from cohmm.kernels.simd import LANE, constant
from cohmm.kernels.tiles import GANG, met_by, over_steps

PREFETCH = 3  # steps before which rows are asked for
_WHOLE = types.int64


@vector_code
def trace_steps(
    typing: Any, rows: Any, back: Any, emit: Any, index: Any, first: Any, last: Any, states: Any,
    path: Any,
) -> Any:  # fmt: skip
    """From the ``states``, (`GANG`,), of step k + 1 to those of step k, ``path[k]``, downwards.

    The state before another is the first i with ``rows[k + 1, b, i] + back[state, i] +
    emit[index[b, k + 1], state] == rows[k + 2, b, state]``, exactly.  A step asks for attention
    where there is none: the state is -1.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        rows_, back_, emit_, index_, states_, path_ = simd.arrays(
            context, builder, signature, args, 0, 1, 2, 3, 6, 7
        )
        _, width = simd.shape_of(builder, back_)
        gang = builder.mul(width, constant(GANG))
        ahead = builder.mul(gang, constant(PREFETCH))
        bits = ir.IntType(LANE)
        found = [cgutils.alloca_once(builder, simd.INT64) for _ in range(GANG)]
        places = [builder.gep(states_.data, [constant(b)]) for b in range(GANG)]
        for place, state in zip(places, found, strict=True):
            builder.store(builder.load(place), state)

        def number(array: Any, at: Any) -> Any:
            return builder.load(builder.gep(array.data, [at]))

        def one_step(k: Any) -> Any:
            after = builder.add(k, constant(1))
            base = builder.mul(after, gang)
            here = [builder.add(base, builder.mul(width, constant(b))) for b in range(GANG)]
            entry, added, target = [], [], []
            for b in range(GANG):
                state = builder.load(found[b])
                entry.append(builder.mul(state, width))
                at = builder.add(builder.mul(met_by(builder, index_, after, b), width), state)
                added.append(simd.splat(builder, number(emit_, at)))
                at = builder.add(builder.add(here[b], gang), state)
                target.append(simd.splat(builder, number(rows_, at)))
                builder.store(constant(-1), found[b])
            columns = cgutils.for_range_slice(
                builder, builder.sub(width, constant(LANE)), constant(-1), constant(-LANE),
                inc=False,
            )  # fmt: skip
            with columns as (column, _):
                for b in range(GANG):
                    sooner = builder.sub(builder.add(here[b], column), ahead)
                    simd.prefetch(builder, rows_.data, sooner)
                    score = builder.fadd(
                        simd.load(builder, rows_.data, builder.add(here[b], column)),
                        simd.load(builder, back_.data, builder.add(entry[b], column)),
                    )
                    same = builder.fcmp_ordered("==", builder.fadd(score, added[b]), target[b])
                    mask = builder.zext(builder.bitcast(same, bits), simd.INT64)
                    lane = builder.add(column, builder.cttz(mask, ir.Constant(ir.IntType(1), 0)))
                    none = builder.icmp_unsigned("==", mask, constant(0))
                    builder.store(builder.select(none, builder.load(found[b]), lane), found[b])
            signs = constant(0)
            for b in range(GANG):
                state = builder.load(found[b])
                signs = builder.or_(signs, state)
                at = builder.add(builder.mul(k, constant(GANG)), constant(b))
                to = builder.gep(path_.data, [at])
                builder.store(builder.trunc(state, simd.INT32), to)
            return builder.icmp_signed("<", signs, constant(0))

        done = over_steps(builder, args[4], args[5], one_step, down=True)
        for place, state in zip(places, found, strict=True):
            builder.store(builder.load(state), place)
        return done

    return _WHOLE(rows, back, emit, index, _WHOLE, _WHOLE, states, path), codegen


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
        return simd.over_elements(builder, first, simd.smaller)

    return types.int64(rows, types.int64, types.int64, table, types.int64), codegen

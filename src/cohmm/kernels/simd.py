"""Vector code that numba would not find by itself.

The chain recursions spend their time in one primitive: a row of K numbers meets a
K x K matrix, by (+, *) in the forward pass and by (max, +) in Viterbi's.  Left to
numba's loops, the accumulators go through memory at every step; written here as
LLVM vectors, they stay in registers.  LLVM lowers the vectors to whatever the
machine has (AVX-512, AVX2, NEON), so nothing below is tied to one processor.

How wide a panel of columns is has to be known when the code is compiled.  It travels
in the *type* of the argument ``lanes``, a tuple of as many zeros as the panel has
vectors of `LANE` doubles (see `lanes_for`); so at most `MOST_VECTORS` versions of a
kernel are ever compiled, and numba's cache keeps them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np.arrayobj import make_array

from cohmm.kernels.compiled import vector_code

LANE = 8
MOST_VECTORS = 8

_INT32 = ir.IntType(32)
_INT64 = ir.IntType(64)
_DOUBLES = ir.VectorType(ir.DoubleType(), LANE)
_INDICES = ir.VectorType(_INT64, LANE)
_FUSED = ("contract",)


def lanes_for(n_states: int) -> tuple[int, ...]:
    """A tuple whose length is the number of vectors in a panel of columns.

    >>> len(lanes_for(20)), len(lanes_for(64)), len(lanes_for(100))
    (3, 8, 7)
    """
    panels = -(-n_states // (LANE * MOST_VECTORS))
    return (0,) * -(-n_states // (LANE * panels))


def padded(n_states: int) -> int:
    """The number of columns that a table for ``n_states`` states has.

    >>> padded(20), padded(64), padded(100)
    (24, 64, 112)
    """
    width = LANE * len(lanes_for(n_states))
    return -(-n_states // width) * width


def pad_columns(array: np.ndarray, fill: float = 0.0) -> np.ndarray:
    """``array`` with its last axis, the states, filled up to `padded`."""
    n_states = array.shape[-1]
    out = np.full((*array.shape[:-1], padded(n_states)), fill)
    out[..., :n_states] = array
    return out


def _constant(value: int) -> Any:
    return ir.Constant(_INT64, value)


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_INT32, 0))
    zeros = ir.Constant(ir.VectorType(_INT32, LANE), [0] * LANE)
    return builder.shuffle_vector(first, undefined, zeros)


def _load(builder: Any, data: Any, offset: Any) -> Any:
    place = builder.bitcast(builder.gep(data, [offset]), _DOUBLES.as_pointer())
    return builder.load(place, align=8)


def _store(builder: Any, value: Any, data: Any, offset: Any, align: int) -> None:
    place = builder.bitcast(builder.gep(data, [offset]), value.type.as_pointer())
    builder.store(value, place, align=align)


def _over_panels(builder: Any, matrix: Any, width: int, chains: int, body: Any) -> None:
    """Emit the loops shared by both products.

    For every panel of ``width`` columns: ``body.begin()``, then ``body.row(i, panel,
    chain)`` for every row i of the matrix, dealt out to ``chains`` independent chains of
    accumulators so that one row need not wait for the one before, then ``body.end(panel)``.
    """
    n_rows, n_columns = cgutils.unpack_tuple(builder, matrix.shape)
    whole = builder.mul(builder.sdiv(n_rows, _constant(chains)), _constant(chains))

    def loop(start: Any, stop: Any, step: int) -> Any:
        return cgutils.for_range_slice(builder, start, stop, _constant(step), inc=True)

    with loop(_constant(0), n_columns, width) as (panel, _):
        body.begin()
        with loop(_constant(0), whole, chains) as (i, _):
            for chain in range(chains):
                body.row(builder.add(i, _constant(chain)), panel, chain)
        with loop(whole, n_rows, 1) as (i, _):
            body.row(i, panel, 0)
        body.end(panel)


class _Panel:
    """What the two products have in common: operands and how a row of the matrix is read."""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, vectors: int):
        self.builder = builder
        self.vectors = range(vectors)
        self.row_in, self.matrix, self.row_out = (
            make_array(signature.args[n])(context, builder, args[n]) for n in (1, 2, 3)
        )
        _, self.n_columns = cgutils.unpack_tuple(builder, self.matrix.shape)

    def scalar(self, i: Any) -> Any:
        return self.builder.load(self.builder.gep(self.row_in.data, [i]))

    def entries(self, i: Any, panel: Any, vector: int) -> Any:
        base = self.builder.add(self.builder.mul(i, self.n_columns), panel)
        offset = self.builder.add(base, _constant(vector * LANE))
        return _load(self.builder, self.matrix.data, offset)

    def registers(self, kind: Any, chains: int) -> list[list[Any]]:
        return [
            [cgutils.alloca_once(self.builder, kind) for _ in self.vectors] for _ in range(chains)
        ]


class _SumOfProducts(_Panel):
    """out[j] = sum_i row[i] * matrix[i, j]"""

    def __init__(self, *operands: Any, chains: int):
        super().__init__(*operands)
        self.sums = self.registers(_DOUBLES, chains)

    def begin(self) -> None:
        for sums in self.sums:
            for register in sums:
                self.builder.store(ir.Constant(_DOUBLES, [0.0] * LANE), register)

    def row(self, i: Any, panel: Any, chain: int) -> None:
        builder = self.builder
        factor = _splat(builder, self.scalar(i), _DOUBLES)
        for vector in self.vectors:
            register = self.sums[chain][vector]
            product = builder.fmul(factor, self.entries(i, panel, vector), flags=_FUSED)
            builder.store(builder.fadd(product, builder.load(register), flags=_FUSED), register)

    def end(self, panel: Any) -> None:
        builder = self.builder
        for vector in self.vectors:
            total = builder.load(self.sums[0][vector])
            for sums in self.sums[1:]:
                total = builder.fadd(total, builder.load(sums[vector]))
            offset = builder.add(panel, _constant(vector * LANE))
            _store(builder, total, self.row_out.data, offset, align=8)


class _BestOfSums(_Panel):
    """out[j] = max_i row[i] + matrix[i, j], who[j] = the first i that attains it"""

    def __init__(self, context: Any, builder: Any, signature: Any, args: Any, vectors: int):
        super().__init__(context, builder, signature, args, vectors)
        self.who_out = make_array(signature.args[4])(context, builder, args[4])
        [self.best] = self.registers(_DOUBLES, 1)
        [self.who] = self.registers(_INDICES, 1)

    def begin(self) -> None:
        for vector in self.vectors:
            nothing = ir.Constant(_DOUBLES, [float("-inf")] * LANE)
            self.builder.store(nothing, self.best[vector])
            self.builder.store(ir.Constant(_INDICES, [0] * LANE), self.who[vector])

    def row(self, i: Any, panel: Any, chain: int) -> None:
        builder = self.builder
        score = _splat(builder, self.scalar(i), _DOUBLES)
        index = _splat(builder, i, _INDICES)
        for vector in self.vectors:
            candidate = builder.fadd(score, self.entries(i, panel, vector))
            best, who = builder.load(self.best[vector]), builder.load(self.who[vector])
            better = builder.fcmp_ordered(">", candidate, best)
            builder.store(builder.select(better, candidate, best), self.best[vector])
            builder.store(builder.select(better, index, who), self.who[vector])

    def end(self, panel: Any) -> None:
        builder = self.builder
        narrow = self.who_out.data.type.pointee
        for vector in self.vectors:
            offset = builder.add(panel, _constant(vector * LANE))
            _store(builder, builder.load(self.best[vector]), self.row_out.data, offset, align=8)
            who = builder.load(self.who[vector])
            if narrow != _INT64:
                who = builder.trunc(who, ir.VectorType(narrow, LANE))
            _store(builder, who, self.who_out.data, offset, align=1)


@vector_code
def row_times_matrix(typing: Any, lanes: Any, row: Any, matrix: Any, out: Any) -> Any:
    """``out[:] = row[:len(matrix)] @ matrix``; columns a multiple of the panel's width."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        chains = max(1, min(4, 16 // lanes.count))
        body = _SumOfProducts(context, builder, signature, args, lanes.count, chains=chains)
        _over_panels(builder, body.matrix, LANE * lanes.count, chains, body)
        return context.get_dummy_value()

    return types.void(lanes, row, matrix, out), codegen


@vector_code
def best_row_plus_matrix(typing: Any, lanes: Any, row: Any, matrix: Any, out: Any, who: Any) -> Any:
    """``out[:] = max_i row[i] + matrix[i]`` and ``who[:]`` the first i that attains it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        body = _BestOfSums(context, builder, signature, args, lanes.count)
        _over_panels(builder, body.matrix, LANE * lanes.count, 1, body)
        return context.get_dummy_value()

    return types.void(lanes, row, matrix, out, who), codegen


@vector_code
def weigh(typing: Any, lanes: Any, row: Any, table: Any, index: Any, out: Any) -> Any:
    """``out[:] = row * table[index]``, an index of -1 meaning the last; returns the sum."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_in, tables, row_out = (
            make_array(signature.args[n])(context, builder, args[n]) for n in (1, 2, 4)
        )
        n_rows, n_columns = cgutils.unpack_tuple(builder, tables.shape)
        place = builder.sext(args[3], _INT64) if args[3].type != _INT64 else args[3]
        negative = builder.icmp_signed("<", place, _constant(0))
        place = builder.select(negative, builder.add(place, n_rows), place)
        base = builder.mul(place, n_columns)
        total = cgutils.alloca_once_value(builder, ir.Constant(_DOUBLES, [0.0] * LANE))
        width = _constant(LANE * lanes.count)
        with cgutils.for_range_slice(builder, _constant(0), n_columns, width, inc=True) as (
            panel,
            _,
        ):
            for vector in range(lanes.count):
                offset = builder.add(panel, _constant(vector * LANE))
                factor = _load(builder, tables.data, builder.add(base, offset))
                product = builder.fmul(_load(builder, row_in.data, offset), factor)
                _store(builder, product, row_out.data, offset, align=8)
                builder.store(builder.fadd(builder.load(total), product), total)
        return _sum_of(builder, builder.load(total))

    return types.float64(lanes, row, table, index, out), codegen


@vector_code
def scale(typing: Any, lanes: Any, row: Any, factor: Any) -> Any:
    """``row[:] *= factor``"""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        row_in = make_array(signature.args[1])(context, builder, args[1])
        [n_columns] = cgutils.unpack_tuple(builder, row_in.shape)
        factors = _splat(builder, args[2], _DOUBLES)
        width = _constant(LANE * lanes.count)
        with cgutils.for_range_slice(builder, _constant(0), n_columns, width, inc=True) as (
            panel,
            _,
        ):
            for vector in range(lanes.count):
                offset = builder.add(panel, _constant(vector * LANE))
                product = builder.fmul(_load(builder, row_in.data, offset), factors)
                _store(builder, product, row_in.data, offset, align=8)
        return context.get_dummy_value()

    return types.void(lanes, row, factor), codegen


def _sum_of(builder: Any, vector: Any) -> Any:
    """The sum of a vector's elements, by halves."""
    undefined = ir.Constant(_DOUBLES, ir.Undefined)
    half = LANE // 2
    while half:
        upper = [n + half if n < half else n for n in range(LANE)]
        shuffle = ir.Constant(ir.VectorType(_INT32, LANE), upper)
        vector = builder.fadd(vector, builder.shuffle_vector(vector, undefined, shuffle))
        half //= 2
    return builder.extract_element(vector, ir.Constant(_INT32, 0))

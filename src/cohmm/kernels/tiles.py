"""Products of eight rows with a matrix, in tiles that stay in registers.

What is done with them is in `cohmm.kernels.gang`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils

from cohmm.kernels import simd
from cohmm.kernels.simd import LANE, constant

GANG = 8

AVX512 = bool(binding.get_host_cpu_features().get("avx512f"))
# Columns of a tile: as many accumulators as there are registers for, and no more.
_WIDEST = 24 if AVX512 else 4
_STEP = 4
# There is code for these (all of it takes seconds to compile); what else is left of the columns is
# better as 20 + 8, 20 + 12, 20 + 20 or 12 + 4 than with a narrow tile behind a wide one.
_WIDTHS = (4, 8, 12, 20, 24) if AVX512 else (4,)
_RATHER = {28: 20, 32: 20, 40: 20, 16: 12}


def _vectors(width: int) -> list[int]:
    """The widths of the vectors that ``width`` columns are made of."""
    return [LANE] * (width // LANE) + ([_STEP] if width % LANE else [])


def over_tiles(builder: Any, n_columns: Any, body: Callable[[Any, list[int]], None]) -> None:
    """Emit ``body(first column, widths of vectors)`` for tiles that cover all columns."""
    whole = builder.and_(builder.add(n_columns, constant(_STEP - 1)), constant(-_STEP))
    column = cgutils.alloca_once_value(builder, constant(0))
    builder.store(constant(0), column)  # again, where this is in a loop
    head, done = (builder.append_basic_block(name) for name in ("tiles", "tiled"))
    builder.branch(head)
    builder.position_at_end(head)
    rest = builder.sub(whole, builder.load(column))
    fits = builder.icmp_signed("<", rest, constant(_WIDEST))
    width = builder.select(fits, rest, constant(_WIDEST))
    for columns, first in _RATHER.items() if AVX512 else ():
        is_so = builder.icmp_signed("==", rest, constant(columns))
        width = builder.select(is_so, constant(first), width)
    which = builder.switch(width, done)
    for columns in _WIDTHS:
        tile = builder.append_basic_block(f"tile{columns}")
        which.add_case(constant(columns), tile)
        builder.position_at_end(tile)
        body(builder.load(column), _vectors(columns))
        builder.store(builder.add(builder.load(column), constant(columns)), column)
        builder.branch(head)
    builder.position_at_end(done)


class Step:
    """The rows of a gang times a matrix: where operands are, and the product of one tile."""

    def __init__(self, builder: Any, matrix: Any, rows: Any, place: Any):
        self.builder = builder
        self.matrix = matrix
        self.n_states, self.width = simd.shape_of(builder, matrix)
        self.rows = rows
        first = self.offset(place)
        self.bases = [self.row(first, b) for b in range(GANG)]

    def offset(self, place: Any) -> Any:
        """Where the rows of a gang begin."""
        return self.builder.mul(place, self.builder.mul(self.width, constant(GANG)))

    def row(self, base: Any, b: int) -> Any:
        """Where row b of a gang begins."""
        return self.builder.add(base, self.builder.mul(self.width, constant(b)))

    def table_row(self, index: Any, k: Any, b: int) -> Any:
        """Where the row of a table begins that block b meets in step k."""
        return self.builder.mul(met_by(self.builder, index, k, b), self.width)

    def number(self, array: Any, place: Any, b: int) -> Any:
        """``array[place, b]``, of an array with `GANG` columns."""
        at = self.builder.add(self.builder.mul(place, constant(GANG)), constant(b))
        return self.builder.load(self.builder.gep(array.data, [at]))

    def product(
        self,
        combine: Callable[..., Any],
        nothing: float,
        finish: Callable[[int, list[Any], list[Any]], None],
    ) -> None:
        """``combine(row[i], matrix[i], so far)`` over all i.

        What comes out for block b goes to ``finish(b, vectors, columns)``, tile by tile.
        """
        builder = self.builder

        def body(column: Any, widths: list[int]) -> None:
            def entries(i: Any) -> list[Any]:
                at_i = vector_places(builder, builder.mul(i, self.width), column, widths)
                return [
                    simd.load(builder, self.matrix.data, at, width)
                    for at, width in zip(at_i, widths, strict=True)
                ]

            def factor(b: int, i: Any) -> Any:
                return builder.load(builder.gep(self.rows.data, [builder.add(self.bases[b], i)]))

            rows = tile_of(builder, GANG, self.n_states, widths, entries, factor, combine, nothing)
            columns = vector_places(builder, constant(0), column, widths)
            for b, vectors in enumerate(rows):
                finish(b, vectors, columns)

        over_tiles(builder, self.n_states, body)


def met_by(builder: Any, index: Any, k: Any, b: int) -> Any:
    """``index[b, k]``"""
    steps = simd.shape_of(builder, index)[1]
    at = builder.add(builder.mul(steps, constant(b)), k)
    return builder.load(builder.gep(index.data, [at]))


def vector_places(builder: Any, base: Any, column: Any, widths: list[int]) -> list[Any]:
    """Where each vector of a tile lies in a row that begins at ``base``."""
    at = builder.add(base, column)
    return [builder.add(at, constant(sum(widths[:n]))) for n in range(len(widths))]


def tile_of(
    builder: Any,
    n_rows: int,
    n: Any,
    widths: list[int],
    entries: Callable[[Any], list[Any]],
    factor: Callable[[int, Any], Any],
    combine: Callable[..., Any],
    nothing: float,
) -> list[list[Any]]:
    """``n_rows`` rows of vectors: ``combine(factor(row, i), entries(i), so far)`` over i < n."""
    registers = [
        [cgutils.alloca_once(builder, ir.VectorType(simd.DOUBLE, w)) for w in widths]
        for _ in range(n_rows)
    ]
    for row in registers:
        for register, width in zip(row, widths, strict=True):
            builder.store(simd.doubles(nothing, width), register)
    with cgutils.for_range(builder, n) as loop:
        vectors = entries(loop.index)
        for b, row in enumerate(registers):
            scalar = factor(b, loop.index)
            for register, vector, width in zip(row, vectors, widths, strict=True):
                same = simd.splat(builder, scalar, width)
                builder.store(combine(builder, same, vector, builder.load(register)), register)
    return [[builder.load(register) for register in row] for row in registers]


def over_steps(
    builder: Any, first: Any, last: Any, body: Callable[[Any], Any], *, down: bool = False
) -> Any:
    """Emit ``body(k)`` for k in [first, last), or from the last ``down``, until it returns true.

    Returns the number of steps, negative where ``body`` has returned true.  There is at least one.
    """
    done, result = (cgutils.alloca_once(builder, simd.INT64) for _ in range(2))
    builder.store(constant(0), done)
    n = builder.sub(last, first)
    loop, end = (builder.append_basic_block(name) for name in ("steps", "end"))
    builder.branch(loop)
    builder.position_at_end(loop)
    so_far = builder.load(done)
    k = builder.sub(builder.sub(last, constant(1)), so_far) if down else builder.add(first, so_far)
    stop = body(k)
    so_far = builder.add(builder.load(done), constant(1))
    builder.store(so_far, done)
    builder.store(builder.select(stop, builder.neg(so_far), so_far), result)
    going = builder.icmp_signed("<", so_far, n)
    builder.cbranch(builder.and_(going, builder.not_(stop)), loop, end)
    builder.position_at_end(end)
    return builder.load(result)

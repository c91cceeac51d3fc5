"""Vectors of numbers in LLVM code, and how tables are laid out for them.

LLVM lowers vectors of `LANE` doubles to whatever the machine has (AVX-512, AVX2, NEON), so
nothing here is tied to one processor.  What is built from these pieces is in
`cohmm.kernels.gang`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.np.arrayobj import make_array
from numpy.typing import DTypeLike

LANE = 8
_LINE = 64  # bytes in a cache line

INT32 = ir.IntType(32)
INT64 = ir.IntType(64)
DOUBLE = ir.DoubleType()
DOUBLES = ir.VectorType(DOUBLE, LANE)
_FUSED = ("contract",)


def padded(n_states: int) -> int:
    """The number of columns that a table for ``n_states`` states has.

    >>> padded(20), padded(64), padded(100)
    (24, 64, 104)
    """
    return -(-n_states // LANE) * LANE


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
    """Zeros that begin at a cache line, so that no vector lies across two of them."""
    size = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + _LINE, np.uint8)
    first = -raw.ctypes.data % _LINE
    return raw[first : first + size].view(dtype).reshape(shape)


def pad_columns(array: np.ndarray, fill: float = 0.0) -> np.ndarray:
    """``array`` with its last axis, the states, filled up to `padded`."""
    n_states = array.shape[-1]
    out = aligned_zeros((*array.shape[:-1], padded(n_states)))
    out[..., n_states:] = fill
    out[..., :n_states] = array
    return out


def arrays(context: Any, builder: Any, signature: Any, args: Any, *which: int) -> list[Any]:
    """The arrays among the arguments of an intrinsic, as structures with ``data`` and ``shape``."""
    return [make_array(signature.args[n])(context, builder, args[n]) for n in which]


def shape_of(builder: Any, array: Any) -> list[Any]:
    """The lengths of an array's axes."""
    return list(cgutils.unpack_tuple(builder, array.shape))


def constant(value: int) -> Any:
    """A whole number of 64 bits."""
    return ir.Constant(INT64, value)


def doubles(value: float, width: int = LANE) -> Any:
    """A vector of ``width`` equal constants."""
    return ir.Constant(ir.VectorType(DOUBLE, width), [value] * width)


def splat(builder: Any, scalar: Any, width: int = LANE) -> Any:
    """A vector of ``width`` times the same number."""
    undefined = ir.Constant(ir.VectorType(scalar.type, width), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(INT32, 0))
    return shuffle(builder, first, undefined, [0] * width)


def shuffle(builder: Any, a: Any, b: Any, mask: list[int]) -> Any:
    """The elements ``mask`` of two vectors put one behind the other."""
    return builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, len(mask)), mask))


def load(builder: Any, data: Any, offset: Any, width: int = LANE) -> Any:
    """``data[offset : offset + width]``"""
    kind = ir.VectorType(DOUBLE, width).as_pointer()
    return builder.load(builder.bitcast(builder.gep(data, [offset]), kind), align=8)


def store(builder: Any, vector: Any, data: Any, offset: Any) -> None:
    """``data[offset : offset + width] = vector``"""
    place = builder.bitcast(builder.gep(data, [offset]), vector.type.as_pointer())
    builder.store(vector, place, align=8)


def prefetch(builder: Any, data: Any, offset: Any) -> None:
    """Ask for the cache line of ``data[offset]``, which may be anywhere: nothing is read."""
    pointer = ir.IntType(8).as_pointer()
    kinds = [pointer, INT32, INT32, INT32]
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(ir.VoidType(), kinds), "llvm.prefetch.p0i8"
    )
    place = builder.bitcast(builder.gep(data, [offset]), pointer)
    builder.call(function, [place, *(ir.Constant(INT32, value) for value in (0, 3, 1))])


def multiply_add(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c``, rounded once."""
    return builder.fadd(builder.fmul(a, b, flags=_FUSED), c, flags=_FUSED)


def one_rounding(builder: Any, a: Any, b: Any, c: Any) -> Any:
    """``a * b + c`` in one instruction, which the compiler may not take apart."""
    kind = a.type
    function = cgutils.get_or_insert_function(
        builder.module, ir.FunctionType(kind, [kind] * 3), f"llvm.fma.v{kind.count}f64"
    )
    return builder.call(function, [a, b, c])


def larger(builder: Any, a: Any, b: Any) -> Any:
    """The larger of two numbers; of two vectors, element by element."""
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def smaller(builder: Any, a: Any, b: Any) -> Any:
    """The smaller of two whole numbers."""
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def add(builder: Any, a: Any, b: Any) -> Any:
    """``a + b``, as a function like `larger`."""
    return builder.fadd(a, b)


def full_width(builder: Any, vector: Any, fill: float) -> Any:
    """A vector of `LANE` elements from a shorter one."""
    width = vector.type.count
    if width == LANE:
        return vector
    mask = [n if n < width else width for n in range(LANE)]
    return shuffle(builder, vector, doubles(fill, width), mask)


def reduced(builder: Any, vectors: list[Any], combine: Callable[..., Any]) -> Any:
    """``combine`` over the elements of each of `LANE` vectors, in one vector.

    At each level two vectors become one that holds the halves of both.
    """
    lanes = LANE  # that belong to one result
    while len(vectors) > 1:
        low = [
            vector * LANE + first + lane
            for vector in range(2)
            for first in range(0, LANE, lanes)
            for lane in range(lanes // 2)
        ]
        high = [lane + lanes // 2 for lane in low]
        vectors = [
            combine(builder, shuffle(builder, a, b, low), shuffle(builder, a, b, high))
            for a, b in zip(vectors[::2], vectors[1::2], strict=True)
        ]
        lanes //= 2
    return vectors[0]


def over_elements(builder: Any, vector: Any, combine: Callable[..., Any]) -> Any:
    """``combine`` over all elements of a vector, by halves."""
    while vector.type.count > 1:
        half = vector.type.count // 2
        low, high = list(range(half)), list(range(half, 2 * half))
        vector = combine(
            builder,
            shuffle(builder, vector, vector, low),
            shuffle(builder, vector, vector, high),
        )
    return builder.extract_element(vector, ir.Constant(INT32, 0))


def any_of(builder: Any, flags: Any) -> Any:
    """Whether any element of a vector of flags is set."""
    bits = ir.IntType(flags.type.count)
    return builder.icmp_unsigned("!=", builder.bitcast(flags, bits), ir.Constant(bits, 0))

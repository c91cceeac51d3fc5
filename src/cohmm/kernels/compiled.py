"""The two ways in which kernels are compiled, and the types in their signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit
from numba.extending import intrinsic
from numpy.typing import NDArray

from cohmm.kernels import compile_notice as compile_notice  # which listens from now on

Floats = NDArray[np.float64]
Ints = NDArray[Any]
"""Whole numbers of some width, or flags."""
Lanes = tuple[int, ...]
"""A width that is known when the code is compiled: see `cohmm.kernels.tri_factor`."""
Part = tuple[int, int]
"""The range of blocks, joints or sequences that a call works on."""

Whole = int | np.int64
"""A whole number; for a literal 1, unlike ``np.int64(1)``, a kernel is compiled anew."""

F = TypeVar("F", bound=Callable[..., Any])

# Nothing calls kernels from C: the way in would take a tenth of the time to compile.
_COMMON = {"nogil": True, "cache": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: F) -> F:
    """Compile with IEEE arithmetic, on first use, and keep the result on disk."""
    return cast(F, njit(**_COMMON)(function))


def vector_code(generator: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose LLVM code ``generator`` writes itself; it can be called from kernels."""
    return cast(Callable[..., Any], intrinsic(generator))


def fused_kernel(function: F) -> F:
    """As `kernel`; sums may be reordered and products fused, infinities keep their meaning."""
    return cast(F, njit(**_COMMON, fastmath={"contract", "reassoc", "nsz", "arcp"})(function))


def inlined(function: F) -> F:
    """A part of one kernel, written by itself: it is compiled within it, and not once more."""
    return cast(F, njit(inline="always")(function))

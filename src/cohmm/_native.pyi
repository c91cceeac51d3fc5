"""The kernels in C++: what the arrays hold is said where `cohmm.kernels` names them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Part = tuple[int, int]
Reals = NDArray[np.float64]
Singles = NDArray[np.float32]
Whole = NDArray[Any]

level: int

def fill_table(values: Reals, scale: Reals, out: Singles) -> None: ...
def sparse_pass(
    indptr: Whole,
    columns: Whole,
    values: Singles,
    part: Part,
    left: Singles,
    right: Singles,
    out: Reals,
    fit: Reals,
) -> None: ...
def sparse_times(
    indptr: Whole, columns: Whole, values: Singles, part: Part, right: Singles, out: Reals
) -> None: ...

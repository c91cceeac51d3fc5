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
def infer_documents(
    symbols: Whole,
    offsets: Whole,
    part: Part,
    chain: Any,
    halves: bool,
    sweeps: int,
    tol: float,
    out: Any,
) -> None: ...
def predict_words(symbols: Whole, offsets: Whole, part: Part, chain: Any, logs: Reals) -> None: ...
def count_words(
    symbols: Whole,
    offsets: Whole,
    part: Part,
    weights: Reals,
    chain: Any,
    sweeps: int,
    proportions: Reals,
    counts: Reals,
    totals: Reals,
) -> None: ...
def count_moves(
    symbols: Whole,
    offsets: Whole,
    part: Part,
    weights: Reals,
    chain: Any,
    sweeps: int,
    moves: Reals,
) -> None: ...
def sparse_times(
    indptr: Whole, columns: Whole, values: Singles, part: Part, right: Singles, out: Reals
) -> None: ...

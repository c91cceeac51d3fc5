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
def triple_pass(
    runs: Any, part: Part, divided: bool, left: Reals, centre: Reals, right: Reals, out: Any
) -> float: ...
def two_nearest(distance: Reals, labels: Whole, least: Reals, second: Reals) -> None: ...
def move_centres(
    points: Reals, weights: Reals, labels: Whole, changed: Whole, centres: Reals
) -> None: ...
def nearest_by_squares(
    gram: Reals, targets: Reals, part: Part, tol: float, max_iter: int, out: Reals
) -> int: ...
def nearest_by_divergence(
    table: Reals,
    indptr: Whole,
    indices: Whole,
    values: Reals,
    part: Part,
    tol: float,
    max_iter: int,
    out: Reals,
) -> int: ...
def pack_equal(keys: Whole, n_symbols: int, out: Any, totals: Whole) -> int: ...
def entry_keys(
    parts: Any, places: Whole, kept: Whole, keys: Whole, large_keys: Whole, large_counts: Whole
) -> tuple[int, int]: ...
def sum_keys(keys: Whole, large_counts: Whole, out: Any) -> tuple[int, int]: ...
def window_cooccurrence(
    symbols: Whole, offsets: Whole, part: Part, window: int, top_words: Any, joint: Whole
) -> int: ...
def sparse_times(
    indptr: Whole, columns: Whole, values: Singles, part: Part, right: Singles, out: Reals
) -> None: ...

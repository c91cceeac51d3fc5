# What _native/module.cpp binds; shapes and formulas are in kernels.hpp and plain.hpp there.
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohmm.kernels.recursions import Blocks, Borders, Filtered, Paths, Scaling, Smoothed, Tables

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Singles = NDArray[np.float32]
Part = tuple[int, int]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Symbols = NDArray[np.int32]
Indices = NDArray[np.int64]
Keys = NDArray[np.uint32]

level: int

def forward(
    data: Blocks,
    part: Part,
    tables: Tables,
    scaling: Scaling,
    borders: Borders,
    out: Filtered,
) -> None: ...
def backward(
    data: Blocks, part: Part, tables: Tables, scaling: Scaling, borders: Borders
) -> None: ...
def forward_backward(
    data: Blocks,
    part: Part,
    tables: Tables,
    scaling: Scaling,
    ahead: Borders,
    behind: Borders,
    weights: Floats,
    filtered: Filtered,
    out: Smoothed,
) -> None: ...
def viterbi(data: Blocks, part: Part, logs: Tables, borders: Borders, out: Paths) -> None: ...
def path_log_probs(
    symbols: Ints, offsets: Ints, part: Part, states: Ints, logs: Tables, log_prob: Floats
) -> None: ...
def log_filter(symbols: Ints, logs: Tables, alpha: Floats, surprise: Floats) -> int: ...
def log_backward(symbols: Ints, logs: Tables, beta: Floats) -> None: ...
def log_expected_counts(
    symbols: Ints,
    logs: Tables,
    alpha: Floats,
    surprise: Floats,
    beta: Floats,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
) -> None: ...
def alias_tables(probabilities: Floats, cut: Floats, alias: Ints) -> None: ...
def sample_path(state: int, uniforms: Floats, tables: Any, symbols: Ints, states: Ints) -> int: ...
def draw_states(
    symbols: Ints,
    offsets: Ints,
    start: Floats,
    trans: Floats,
    emit: Floats,
    uniforms: Floats,
    states: Ints,
) -> None: ...
def fill_table(values: Floats, scale: Floats, out: Singles) -> None: ...
def sparse_pass(
    indptr: Ints,
    columns: Ints,
    values: Singles,
    part: Part,
    left: Singles,
    right: Singles,
    out: Floats,
    fit: Floats,
) -> None: ...
def infer_documents(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    chain: Any,
    halves: bool,
    sweeps: int,
    tol: float,
    out: Any,
) -> None: ...
def predict_words(symbols: Ints, offsets: Ints, part: Part, chain: Any, logs: Floats) -> None: ...
def count_words(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    weights: Floats,
    chain: Any,
    sweeps: int,
    proportions: Floats,
    counts: Floats,
    totals: Floats,
) -> None: ...
def count_moves(
    symbols: Ints,
    offsets: Ints,
    part: Part,
    weights: Floats,
    chain: Any,
    sweeps: int,
    moves: Floats,
) -> None: ...
def triple_pass(
    runs: Any, part: Part, divided: bool, left: Floats, centre: Floats, right: Floats, out: Any
) -> float: ...
def two_nearest(distance: Floats, labels: Ints, least: Floats, second: Floats) -> None: ...
def move_centres(
    points: Floats, weights: Floats, labels: Ints, changed: Ints, centres: Floats
) -> None: ...
def nearest_by_squares(
    gram: Floats, targets: Floats, part: Part, tol: float, max_iter: int, out: Floats
) -> int: ...
def nearest_by_divergence(
    table: Floats,
    indptr: Ints,
    indices: Ints,
    values: Floats,
    part: Part,
    tol: float,
    max_iter: int,
    out: Floats,
) -> int: ...
def pack_equal(keys: Ints, n_symbols: int, out: Any, totals: Ints) -> int: ...
def entry_keys(
    parts: Any, places: Ints, kept: Ints, keys: Ints, large_keys: Ints, large_counts: Ints
) -> tuple[int, int]: ...
def sum_keys(keys: Ints, large_counts: Ints, out: Any) -> tuple[int, int]: ...
def window_cooccurrence(
    symbols: Ints, offsets: Ints, part: Part, window: int, top_words: Any, joint: Ints
) -> int: ...
def sparse_times(
    indptr: Ints, columns: Ints, values: Singles, part: Part, right: Singles, out: Floats
) -> None: ...

# Counting and text
def count_dense(
    symbols: Symbols,
    offsets: Indices,
    part: Part,
    lag: int,
    weights: NDArray[Any] | None,
    counts: NDArray[Any],
    alone: NDArray[Any],
) -> None: ...
def count_rows(
    symbols: Symbols, offsets: Indices, part: Part, lag: int, sizes: Indices, alone: Indices
) -> None: ...
def cut_rows(sizes: Indices, most_pairs: int, most_rows: int, bucket_of: Symbols) -> int: ...
def fill_buckets(
    symbols: Symbols,
    offsets: Indices,
    part: Part,
    lag: int,
    bucket_of: Symbols,
    first_row: Indices,
    n_symbols: int,
    place: Indices,
    keys: Keys,
) -> None: ...
def triple_keys(
    symbols: Symbols, offsets: Indices, part: Part, n_symbols: int, keys: Indices
) -> int: ...
def split_words(
    data: Bytes, borders: Indices, packed: Bytes, offsets: Indices, rows: Symbols
) -> int: ...
def split_text(
    data: Bytes,
    borders: Indices,
    in_words: Flags,
    min_length: int,
    packed: Bytes,
    offsets: Indices,
    lengths: Indices,
) -> int: ...
def follow_quotes(data: Bytes, delimiter: int, state: Indices) -> bool: ...
def count_documents(
    symbols: Symbols, offsets: Indices, frequencies: Indices, latest: Indices
) -> None: ...

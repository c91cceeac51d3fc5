"""The native core: C++ kernels, arrays in and arrays out (see the headers in `_native/`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cohmm.kernels.chain import Blocks, Borders, Filtered, Paths, Scaling, Smoothed, Tables

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Part = tuple[int, int]

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
def first_impossible(symbols: Ints, logs: Tables) -> int: ...
def log_forward(symbols: Ints, logs: Tables, alpha: Floats) -> float: ...
def log_surprise(symbols: Ints, logs: Tables, surprise: Floats) -> None: ...
def log_backward(symbols: Ints, logs: Tables, beta: Floats) -> None: ...
def add_log_counts(
    symbols: Ints,
    logs: Tables,
    alpha: Floats,
    beta: Floats,
    starts: Floats,
    transitions: Floats,
    emissions: Floats,
) -> None: ...
def alias_tables(probabilities: Floats, cut: Floats, alias: Ints) -> None: ...
def sample_path(
    state: int, uniforms: Floats, tables: Any, symbols: Ints, states: Ints
) -> int: ...
def draw_states(
    symbols: Ints,
    offsets: Ints,
    start: Floats,
    trans: Floats,
    emit: Floats,
    uniforms: Floats,
    states: Ints,
) -> None: ...

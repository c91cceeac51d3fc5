# What _native/module.cpp binds; shapes and formulas are in the headers there.
from typing import Any

import numpy as np
from numpy.typing import NDArray

Part = tuple[int, int]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Symbols = NDArray[np.int32]
Indices = NDArray[np.int64]
Keys = NDArray[np.uint32]

level: int

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
def radix_sort(keys: NDArray[Any], lowest: int, space: NDArray[Any]) -> None: ...
def count_distinct(keys: Keys) -> int: ...
def merge_equal(
    keys: Keys,
    n_symbols: int,
    columns: Symbols,
    counts: Indices,
    sizes: Indices,
    totals: Indices,
) -> None: ...
def count_triples(
    symbols: Symbols, offsets: Indices, part: Part, n_symbols: int, counts: Indices
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
def recode(symbols: Symbols, offsets: Indices, places: Symbols) -> int: ...

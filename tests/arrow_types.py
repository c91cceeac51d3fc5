"""A column of every type that Arrow writes to Parquet."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

LABELS = ["a", "b", "a", "a long label, more than a view holds"]
DATES = [dt.date(2020, 1, n) for n in (1, 2, 1, 3)]
MOMENTS = [dt.datetime(2020, 1, n) for n in (1, 2, 1, 3)]
LISTS = [["a"], ["b", "a"], [], None]
NUMBERS = [1, 2, 1, 3]
NUMBER_LISTS = [[1], [2, 1], [], None]

COLUMNS: dict[str, Any] = {
    "null": pa.nulls(4),
    "bool": pa.array([True, False, True, True]),
    **{str(kind): pa.array(NUMBERS, kind) for kind in (pa.int8(), pa.int64(), pa.uint64())},
    "negative": pa.array([-1, 2, 1, None]),
    "large": pa.array([2**63, 2, 1, 2**64 - 1], pa.uint64()),
    "float16": pa.array(np.array(NUMBERS, np.float16)),
    "float32": pa.array(NUMBERS, pa.float32()),
    "float64": pa.array([1.0, np.nan, 1.0, 3.0]),
    "parts": pa.array([1.5, 2.0, None, np.inf]),
    "decimal": pa.array(list(map(Decimal, NUMBERS))),
    "decimal256": pa.array(list(map(Decimal, NUMBERS)), pa.decimal256(40, 2)),
    "string": pa.array(LABELS),
    "large_string": pa.array(LABELS, pa.large_string()),
    "string_view": pa.array(LABELS, pa.string_view()),
    "binary": pa.array([b"a", b"b", b"\xff", None]),
    "binary_view": pa.array([b"a", b"b", b"a", b"c"], pa.binary_view()),
    "fixed_size_binary": pa.array([b"a", b"b", b"a", b"c"], pa.binary(1)),
    "dictionary": pa.array(LABELS).dictionary_encode(),
    "dictionary of numbers": pa.array(NUMBERS).dictionary_encode(),
    "date32": pa.array(DATES),
    "date64": pa.array(DATES, pa.date64()),
    "time": pa.array([dt.time(n) for n in NUMBERS]),
    "timestamp": pa.array(MOMENTS),
    "timestamp with a zone": pa.array(MOMENTS, pa.timestamp("us", "UTC")),
    "duration": pa.array([dt.timedelta(n) for n in NUMBERS]),
    "list": pa.array(LISTS),
    "list of views": pa.array(LISTS, pa.list_(pa.string_view())),
    "list of dictionaries": pa.array(LISTS, pa.list_(pa.dictionary(pa.int32(), pa.string()))),
    "list of float16": pa.array(NUMBER_LISTS, pa.list_(pa.float16())),
    "list of null": pa.array([[None], [None], [], None], pa.list_(pa.null())),
    "list of bool": pa.array([[True], [False], [], None]),
    "list of lists": pa.array([[["a"]], [["b"]], [], None]),
    "list of structs": pa.array([[{"a": 1}], [], [], None]),
    "large_list": pa.array(NUMBER_LISTS, pa.large_list(pa.int64())),
    "fixed_size_list": pa.array([[1, 2], [2, 1], [3, 3], None], pa.list_(pa.int64(), 2)),
    "map": pa.array([[("a", 1)], [("b", 2)], [], [("c", 1)]], pa.map_(pa.string(), pa.int64())),
    "struct": pa.array([{"a": 1}, {"a": 2}, {"a": 1}, {"a": 3}]),
}

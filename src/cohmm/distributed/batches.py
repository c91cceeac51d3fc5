"""Batches of Arrow rows: of sequences, as an engine gives them, and of values on their way."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from itertools import groupby
from math import isqrt
from typing import Any

import numpy as np
import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.parts import add_all
from cohmm.distributed.backend import Rows

SYMBOL, KEY, ORDER, BEGINS = "symbol", "key", "order", "begins"  # columns of rows
NUMBER, PIECE, BYTES = "number", "piece", "bytes"  # columns of values
LONGEST = 2**26  # bytes in a row: neither Spark nor Arrow can hold 2**31

Batches = Iterable[pa.RecordBatch]


def plain(schema: pa.Schema, batches: Batches) -> Rows:
    """One column, as it is."""
    return Rows(_table(schema, batches)[SYMBOL].combine_chunks())


def lists(schema: pa.Schema, group: str, order: str | None, batches: Batches) -> Rows:
    """A list per group, from rows of which the first of each is marked."""
    table = _table(schema, batches)
    for place, name in ((KEY, group), (ORDER, order)):
        if name is not None and table[place].null_count:
            raise ValueError(f"the column {shown(name)} is empty in some row")
    starts = np.flatnonzero(table[BEGINS].to_numpy())
    ends = pa.array(np.append(starts, len(table)), pa.int32())
    values = pa.ListArray.from_arrays(ends, table[SYMBOL].combine_chunks())
    return Rows(values, table[KEY].take(pa.array(starts)).combine_chunks())


def _table(schema: pa.Schema, batches: Batches) -> pa.Table:
    own = list(batches)
    return pa.Table.from_batches(own) if own else schema.empty_table()


def packed(number: int, value: Any) -> Iterator[pa.RecordBatch]:
    """Rows with a value, cut where it is long."""
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    for piece, first in enumerate(range(0, len(data), LONGEST)):
        yield pa.record_batch(
            [
                pa.array([number], pa.int32()),
                pa.array([piece], pa.int32()),
                pa.array([data[first : first + LONGEST]], pa.binary()),
            ],
            [NUMBER, PIECE, BYTES],
        )


def unpacked(batches: Batches) -> Iterator[tuple[int, Any]]:
    """The numbers and values of rows that are in order."""
    rows = (
        (number.as_py(), data)
        for batch in batches
        for number, data in zip(batch[NUMBER], batch[BYTES], strict=True)
    )
    for number, pieces in groupby(rows, key=lambda row: row[0]):
        yield number, pickle.loads(b"".join(data.as_buffer() for _, data in pieces))


def added(batches: Batches) -> Iterator[pa.RecordBatch]:
    """The sums of parts 0, 1 to 3, 4 to 8 ...: the root of their number, however many there are."""
    for block, values in groupby(unpacked(batches), key=lambda pair: isqrt(pair[0])):
        yield from packed(block, add_all(value for _, value in values))

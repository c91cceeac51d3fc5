"""The topics of documents in `Partitions`, one per row: collections of their engine."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from cohmm.data.partitioned import texts_of
from cohmm.data.text import TextWarning, read_documents
from cohmm.data.user_warnings import silenced
from cohmm.distributed.backend import Partitions
from cohmm.kernels.types import Floats
from cohmm.model.answers import list_array
from cohmm.topics.document_chains import Chains, segment

SHARES = pa.schema([("shares", pa.list_(pa.float64()))])
SEGMENTS = pa.schema(
    [
        ("words", pa.list_(pa.string())),
        ("topics", pa.list_(pa.int32())),
        ("probabilities", pa.list_(pa.float64())),
    ]
)


def partitioned_shares(chains: Chains, reading: dict[str, Any], data: Partitions) -> Any:
    """The share of every topic in every row; ``reading`` are options of `read_documents`."""
    return data.map_rows(partial(row_shares, chains, reading), SHARES)


def partitioned_segments(chains: Chains, reading: dict[str, Any], data: Partitions) -> Any:
    """The words of every row, their topics, and how probable these are."""
    return data.map_rows(partial(_row_segments, chains, reading), SEGMENTS)


def row_shares(chains: Chains, reading: dict[str, Any], rows: Any) -> pa.Table:
    """The share of every topic in every row."""
    if not len(rows):
        return SHARES.empty_table()
    return shares_table(chains.infer(_documents(rows, reading)).shares)


def shares_table(shares: Floats) -> pa.Table:
    """Shares, (D, K), as a table with one list per document."""
    lengths = np.full(len(shares), shares.shape[1])
    return pa.table([list_array(shares.ravel(), lengths)], schema=SHARES)


def _row_segments(chains: Chains, reading: dict[str, Any], rows: Any) -> pa.Table:
    if not len(rows):
        return SEGMENTS.empty_table()
    segmented = segment(chains, _documents(rows, reading))
    return pa.table(
        {
            "words": [document.words for document in segmented],
            "topics": [document.topics for document in segmented],
            "probabilities": [document.probabilities for document in segmented],
        },
        schema=SEGMENTS,
    )


def _documents(rows: Any, reading: dict[str, Any]) -> Any:
    with silenced(TextWarning):  # nobody is there to read it
        return read_documents(texts_of(rows), **reading)

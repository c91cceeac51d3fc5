"""What estimators answer about `Partitions`: a collection of the engine, or a sum."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from cohmm.data.document_parts import texts_of
from cohmm.data.sequence_parts import row_sequences
from cohmm.data.sequences import Sequences
from cohmm.data.text import TextWarning, read_documents
from cohmm.data.user_warnings import silenced
from cohmm.data.vocabulary import Vocabulary
from cohmm.distributed.partitions import Partitions
from cohmm.kernels.compiled import Floats, Ints
from cohmm.model import inference
from cohmm.model.hmm import HMM
from cohmm.topics.document_chains import Chains, segment

SCORES = pa.schema([("log_prob", pa.float64())])
PATHS = pa.schema([("log_prob", pa.float64()), ("states", pa.list_(pa.int32()))])
SHARES = pa.schema([("shares", pa.list_(pa.float64()))])
SEGMENTS = pa.schema(
    [
        ("words", pa.list_(pa.string())),
        ("topics", pa.list_(pa.int32())),
        ("probabilities", pa.list_(pa.float64())),
    ]
)


@dataclass(frozen=True, eq=False)
class AskedModel:
    """A model that rows of sequences are asked about, and how these are read.

    ``model`` may have one symbol more than ``vocabulary``, or ``n_symbols``: the rare one.
    """

    model: HMM
    vocabulary: Vocabulary | None
    n_symbols: int
    unseen: str
    characters: bool
    in_logarithms: bool

    def read(self, rows: Any) -> tuple[Sequences | None, Ints]:
        """The rows in the symbols of the model, and the length of each."""
        size = self.n_symbols if self.vocabulary is None else None
        return row_sequences(rows, self.vocabulary, size, self.unseen, self.characters)


def scores(asked: AskedModel, data: Partitions) -> Any:
    """log P of every row."""
    return data.map_rows(partial(_scores, asked), SCORES)


def total_score(asked: AskedModel, data: Partitions) -> float:
    """log P of all rows."""
    return float(data.map_sum(_total_score, asked) or 0.0)


def paths(asked: AskedModel, algorithm: Any, data: Partitions) -> Any:
    """log P(states, symbols) and the states of every row."""
    return data.map_rows(partial(_paths, asked, algorithm), PATHS)


def shares(chains: Chains, reading: dict[str, Any], data: Partitions) -> Any:
    """The share of every topic in every row."""
    return data.map_rows(partial(row_shares, chains, reading), SHARES)


def segments(chains: Chains, reading: dict[str, Any], data: Partitions) -> Any:
    """The words of every row, their topics, and how probable these are."""
    return data.map_rows(partial(_segments, chains, reading), SEGMENTS)


def _scores(asked: AskedModel, rows: Any) -> pa.Table:
    return pa.table([_row_scores(asked, rows)], schema=SCORES)


def _total_score(rows: Any, asked: AskedModel) -> float:
    return float(_row_scores(asked, rows).sum())


def _row_scores(asked: AskedModel, rows: Any) -> Floats:
    data, lengths = asked.read(rows)
    scores = np.zeros(len(lengths))  # of a row without symbols: log 1
    if data is not None:
        with inference.in_logarithms(asked.in_logarithms):
            scores[lengths > 0] = asked.model.log_likelihoods(data)
    return scores


def _paths(asked: AskedModel, algorithm: Any, rows: Any) -> pa.Table:
    data, lengths = asked.read(rows)
    scores, states = np.zeros(len(lengths)), np.empty(0, np.int32)
    if data is not None:
        with inference.in_logarithms(asked.in_logarithms):
            scores[lengths > 0], states = asked.model.decode_each(data, algorithm=algorithm)
    return paths_table(scores, states, lengths)


def paths_table(scores: Floats, states: Ints, lengths: Ints) -> pa.Table:
    """A row per sequence: the log-probability of its path, and the path."""
    return pa.table([scores, _lists(states.astype(np.int32), lengths)], schema=PATHS)


def row_shares(chains: Chains, reading: dict[str, Any], rows: Any) -> pa.Table:
    """The share of every topic in every row."""
    if not len(rows):
        return SHARES.empty_table()
    return shares_table(chains.infer(_read(rows, reading)).shares)


def shares_table(found: Floats) -> pa.Table:
    """Shares, (D, K), as a table with a list per document."""
    lengths = np.full(len(found), found.shape[1])
    return pa.table([_lists(found.ravel(), lengths)], schema=SHARES)


def _segments(chains: Chains, reading: dict[str, Any], rows: Any) -> pa.Table:
    if not len(rows):
        return SEGMENTS.empty_table()
    found = segment(chains, _read(rows, reading))
    return pa.table(
        {
            "words": [one.words for one in found],
            "topics": [one.topics for one in found],
            "probabilities": [one.probabilities for one in found],
        },
        schema=SEGMENTS,
    )


def _read(rows: Any, reading: dict[str, Any]) -> Any:
    with silenced(TextWarning):  # nobody is there to read it
        return read_documents(texts_of(rows), **reading)


def _lists(values: np.ndarray, lengths: Ints) -> pa.Array:
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values))

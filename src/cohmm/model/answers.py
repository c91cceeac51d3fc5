"""What a model answers about data as users have it, in memory or in `Partitions`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
import pyarrow as pa

from cohmm.data.encoding import as_hmmlearns_column
from cohmm.data.partitioned import is_path
from cohmm.data.read_sequences import read_sequences
from cohmm.data.sequences import Sequences, row_sequences
from cohmm.distributed.backend import Partitions
from cohmm.kernels.types import Floats, Ints
from cohmm.model import inference
from cohmm.model.hmm import HMM

T = TypeVar("T")
Algorithm = Literal["viterbi", "map"]

SCORES = pa.schema([("log_prob", pa.float64())])
PATHS = pa.schema([("log_prob", pa.float64()), ("states", pa.list_(pa.int32()))])


@dataclass(frozen=True, eq=False)
class Answers:
    """A model, and how data is encoded for it.

    Data in memory is as `Sequences.of` takes it.  `Partitions` have one sequence per row; they stay
    where they are, and answers about each are collections of the same engine.

    Parameters
    ----------
    model : HMM
        The model.
    unseen : "error", "missing" or "rare"
        What a symbol is that the model does not have.
    rare : HMM or None
        The model with one symbol more, where unseen ones are rare.
    characters : bool
        Strings are sequences of characters.
    in_logarithms : bool
        Logarithms all the way, instead of scaled probabilities.

    >>> model = HMM([1], [[1]], [[0.25, 0.75]])
    >>> Answers(model, unseen="missing").ask(HMM.log_likelihoods, [[0, 0, 7], [7]]).round(3)
    array([-2.773,  0.   ])
    """

    model: HMM
    unseen: Any = "error"
    rare: HMM | None = None
    characters: bool = False
    in_logarithms: bool = False
    columns: bool = False
    """Whether a list of one-element lists is hmmlearn's column, and not several sequences."""

    def ask(self, question: Callable[[HMM, Sequences], T], X: Any, lengths: Any = None) -> T:
        """What ``question`` makes of the model and of data in memory, encoded for it."""
        if isinstance(X, Partitions):
            raise ValueError(
                "Partitions have score, score_sequences, decode and predict; for other answers use "
                "map_rows, or give data in memory"
            )
        if is_path(X, self.model.vocabulary, self.characters):
            numbers = self.model.vocabulary is None
            X = read_sequences(X, characters=self.characters, integers=numbers)
        elif self.characters:
            X, lengths = Sequences.of(X, lengths, characters=True), None
        elif self.columns and lengths is None:
            X = as_hmmlearns_column(X)
        if self.rare is None:
            return self._answered(question, self.model.encode(X, lengths, self.unseen))
        return self._answered(question, self.model.encode_rare(X, lengths))

    def log_likelihood(self, X: Any, lengths: Any = None) -> float:
        """log P of all sequences together."""
        if isinstance(X, Partitions):
            return float(X.map_sum(_total_score, self) or 0.0)
        return float(self.log_likelihoods(X, lengths).sum())

    def log_likelihoods(self, X: Any, lengths: Any = None) -> Any:
        """log P of every sequence."""
        if isinstance(X, Partitions):
            return X.map_rows(partial(_scores_table, self), SCORES)
        return self.ask(HMM.log_likelihoods, X, lengths)

    def decode(self, X: Any, lengths: Any = None, algorithm: Algorithm = "viterbi") -> Any:
        """log P(states, symbols) and the states: together, or for every row of Partitions."""
        if isinstance(X, Partitions):
            return X.map_rows(partial(_paths, self, algorithm), PATHS)
        return self.ask(partial(HMM.decode, algorithm=algorithm), X, lengths)

    def encode_rows(self, rows: Any) -> tuple[Sequences | None, Ints]:
        """Rows of Partitions in the symbols of the model, and the length of each."""
        words, n_symbols = self.model.vocabulary, self.model.n_symbols
        size = n_symbols if words is None else None
        return row_sequences(rows, words, size, self.unseen, self.characters)

    def _answered(self, question: Callable[[HMM, Sequences], T], data: Sequences) -> T:
        with inference.in_logarithms(self.in_logarithms):
            return question(self.model if self.rare is None else self.rare, data)


def paths_table(scores: Floats, states: Ints, lengths: Ints) -> pa.Table:
    """One row per sequence: the log-probability of its path, and the path."""
    return pa.table([scores, list_array(states.astype(np.int32), lengths)], schema=PATHS)


def list_array(values: np.ndarray, lengths: Ints) -> pa.Array:
    """A column of lists that have these lengths."""
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values))


def _scores_table(answers: Answers, rows: Any) -> pa.Table:
    return pa.table([_scores(rows, answers)], schema=SCORES)


def _total_score(rows: Any, answers: Answers) -> float:
    return float(_scores(rows, answers).sum())


def _scores(rows: Any, answers: Answers) -> Floats:
    data, lengths = answers.encode_rows(rows)
    scores = np.zeros(len(lengths))  # of a row without symbols: log 1
    if data is not None:
        scores[lengths > 0] = answers._answered(HMM.log_likelihoods, data)
    return scores


def _paths(answers: Answers, algorithm: Algorithm, rows: Any) -> pa.Table:
    data, lengths = answers.encode_rows(rows)
    scores, states = np.zeros(len(lengths)), np.empty(0, np.int32)
    if data is not None:
        decode_each = partial(HMM.decode_each, algorithm=algorithm)
        scores[lengths > 0], states = answers._answered(decode_each, data)
    return paths_table(scores, states, lengths)

"""What a model answers about data as users have it, in memory, in files or in `Partitions`.

Between the two stands how data is encoded: what a symbol is that training did not see, whether
strings are sequences of characters, and whether sequences end with an event of their own.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar, cast

import numpy as np
import pyarrow as pa

from cohmm import storage
from cohmm._validation import check_choice
from cohmm.data.encoding import MISSING, as_hmmlearns_column
from cohmm.data.partitioned import is_path
from cohmm.data.read_sequences import read_sequences
from cohmm.data.sequences import END, Sequences, UnseenSymbolError, row_sequences
from cohmm.data.vocabulary import Vocabulary
from cohmm.distributed.backend import Partitions
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.model import inference
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator, sample_to_end

T = TypeVar("T")
Algorithm = Literal["viterbi", "map"]
Unseen = Literal["error", "missing", "rare"]

SCORES = pa.schema([("log_prob", pa.float64())])
PATHS = pa.schema([("log_prob", pa.float64()), ("states", pa.list_(pa.int32()))])
SYMBOL_COUNTS, PAIRS = "symbol_counts", "pairs_"  # arrays of a file


def good_turing(symbol_counts: Any) -> float:
    """The probability that the next symbol is new: the share of those seen once (Good, 1953).

    Where none was seen once, as if half of one had been, so that it is improbable, not impossible.

    >>> good_turing([5, 3, 1, 1])
    0.2
    """
    counts = np.asarray(symbol_counts, np.float64)
    once = float(np.count_nonzero((counts > 0) & (counts <= 1)))
    return min(max(once, 0.5) / max(float(counts.sum()), 1.0), 0.5)


def unseen_probability(symbol_counts: Any) -> float:
    """The probability of each symbol that was not seen, in every state.

    `good_turing` says how often one of them comes.  It is shared by the symbols with a count of
    zero, or by as many as there are by the estimate of Chao (1984), from how many were seen once
    and twice, if that is more.  It is at most that of a symbol that was seen once.

    >>> unseen_probability([5, 3, 1, 1])
    0.1
    >>> unseen_probability([5, 3, 1, 1, 0, 0, 0, 0])
    0.05
    """
    counts = np.asarray(symbol_counts, np.float64)
    once = np.count_nonzero((counts > 0) & (counts <= 1))
    twice = np.count_nonzero((counts > 1) & (counts <= 2))
    n_zero = float(np.count_nonzero(counts == 0))
    n_unseen = max(n_zero, float(once * (once - 1) / (2 * (twice + 1))), 1.0)
    return min(good_turing(counts) / n_unseen, 1 / max(float(counts.sum()), 1.0))


def with_unseen(model: HMM, symbol_counts: Any) -> HMM:
    """``model``, in which symbols with a count of zero have `unseen_probability` in every state.

    >>> with_unseen(HMM([1], [[1]], [[.5, .5, 0]]), [5, 5, 0]).emissionprob
    array([[0.475, 0.475, 0.05 ]])
    """
    unseen = np.asarray(symbol_counts) == 0
    if not unseen.any() or unseen.all():
        return model
    probability = unseen_probability(symbol_counts)
    seen = np.where(unseen, 0.0, model.emissionprob)
    seen *= (1 - probability * unseen.sum()) / seen.sum(axis=1, keepdims=True)
    emission = np.where(unseen, probability, seen)
    return HMM(model.startprob, model.transmat, emission, model.vocabulary)


class Encoded(NamedTuple):
    """Data in the symbols of a model, those that it does not know as missing ones."""

    data: Sequences
    unseen: Ints
    """Positions in ``data`` of symbols that are not missing, but not known."""
    ends: Ints
    """Positions in ``data`` of the ends of sequences; empty where these are no events."""

    @property
    def data_alone(self) -> np.ndarray | slice:
        """Which positions are the user's."""
        if not len(self.ends):
            return slice(None)
        real = np.ones(len(self.data.symbols), bool)
        real[self.ends] = False
        return real


NOWHERE = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Answers:
    """A model, and how data is encoded for it.

    Data in memory is as `Sequences.of` takes it, or a path.  `Partitions` have one sequence per
    row; they stay where they are, and answers about each are collections of the same engine.

    Parameters
    ----------
    model : HMM
        The model.
    unseen : "error", "missing" or "rare"
        What a symbol is that the model does not have.  What is rare has `unseen_probability` in
        every state, and says nothing of the state; what is known keeps its probability.
    symbol_counts : array, (N,), or None
        How often each symbol was seen; without them, rare symbols are an error.
    characters : bool
        Strings are sequences of characters.
    end : bool
        Sequences end with an event, the symbol `END` of the model.
    in_logarithms : bool
        Logarithms all the way, instead of scaled probabilities.

    >>> model = HMM([1], [[1]], [[0.25, 0.75]])
    >>> Answers(model, unseen="missing").log_likelihoods([[0, 0, 7], [7]]).round(3)
    array([-2.773,  0.   ])
    """

    model: HMM
    unseen: Unseen = "error"
    symbol_counts: Any = None
    characters: bool = False
    end: bool = False
    in_logarithms: bool = False
    columns: bool = False
    """Whether a list of one-element lists is hmmlearn's column, and not several sequences."""

    def __post_init__(self) -> None:
        check_choice(("error", "missing", "rare"), unseen=self.unseen)
        if self.end and END not in (self.model.vocabulary or ()):
            raise ValueError(
                f"end=True needs a model whose symbols include {END!r}: fit it with end=True"
            )

    # -- how data is encoded -----------------------------------------------------------------

    @cached_property
    def end_code(self) -> int | None:
        """The symbol that is the end of a sequence, if there is one."""
        if not self.end:
            return None
        assert self.model.vocabulary is not None
        return self.model.vocabulary.index(END)

    @cached_property
    def symbols(self) -> tuple[Vocabulary | None, int]:
        """The labels of symbols in data, or None where they are numbers, and how many there are."""
        labels, n = self.model.vocabulary, self.model.n_symbols
        if self.end_code is None or labels is None:
            return labels, n
        labels = labels[: self.end_code] + labels[self.end_code + 1 :]
        return (None if labels == tuple(range(n - 1)) else labels), n - 1

    @cached_property
    def log_unseen(self) -> float:
        """log P(a symbol that was not seen)."""
        return float(np.log(unseen_probability(self.symbol_counts)))

    @property
    def unseen_as(self) -> Unseen:
        """How whoever encodes is to treat symbols that are unknown; `encoded` does the rest."""
        return "error" if self.unseen == "rare" and self.symbol_counts is None else self.unseen

    def encode(self, X: Any, lengths: Any = None, *, end: bool = True) -> Encoded:
        """Data in memory, or in files, in the symbols of the model; without ends if not ``end``."""
        if isinstance(X, Partitions):
            raise ValueError(
                "Partitions have score, score_sequences, decode and predict; for other answers use "
                "map_rows, or give data in memory"
            )
        labels, n = self.symbols
        if is_path(X, labels, self.characters):
            X = read_sequences(X, characters=self.characters, integers=labels is None)
        elif self.columns and lengths is None and not self.characters:
            X = as_hmmlearns_column(X)
        size = n if labels is None else None
        try:
            data = Sequences._of_known(X, lengths, labels, size, self.unseen_as, self.characters)
        except UnseenSymbolError as error:
            raise ValueError(f"{error.what}; {self._remedy}{error.hint}") from None
        return self.encoded(data, end=end)

    @property
    def _remedy(self) -> str:
        if self.unseen == "rare":
            return (
                "unseen='rare' needs counts of symbols, which a model has that was fitted; "
                "unseen='missing' treats it as a missing observation"
            )
        return (
            "unseen='rare' gives it the probability of symbols that are hardly ever seen, "
            "unseen='missing' treats it as a missing observation"
        )

    def encoded(self, data: Sequences, *, end: bool = True) -> Encoded:
        """Data in the symbols that `symbols` says, with ends, and with a rare symbol if any."""
        n = self.symbols[1]
        codes, offsets, unseen, ends = data.symbols, data.offsets, NOWHERE, NOWHERE
        if data.n_symbols > n:
            unseen = np.flatnonzero(codes == n)
            codes = np.where(codes == n, np.int32(MISSING), codes)
        if self.end_code is not None and self.end_code < n:
            codes = codes + (codes >= self.end_code).astype(np.int32)
        if end and self.end_code is not None:
            unseen = unseen + np.searchsorted(offsets[1:], unseen, side="right")
            codes = np.insert(codes, offsets[1:], np.int32(self.end_code))
            offsets = offsets + np.arange(len(offsets))
            ends = offsets[1:] - 1
        same = {"n_symbols": self.model.n_symbols, "vocabulary": self.model.vocabulary}
        return Encoded(data._with(symbols=codes, offsets=offsets, **same), unseen, ends)

    # -- answers -----------------------------------------------------------------------------

    def log_likelihood(self, X: Any, lengths: Any = None) -> float:
        """log P of all sequences together."""
        if isinstance(X, Partitions):
            return float(X.map_sum(_total_score, self) or 0.0)
        return float(self.log_likelihoods(X, lengths).sum())

    def log_likelihoods(self, X: Any, lengths: Any = None) -> Any:
        """log P of every sequence."""
        if isinstance(X, Partitions):
            return X.map_rows(partial(_scores_table, self), SCORES)
        return self.scores_of(self.encode(X, lengths))

    def decode(self, X: Any, lengths: Any = None, algorithm: Algorithm = "viterbi") -> Any:
        """log P(states, symbols) and the states: together, or for every row of Partitions."""
        if isinstance(X, Partitions):
            return X.map_rows(partial(_paths, self, algorithm), PATHS)
        log_probs, states = self.paths_of(self.encode(X, lengths), algorithm)
        return float(log_probs.sum()), states

    def surprise(self, X: Any, lengths: Any = None) -> Floats:
        """-log P(symbol | symbols before it), (T,); that of an end is added to the last symbol."""
        return self.surprise_of(self.encode(X, lengths))

    def posterior(self, X: Any, lengths: Any = None) -> Floats:
        """P(state at t | the whole sequence), (T, K)."""
        return self.posterior_of(self.encode(X, lengths))

    def filter(self, X: Any, lengths: Any = None) -> Floats:
        """P(state at t | symbols up to t), (T, K)."""
        return self._ask(HMM.filter, self.encode(X, lengths, end=False).data)

    def forecast(self, X: Any, lengths: Any = None, steps: int = 1) -> Floats:
        """Probabilities of the next symbols, (steps, N), or (S, steps, N) with lengths.

        Where sequences end, the column of `END` says how probably it has come by then.
        """
        question = partial(HMM.forecast, steps=steps, end=self.end_code)
        ahead = self._ask(question, self.encode(X, lengths, end=False).data)
        return ahead[None] if lengths is not None and ahead.ndim == 2 else ahead

    def sample(
        self, n_sequences: int, random_state: Any = None, currstate: int | None = None
    ) -> tuple[Sequences, Ints]:
        """Whole sequences, each as long as it happens to be, and the states of all, (T,)."""
        end = self.end_code
        assert end is not None
        symbols, states, lengths = sample_to_end(
            self.model, end, n_sequences, generator(random_state), currstate
        )
        labels, n = self.symbols
        codes = symbols - (symbols > end).astype(np.int32)
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        return Sequences._trusted(codes, offsets, n, labels), states

    # -- of encoded data ---------------------------------------------------------------------

    def scores_of(self, encoded: Encoded) -> Floats:
        """log P of every sequence, (S,)."""
        scores = self._ask(HMM.log_likelihoods, encoded.data)
        return self._with_unseen(scores, encoded)

    def paths_of(self, encoded: Encoded, algorithm: Algorithm) -> tuple[Floats, Ints]:
        """log P(states, symbols) of every sequence, (S,), and the states of all symbols, (T,)."""
        decode_each = partial(HMM.decode_each, algorithm=algorithm)
        log_probs, states = self._ask(decode_each, encoded.data)
        return self._with_unseen(log_probs, encoded), states[encoded.data_alone]

    def posterior_of(self, encoded: Encoded) -> Floats:
        """P(state at t | the whole sequence), (T, K)."""
        return self._ask(HMM.posterior, encoded.data)[encoded.data_alone]

    def surprise_of(self, encoded: Encoded) -> Floats:
        """The surprise of every symbol, (T,), with that of an end added to the last one."""
        nats = self.event_surprise(encoded)
        if len(encoded.ends):
            nats[encoded.ends - 1] += nats[encoded.ends]
        return nats[encoded.data_alone]

    def event_surprise(self, encoded: Encoded) -> Floats:
        """The surprise of every symbol and of every end, as they stand in the encoded data."""
        nats = self._ask(HMM.surprise, encoded.data)
        if len(encoded.unseen):
            nats[encoded.unseen] = -self.log_unseen
        return nats

    def _with_unseen(self, scores: Floats, encoded: Encoded) -> Floats:
        if not len(encoded.unseen):
            return scores
        sequence = np.searchsorted(encoded.data.offsets, encoded.unseen, side="right") - 1
        return scores + self.log_unseen * np.bincount(sequence, minlength=len(scores))

    def _ask(self, question: Callable[[HMM, Sequences], T], data: Sequences) -> T:
        with inference.in_logarithms(self.in_logarithms):
            return question(self.model, data)

    def encode_rows(self, rows: Any) -> tuple[Encoded | None, Ints]:
        """Rows of Partitions in the symbols of the model, and the length of each."""
        labels, n = self.symbols
        size = n if labels is None else None
        data, lengths = row_sequences(rows, labels, size, self.unseen_as, self.characters)
        return (None if data is None else self.encoded(data)), lengths


# -- files -----------------------------------------------------------------------------------


def save_fitted(
    path: str | os.PathLike[str],
    answers: Answers,
    parameters: Mapping[str, Any],
    counts: Cooccurrence | None = None,
) -> None:
    """Write a model, how data is encoded for it, and the options that it was learned with.

    `HMM.load` reads the model alone.  Counts of pairs are for whoever adds to them.
    """
    header, arrays = answers.model.contents()
    header["answers"] = {name: getattr(answers, name) for name in ("unseen", "characters", "end")}
    header["parameters"] = {name: storage.plain(name, value) for name, value in parameters.items()}
    if answers.symbol_counts is not None:
        arrays[SYMBOL_COUNTS] = np.asarray(answers.symbol_counts, np.float64)
    if counts is not None:
        header["lags"] = list(counts.lags)
        arrays |= {f"{PAIRS}{name}": array for name, array in counts.arrays().items()}
    storage.save(path, "HMM", header, arrays)


def load_fitted(
    path: str | os.PathLike[str], known: Iterable[str] | None = None
) -> tuple[Answers, dict[str, Any], Cooccurrence | None]:
    """What `save_fitted` wrote; of a file of `HMM.save`, in which unseen symbols are an error.

    Parameters other than the ``known`` ones are refused.
    """
    header, arrays = storage.load(path, "HMM")

    def build() -> tuple[Answers, dict[str, Any], Cooccurrence | None]:
        model = HMM.of_contents(header, arrays)
        answers = Answers(
            model, symbol_counts=arrays.get(SYMBOL_COUNTS), **header.get("answers", {})
        )
        if answers.symbol_counts is not None and len(answers.symbol_counts) != model.n_symbols:
            raise ValueError(f"{len(answers.symbol_counts)} counts of {model.n_symbols} symbols")
        parameters = header.get("parameters", {"n_components": model.n_components})
        parameters = {"unseen": answers.unseen, **parameters}
        if "lags" in parameters:
            parameters["lags"] = tuple(parameters["lags"])
        for name in parameters.keys() - set(known or parameters):
            raise ValueError(f"there is no parameter {name!r}")
        counts = None
        if "lags" in header:
            own = {n.removeprefix(PAIRS): a for n, a in arrays.items() if n.startswith(PAIRS)}
            counts = Cooccurrence.from_arrays(header["lags"], own, model.vocabulary)
        return answers, parameters, counts

    return cast(tuple[Answers, dict[str, Any], Cooccurrence | None], storage.reading(path, build))


# -- rows of partitions ----------------------------------------------------------------------


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
    encoded, lengths = answers.encode_rows(rows)
    scores = np.zeros(len(lengths))  # of a row without symbols: log 1
    if encoded is not None:
        scores[lengths > 0] = answers.scores_of(encoded)
    return scores


def _paths(answers: Answers, algorithm: Algorithm, rows: Any) -> pa.Table:
    encoded, lengths = answers.encode_rows(rows)
    scores, states = np.zeros(len(lengths)), np.empty(0, np.int32)
    if encoded is not None:
        scores[lengths > 0], states = answers.paths_of(encoded, algorithm)
    return paths_table(scores, states, lengths)

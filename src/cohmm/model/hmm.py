"""The model: three probability arrays that cannot be wrong, and what they answer."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np

from cohmm import storage
from cohmm._validation import check_whole, is_whole, shown
from cohmm.data.sequences import Sequences, Unseen, check_unseen
from cohmm.data.vocabulary import Vocabulary, as_vocabulary, label_array
from cohmm.kernels.recursions import Tables, log_tables, probability_tables
from cohmm.kernels.types import Floats, Ints
from cohmm.model import decoding, inference
from cohmm.model.convert import HMMTable, categorical_hmm, hmm_frame, tables_of
from cohmm.model.markov_chain import (
    Distance,
    match_rows,
    probabilities,
    stationary_distribution,
    total_variation,
    transition_power,
)
from cohmm.model.sampling import generator, sample, start_at
from cohmm.model.state_table import states_as_html


class ImpossibleObservation(ValueError):
    """The data has probability zero under the model."""


@dataclass(frozen=True, eq=False)
class HMM:
    """A hidden Markov model of symbols.

    Parameters
    ----------
    startprob : array, (K,)
        Probability of each state at the start of a sequence.
    transmat : array, (K, K)
        ``transmat[i, j]`` is the probability of going from state i to state j.
    emissionprob : array, (K, N)
        ``emissionprob[k, n]`` is the probability of symbol n in state k.
    vocabulary : list of N labels, optional
        What the symbols are called; without it they are the numbers from 0.

    Everything that takes data takes ``(y, lengths=None, unseen="error")``: the sequences, as
    `Sequences.of` reads them, and what to make of a symbol that the model does not know.

    >>> weather = HMM([.6, .4], [[.7, .3], [.4, .6]], [[.1, .4, .5], [.6, .3, .1]],
    ...               vocabulary=["walk", "shop", "clean"])
    >>> log_prob, states = weather.decode(["walk", "shop", "clean"])
    >>> states
    array([1, 0, 0], dtype=int32)
    >>> round(weather.log_likelihood(["walk", None, "clean"]), 4)
    -2.3585
    """

    startprob: Floats
    transmat: Floats
    emissionprob: Floats
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        start = probabilities("startprob", self.startprob, 1)
        trans = probabilities("transmat", self.transmat, 2)
        emission = probabilities("emissionprob", self.emissionprob, 2)
        k = len(start)
        if trans.shape != (k, k):
            raise ValueError(f"transmat must be {(k, k)}, as startprob has {k}, not {trans.shape}")
        if len(emission) != k:
            raise ValueError(f"emissionprob must have {k} rows, as startprob, not {len(emission)}")
        labels = None if self.vocabulary is None else as_vocabulary(self.vocabulary)
        if labels is not None and len(labels) != emission.shape[1]:
            raise ValueError(
                f"{len(labels)} labels for {emission.shape[1]} columns of emissionprob"
            )
        for name, value in (
            ("startprob", start),
            ("transmat", trans),
            ("emissionprob", emission),
            ("vocabulary", labels),
        ):
            object.__setattr__(self, name, value)

    @property
    def n_components(self) -> int:
        """K, the number of states."""
        return len(self.startprob)

    @property
    def n_symbols(self) -> int:
        """N, the number of symbols."""
        return int(self.emissionprob.shape[1])

    def __repr__(self) -> str:
        return f"HMM({self.n_components} states, {self.n_symbols:,} symbols)"

    def _repr_html_(self) -> str:
        return states_as_html(self, repr(self))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HMM):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and np.array_equal(self.startprob, other.startprob)
            and np.array_equal(self.transmat, other.transmat)
            and np.array_equal(self.emissionprob, other.emissionprob)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are frozen as well, and leave the tables behind."""
        return HMM, (self.startprob, self.transmat, self.emissionprob, self.vocabulary)

    @cached_property
    def _tables(self) -> Tables:
        return probability_tables(self.startprob, self.transmat, self.emissionprob)

    @cached_property
    def _logs(self) -> Tables:
        return log_tables(self._tables)

    def encode(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> Sequences:
        """The data as `Sequences` of this model's symbols."""
        check_unseen(unseen)
        size = self.n_symbols if self.vocabulary is None else None
        return Sequences._of_known(y, lengths, self.vocabulary, size, unseen)

    # -- answers about data ------------------------------------------------------------------

    def log_likelihoods(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> Floats:
        """log P(sequence) of every sequence, (S,); -inf where it is impossible."""
        data = self.encode(y, lengths, unseen)
        return inference.forward(self._tables, data.symbols, data.offsets).log_prob

    def log_likelihood(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> float:
        """log P(y), the sum over all sequences; -inf where it is impossible."""
        return float(self.log_likelihoods(y, lengths, unseen).sum())

    def surprise(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> Floats:
        """-log P(symbol at t | symbols before it), (T,): which symbols nobody expected.

        0 where a symbol is missing; infinite where it is impossible, after which it is passed
        over.

        >>> HMM([1, 0], [[0, 1], [1, 0]], [[.5, .5], [0, 1]]).surprise([0, 1, 1]).round(2).tolist()
        [0.69, 0.0, 0.69]
        """
        data = self.encode(y, lengths, unseen)
        return inference.surprise(self._tables, data.symbols, data.offsets)

    def filter(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> Floats:
        """P(state at t | symbols up to t), (T, K): no look-ahead."""
        data = self.encode(y, lengths, unseen)
        result = inference.forward(self._tables, data.symbols, data.offsets, keep=True)
        self.check_possible(data, result.lost)
        return cast(Floats, result.filtered)

    def posterior(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> Floats:
        """P(state at t | all symbols of the sequence), (T, K)."""
        data = self.encode(y, lengths, unseen)
        result = inference.smooth(self._tables, data.symbols, data.offsets, keep=True)
        self.check_possible(data, result.lost)
        return cast(Floats, result.posterior)

    def expected_counts(
        self, y: Any, lengths: Iterable[int] | None = None, unseen: Unseen = "error"
    ) -> tuple[float, inference.Counts]:
        """log P(y), and how often each start, transition and emission is expected to have happened.

        Memory does not grow with the length of the data.
        """
        data = self.encode(y, lengths, unseen)
        result = inference.smooth(self._tables, data.symbols, data.offsets, count=True)
        self.check_possible(data, result.lost)
        return float(result.log_prob.sum()), cast(inference.Counts, result.counts)

    def decode(
        self,
        y: Any,
        lengths: Iterable[int] | None = None,
        unseen: Unseen = "error",
        *,
        algorithm: Literal["viterbi", "map"] = "viterbi",
    ) -> tuple[float, Ints]:
        """The states behind the symbols: (log P(states, y), states).

        ``"viterbi"`` finds the most probable path, ``"map"`` the most probable state at
        each place.  The log-probability is that of the path and the data together in both
        cases, so that the two can be compared; a ``"map"`` path may be impossible as a
        whole, -inf.
        """
        log_probs, states = self.decode_each(y, lengths, unseen, algorithm=algorithm)
        return float(log_probs.sum()), states

    def decode_each(
        self,
        y: Any,
        lengths: Iterable[int] | None = None,
        unseen: Unseen = "error",
        *,
        algorithm: Literal["viterbi", "map"] = "viterbi",
    ) -> tuple[Floats, Ints]:
        """As `decode`, with one log-probability per sequence, (S,)."""
        data = self.encode(y, lengths, unseen)
        if algorithm == "viterbi":
            states, lost = decoding.viterbi(self._logs, data.symbols, data.offsets)
            if (lost >= 0).any():  # about there
                lost = inference.forward(self._tables, data.symbols, data.offsets).lost
            self.check_possible(data, lost)
        elif algorithm == "map":
            result = inference.smooth(self._tables, data.symbols, data.offsets, best=True)
            self.check_possible(data, result.lost)
            states = cast(Ints, result.best)
        else:
            raise ValueError(f"algorithm must be 'viterbi' or 'map', not {shown(algorithm)}")
        return decoding.path_log_probs(self._logs, data.symbols, data.offsets, states), states

    def forecast(
        self,
        y: Any,
        lengths: Iterable[int] | None = None,
        unseen: Unseen = "error",
        *,
        steps: int = 1,
        end: int | None = None,
    ) -> Floats:
        """Probabilities of the next symbols: (steps, N), or (S, steps, N) with ``lengths``.

        Row h is P(symbol h + 1 steps ahead | y).  After the symbol ``end`` there is no other; its
        column is the probability that it has come by then.

        >>> HMM([1], [[1]], [[.5, .5]]).forecast([0], steps=3, end=1)
        array([[0.5  , 0.5  ],
               [0.25 , 0.75 ],
               [0.125, 0.875]])
        """
        check_whole(steps=steps)
        data = self.encode(y, lengths, unseen)
        result = inference.forward(self._tables, data.symbols, data.offsets)
        self.check_possible(data, result.lost)
        ahead = np.empty((steps, *result.last.shape))
        row = result.last
        for step in range(steps):
            row = row @ self.transmat
            ahead[step] = row
            if end is not None:
                row = row * (1 - self.emissionprob[:, end])
        symbols = (ahead @ self.emissionprob).swapaxes(0, 1)
        if end is not None:
            symbols[..., end] = symbols[..., end].cumsum(axis=1)
        return symbols if lengths is not None or len(data) > 1 else symbols[0]

    def check_possible(self, data: Sequences, lost: Ints, where: str = "") -> None:
        """Refuse data of which ``lost``, (S,), says where it became impossible; -1 is nowhere."""
        if not (lost >= 0).any():
            return
        position = int(lost[np.argmax(lost >= 0)])
        code = int(data.symbols[position])
        label = code if self.vocabulary is None or code < 0 else self.vocabulary[code]
        raise ImpossibleObservation(
            f"symbol {shown(label)} at {data.place_of(position)}{where} has probability zero, "
            "given what comes before it: the model cannot have produced this sequence"
        )

    # -- answers about the model -------------------------------------------------------------

    def sample(
        self, n: int, random_state: Any = None, currstate: int | None = None
    ) -> tuple[np.ndarray, Ints]:
        """Draw one sequence: (n symbols, n states); symbols are labels where there are any.

        ``currstate`` is the state of the first symbol; default: drawn from ``startprob``.
        """
        if not is_whole(n) or n < 1:
            raise ValueError(
                f"the number of symbols to draw must be a whole number from 1, not {shown(n)}"
            )
        symbols, states = sample(
            start_at(self, currstate),
            self.transmat,
            self.emissionprob,
            int(n),
            generator(random_state),
        )
        if self.vocabulary is not None:
            return label_array(self.vocabulary)[symbols], states
        return symbols, states

    def stationary(self) -> Floats:
        """The distribution of states that the chain keeps, (K,)."""
        return stationary_distribution(self.transmat)

    def pair_probability(self, lag: int = 1) -> Floats:
        """Omega: P(symbol a at t, symbol b at t + lag) of the stationary chain, (N, N)."""
        if not is_whole(lag) or lag < 1:
            raise ValueError(f"a lag is a whole number from 1, not {shown(lag)}")
        theta = self.stationary()[:, None] * transition_power(self.transmat, int(lag))
        return np.asarray(self.emissionprob.T @ theta @ self.emissionprob)

    def triple_probability(self) -> Floats:
        """P(symbol a at t, b at t + 1, c at t + 2) of the stationary chain, (N, N, N)."""
        before = (self.emissionprob.T * self.stationary()) @ self.transmat
        after = self.transmat @ self.emissionprob
        n = self.n_symbols
        pairs = before[:, None, :] * self.emissionprob.T
        return np.asarray((pairs.reshape(n * n, -1) @ after).reshape(n, n, n))

    def align_to(self, other: HMM) -> HMM:
        """This model with its states in the order of the states of ``other`` they resemble."""
        self._check_comparable(other)
        order = match_rows(self.emissionprob, other.emissionprob)
        return self.with_states(order)

    def with_states(self, order: Any) -> HMM:
        """This model with its states in another order."""
        order = np.asarray(order)
        if sorted(order.tolist()) != list(range(self.n_components)):
            raise ValueError(f"order must name each of the {self.n_components} states once")
        return HMM(
            self.startprob[order],
            self.transmat[np.ix_(order, order)],
            self.emissionprob[order],
            self.vocabulary,
        )

    def distance(self, other: HMM) -> Distance:
        """Total variation of emissions and of transitions, after `align_to`."""
        aligned = self.align_to(other)
        return Distance(
            total_variation(aligned.emissionprob, other.emissionprob),
            total_variation(aligned.transmat, other.transmat),
        )

    def _check_comparable(self, other: HMM) -> None:
        if self.emissionprob.shape != other.emissionprob.shape:
            raise ValueError(f"{self} and {other} have nothing to match")
        if self.vocabulary != other.vocabulary:
            raise ValueError("the two models have different vocabularies")

    # -- elsewhere ---------------------------------------------------------------------------

    def to_frame(self, what: HMMTable) -> Any:
        """The "start", "transitions" or "emissions" as a pandas data frame, in long form.

        >>> model = HMM([.5, .5], [[.7, .3], [.4, .6]], [[.1, .9], [.6, .4]])
        >>> model.to_frame("transitions").columns.tolist()
        ['from_state', 'to_state', 'probability']
        """
        return hmm_frame(self, what)

    def to_hmmlearn(self) -> Any:
        """An `hmmlearn.hmm.CategoricalHMM` with these parameters (labels are not kept there)."""
        return categorical_hmm(self.startprob, self.transmat, self.emissionprob)

    @classmethod
    def from_hmmlearn(cls, model: Any, vocabulary: Iterable[Any] | None = None) -> HMM:
        """The parameters of a fitted `hmmlearn.hmm.CategoricalHMM`."""
        labels = None if vocabulary is None else as_vocabulary(vocabulary)
        return cls(*tables_of(model), labels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; the file holds no code."""
        storage.save(path, "HMM", *self.contents())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> HMM:
        """Read a model that `save` wrote, or the model of what `PairwiseHMM.save` wrote."""
        contents = storage.load(path, "HMM")
        return cast(HMM, storage.reading(path, lambda: cls.of_contents(*contents)))

    def contents(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """The header and the arrays of a file."""
        names = ("startprob", "transmat", "emissionprob")
        return {"vocabulary": self.vocabulary}, {name: getattr(self, name) for name in names}

    @classmethod
    def of_contents(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> HMM:
        """From the header and the arrays of a file."""
        labels = header["vocabulary"]
        return cls(
            arrays["startprob"],
            arrays["transmat"],
            arrays["emissionprob"],
            None if labels is None else as_vocabulary(labels),
        )

"""The likelihood of sequences, some of whose states may be known.

A symbol whose state is known is a symbol of its own, which no other state emits: so labels need
nothing of forward-backward, and what is counted is led back to the symbols themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from cohmm.data.partitioned import Data, Partitioned
from cohmm.data.sequences import Sequences
from cohmm.kernels.recursions import probability_tables
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import Constraints, PseudoCounts, tables, uniform_states
from cohmm.learn.learner import Fit, Record
from cohmm.learn.maximize import Expected, added, m_step
from cohmm.model import inference
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.sampling import generator

UNKNOWN = -1
FREQUENCY_FLOOR = 1e-300
LABELS_WORTH = 1.0  # observations: what all symbols, and all states, are worth beside the labels


@dataclass(frozen=True, eq=False)
class SequenceLikelihood:
    """The likelihood of sequences, by forward-backward: O(K^2) per symbol.

    Parameters
    ----------
    data : Sequences or Partitioned
        The evidence.
    weights : array, (S,), optional
        How often each sequence counts; once by default.
    labels : Labels, optional
        States that are known: the likelihood is then theirs too.  Neither is for parts.
    """

    data: Data
    weights: Floats | None = None
    labels: Labels | None = None

    @property
    def units(self) -> float:
        """How many symbols there are, by weight."""
        if self.weights is None:
            return float(self.data.n_observations)
        return float(self.weights @ self.data.lengths)

    def expected(self, model: HMM) -> Expected:
        """One pass over the sequences."""
        log_likelihood, counts = self.data.map_sum(_summed, model, self.weights, self.labels)
        n = self.units
        return Expected(log_likelihood / n, Counts(*(count / n for count in counts)))


def _summed(
    data: Sequences, model: HMM, weights: Floats | None, labels: Labels | None
) -> tuple[float, Counts]:
    """The log-likelihood of all sequences, and what they are expected to count."""
    emission = model.emissionprob if labels is None else labels.widened(model.emissionprob)
    result = inference.smooth(
        probability_tables(model.startprob, model.transmat, emission),
        data.symbols if labels is None else labels.codes,
        data.offsets,
        count=True,
        weights=weights,
    )
    model.check_possible(data, result.lost, "" if labels is None else " in the state given")
    counts = cast(Counts, result.counts)
    if labels is not None:
        counts = counts._replace(emissions=labels.folded(counts.emissions))
    log_prob = result.log_prob
    return float(log_prob.sum() if weights is None else weights @ log_prob), counts


def encoded(model: HMM, data: Data) -> Sequences | Partitioned:
    """The data in the symbols of a model; parts have to have them."""
    if isinstance(data, Partitioned):
        return data.in_terms_of(model.vocabulary, model.n_symbols)
    return model.encode(data)


def log_likelihood(model: HMM, data: Data) -> float:
    """log P of all sequences."""
    return float(data.map_sum(_log_likelihood, model))


def _log_likelihood(data: Sequences, model: HMM) -> float:
    return model.log_likelihood(data)


@dataclass(frozen=True, eq=False)
class Labels:
    """Sequences in which some of the states are known.

    Parameters
    ----------
    known : array, (T,)
        The state of every observation, `UNKNOWN` where nobody knows.
    codes : int32 array, (T,)
        The symbols; N + p is the p-th pair of symbol and state.
    symbols, states : arrays, (P,)
        The pairs; a missing symbol is -1.
    n_symbols : int
        N.
    """

    known: Ints
    codes: Ints
    symbols: Ints
    states: Ints
    n_symbols: int

    @classmethod
    def of(cls, data: Sequences, states: Any, n_components: int) -> Labels:
        """Labels for every observation of ``data``, as one array or one per sequence."""
        known = _checked(data, states, n_components)
        given = known >= 0
        pairs = (data.symbols[given].astype(np.int64) + 1) * n_components + known[given]
        distinct, places = np.unique(pairs, return_inverse=True)
        codes = data.symbols.copy()
        codes[given] = data.n_symbols + places
        codes.setflags(write=False)
        return cls(
            known, codes, distinct // n_components - 1, distinct % n_components, data.n_symbols
        )

    @property
    def complete(self) -> bool:
        """Whether every state is known."""
        return bool((self.known >= 0).all())

    def widened(self, emission: Floats) -> Floats:
        """Emissions (K, N) with one column per pair, (K, N + P), which only its state emits."""
        columns = np.zeros((len(emission), len(self.states)))
        seen = emission[self.states, self.symbols]
        columns[self.states, np.arange(len(self.states))] = np.where(self.symbols >= 0, seen, 1.0)
        return np.concatenate([emission, columns], axis=1)

    def folded(self, emissions: Floats) -> Floats:
        """Expected emissions (K, N + P), those of the pairs led back to their symbols, (K, N)."""
        total = emissions[:, : self.n_symbols].copy()
        seen = self.symbols >= 0
        states, symbols = self.states[seen], self.symbols[seen]
        np.add.at(total, (states, symbols), emissions[:, self.n_symbols :][:, seen].sum(axis=0))
        return total

    def counts(self, data: Sequences, weights: Floats | None, n_components: int) -> Counts:
        """What is known to have happened: starts, transitions and emissions, by counting."""
        k, known = n_components, self.known
        weight = np.repeat(np.ones(len(data)) if weights is None else weights, data.lengths)
        first = data.offsets[:-1]
        both = (known[:-1] >= 0) & (known[1:] >= 0)
        both[first[1:] - 1] = False  # nothing leads from one sequence to the next
        began = first[known[first] >= 0]
        seen = (known >= 0) & (data.symbols >= 0)
        emitted = known[seen] * data.n_symbols + data.symbols[seen]
        moved = known[:-1][both] * k + known[1:][both]
        return Counts(
            _totals(known[began], weight[began], k),
            _totals(moved, weight[:-1][both], k * k).reshape(k, k),
            _totals(emitted, weight[seen], k * data.n_symbols).reshape(k, -1),
        )


def _totals(places: Ints, weights: Floats, size: int) -> Floats:
    """The weight of each place, (size,)."""
    return np.bincount(places, weights, size).astype(np.float64)


def _checked(data: Sequences, states: Any, n_components: int) -> Ints:
    """Labels as one array, whatever they came as."""
    parts = states if isinstance(states, (list, tuple)) else [states]
    try:
        array = np.concatenate([np.atleast_1d(np.asarray(part)).ravel() for part in parts])
    except ValueError as error:
        raise ValueError(f"states must be whole numbers, -1 where unknown: {error}") from None
    ends = data.ends
    if len(array) != len(data.symbols) and len(array) == len(data.symbols) - len(ends):
        array = np.insert(array, ends - np.arange(len(ends)), UNKNOWN)
    if len(array) != len(data.symbols):
        raise ValueError(
            f"states must have one entry per observation, {len(data.symbols)}, not {len(array)}"
        )
    if array.dtype.kind == "f" and np.all(np.isfinite(array)) and np.all(array == array.round()):
        array = array.astype(np.float64)  # not of whole numbers yet: they may be too large
    elif array.dtype.kind not in "iu":
        raise ValueError(
            f"states must be whole numbers from 0, and -1 where unknown, not {array.dtype}"
        )
    wrong = (array < UNKNOWN) | (array >= n_components)
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"state {array[place]:.16g} at {data.place_of(place)}: states are from 0 to "
            f"{n_components - 1}, and -1 is unknown"
        )
    return array.astype(np.int64)


def fit_of_labels(
    data: Data, constraints: Constraints, n_components: int, weights: Floats | None
) -> Fit | None:
    """The model by counting, where every state is labelled; else None."""
    assert isinstance(data, Sequences)
    labels = Labels.of(data, constraints.states, n_components)
    if not labels.complete:
        return None
    start = constraints.over(_uniform(data, n_components))
    pseudo = (constraints.prior or PseudoCounts()).possible(start)
    counts = PseudoCounts(*labels.counts(data, weights, n_components)).possible(start)
    model = m_step(start, added(counts, pseudo), constraints.learned)
    log_likelihood = SequenceLikelihood(data, weights, labels).expected(model).log_likelihood
    record = Record(None)
    record(1, -log_likelihood)
    return Fit(model, True, tuple(record.history), (-log_likelihood,))


def start_from_labels(
    data: Data,
    constraints: Constraints,
    n_components: int,
    weights: Floats | None,
    random_state: Any,
) -> HMM:
    """A start from the labels that there are.

    A state that has no label begins at random, so that it is not the same as another such.
    """
    assert isinstance(data, Sequences)
    overall = _uniform(data, n_components)
    counts = Labels.of(data, constraints.states, n_components).counts(data, weights, n_components)
    drawn = generator(random_state).exponential(size=overall.emissionprob.shape)
    drawn *= overall.emissionprob * (counts.emissions.sum(axis=1, keepdims=True) == 0)
    counts = counts._replace(emissions=counts.emissions + drawn)
    extra = Counts(*(LABELS_WORTH * table for table in tables(overall)))
    return constraints.over(m_step(overall, added(counts, extra)))


def _uniform(data: Sequences, n_components: int) -> HMM:
    frequency = np.maximum(data.symbol_counts, FREQUENCY_FLOOR)
    return uniform_states(n_components, frequency, data.vocabulary)

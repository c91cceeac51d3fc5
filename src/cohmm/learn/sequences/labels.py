"""Known states of some observations.

A symbol whose state is known is a symbol of its own, which no other state emits: so labels need
nothing of forward-backward, and what is counted is led back to the symbols themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Floats, Ints
from cohmm.model.inference import Counts

UNKNOWN = -1


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

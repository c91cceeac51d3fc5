"""Data wherever it is: counted once, and perhaps read once more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from cohmm.data.partitioned import Data, Partitioned
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_pairs


class Source(Protocol):
    """Data wherever it is: what is counted, and perhaps read once more."""

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""

    def sequences(self, counts: Cooccurrence) -> Data | None:
        """The data, in the symbols of its counts; None where it cannot be read again."""


@dataclass(frozen=True)
class InMemory:
    """Sequences, as a `Source`."""

    data: Data
    weights: Any = None

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""
        return count_pairs(self.data, lags=lags, weights=self.weights)

    def sequences(self, counts: Cooccurrence) -> Data:
        """The data."""
        return self.data


@dataclass(frozen=True)
class CountsAlone:
    """Pairs whose data is elsewhere, as a `Source`."""

    counts: Cooccurrence

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """The pairs, at all lags."""
        return self.counts

    def sequences(self, counts: Cooccurrence) -> None:
        """None: there is no data to read."""
        return


def as_source(data: Any, weights: Any) -> Source:
    """``data`` as a source, whatever it came as."""
    if isinstance(data, (Sequences, Partitioned)):
        return InMemory(data, data.checked_weights(weights))
    if weights is not None:
        raise ValueError("weights are of sequences: counts have theirs in them already")
    if isinstance(data, Cooccurrence):
        return CountsAlone(data)
    if not (hasattr(data, "count") and hasattr(data, "sequences")):
        raise ValueError(
            "pairwise learns from Sequences, a Cooccurrence or a Source: give Sequences.of(X), not "
            f"a {type(data).__name__}"
        )
    source: Source = data
    return source

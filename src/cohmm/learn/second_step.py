"""The second step of the recipe: from a start to maximum likelihood, by sequences or triples."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.learn.fit import Callback
from cohmm.learn.known import Known
from cohmm.learn.options import check_choice
from cohmm.learn.sequences.em_step import PseudoCounts
from cohmm.learn.sequences.refine import RefinedFit, most_passes, refine, worthwhile
from cohmm.learn.sources import Data, Source
from cohmm.learn.triples.refine_triples import refine_triples, triples_serve, worthwhile_triples
from cohmm.learn.triples.window_ml import MAX_ITER as MAX_WINDOW_PASSES
from cohmm.model.hmm import HMM

SMOOTHING = 0.1  # pseudo-observations of each symbol in each state

Refine = bool | Literal["auto", "sequences", "triples"]
Stage = Callable[[str, int], AbstractContextManager[Callback | None]]
"""Called with "pairs" or "refinement" and the most passes it may take, as each begins."""


@dataclass(frozen=True, eq=False)
class SecondStep:
    """What is asked of it.

    Parameters
    ----------
    wanted : bool, "auto", "sequences" or "triples"
        Whether it is taken, and by the likelihood of what.
    known : Known
        What is known beside the data.
    weights : array, (S,), or None
        How often each sequence counts.
    sparsity, smoothing, max_iter, tol, random_state
        As for `cohmm.learn.refine`; None where they are for us to choose.
    """

    wanted: Refine
    known: Known
    weights: Any
    sparsity: float | Literal["auto"]
    smoothing: float | None
    max_iter: int | None
    tol: float
    random_state: Any

    def __post_init__(self) -> None:
        check_choice((True, False, "auto", "sequences", "triples"), refine=self.wanted)
        if self._prefers_zeros and self.wanted is False:
            raise ValueError(f"sparsity={self.sparsity} is for refinement: set refine=True too")
        if self.wanted == "triples" and self._needs_sequences:
            raise ValueError(
                "refine='triples' has no place for weights, known states and what was set by hand"
            )

    @property
    def _prefers_zeros(self) -> bool:
        return self.sparsity != "auto" and self.sparsity > 0

    @property
    def _needs_sequences(self) -> bool:
        known = self.known
        return known.decides_states or known.prior is not None or self.weights is not None

    def way(
        self, counts: Cooccurrence, n_components: int
    ) -> Literal["sequences", "triples"] | None:
        """What to refine by, if at all."""
        if self.wanted in (False, "sequences", "triples"):
            return self.wanted or None
        n = int(counts.symbol_counts.sum())
        triples = not self._needs_sequences and triples_serve(counts)
        cheap = (
            worthwhile_triples(n, n_components, counts.n_symbols)
            if triples
            else worthwhile(n, n_components)
        )
        asked = self._prefers_zeros or self.known.states is not None or self.known.prior is not None
        if self.wanted == "auto" and not (asked or cheap):
            return None
        return "triples" if triples else "sequences"

    def may_race(self, counts: Cooccurrence, n_components: int) -> bool:
        """Whether its start may be another one than was asked for: of sequences, unweighted."""
        if self.weights is not None or n_components == 1:
            return False
        return self.way(counts, n_components) == "sequences"

    def data(self, source: Source, counts: Cooccurrence, n_components: int) -> Data | None:
        """What it reads; None where it is not taken, or the data is not at hand."""
        return source.sequences(counts) if self.way(counts, n_components) else None

    def take(
        self, start: HMM, data: Data | None, counts: Cooccurrence, watch: Stage
    ) -> RefinedFit | None:
        """Take it from ``start``, if there is data to read."""
        if data is None:
            return None
        way = self.way(counts, start.n_components)
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = SMOOTHING if self.known.n_tables == 0 else 0.0
        passes = self.max_iter
        if passes is None:
            cheap = most_passes(data.n_observations, start.n_components)
            passes = MAX_WINDOW_PASSES if way == "triples" else cheap
        common: dict[str, Any] = {
            "sparsity": self.sparsity,
            "smoothing": smoothing,
            "max_iter": passes,
            "tol": self.tol,
            "random_state": self.random_state,
        }
        with watch("refinement", passes) as told:
            if way == "triples":
                return refine_triples(start, data, callback=told, **common)
            known = self.known
            return refine(
                start,
                data,
                weights=self.weights,
                states=known.states,
                learned=known.learned,
                prior=known.prior or (PseudoCounts() if known.decides_states else None),
                as_given=known.decides_states,
                callback=told,
                **common,
            )

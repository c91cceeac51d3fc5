"""Refinement: from a start to maximum likelihood, by sequences or by triples, decided once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from cohmm._validation import check_choice
from cohmm.data.partitioned import Data
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import MOST_SYMBOLS, triple_counts, window_counts
from cohmm.learn.constraints import Known, PseudoCounts
from cohmm.learn.learner import Callback, Fit, in_stage
from cohmm.learn.sequences.likelihood import encoded
from cohmm.learn.sequences.multistart import best_start, random_start
from cohmm.learn.sequences.refine import RefinedFit, most_passes, refine, worthwhile
from cohmm.learn.sparsity import opened
from cohmm.learn.windows.overcomplete import grouped, overcomplete
from cohmm.learn.windows.window_ml import MAX_ITER, triple_maximum_likelihood
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

SMOOTHING = 0.1  # pseudo-observations of each symbol in each state
LONG = 10**7  # symbols: from here on triples say enough, and passes over the data take minutes
SHORT = 8  # symbols in a sequence, on average: its start and end are then part of what it says
WORTHWHILE_TRIPLES = 4e8  # distinct triples times K: about a minute of one core
ROOM = 2**16  # numbers: decompositions of so many take seconds

Refine = bool | Literal["auto", "sequences", "triples"]


class Decision(NamedTuple):
    """That a model is refined: by what, and on which data."""

    evidence: Literal["sequences", "triples"]
    data: Data


@dataclass(frozen=True, eq=False)
class Refinement:
    """Options of the refinement step, checked together.

    Parameters
    ----------
    refine : bool, "auto", "sequences" or "triples"
        Whether to refine, and by the likelihood of what.
    known : Known
        What is known beside the data.
    weights : array, (S,), or None
        How often each sequence counts.
    sparsity, smoothing, max_iter, tol, random_state
        As for `cohmm.learn.refine`; None where the default depends on the data.
    """

    refine: Refine
    known: Known
    weights: Any
    sparsity: float | Literal["auto"]
    smoothing: float | None
    max_iter: int | None
    tol: float
    random_state: Any

    def __post_init__(self) -> None:
        check_choice((True, False, "auto", "sequences", "triples"), refine=self.refine)
        if self._prefers_zeros and self.refine is False:
            raise ValueError(f"sparsity={self.sparsity} is for refinement: set refine=True too")
        if self.refine == "triples" and self._needs_sequences:
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

    def decide(self, data: Data | None, counts: Cooccurrence, n_components: int) -> Decision | None:
        """Whether and how a model of these counts is refined; None where no data is at hand."""
        evidence = self._evidence(counts, n_components)
        return None if evidence is None or data is None else Decision(evidence, data)

    def _evidence(
        self, counts: Cooccurrence, n_components: int
    ) -> Literal["sequences", "triples"] | None:
        if self.refine in (False, "sequences", "triples"):
            return self.refine or None
        n = int(counts.symbol_counts.sum())
        triples = not self._needs_sequences and triples_serve(counts)
        cheap = (
            worthwhile_triples(n, n_components, counts.n_symbols)
            if triples
            else worthwhile(n, n_components)
        )
        asked = self._prefers_zeros or self.known.states is not None or self.known.prior is not None
        if self.refine == "auto" and not (asked or cheap):
            return None
        return "triples" if triples else "sequences"

    def run(
        self, start: HMM, decision: Decision | None, callback: Callback | None
    ) -> RefinedFit | None:
        """From ``start`` to maximum likelihood, as was decided."""
        if decision is None:
            return None
        evidence, data = decision
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = SMOOTHING if self.known.n_tables == 0 else 0.0
        max_iter = self.max_iter
        if max_iter is None:
            cheap = most_passes(data.n_observations, start.n_components)
            max_iter = MAX_ITER if evidence == "triples" else cheap
        common: dict[str, Any] = {
            "sparsity": self.sparsity,
            "smoothing": smoothing,
            "max_iter": max_iter,
            "tol": self.tol,
            "random_state": self.random_state,
        }
        callback = in_stage("refinement", max_iter, callback)
        if evidence == "triples":
            return refine_triples(start, data, callback=callback, **common)
        known = self.known
        return refine(
            start,
            data,
            weights=self.weights,
            states=known.states,
            learned=known.learned,
            prior=known.prior or (PseudoCounts() if known.decides_states else None),
            as_given=known.decides_states,
            callback=callback,
            **common,
        )


def refine_triples(
    model: HMM,
    data: Data,
    *,
    sparsity: float | Literal["auto"] = 0.0,
    smoothing: float = 0.1,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> RefinedFit:
    """Take a model to the maximum of the likelihood of all triples in ``data``.

    Parameters as for `cohmm.learn.refine`.

    >>> from cohmm import Sequences
    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth, rough = (random_hmm(20, 3, zeros=zeros, random_state=0) for zeros in (.5, 0))
    >>> data = Sequences.of(truth.sample(100_000, random_state=0)[0])
    >>> refine_triples(rough, data, random_state=0).model.distance(truth).emission < 0.1
    True
    """
    triples = encoded(model, data).map_sum(triple_counts)
    fit, weight = triple_maximum_likelihood(
        triples,
        opened(model),
        sparsity,
        smoothing=smoothing,
        max_iter=max_iter,
        tol=tol,
        rng=generator(random_state),
        callback=callback,
    )
    return RefinedFit(
        **vars(fit),
        before=model,
        gained=fit.history[0].divergence - fit.divergence,
        window_passes=fit.n_iter,
        length=int(triples.n_triples),
        evidence="triples",
        sparsity=weight,
    )


def triples_serve(counts: Cooccurrence) -> bool:
    """Whether data with these counts is refined by its triples, unless sequences are asked for."""
    n, n_sequences = counts.symbol_counts.sum(), counts.start_counts.sum()
    return bool(n > max(LONG, SHORT * n_sequences) and counts.n_symbols <= MOST_SYMBOLS)


def worthwhile_triples(length: int, n_components: int, n_symbols: int) -> bool:
    """Whether refining by the triples of so much data takes about a minute at most."""
    return min(length, n_symbols**3) * n_components <= WORTHWHILE_TRIPLES


class First(NamedTuple):
    """A model to refine."""

    model: HMM
    began: str
    """What it is from: "pairs", "triples", "windows" or "random starts"."""


def overcomplete_start(
    data: Data,
    n_components: int,
    *,
    smoothing: float = 0.1,
    random_state: Any = None,
) -> First:
    """The best first model of ``n_components`` states that the data bears.

    >>> from cohmm import Sequences
    >>> transmat = [[.8, .2, 0], [0, .8, .2], [.2, 0, .8]]
    >>> truth = HMM([1, 0, 0], transmat, [[.9, .1], [.5, .5], [.1, .9]])
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> overcomplete_start(data, 3, random_state=0).began
    'windows'
    """
    began, fit = _from_windows(data, n_components, smoothing, random_state)
    model = best_start(
        data,
        [] if fit is None else [fit.model],
        partial(random_start, data, n_components),
        random_state=random_state,
    )
    if fit is not None and model is fit.model:
        return First(model, began)
    return First(model, "random starts")


def _from_windows(
    data: Data, k: int, smoothing: float, random_state: Any
) -> tuple[str, Fit | None]:
    """What triples or windows say, if the data has enough of them."""
    n = int(np.count_nonzero(data.symbol_counts))
    tau = 1 if k <= n * n // 16 else 2
    while tau > 1 and 1 < n**tau < k:
        tau += 1
    began = "triples" if tau == 1 else "windows"
    if n < 2 or n ** (2 * tau + 1) > min(ROOM, data.n_observations):
        return began, None
    try:
        if tau == 1:
            learn = partial(overcomplete, data.map_sum(triple_counts))
        else:
            learn = partial(grouped, data.map_sum(window_counts, tau))
        return began, learn(k, smoothing=smoothing, random_state=random_state)
    except ValueError:  # sequences are too short, or too much alike, for so many states
        return began, None

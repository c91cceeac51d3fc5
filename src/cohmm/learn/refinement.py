"""Refinement: whether, and by the likelihood of sequences or of triples; decided once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from cohmm._validation import check_choice
from cohmm.data.partitioned import Data
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import MOST_SYMBOLS, triple_counts
from cohmm.learn.constraints import Constraints, PseudoCounts
from cohmm.learn.learner import Callback, in_stage
from cohmm.learn.pairs.pair_evidence import n_in_pairs
from cohmm.learn.sequences.likelihood import encoded
from cohmm.learn.sequences.refine import RefinedFit, most_passes, refine, worthwhile
from cohmm.learn.sparsity import opened
from cohmm.learn.windows.window_ml import MAX_ITER, triple_maximum_likelihood
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

SMOOTHING = 0.1  # pseudo-observations of each symbol in each state
LONG = 10**7  # symbols: from here on triples say enough, and passes over the data take minutes
SHORT = 8  # symbols in a sequence, on average: its start and end are then part of what it says
WORTHWHILE_TRIPLES = 4e8  # distinct triples times K: about a minute of one core

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
        Whether to refine, and by which likelihood.
    constraints : Constraints
        Tables, labels and pseudo-counts.
    weights : array, (S,), or None
        How often each sequence counts.
    sparsity, smoothing, max_iter, tol, random_state
        As for `cohmm.learn.refine`; None where the default depends on the data.
    """

    refine: Refine
    constraints: Constraints
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
                "refine='triples' cannot use weights, labels, pseudo-counts or tables that are set"
            )

    @property
    def _prefers_zeros(self) -> bool:
        return self.sparsity != "auto" and self.sparsity > 0

    @property
    def _needs_sequences(self) -> bool:
        constraints = self.constraints
        beside = constraints.prior is not None or self.weights is not None
        return constraints.distinguish_states or beside

    def decide(self, data: Data | None, counts: Cooccurrence, n_components: int) -> Decision | None:
        """Whether and how a model of these counts is refined; None where it is not."""
        if self.constraints.states is not None:
            self._check_labels(data)
        elif not self.constraints.distinguish_states and n_components > (n := n_in_pairs(counts)):
            if data is None or self.refine is False:
                raise ValueError(
                    f"n_components={n_components} states cannot be learned from pairs of {n} "
                    "symbols: give the sequences, and leave out refine=False, or ask for fewer "
                    "states"
                )
            return Decision("sequences", data)
        if data is None or self.refine is False:
            return None
        length = int(counts.symbol_counts.sum())
        if self.refine in ("sequences", "triples"):
            by_triples = self.refine == "triples"
        else:
            by_triples = not self._needs_sequences and triples_serve(counts)
        if self.refine == "auto" and not self._asked_for:
            cheap = (
                worthwhile_triples(length, n_components, counts.n_symbols)
                if by_triples
                else worthwhile(length, n_components)
            )
            if not cheap:
                return None
        return Decision("triples" if by_triples else "sequences", data)

    @property
    def _asked_for(self) -> bool:
        """Whether an option has no effect but on the refinement."""
        constraints = self.constraints
        beside = constraints.states is not None or constraints.prior is not None
        return self._prefers_zeros or beside

    def _check_labels(self, data: Data | None) -> None:
        if self.refine is False:
            raise ValueError("refine=False learns from pairs alone, which have no labels")
        if data is None:
            raise ValueError("labels are of observations: give the data, not its counts")
        if not isinstance(data, Sequences):
            raise ValueError("labels are for data in memory, not for parts of it")

    def run(self, start: HMM, decision: Decision, callback: Callback | None) -> RefinedFit:
        """From ``start`` to maximum likelihood, as was decided."""
        evidence, data = decision
        smoothing = self.smoothing
        if smoothing is None:
            smoothing = SMOOTHING if self.constraints.n_tables == 0 else 0.0
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
        constraints = self.constraints
        return refine(
            start,
            data,
            weights=self.weights,
            states=constraints.states,
            learned=constraints.learned,
            prior=constraints.prior or (PseudoCounts() if constraints.distinguish_states else None),
            as_given=constraints.distinguish_states,
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
        log_likelihood=-fit.divergence,
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

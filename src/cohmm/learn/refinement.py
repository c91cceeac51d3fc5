"""Refinement: whether, and by the likelihood of sequences or of triples; decided once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from cohmm._validation import check_choice
from cohmm.data.partitioned import Data
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import codes_in
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import MOST_SYMBOLS, triple_counts
from cohmm.learn.constraints import Constraints, PseudoCounts
from cohmm.learn.learner import Callback, Fit, in_stage, symbol_shares
from cohmm.learn.maximize import added, visits
from cohmm.learn.pairs.pair_evidence import n_in_pairs
from cohmm.learn.sequences.likelihood import SequenceLikelihood, encoded, log_likelihood
from cohmm.learn.sequences.refine import RefinedFit, most_passes, refine, worthwhile
from cohmm.learn.sparsity import OPENING, opened
from cohmm.learn.windows.window_ml import MAX_ITER, triple_maximum_likelihood
from cohmm.model.convert import with_symbols
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.sampling import generator

SMOOTHING = 0.1  # pseudo-observations of each symbol in each state
LONG = 10**7  # symbols: from here on triples say enough, and passes over the data take minutes
SHORT = 8  # symbols in a sequence, on average: its start and end are then part of what it says
WORTHWHILE_TRIPLES = 4e8  # distinct triples times K: about a minute of one core

Refine = bool | Literal["auto", "sequences", "triples"]


class Past(NamedTuple):
    """What is left of data that was learned from, and is no longer there."""

    counts: Cooccurrence
    """Its pairs."""
    model: HMM
    statistics: Counts | None = None
    """Its expected starts, transitions and emissions, if the model was refined."""

    @classmethod
    def of(cls, counts: Cooccurrence, model: HMM, fit: Fit | None) -> Past:
        """By a fit, or, of a model that was read from a file, as if it had been refined."""
        if isinstance(fit, RefinedFit):
            return cls(counts, model, fit.statistics)
        if fit is not None:
            return cls(counts, model)
        statistics = expected_statistics(model, counts.start_counts.sum(), counts.symbol_counts)
        return cls(counts, model, statistics)

    def weighted(self, decay: float) -> Past:
        """The same, as if there had been ``decay`` times as much."""
        statistics = self.statistics
        if statistics is not None:
            statistics = Counts(*(decay * count for count in statistics))
        return Past(self.counts * decay, self.model, statistics)

    def among(self, counts: Cooccurrence) -> Past:
        """The same among the symbols of ``counts``, of which some may be new."""
        model = with_symbols(self.model, counts.vocabulary, counts.n_symbols)
        statistics = self.statistics
        if statistics is not None and model is not self.model:
            places = np.arange(self.model.n_symbols)
            if counts.vocabulary is not None and self.model.vocabulary is not None:
                places = codes_in(self.model.vocabulary, counts.vocabulary)
            emissions = np.zeros((model.n_components, counts.n_symbols))
            emissions[:, places] = statistics.emissions
            statistics = statistics._replace(emissions=emissions)
        return Past(self.counts, model, statistics)


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

    def decide(
        self,
        data: Data | None,
        counts: Cooccurrence,
        n_components: int,
        past: Past | None = None,
    ) -> Decision | None:
        """Whether and how a model of these counts is refined; None where it is not.

        One that was refined goes on with the sequences that are new, and any other with all pairs.
        """
        if past is not None:
            on = past.statistics is not None and self.refine is not False and data is not None
            return Decision("sequences", data) if on and data is not None else None
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

    def run(
        self,
        start: HMM,
        decision: Decision,
        callback: Callback | None,
        statistics: Counts | None = None,
    ) -> RefinedFit:
        """From ``start`` to maximum likelihood, as was decided.

        With ``statistics`` of data that came before, they are counted beside those of this data, as
        online EM does: its M step is of both.
        """
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
        prior = constraints.prior or (PseudoCounts() if constraints.distinguish_states else None)
        if statistics is not None:
            prior = PseudoCounts(
                *(s + p for s, p in zip(statistics, prior or PseudoCounts(), strict=True))
            )
            common["sparsity"] = 0.0  # what it is for is in the statistics
        fit = refine(
            start,
            data,
            weights=self.weights,
            states=constraints.states,
            learned=constraints.learned,
            prior=prior,
            as_given=constraints.distinguish_states or statistics is not None,
            callback=callback,
            **common,
        )
        if statistics is None:
            return fit
        total = added(fit.statistics, statistics)
        return replace(fit, statistics=total, shares=visits(total))


def expected_statistics(model: HMM, n_sequences: float, symbol_counts: Any) -> Counts:
    """What data with so many of each symbol is expected to count, without reading it.

    At the maximum of the likelihood, tables are in proportion to their expected counts.
    """
    n = float(np.sum(symbol_counts))
    visited = n * symbol_shares(model, symbol_counts)[:, None]
    return Counts(
        n_sequences * model.startprob,
        (1 - n_sequences / n) * visited * model.transmat,
        visited * model.emissionprob,
    )


def resumed(
    past: Past, counts: Cooccurrence, pairs: HMM | None, data: Data, constraints: Constraints
) -> tuple[HMM, Counts]:
    """Where to go on with new ``data``, and the statistics that belong there.

    At the model of the past, or at the estimate from all ``pairs``, whichever explains the new data
    better.  Any state may emit any symbol then, also one that is new: a share `OPENING` of each is
    as frequent as symbols are in all ``counts``.
    """
    model, statistics = past.model, past.statistics
    assert statistics is not None
    if "e" in constraints.learned and constraints.emissionprob is None:
        frequency = counts.symbol_counts / counts.symbol_counts.sum()
        emission = (1 - OPENING) * model.emissionprob + OPENING * frequency
        model = HMM(model.startprob, model.transmat, emission, model.vocabulary)
    if pairs is None or log_likelihood(model, data) >= log_likelihood(pairs, data):
        return model, statistics
    total = expected_statistics(pairs, counts.start_counts.sum(), counts.symbol_counts)
    likelihood = SequenceLikelihood(encoded(pairs, data))
    new = (likelihood.units * count for count in likelihood.expected(pairs).counts)
    return pairs, Counts(*(np.maximum(a - b, 0.0) for a, b in zip(total, new, strict=True)))


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
        **(vars(fit) | {"gained": fit.history[0].divergence - fit.divergence}),
        before=model,
        log_likelihood=-fit.divergence,
        statistics=expected_statistics(fit.model, len(data), data.symbol_counts),
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

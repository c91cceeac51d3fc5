"""What a fit keeps of its data, so that it can be asked later how sure it is: some MB at most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cohmm.data.partitioned import Partitioned
from cohmm.data.sequences import Sequences
from cohmm.diagnose.blocks import Blocks, n_before, n_blocks
from cohmm.diagnose.pair_errors import PairTerms, pair_errors
from cohmm.diagnose.standard_errors import Held, StandardErrors, sequence_errors
from cohmm.diagnose.triple_errors import triple_errors
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.types import Ints
from cohmm.learn.constraints import ALL, Known, tables
from cohmm.learn.learner import Fit
from cohmm.learn.pairs.pair_evidence import PairFit
from cohmm.learn.pairs.volume import Volume, volume_term
from cohmm.learn.sequences.likelihood import Labels
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.hmm import HMM

LENGTHS = 4096  # of sequences that are kept
BELOW_THE_NOISE = (
    "the pairs show {} of {} states: errors hold where states were found near the truth, and those "
    "beyond may be other states altogether, off by far more"
)


@dataclass(frozen=True, eq=False)
class Kept:
    """What is left of the data.

    Parameters
    ----------
    model : HMM
        What was learned from it.
    held : Held
        What was not estimated.
    blocks, starts : Blocks or None
        Some of the data, and first blocks of sequences; None where pairs were all there was.
    lengths : int array
        The lengths of the sequences, or of some.
    size : tuple of float
        How many sequences, and how many symbols, by weight.
    pairs : PairTerms or None
        How the pairs were learned from, where the model is from those.
    n_triples : float
        How many triples the model is from; 0 where it is from something else.
    """

    model: HMM
    held: Held
    blocks: Blocks | None
    starts: Blocks | None
    lengths: Ints
    size: tuple[float, float]
    pairs: PairTerms | None = None
    n_triples: float = 0.0

    @classmethod
    def of(
        cls,
        data: Sequences | Partitioned | Cooccurrence,
        model: HMM,
        fit: Fit | None,
        *,
        known: Known | None = None,
        weights: Any = None,
        volume: str | Volume = "logdet",
        summed: bool = False,
    ) -> Kept:
        """Keep what is needed of ``data``, from which ``fit`` was learned."""
        held = _held(model, known)
        if isinstance(data, Cooccurrence):
            n, total = float(data.start_counts.sum()), float(data.symbol_counts.sum())
            whole = np.full(int(max(min(n, LENGTHS), 1)), int(total / max(n, 1.0)), np.int64)
            terms = _terms(fit, data, volume, summed)
            return cls(model, held, None, None, whole, (n, total), terms)
        parameters = model.n_components * (model.n_components + model.n_symbols)
        before = n_before(parameters)
        states = None
        if known is not None and known.states is not None and isinstance(data, Sequences):
            states = Labels.of(data, known.states, model.n_components).known
        lengths = np.asarray(data.lengths, np.int64)
        each = np.ones(len(lengths)) if weights is None else np.asarray(weights, np.float64)
        step = -(-len(lengths) // LENGTHS)
        return cls(
            model,
            held,
            Blocks.of(data, n_blocks(parameters, before), before, weights=weights, states=states),
            Blocks.starts(data, weights=weights, states=states),
            lengths[::step],
            (float(each.sum()), float(each @ lengths)),
            None,
            fit.length if isinstance(fit, RefinedFit) and fit.evidence == "triples" else 0.0,
        )

    def with_data(self, data: Sequences) -> Kept:
        """The same of other data, as if the model had been learned from that."""
        other = Kept.of(data, self.model, None)
        triples = other.size[1] - 2 * other.size[0] if self.n_triples else 0.0
        return replace(other, held=self.held, pairs=self.pairs, n_triples=max(triples, 0.0))

    def standard_errors(
        self, counts: Cooccurrence | None, n_detectable: int | None = None
    ) -> StandardErrors:
        """How sure the model is; ``counts`` are needed where it is from pairs.

        ``n_detectable`` states show in the pairs: where the model has more, a note says so.
        """
        errors = self._errors(counts)
        k = self.model.n_components
        if n_detectable is None or n_detectable >= k:
            return errors
        return replace(errors, notes=(*errors.notes, BELOW_THE_NOISE.format(n_detectable, k)))

    def _errors(self, counts: Cooccurrence | None) -> StandardErrors:
        if self.pairs is not None and counts is not None:
            return pair_errors(self.model, counts, self.pairs, self.held)
        assert self.blocks is not None
        if self.n_triples:
            return triple_errors(self.model, self.blocks, self.n_triples, self.starts, self.held)
        return sequence_errors(self.model, self.blocks, self.starts, self.held)


def kept_for(kept: Kept | None, model: HMM, data: Sequences | None, call: str) -> Kept:
    """What is kept of ``data``, or what the fit has kept, if ``model`` is what it learned.

    ``call`` is how the user asked, up to the data, for an error that says what to do.
    """
    if kept is not None and kept.model is not model:
        kept = None  # parameters were set since
    if data is not None:
        return Kept.of(data, model, None) if kept is None else kept.with_data(data)
    if kept is None:
        raise ValueError(
            "these parameters were set by hand: there is nothing to estimate errors from; fit, or "
            f"give the data that they are from, {call}X, lengths)"
        )
    return kept


def _terms(fit: Fit | None, counts: Cooccurrence, volume: str | Volume, summed: bool) -> PairTerms:
    if isinstance(fit, PairFit):
        gone = fit.passes_without_volume > 0
        return PairTerms(
            fit.lag_weights, 0.0 if gone else fit.penalty, volume_term(volume), summed, fit.penalty
        )
    # What is known was learned with from one lag, as if that were a step of the chain.
    lag = counts.lags[0]
    return PairTerms({lag: 1.0}, 0.0, volume_term("none"), lag != 1)


def _held(model: HMM, known: Known | None) -> Held:
    """Tables that were not learned, and zeros of those that were set."""
    if known is None:
        return Held.nothing(model)
    given = (known.startprob, known.transmat, known.emissionprob)
    return Held(
        *(
            np.ones(table.shape, bool)
            if letter not in known.learned
            else np.zeros(table.shape, bool)
            if start is None
            else np.asarray(start) == 0
            for letter, table, start in zip(ALL, tables(model), given, strict=True)
        )
    )

"""Sufficient summary for standard errors: what a fit keeps of its data, some MB at most.

Of sequences those are short blocks, each with the symbols before it; some thousands of them stand
for data of any length.  Of pairs the counts are enough, and how they were learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.partitioned import Data
from cohmm.data.sequences import Sequences
from cohmm.diagnose.intervals import Tables
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import ALL, Constraints, tables
from cohmm.learn.learner import Fit, prevalence_of
from cohmm.learn.pairs.pair_evidence import PairFit
from cohmm.learn.pairs.volume import Volume, volume_term
from cohmm.learn.sequences.likelihood import Labels
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm import HMM

BLOCK = 8  # symbols
BEFORE = 24  # symbols that a block is conditioned on
BEFORE_LARGE = 16  # the same for models of more than `LARGE_MODEL` parameters
LARGE_MODEL = 1000
BLOCKS_PER_PARAMETER = 12  # the inverse of a covariance needs about ten times its size
MIN_BLOCKS = 4000  # that are kept, where there are so many
MAX_SYMBOLS = 2**21  # kept: 4 MB as 16-bit numbers
MAX_STARTS = 4096  # sequences whose first block is kept
NOTHING = -2  # where there is no symbol: before the sequence, or after it
SEED = 16  # of the choice of blocks: the same data gives the same errors
MAX_LENGTHS = 4096  # of sequences that are kept
MIN_SEQUENCES, SEQUENCES_PER_PARAMETER = 2000, 4  # that are kept whole, where there are so many
MAX_WHOLE = 2**19  # symbols of those: 2 MB


@dataclass(frozen=True, eq=False)
class Blocks:
    """Some blocks of the data.

    Parameters
    ----------
    symbols : int array, (n, before + 8)
        What came before each block, and the block; -1 is missing, -2 is no place of the sequence.
    begins : bool array, (n,)
        Whether the first symbol is the first of its sequence.
    weights : array, (n,)
        How many blocks of the data each stands for.
    states : int array, (n, before + 8), or None
        States that are known, -1 where they are not.
    complete : bool
        Whether these are all blocks of the data.
    """

    symbols: Ints
    begins: np.ndarray
    weights: Floats
    states: Ints | None = None
    complete: bool = True

    def __len__(self) -> int:
        return len(self.symbols)

    @property
    def before(self) -> int:
        """Places before each block."""
        return int(self.symbols.shape[1]) - BLOCK

    @property
    def effective(self) -> float:
        """Effective number of blocks, by Kish's formula for weights."""
        return float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @classmethod
    def of(
        cls,
        data: Data,
        most: int,
        before: int = BEFORE,
        *,
        weights: Any = None,
        states: Ints | None = None,
    ) -> Blocks:
        """Blocks of ``data``, at most so many: one at a random place in each of equal shares.

        ``weights`` (S,) is how often each sequence counts, ``states`` (T,) what is known of them.

        >>> data = Sequences.of([0, 1] * 6)
        >>> Blocks.of(data, 100, before=8).symbols
        array([[-2, -2, -2, -2, -2, -2, -2, -2,  0,  1,  0,  1,  0,  1,  0,  1],
               [ 0,  1,  0,  1,  0,  1,  0,  1,  0,  1,  0,  1, -2, -2, -2, -2]],
              dtype=int8)
        """
        counts = -(-np.asarray(data.lengths, np.int64) // BLOCK)
        ends = np.cumsum(counts)
        each = np.ones(len(counts)) if weights is None else np.asarray(weights, np.float64)
        if ends[-1] <= most:
            share = np.repeat(each, counts)
            return cls._at(data, np.flatnonzero(share), share[share > 0], before, states, True)
        share = counts * each
        bounds = np.cumsum(share)
        total = float(share.sum())
        places = (np.arange(most) + np.random.default_rng(SEED).random(most)) * (total / most)
        which = np.minimum(np.searchsorted(bounds, places, side="right"), len(counts) - 1)
        inside = (places - (bounds - share)[which]) / share[which] * counts[which]
        inside = np.minimum(inside.astype(np.int64), counts[which] - 1)
        chosen, times = np.unique((ends - counts)[which] + inside, return_counts=True)
        weight = times.astype(np.float64) * (total / most)
        return cls._at(data, chosen, weight, before, states, False)

    @classmethod
    def starts(cls, data: Data, *, weights: Any = None, states: Ints | None = None) -> Blocks:
        """The first block of every sequence, or of `MAX_STARTS` of them."""
        lengths = np.asarray(data.lengths, np.int64)
        counts = -(-lengths // BLOCK)
        each = np.ones(len(counts)) if weights is None else np.asarray(weights, np.float64)
        kept = np.flatnonzero((each > 0) & (lengths > 0))
        total = each[kept].sum()
        if len(kept) > MAX_STARTS:
            kept = kept[np.linspace(0, len(kept) - 1, MAX_STARTS).astype(np.int64)]
        share = each[kept] * (total / each[kept].sum())
        return cls._at(data, (np.cumsum(counts) - counts)[kept], share, 0, states, True)

    @classmethod
    def simulated(
        cls,
        model: HMM,
        n: int,
        total: float,
        before: int = BEFORE,
        lengths: Ints | None = None,
    ) -> Blocks:
        """Blocks that the model itself draws, which stand for a ``total`` number of them.

        Of sequences of these ``lengths``, if there are several; else of the stationary chain.
        """
        if lengths is not None and len(lengths) > 1:
            each = lengths[lengths > 0]
            blocks = cls.of(drawn(model, each, n * BLOCK, np.random.default_rng(SEED)), n, before)
            weights = blocks.weights * (total / blocks.weights.sum())
            return replace(blocks, weights=weights, complete=False)
        shape = n, before + BLOCK
        stationary = HMM(prevalence_of(model), model.transmat, model.emissionprob)
        symbols = stationary.sample(shape[0] * shape[1], np.random.default_rng(SEED))[0]
        symbols = _compact(symbols.reshape(shape), model.n_symbols)
        return cls(symbols, np.zeros(n, bool), np.full(n, total / n), complete=False)

    @classmethod
    def _at(
        cls,
        data: Data,
        chosen: Ints,
        weights: Floats,
        before: int,
        states: Ints | None,
        complete: bool,
    ) -> Blocks:
        """Blocks by their numbers in the data."""
        lengths = np.asarray(data.lengths, np.int64)
        ends, counts = np.cumsum(lengths), -(-lengths // BLOCK)
        bounds = np.cumsum(counts)
        sequence = np.searchsorted(bounds, chosen, side="right")
        within = (chosen - (bounds - counts)[sequence]) * BLOCK
        offset = (ends - lengths)[sequence]
        first = offset + np.maximum(within - before, 0)
        last = np.minimum(offset + within + BLOCK, ends[sequence])
        n, sizes = len(chosen), last - first
        rows = np.repeat(np.arange(n), sizes)
        steps = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        columns = np.maximum(before - within, 0)[rows] + steps
        symbols = np.full((n, before + BLOCK), NOTHING, np.int64)
        symbols[rows, columns] = data.spans(first, last).symbols
        known = None
        if states is not None:
            known = np.full(symbols.shape, -1, np.int64)
            known[rows, columns] = states[first[rows] + steps]
            known = _compact(known, int(known.max()) + 1)
        return cls(_compact(symbols, data.n_symbols), first == offset, weights, known, complete)

    def batches(self, most: int) -> Iterator[tuple[Ints, Ints | None, np.ndarray, Floats, int]]:
        """At most so many at a time, alike in how many places come before the block.

        Symbols, known states, begins, weights, and the places before.
        """
        length = (self.symbols[:, : self.before] != NOTHING).sum(axis=1)
        for before in np.unique(length).tolist():
            rows, window = np.flatnonzero(length == before), slice(self.before - before, None)
            for first in range(0, len(rows), most):
                batch = rows[first : first + most]
                symbols = self.symbols[batch, window].astype(np.int64)
                known = self.states
                states = None if known is None else known[batch, window].astype(np.int64)
                yield symbols, states, self.begins[batch], self.weights[batch], before


class Sample(NamedTuple):
    """Whole sequences, drawn at random from the data."""

    data: Sequences
    weights: Floats
    """How many sequences of the data each stands for, (S,)."""

    @classmethod
    def of(cls, data: Data, model: HMM, weights: Floats) -> Sample | None:
        """As many as say enough of a model of this size; None of a single sequence."""
        lengths = np.asarray(data.lengths, np.int64)
        counted = np.flatnonzero((weights > 0) & (lengths > 0))
        if len(counted) < 2:
            return None
        size = model.n_components * (model.n_components + model.n_symbols)
        most = max(MIN_SEQUENCES, SEQUENCES_PER_PARAMETER * size)
        order = np.random.default_rng(SEED).permutation(counted)[:most]
        kept = np.sort(order[: max(int(np.searchsorted(lengths[order].cumsum(), MAX_WHOLE)), 2)])
        ends = np.cumsum(lengths)
        each = weights[kept] * (weights[counted].sum() / weights[kept].sum())
        return cls(data.spans((ends - lengths)[kept], ends[kept]), each)


@dataclass(frozen=True)
class PairTerms:
    """How a model was learned from its pairs.

    Parameters
    ----------
    weights : dict
        The weight of every lag.
    penalty : float
        Of the volume term, lambda; 0 where it was taken away at the end.
    volume : Volume
        The term.
    summed : bool
        Whether lags were summed to one law, which is then no chain's.
    initial_penalty : float
        lambda to begin with, whether or not it was taken away later.
    """

    weights: Mapping[int, float]
    penalty: float
    volume: Volume
    summed: bool = False
    initial_penalty: float = 0.0


@dataclass(frozen=True, eq=False)
class FitSummary:
    """Sufficient summary for standard errors.

    Parameters
    ----------
    model : HMM
        What was learned.
    held : Tables
        Masks of entries that were not estimated: tables that were held, zeros that were known.
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
    sample : Sample or None
        Some whole sequences, where there are several and no states are known.
    """

    model: HMM
    held: Tables
    blocks: Blocks | None
    starts: Blocks | None
    lengths: Ints
    size: tuple[float, float]
    pairs: PairTerms | None = None
    n_triples: float = 0.0
    sample: Sample | None = None

    @classmethod
    def of(
        cls,
        data: Data | Cooccurrence,
        model: HMM,
        fit: Fit | None,
        *,
        constraints: Constraints | None = None,
        weights: Any = None,
        volume: str | Volume = "logdet",
        summed: bool = False,
    ) -> FitSummary:
        """The summary of ``data``, from which ``fit`` was learned."""
        held = _held(model, constraints)
        if isinstance(data, Cooccurrence):
            n, total = float(data.start_counts.sum()), float(data.symbol_counts.sum())
            lengths = np.full(int(max(min(n, MAX_LENGTHS), 1)), int(total / max(n, 1.0)), np.int64)
            terms = _terms(fit, data, volume, summed)
            return cls(model, held, None, None, lengths, (n, total), terms)
        budget = block_budget(model.n_components * (model.n_components + model.n_symbols))
        states = None
        if (
            constraints is not None
            and constraints.states is not None
            and isinstance(data, Sequences)
        ):
            states = Labels.of(data, constraints.states, model.n_components).known
        lengths = np.asarray(data.lengths, np.int64)
        each = np.ones(len(lengths)) if weights is None else np.asarray(weights, np.float64)
        return cls(
            model,
            held,
            Blocks.of(data, *budget, weights=weights, states=states),
            Blocks.starts(data, weights=weights, states=states),
            lengths[:: -(-len(lengths) // MAX_LENGTHS)],
            (float(each.sum()), float(each @ lengths)),
            None,
            fit.length if isinstance(fit, RefinedFit) and fit.evidence == "triples" else 0.0,
            None if states is not None else Sample.of(data, model, each),
        )

    def with_data(self, data: Sequences) -> FitSummary:
        """The same of other data, as if the model had been learned from that."""
        other = FitSummary.of(data, self.model, None)
        triples = other.size[1] - 2 * other.size[0] if self.n_triples else 0.0
        return replace(other, held=self.held, pairs=self.pairs, n_triples=max(triples, 0.0))


def summary_for(
    summary: FitSummary | None, model: HMM, data: Sequences | None, call: str
) -> FitSummary:
    """The summary of ``data``, or what the fit has kept, if ``model`` is what it learned.

    ``call`` is how the user asked, up to the data, for an error that says what to do.
    """
    if summary is not None and summary.model is not model:
        summary = None  # parameters were set since
    if data is not None:
        return FitSummary.of(data, model, None) if summary is None else summary.with_data(data)
    if summary is None:
        raise ValueError(
            "these parameters were set by hand: there is nothing to estimate errors from; fit, or "
            f"give the data that they are from, {call}X, lengths)"
        )
    return summary


def _terms(fit: Fit | None, counts: Cooccurrence, volume: str | Volume, summed: bool) -> PairTerms:
    if isinstance(fit, PairFit):
        penalty = 0.0 if fit.passes_without_volume > 0 else fit.penalty
        return PairTerms(fit.lag_weights, penalty, volume_term(volume), summed, fit.penalty)
    # Constraints are learned with from one lag, as if that were a step of the chain.
    lag = counts.lags[0]
    return PairTerms({lag: 1.0}, 0.0, volume_term("none"), lag != 1)


def _held(model: HMM, constraints: Constraints | None) -> Tables:
    """Masks of tables that were not learned, and of zeros of those that were set."""
    masks = [np.zeros(table.shape, bool) for table in tables(model)]
    if constraints is not None:
        starts = (constraints.startprob, constraints.transmat, constraints.emissionprob)
        for letter, mask, start in zip(ALL, masks, starts, strict=True):
            zeros = start is not None and np.asarray(start) == 0
            mask[...] = letter not in constraints.learned or zeros
    return Tables(*masks)


def drawn(model: HMM, lengths: Ints, total: float, rng: np.random.Generator) -> Sequences:
    """About ``total`` symbols that the model draws, in sequences of these ``lengths``."""
    sizes = rng.choice(lengths, max(round(total / float(lengths.mean())), 1))
    first = model.startprob if len(sizes) > 1 else prevalence_of(model)
    plain = HMM(first, model.transmat, model.emissionprob)
    symbols = np.concatenate([plain.sample(int(size), rng)[0] for size in sizes])
    offsets = np.append(0, np.cumsum(sizes))
    return Sequences(symbols, offsets, model.n_symbols, model.vocabulary)


def block_budget(n_parameters: int) -> tuple[int, int]:
    """The most blocks that are kept of a model of so many parameters, and symbols before each."""
    before = BEFORE if n_parameters <= LARGE_MODEL else BEFORE_LARGE
    enough = max(MIN_BLOCKS, BLOCKS_PER_PARAMETER * n_parameters)
    return min(enough, MAX_SYMBOLS // (before + BLOCK)), before


def _compact(numbers: Ints, bound: int) -> Ints:
    """In the smallest type of integers that holds them."""
    return numbers.astype(np.min_scalar_type(-max(bound, 1)))


def as_fitted_hmm(value: Any) -> Any:
    """``value`` if it is a fitted `PairwiseHMM`, None if it is something else.

    An estimator that is not fitted raises scikit-learn's `NotFittedError`.
    """
    return value if _is_fitted(value) and hasattr(value, "model_") else None


def as_fitted_topics(value: Any) -> Any:
    """``value`` if it is a fitted `HTMM`, None if it is something else."""
    fitted = _is_fitted(value) and isinstance(getattr(value, "fit_", None), TopicFit)
    return value if fitted else None


def _is_fitted(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "__sklearn_is_fitted__"):
        return False
    if not value.__sklearn_is_fitted__():
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(value)  # raises
    return True

"""The whole recipe, from data to a model: pairs first, then maximum likelihood.

1. count pairs, in one pass over the data;
2. learn from them alone: `min_volume`, which orders states by prevalence, and gives
   a symbol that is in no pair its frequency, in every state;
3. if the data is at hand and that is worth its time, `refine`.

Where something is `Known` that tells states apart, a start that agrees with it takes the place of
the second step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.evidence.counting import checked_weights, count_pairs
from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.known import Known, from_labels, from_pairs, plain
from cohmm.learn.options import check_choice, is_whole
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import Combine, States
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.run import Record, learner
from cohmm.learn.sequences.em_step import PseudoCounts
from cohmm.learn.sequences.refine import RefinedFit, most_passes, worthwhile
from cohmm.learn.sequences.refine import refine as refined
from cohmm.model.hmm import HMM

PAIR_PASSES = 3000
SMOOTHING = 0.1  # pseudo-observations of each symbol in each state

Stage = Callable[[str, int], AbstractContextManager[Callback | None]]
"""Called with "pairs" or "refinement" and the most passes it may take, as each begins."""


class Source(Protocol):
    """Data wherever it is: what is counted, and perhaps read once more."""

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""

    def sequences(self, counts: Cooccurrence) -> Sequences | None:
        """The data, in the symbols of its counts; None where it cannot be read again."""


@dataclass(frozen=True)
class PairwiseFit(Fit):
    """A model, and both steps by which it was learned.

    Parameters
    ----------
    counts : Cooccurrence
        The pairs.
    pairs : Fit or None
        What they alone say: a `PairFit`, unless something was known; None where all states were.
    refined : RefinedFit or None
        What came after, which the model then is.
    """

    counts: Cooccurrence = field(repr=False)
    pairs: Fit | None
    refined: RefinedFit | None

    @property
    def last(self) -> Fit:
        """The step that the model is from."""
        return self.refined or self.pairs or self


@learner
def pairwise(
    data: Sequences | Cooccurrence | Source,
    n_components: States,
    *,
    lags: Iterable[int] | None = None,
    combine: Combine = "tied",
    volume: str | Volume = "logdet",
    penalty: float | Literal["auto"] | None = None,
    weights: Any = None,
    known: Known | None = None,
    max_iter: int | None = None,
    tol: float = 1e-3,
    n_init: int = 1,
    smoothing: float | None = None,
    refine: bool | Literal["auto"] = "auto",
    sparsity: float = 0.0,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
    stage: Stage | None = None,
) -> PairwiseFit:
    """Learn an HMM from pairs, and go on to maximum likelihood.

    Parameters
    ----------
    data : Sequences, Cooccurrence or Source
        Counts alone cannot be refined.
    n_components, combine, volume, penalty, n_init, start
        As for `cohmm.learn.min_volume`.
    weights : array, (S,), optional
        How often each sequence counts, in both steps.
    known : Known, optional
        Tables to start from, zeros, states of some observations, pseudo-counts.
    max_iter : int, optional
        Passes of each step, at most; default: 3,000 over the pairs, which are cheap, and 60 over
        the data, or up to 200 where that takes less than a minute.
    tol : float
        As for both steps.
    lags : tuple, optional
        Distances at which pairs are counted; default: 1, or those that counts have.
    smoothing : float, optional
        As for both steps; default: .1, or none where parameters or all states were given.
    refine : bool or "auto"
        Whether to refine; "auto": if that is about a minute's work at most, or if ``sparsity``
        asks for it, and the data can be read again.
    sparsity : float
        As for `cohmm.learn.refine`.
    random_state : int, optional
        Seed of both steps.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept, of one step and then of the other.
    stage : function, optional
        Gives each step a callback of its own: see `Stage`.

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(20, 3, stay=.5, random_state=0)
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> fit = pairwise(data, 3, random_state=0)
    >>> fit.model.distance(truth).transition < fit.pairs.model.distance(truth).transition
    True
    """
    check_choice((True, False, "auto"), refine=refine)
    if sparsity and refine is False:
        raise ValueError(f"sparsity={sparsity:g} is for refinement: set refine=True too")
    if known is not None and not isinstance(known, Known):
        raise ValueError(f"known must be a Known, not {known!r}")
    source = _as_source(data, weights)
    counts = source.count((1,) if lags is None else lags)
    asked = known is not None and (known.states is not None or known.prior is not None)
    options = Options(refine, sparsity, smoothing, max_iter, tol, random_state, weights, asked)
    watch = stage or (lambda name, passes: nullcontext(callback))
    if known is not None and is_whole(n_components):
        known.check(int(n_components), counts.n_symbols)
    if known is not None and known.decides_states:
        return _informed(source, counts, n_components, known, options, watch)
    with watch("pairs", options.pair_passes) as told:
        pairs = min_volume(
            counts,
            n_components,
            lags=lags if isinstance(data, Cooccurrence) else None,
            combine=combine,
            volume=volume,
            penalty=penalty,
            max_iter=options.pair_passes,
            tol=tol,
            n_init=n_init,
            smoothing=SMOOTHING if smoothing is None else smoothing,
            random_state=random_state,
            start=start,
            callback=told,
        )
    refined = options.refined(pairs.model, source, counts, known or Known(), watch)
    return _together(counts, pairs, refined)


@dataclass(frozen=True, eq=False)
class Options:
    """What is asked of refinement."""

    refine: bool | Literal["auto"]
    sparsity: float
    smoothing: float | None
    max_iter: int | None
    tol: float
    random_state: Any
    weights: Any
    asked: bool
    """Whether something is known that pairs cannot use: states, or pseudo-counts."""

    @property
    def pair_passes(self) -> int:
        """Passes over the pairs, at most."""
        return PAIR_PASSES if self.max_iter is None else self.max_iter

    def refines(self, source: Source, counts: Cooccurrence, n_components: int) -> Sequences | None:
        """The data, where it is at hand, and refining is asked for or worth its time."""
        wanted = self.refine
        if wanted == "auto":
            n = int(counts.symbol_counts.sum())
            wanted = self.sparsity > 0 or self.asked or worthwhile(n, n_components)
        return source.sequences(counts) if wanted else None

    def refined(
        self, model: HMM, source: Source, counts: Cooccurrence, known: Known, watch: Stage
    ) -> RefinedFit | None:
        """The second step, if it is taken."""
        data = self.refines(source, counts, model.n_components)
        if data is None:
            return None
        usual = SMOOTHING if known.n_tables == 0 else 0.0
        passes = self.max_iter
        if passes is None:
            passes = most_passes(len(data.symbols), model.n_components)
        with watch("refinement", passes) as told:
            return refined(
                model,
                data,
                weights=self.weights,
                states=known.states,
                learned=known.learned,
                prior=known.prior or (PseudoCounts() if known.decides_states else None),
                as_given=known.decides_states,
                sparsity=self.sparsity,
                smoothing=usual if self.smoothing is None else self.smoothing,
                max_iter=passes,
                tol=self.tol,
                random_state=self.random_state,
                callback=told,
            )


def _informed(
    source: Source,
    counts: Cooccurrence,
    n_components: States,
    known: Known,
    options: Options,
    watch: Stage,
) -> PairwiseFit:
    """From a start that agrees with what is known."""
    if not is_whole(n_components):
        raise ValueError(f"n_components={n_components!r}: what is known has a number of states")
    k = int(n_components)
    labelled: Fit | HMM | None = None
    if known.states is not None:
        data = source.sequences(counts)
        if data is None:
            raise ValueError("states are of observations: give the data, not its counts")
        if options.refine is False:
            raise ValueError("refine=False learns from pairs alone, which have no known states")
        labelled = from_labels(data, known, k, options.weights)
        if isinstance(labelled, Fit):
            return _together(counts, None, None, labelled)
    alone = options.refines(source, counts, k) is None
    pairs = None
    if isinstance(labelled, HMM):
        start = labelled
    elif known.n_tables == 3 and not alone:
        start = known.over(plain(k, np.ones(counts.n_symbols), counts.vocabulary))
    else:
        with watch("pairs", options.pair_passes) as told:
            pairs = from_pairs(
                counts,
                known,
                k,
                alone=alone,
                max_iter=options.pair_passes,
                tol=options.tol,
                random_state=options.random_state,
                record=Record(told),
            )[0]
        start = pairs.model if alone else known.over(pairs.model)
    refined = options.refined(start, source, counts, known, watch)
    return _together(counts, pairs, refined)


def _together(
    counts: Cooccurrence, pairs: Fit | None, refined: RefinedFit | None, other: Fit | None = None
) -> PairwiseFit:
    last = refined or pairs or other
    assert last is not None
    return PairwiseFit(
        model=last.model,
        converged=last.converged,
        history=last.history,
        starts=(pairs or last).starts,
        counts=counts,
        pairs=pairs,
        refined=refined,
    )


@dataclass(frozen=True)
class InMemory:
    """Sequences, as a `Source`."""

    data: Sequences
    weights: Any = None

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""
        return count_pairs(self.data, lags=lags, weights=self.weights)

    def sequences(self, counts: Cooccurrence) -> Sequences:
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


def _as_source(data: Any, weights: Any) -> Source:
    if isinstance(data, Sequences):
        if weights is not None and not np.any(checked_weights(weights, data.lengths)):
            raise ValueError(
                "the weights of all sequences are zero: there is nothing to learn from"
            )
        return InMemory(data, weights)
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

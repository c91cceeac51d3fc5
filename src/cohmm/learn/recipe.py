"""The whole recipe, from data to a model: pairs first, then maximum likelihood.

1. count pairs, in one pass over the data;
2. learn from them alone: `min_volume`, which orders states by prevalence, and gives
   a symbol that is in no pair its frequency, in every state;
3. if the data is at hand and that is worth its time, `refine`, from there or, where a random
   start leads further, from that: `best_start`.

Of more states than symbols pairs cannot tell: triples, windows or random starts take the place of
the second step (`beyond_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, cast

from cohmm.data.sequences import Sequences
from cohmm.evidence.counting import count_pairs
from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.many_states.beyond_pairs import First, beyond_pairs
from cohmm.learn.options import check_choice, is_whole
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import (
    Combine,
    States,
    n_in_pairs,
    warn_of_noise,
    warned_of_noise_later,
)
from cohmm.learn.pairs.pair_fit import PairFit
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.run import learner
from cohmm.learn.sequences.baum_welch import random_start
from cohmm.learn.sequences.refine import MAX_ITER, RefinedFit, worthwhile
from cohmm.learn.sequences.refine import refine as refined
from cohmm.learn.sequences.starts import best_start
from cohmm.model.hmm import HMM

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
    pairs : PairFit or None
        What they alone say; None where there are more states than symbols.
    refined : RefinedFit or None
        What came after, which the model then is.
    began : str
        What refinement began from, or what the model is where there was none: "pairs", "triples",
        "windows" or "random starts".
    """

    counts: Cooccurrence = field(repr=False)
    pairs: PairFit | None
    refined: RefinedFit | None
    began: str = "pairs"

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
    max_iter: int = 3000,
    tol: float = 1e-3,
    n_init: int = 1,
    smoothing: float = 0.1,
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
    n_components, combine, volume, penalty, max_iter, tol, n_init, start
        As for `cohmm.learn.min_volume`.
    lags : tuple, optional
        Distances at which pairs are counted; default: 1, or those that counts have.
    smoothing : float
        As for both steps.
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
    source = _as_source(data)
    counts = source.count((1,) if lags is None else lags)
    watch = stage or (lambda name, passes: nullcontext(callback))
    pairs: PairFit | None = None
    sequences: Sequences | None
    if (too_many := _beyond(n_components, counts)) is not None:
        sequences = needed = _needed(source, counts, too_many, refine)
        first = beyond_pairs(needed, too_many, smoothing=smoothing, random_state=random_state)
    else:
        with watch("pairs", max_iter) as told, warned_of_noise_later():
            pairs = min_volume(
                counts,
                n_components,
                lags=lags if isinstance(data, Cooccurrence) else None,
                combine=combine,
                volume=volume,
                penalty=penalty,
                max_iter=max_iter,
                tol=tol,
                n_init=n_init,
                smoothing=smoothing,
                random_state=random_state,
                start=start,
                callback=told,
            )
        if refine == "auto":
            n = int(counts.symbol_counts.sum())
            refine = sparsity > 0 or worthwhile(n, pairs.model.n_components)
        sequences = source.sequences(counts) if refine else None
        _warn_of_noise(pairs, refined=sequences is not None)
        first = First(pairs.model, "pairs")
        if sequences is not None and start is None:
            first = _better_start(pairs.model, sequences, random_state)
    refinement: RefinedFit | None = None
    if sequences is not None:
        with watch("refinement", MAX_ITER) as told:
            refinement = refined(
                first.model,
                sequences,
                sparsity=sparsity,
                smoothing=smoothing,
                random_state=random_state,
                callback=told,
            )
    result = cast(Fit, refinement or pairs)
    return PairwiseFit(
        model=result.model,
        converged=result.converged,
        history=result.history,
        starts=(pairs or result).starts,
        counts=counts,
        pairs=pairs,
        refined=refinement,
        began=first.began,
    )


def _beyond(n_components: States, counts: Cooccurrence) -> int | None:
    """The number of states, if it is more than pairs can tell apart."""
    if not is_whole(n_components) or not 0 < n_in_pairs(counts) < int(n_components):
        return None
    return int(n_components)


def _needed(source: Source, counts: Cooccurrence, k: int, refine: Any) -> Sequences:
    """The sequences, without which so many states cannot be learned."""
    sequences = None if refine is False else source.sequences(counts)
    if sequences is None:
        raise ValueError(
            f"n_components={k} states cannot be learned from pairs of {n_in_pairs(counts)} "
            "symbols: give the sequences, and leave out refine=False, or ask for fewer states"
        )
    return sequences


def _better_start(model: HMM, sequences: Sequences, random_state: Any) -> First:
    """The pair estimate, or what leads further."""
    if model.n_components == 1:
        return First(model, "pairs")
    draw = partial(random_start, sequences, model.n_components)
    best = best_start(sequences, [model], draw, random_state=random_state)
    return First(best, "pairs" if best is model else "random starts")


def _warn_of_noise(pairs: PairFit, *, refined: bool) -> None:
    """Refinement sees more than pairs do: there they must show no more than half of the states.

    With fewer, half of the distance between states was noise in the median, with more .1 to .4 of
    it (144 models of 2 to 8 states, T from 200 to 30,000).
    """
    k, shown = pairs.model.n_components, pairs.spectrum.n_detectable
    if 2 * shown <= k if refined else shown < k:
        warn_of_noise(pairs.spectrum, k)


@dataclass(frozen=True)
class InMemory:
    """Sequences, as a `Source`."""

    data: Sequences

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""
        return count_pairs(self.data, lags=lags)

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


def _as_source(data: Any) -> Source:
    if isinstance(data, Sequences):
        return InMemory(data)
    if isinstance(data, Cooccurrence):
        return CountsAlone(data)
    if not (hasattr(data, "count") and hasattr(data, "sequences")):
        raise ValueError(
            "pairwise learns from Sequences, a Cooccurrence or a Source: give Sequences.of(X), not "
            f"a {type(data).__name__}"
        )
    source: Source = data
    return source

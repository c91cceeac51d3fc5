"""The whole recipe, from data to a model: pairs first, then maximum likelihood.

1. count pairs, in one pass over the data;
2. learn from them alone: `min_volume`, which orders states by prevalence, and gives
   a symbol that is in no pair its frequency, in every state;
3. if the data is at hand and that is worth its time, `refine`; of long data the triples alone
   are taken to maximum likelihood, at a cost that does not depend on its length;
4. else, if zeros show in emissions, `without_volume`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from cohmm.data.sequences import Sequences
from cohmm.evidence.counting import count_pairs
from cohmm.evidence.pairs import Cooccurrence
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.options import check_choice
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import Combine, States
from cohmm.learn.pairs.pair_fit import PairFit
from cohmm.learn.pairs.volume import Volume
from cohmm.learn.pairs.without_volume import if_zeros_show
from cohmm.learn.run import learner
from cohmm.learn.sequences.refine import MAX_ITER, RefinedFit, worthwhile
from cohmm.learn.sequences.refine import refine as refined
from cohmm.learn.triples.refine_triples import refine_triples, triples_serve, worthwhile_triples
from cohmm.learn.triples.window_ml import MAX_ITER as MAX_WINDOW_PASSES
from cohmm.model.hmm import HMM

Refine = bool | Literal["auto", "sequences", "triples"]
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
    pairs : PairFit
        What they alone say.
    refined : RefinedFit or None
        What came after, which the model then is.
    """

    counts: Cooccurrence = field(repr=False)
    pairs: PairFit
    refined: RefinedFit | None

    @property
    def last(self) -> PairFit | RefinedFit:
        """The step that the model is from."""
        return self.pairs if self.refined is None else self.refined


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
    refine: Refine = "auto",
    sparsity: float | Literal["auto"] = "auto",
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
    refine : bool, "auto", "sequences" or "triples"
        Whether to refine, and by the likelihood of what.  "auto": if that is about a minute's work
        at most, or if ``sparsity`` asks for it, and the data can be read again.  Unless one is
        asked for, triples serve for more than 1e7 symbols, and sequences for less.
    sparsity : float or "auto"
        As for `cohmm.learn.refine`.  "auto" concerns pairs alone as well: if zeros show, the volume
        term is taken away at the end.
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
    check_choice((True, False, "auto", "sequences", "triples"), refine=refine)
    asked = sparsity != "auto" and sparsity > 0
    if asked and refine is False:
        raise ValueError(f"sparsity={sparsity:g} is for refinement: set refine=True too")
    source = _as_source(data)
    counts = source.count((1,) if lags is None else lags)
    watch = stage or (lambda name, passes: nullcontext(callback))
    with watch("pairs", max_iter) as told:
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
    way = _way(refine, counts, pairs.model, asked)
    sequences = source.sequences(counts) if way else None
    if sequences is None and sparsity == "auto" and combine == "tied":
        pairs = if_zeros_show(pairs, counts, smoothing, random_state)
    result: PairFit | RefinedFit = pairs
    if sequences is not None:
        with watch("refinement", MAX_ITER if way == "sequences" else MAX_WINDOW_PASSES) as told:
            result = (refined if way == "sequences" else refine_triples)(
                pairs.model,
                sequences,
                sparsity=sparsity,
                smoothing=smoothing,
                random_state=random_state,
                callback=told,
            )
    return PairwiseFit(
        model=result.model,
        converged=result.converged,
        history=result.history,
        starts=pairs.starts,
        counts=counts,
        pairs=pairs,
        refined=result if isinstance(result, RefinedFit) else None,
    )


def _way(
    refine: Refine, counts: Cooccurrence, model: HMM, asked: bool
) -> Literal["sequences", "triples"] | None:
    """What to refine by, if at all."""
    if refine in (False, "sequences", "triples"):
        return refine or None
    n, triples = int(counts.symbol_counts.sum()), triples_serve(counts)
    cheap = worthwhile_triples(n, model) if triples else worthwhile(n, model.n_components)
    if refine == "auto" and not (asked or cheap):
        return None
    return "triples" if triples else "sequences"


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

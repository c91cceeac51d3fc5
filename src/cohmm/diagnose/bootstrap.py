"""The bootstrap: the model is learned again from data drawn anew, many times.

Sequences are drawn with replacement.  Few long ones are cut into blocks, which are drawn instead.
Where no data is at hand the model draws it (the parametric bootstrap).  Every fit learns as
the model was learned, from the model on or from scratch, and its states are matched to the model's.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cohmm._validation import shown, silenced
from cohmm.data.sequences import Sequences
from cohmm.diagnose.fit_summary import FitSummary, drawn
from cohmm.diagnose.intervals import TABLES, Interval, Tables, check_level
from cohmm.diagnose.standard_errors import MAX_PARAMETERS, errors_frame, standard_errors
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_pairs
from cohmm.kernels.threads import n_threads, submit, threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import ALL, Constraints
from cohmm.learn.learner import warn
from cohmm.learn.pairwise import pairwise
from cohmm.learn.refinement import refine_triples
from cohmm.learn.sequences.refine import refine
from cohmm.model.convert import HMMTable
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

MIN_SEQUENCES = 20  # fewer are cut into blocks
MIN_BLOCK = 50  # symbols
MAX_DRAWN = 10**8  # symbols that a model draws in place of the data
MAX_DISTANCE = 0.2  # total variation: a state that is farther off has not come back
PASSES = 40  # of maximum likelihood: from so near, more change nothing that counts

Refit = Callable[[Sequences, Floats | None, int], HMM]
"""Learns from sequences, each of which counts so often, with a seed."""


@dataclass(frozen=True, eq=False)
class Bootstrap:
    """What became of a model in data drawn anew.

    Parameters
    ----------
    startprob, transmat, emissionprob : arrays
        Standard deviations over the fits, (K,), (K, K) and (K, N); NaN where blocks of one
        sequence do not say how sequences begin.
    stability : array, (K,)
        How often each state came back: emissions within ``threshold`` of the model's.
    model : HMM
        What they are of.
    models : tuple of HMM
        One per fit, states in the order of the model's.
    resampled : str
        What was drawn: "sequences", "blocks" or "the model's own draws".
    threshold : array, (K,)
        Total variation below which a state has come back.
    notes : tuple of str
        What to know before this is relied on.
    """

    startprob: Floats
    transmat: Floats
    emissionprob: Floats
    stability: Floats
    model: HMM
    models: tuple[HMM, ...] = field(repr=False)
    resampled: str
    threshold: Floats
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        model: HMM,
        models: list[HMM],
        resampled: str,
        notes: tuple[str, ...],
        threshold: float | None = None,
    ) -> Bootstrap:
        """Put together, states matched."""
        matched = tuple(one.align_to(model) for one in models)
        near = nearness(model) if threshold is None else np.full(model.n_components, threshold)
        emissions = np.array([one.emissionprob for one in matched])
        distance = np.abs(emissions - model.emissionprob).sum(axis=2) / 2
        spread = Tables(*(np.std([getattr(m, t) for m in matched], axis=0) for t in TABLES))
        if resampled == "blocks":
            spread = spread._replace(startprob=np.full(model.n_components, np.nan))
        stability = (distance <= near).mean(axis=0)
        return cls(*spread, stability, model, matched, resampled, near, notes)

    def interval(self, level: float = 0.9) -> Interval:
        """Percentiles of the fits: ``(low, high)``, three arrays each."""
        z = check_level(level)
        low, high = (
            Tables(*(np.quantile([getattr(m, t) for m in self.models], q, axis=0) for t in TABLES))
            for q in ((1 - z) / 2, (1 + z) / 2)
        )
        if self.resampled == "blocks":
            k = self.model.n_components
            low, high = low._replace(startprob=np.zeros(k)), high._replace(startprob=np.ones(k))
        return Interval(low, high)

    def to_frame(self, what: HMMTable, level: float = 0.9) -> Any:
        """`HMM.to_frame` with the columns ``standard_error``, ``low`` and ``high``."""
        spread = Tables(self.startprob, self.transmat, self.emissionprob)
        return errors_frame(self.model, what, spread, self.interval(level))

    def __repr__(self) -> str:
        return f"Bootstrap({len(self.models)} fits of {self.resampled}, {self.model})"


def nearness(model: HMM) -> Floats:
    """How far each state may be off to be the same, (K,): half the way to the nearest other."""
    from scipy.spatial.distance import cdist  # takes its time to import

    if model.n_components == 1:
        return np.array([MAX_DISTANCE])
    apart = cdist(model.emissionprob, model.emissionprob, "cityblock") / 2
    np.fill_diagonal(apart, np.inf)
    return np.asarray(np.minimum(apart.min(axis=1) / 2, MAX_DISTANCE))


def bootstrap(
    model: HMM,
    refit: Refit,
    n_fits: int,
    data: Sequences | None = None,
    *,
    lengths: Ints | None = None,
    total: float = 0.0,
    threshold: float | None = None,
    random_state: Any = None,
    callback: Callable[[int, int], None] | None = None,
) -> Bootstrap:
    """Learn again from ``data`` drawn anew, ``n_fits`` times.

    Parameters
    ----------
    model : HMM
        Learned from the data.
    refit : function
        Learns from sequences, their weights and a seed; with blocks, what it says of starts is not
        used.
    n_fits : int
        How often.
    data : Sequences, optional
        What to draw from; else the model draws ``total`` symbols in sequences of ``lengths``.
    threshold : float, optional
        Total variation within which a state has come back; default: half the way to the nearest
        other state, and .2 at most.
    random_state : int, optional
        Seed: the same gives the same result, for any number of threads.
    callback : function, optional
        Called with the number of fits made, and ``n_fits``.

    >>> from cohmm.learn import refine
    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.5, .5, 0], [0, .5, .5]])
    >>> data = Sequences.of(truth.sample(4000, random_state=0)[0], [100] * 40)
    >>> again = bootstrap(
    ...     truth, lambda data, weights, seed: refine(truth, data, weights=weights).model, 5, data,
    ...     random_state=0)
    >>> again.stability.tolist()
    [1.0, 1.0]
    """
    if isinstance(n_fits, bool) or not isinstance(n_fits, (int, np.integer)) or n_fits < 2:
        raise ValueError(f"the number of fits must be a whole number from 2, not {shown(n_fits)}")
    if threshold is not None and not (
        isinstance(threshold, (int, float, np.number)) and 0 < threshold <= 1
    ):
        raise ValueError(
            f"threshold is a total variation, above 0 and up to 1, not {shown(threshold)}"
        )
    seeds = generator(random_state).integers(0, 2**31, n_fits).tolist()
    resampled = "sequences"
    notes: tuple[str, ...] = ()
    if data is None:
        resampled = "the model's own draws"
        notes = ("the model drew the data anew: that it is the right kind of model is assumed",)
        sizes = _sizes(lengths, total)
    elif len(data) < MIN_SEQUENCES:
        data, resampled = cut(data), "blocks"
        notes = (
            f"few sequences: {len(data):,} blocks of them were drawn, and how sequences begin "
            "is not determined",
        )

    def one(seed: int) -> HMM:
        rng = np.random.default_rng(seed)
        with threads(1):
            if data is None:
                return refit(drawn(model, sizes, total, rng), None, seed)
            weights = rng.multinomial(len(data), np.full(len(data), 1 / len(data)))
            return refit(data, weights.astype(np.float64), seed)

    models = _in_parallel(one, seeds, callback)
    return Bootstrap.of(model, models, resampled, notes, threshold)


def cut(data: Sequences) -> Sequences:
    """The same symbols in more sequences, of about the root of all in length."""
    size = max(MIN_BLOCK, int(np.sqrt(data.n_observations)))
    cuts = [
        np.linspace(begin, end, max((end - begin) // size, 1) + 1).astype(np.int64)[:-1]
        for begin, end in zip(data.offsets[:-1].tolist(), data.offsets[1:].tolist(), strict=True)
    ]
    offsets = np.append(np.concatenate(cuts), data.n_observations)
    return Sequences(data.symbols, offsets, data.n_symbols, data.vocabulary)


def _sizes(lengths: Ints | None, total: float) -> Ints:
    """The lengths that the model's own sequences are drawn from, if it may draw so many."""
    if total > MAX_DRAWN:
        raise ValueError(
            f"the model was learned from {total:,.0f} symbols, and {MAX_DRAWN:,} are drawn at "
            "most: give data to draw from, bootstrap(100, X, lengths)"
        )
    if lengths is None or not len(lengths):
        raise ValueError("there is neither data nor its lengths: give X")
    return lengths[lengths > 0]


def _in_parallel(
    task: Callable[[int], HMM], seeds: list[int], callback: Callable[[int, int], None] | None
) -> list[HMM]:
    """A fit per seed, on threads of their own: kernels let go of the interpreter's lock."""
    models = []
    # Warnings were given when the model was learned.
    with silenced(), ThreadPoolExecutor(n_threads()) as pool:
        futures = [submit(pool, copy_context().run, task, seed) for seed in seeds]
        try:
            for future in futures:
                models.append(future.result())
                if callback is not None:
                    callback(len(models), len(seeds))
        finally:
            for future in futures:
                future.cancel()
    return models


def refit_anew(summary: FitSummary, options: dict[str, Any]) -> Refit:
    """A function that learns with these ``options`` of `pairwise`, from no start."""
    constraints = _constraints(summary)

    def learn(data: Sequences, weights: Floats | None, seed: int) -> HMM:
        again = data if weights is None else repeated(data, weights)
        fit = pairwise(
            again,
            summary.model.n_components,
            constraints=constraints,
            random_state=seed,
            **options,
        )
        return fit.model

    return learn


def warn_of_near_fits(summary: FitSummary, counts: Cooccurrence | None) -> None:
    """Warn where the data does not determine the states: fits from the model stay near it."""
    model = summary.model
    if model.n_components * (model.n_components + model.n_symbols) > MAX_PARAMETERS:
        return
    errors = standard_errors(summary, counts)
    if errors.undetermined:
        warn(
            f"the data does not determine {errors.undetermined[0]}: fits that start from the model "
            'stay near it, and vary too little; bootstrap(refit="scratch") learns each anew'
        )


def _learned(summary: FitSummary) -> str:
    """Letters of the tables that were learned."""
    return "".join(letter for letter, mask in zip(ALL, summary.held, strict=True) if not mask.all())


def _constraints(summary: FitSummary) -> Constraints | None:
    """Tables that were held, and zeros that were known, if there are some."""
    model = summary.model
    if not any(mask.any() for mask in summary.held):
        return None
    return Constraints(model.startprob, model.transmat, model.emissionprob, _learned(summary))


def refit_near(
    summary: FitSummary, lags: tuple[int, ...], *, smoothing: float, sparsity: float
) -> Refit:
    """A function that learns from the model on, as that was learned."""
    model, learned = summary.model, _learned(summary)

    def by_pairs(data: Sequences, weights: Floats | None, seed: int) -> HMM:
        terms = summary.pairs
        assert terms is not None
        constraints = _constraints(summary)
        fit = pairwise(
            count_pairs(data, lags=lags, weights=weights),
            model.n_components,
            combine="summed" if terms.summed and len(lags) > 1 else "tied",
            volume=terms.volume,
            penalty=terms.initial_penalty or None,
            constraints=constraints,
            refine=False,
            sparsity="auto" if terms.penalty == 0 else 0.0,
            start=None if constraints else model,
            random_state=seed,
        )
        return fit.model

    def by_triples(data: Sequences, weights: Floats | None, seed: int) -> HMM:
        drawn = data if weights is None else repeated(data, weights)
        options: Any = {"sparsity": sparsity, "smoothing": smoothing, "random_state": seed}
        return refine_triples(model, drawn, **options).model

    def by_sequences(data: Sequences, weights: Floats | None, seed: int) -> HMM:
        return refine(
            model,
            data,
            weights=weights,
            learned=learned,
            as_given=True,
            smoothing=smoothing,
            sparsity=sparsity,
            max_iter=PASSES,
            random_state=seed,
        ).model

    if summary.pairs is not None:
        return by_pairs
    return by_triples if summary.n_triples else by_sequences


def repeated(data: Sequences, weights: Floats) -> Sequences:
    """Every sequence so often, one after the other."""
    which = np.repeat(np.arange(len(data)), weights.astype(np.int64))
    lengths = data.lengths[which]
    offsets = np.append(0, np.cumsum(lengths))
    places = np.arange(offsets[-1]) + np.repeat(data.offsets[:-1][which] - offsets[:-1], lengths)
    return replace(data, symbols=data.symbols[places], offsets=offsets)

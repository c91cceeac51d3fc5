"""How sure each number of a model is: standard errors and intervals, without resampling."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from cohmm.data.values import shown
from cohmm.diagnose.blocks import BLOCK, Blocks, n_before, n_blocks
from cohmm.diagnose.information import block_information, entries, start_information
from cohmm.diagnose.uncertain import Uncertain, from_information
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.model.hmm import HMM
from cohmm.model.hmm_frames import HMMTable, hmm_frame

MOST_PARAMETERS = 6000  # of transitions and emissions: the information then takes 300 MB
LEAST_COUNT = 1.0  # expected; what is rarer is pinned at zero
FEW = 4  # blocks per parameter, below which the model draws blocks of its own
FEWEST_SEQUENCES = 2  # that say where sequences begin
SHARE = 0.2  # of the largest change of a direction: what is named
NAMED = 4  # entries of a direction, at most


class Tables(NamedTuple):
    """Three arrays, as a model has them."""

    startprob: Floats
    transmat: Floats
    emissionprob: Floats


TABLES = Tables._fields


class Interval(NamedTuple):
    """From where to where each probability may be."""

    low: Tables
    high: Tables


class Held(NamedTuple):
    """Which entries were never estimated: tables that were held, zeros that were known."""

    startprob: np.ndarray
    transmat: np.ndarray
    emissionprob: np.ndarray

    @classmethod
    def nothing(cls, model: HMM) -> Held:
        """All were."""
        return cls(
            *(
                np.zeros(t.shape, bool)
                for t in (model.startprob, model.transmat, model.emissionprob)
            )
        )


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """How sure each number of a model is.

    Parameters
    ----------
    startprob, transmat, emissionprob : arrays
        Standard errors, (K,), (K, K) and (K, N); NaN where the data does not determine an entry, 0
        where it was held, or known to be zero.  An entry that was estimated as zero has the
        distance to where the log-likelihood has fallen by half a nat.
    model : HMM
        What they are of.
    evidence : str
        What they are from.
    undetermined : tuple of str
        Changes of the model that the data says nothing about, by their states and symbols.
    notes : tuple of str
        What to know before they are relied on.
    """

    startprob: Floats
    transmat: Floats
    emissionprob: Floats
    model: HMM
    evidence: str
    undetermined: tuple[str, ...]
    notes: tuple[str, ...]
    _start: Uncertain | None = field(repr=False)
    _rest: Uncertain = field(repr=False)

    @classmethod
    def of(
        cls,
        model: HMM,
        start: Uncertain | None,
        rest: Uncertain,
        evidence: str,
        notes: tuple[str, ...],
    ) -> StandardErrors:
        """Put together; ``start`` is None where nothing says how sequences begin."""
        first = np.full(model.n_components, np.nan) if start is None else start.errors()
        transmat, emissionprob = _tables(model, rest.errors())
        undetermined = tuple(_named(model, change) for change in rest.directions)
        return cls(first, transmat, emissionprob, model, evidence, undetermined, notes, start, rest)

    def interval(self, level: float = 0.9) -> Interval:
        """Where each probability lies, with this coverage: ``(low, high)``, three arrays each.

        Estimates near zero have one-sided intervals; what is not determined has all of [0, 1].

        >>> from cohmm.data.sequences import Sequences
        >>> coin = HMM([1.0], [[1.0]], [[.25, .75]])
        >>> throws = Sequences.of([[0, 1, 1, 1]] * 100)
        >>> low, high = sequence_errors(coin, Blocks.of(throws, 400)).interval(.9)
        """
        z = float(ndtri((1 + check_level(level)) / 2))
        k = self.model.n_components
        first = (np.zeros(k), np.ones(k)) if self._start is None else self._start.interval(z)
        low, high = (
            Tables(begin, *_tables(self.model, flat))
            for begin, flat in zip(first, self._rest.interval(z), strict=True)
        )
        return Interval(low, high)

    def to_frame(self, what: HMMTable, level: float = 0.9) -> Any:
        """`HMM.to_frame` with the columns ``standard_error``, ``low`` and ``high``."""
        tables = Tables(self.startprob, self.transmat, self.emissionprob)
        return errors_frame(self.model, what, tables, self.interval(level))

    def __repr__(self) -> str:
        k, n = self.emissionprob.shape
        return f"StandardErrors({k} states, {n:,} symbols, from {self.evidence})"


@blas_threads(1)
def sequence_errors(
    model: HMM,
    blocks: Blocks,
    starts: Blocks | None = None,
    held: Held | None = None,
) -> StandardErrors:
    """Of a model of maximum likelihood, from the information in blocks of its data.

    ``starts`` are the first blocks of sequences, and ``held`` is what was not estimated.
    """
    held = held or Held.nothing(model)
    check_size(model)
    notes = []
    p, rows = entries(model), row_numbers(model)
    fixed = np.concatenate([held.transmat.ravel(), held.emissionprob.ravel()])
    total = float(blocks.weights.sum())
    size = int((~fixed).sum())
    data = blocks
    if blocks.effective < FEW * size and blocks.states is None:
        before = n_before(size)
        data = Blocks.simulated(model, n_blocks(size, before), total, before)
        notes.append(
            f"the data has {blocks.effective:,.0f} blocks of {BLOCK} symbols for {size:,} "
            "probabilities: too few to judge by, so the information is what the model expects"
        )
    seen = block_information(model, data)
    n_sequences = 0.0 if starts is None else float(starts.weights.sum())
    if n_sequences == 1:
        notes.append(
            f"one sequence: its blocks of {BLOCK} symbols, each given the {data.before} before it, "
            "take the place of sequences; how sequences begin is not determined"
        )
    pinned = seen.expected < LEAST_COUNT
    free = int((~pinned & ~fixed).sum()) - len(np.unique(rows[~pinned & ~fixed]))
    rest = from_information(
        p,
        rows,
        information=seen.matrix,
        scale=seen.scale,
        slope=np.minimum(seen.slope + seen.slope_error, 0.0),
        pinned=pinned,
        held=fixed,
        inflation=max(seen.n_blocks - free - 1, 1.0) / seen.n_blocks,
    )
    first = None
    if starts is not None and n_sequences >= FEWEST_SEQUENCES:
        first = start_errors(model, start_information(model, starts), n_sequences, held.startprob)
    whose = "that the model drew" if data is not blocks else "of the sequences"
    count = f"{len(data):,} block{'' if len(data) == 1 else 's'} {whose}"
    return StandardErrors.of(model, first, rest, count, tuple(notes))


def start_errors(model: HMM, information: Floats, n: float, held: np.ndarray) -> Uncertain:
    """How sure ``startprob`` is, from what ``n`` sequences say of it, (K, K)."""
    first = model.startprob
    scale = np.sqrt(np.maximum(first, 1e-12))
    return from_information(
        first,
        np.zeros(len(first), np.int64),
        information=scale[:, None] * information * scale,
        scale=scale,
        slope=np.zeros(len(first)),
        pinned=n * first < LEAST_COUNT,
        held=held,
    )


def check_size(model: HMM) -> None:
    """Refuse a model whose information matrix would be too large."""
    size = len(entries(model))
    if size > MOST_PARAMETERS:
        raise ValueError(
            f"{model} has {size:,} transitions and emissions, and standard errors by information "
            f"are for {MOST_PARAMETERS:,} at most: use bootstrap(20, X), or prune rare symbols"
        )


def check_level(level: Any) -> float:
    """A coverage, if it is one."""
    if not (isinstance(level, (int, float, np.number)) and 0 < level < 1):
        raise ValueError(f"level must be between 0 and 1, such as .9, not {shown(level)}")
    return float(level)


def errors_frame(model: HMM, what: HMMTable, errors: Tables, interval: Interval) -> Any:
    """A table of a model in long form, with standard errors and intervals."""
    frame = hmm_frame(model, what)
    name = {"start": "startprob", "transitions": "transmat", "emissions": "emissionprob"}[what]
    frame["standard_error"] = getattr(errors, name).ravel()
    frame["low"] = getattr(interval.low, name).ravel()
    frame["high"] = getattr(interval.high, name).ravel()
    return frame


def row_numbers(model: HMM) -> Ints:
    """The row of every entry of A and then of M, (K K + K N,)."""
    k, n = model.emissionprob.shape
    return np.repeat(np.arange(2 * k), np.repeat([k, n], k))


def _tables(model: HMM, flat: Any) -> tuple[Any, Any]:
    k, n = model.emissionprob.shape
    return flat[: k * k].reshape(k, k), flat[k * k :].reshape(k, n)


def _named(model: HMM, change: Floats) -> str:
    """A change of the model in words: the largest of it."""
    size = np.abs(change)
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > SHARE * size.max()]
    transmat, emissionprob = _tables(model, np.isin(np.arange(len(change)), order[:NAMED]))
    parts = [
        f"transitions from state {i} to {_listed(np.flatnonzero(row).tolist())}"
        for i, row in enumerate(transmat)
        if row.any()
    ]
    labels = range(model.n_symbols) if model.vocabulary is None else model.vocabulary
    parts += [
        f"emissions of state {i}: {_listed([labels[j] for j in np.flatnonzero(row)])}"
        for i, row in enumerate(emissionprob)
        if row.any()
    ]
    more = len(order) - NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")


def _listed(things: list[Any]) -> str:
    return ", ".join(shown(thing) if isinstance(thing, str) else str(thing) for thing in things)

"""What a report about a hidden Markov model is made from: sequences, read once and forgotten."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.sequences import Sequences, Unseen
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.fit_summary import FitSummary
from cohmm.diagnose.standard_errors import standard_errors
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.fitted import as_fitted_hmm
from cohmm.model.hmm import HMM
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.prepare import (
    LEVEL,
    MAX_WORDS,
    N_TEXTS,
    Draw,
    cap_sentence,
    command_items,
    detectable,
    model_key,
    number,
    prepare_report,
    trace,
)
from cohmm.report.render import check_path, write
from cohmm.report.schema import Item, Material, Reading, Trace, Trust

MARGIN = 200  # symbols on both sides of a piece, which are read and not shown
MAX_KEPT = 1_000_000  # observations, 4 MB: more are not kept, nor tested against the model
NO_DATA = "this model has no data with it; give the sequences that it was learned from"


def report_hmm(
    model: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    lengths: Any = None,
    title: str | None = None,
    n_sequences: int = N_TEXTS,
    command: str | None = None,
    labels: Labels | None = None,
) -> None:
    """Write a report about a hidden Markov model to ``path``, whole or not at all.

    Parameters
    ----------
    model : HMM or PairwiseHMM
        An estimator also says how it was learned.
    data, lengths
        The sequences that it is shown on, as `Sequences.of` reads them, or None; or an
        iterator of `Sequences`, as `read_files` gives it, of which one is in memory at a time.
    path : path
        The file, which usually ends in ``.html``.
    title : str, optional
        The heading of the page.
    n_sequences : int
        How many sequences the page has, drawn at random; long ones are cut into pieces.
    command : str, optional
        What was typed, to be shown in the summary.
    labels : path or mapping, optional
        Labels by number, {3: "the sea"}, or a file of them, as a page saves it.
    """
    check_path(path)
    material = hmm_material(model, data, lengths, n_sequences, labels)
    summary = (*material.summary, *command_items(command))
    write(prepare_report(replace(material, title=title or "States", summary=summary)), path)


def hmm_material(
    model: Any,
    data: Any,
    lengths: Any = None,
    n_texts: int = N_TEXTS,
    labels: Labels | None = None,
) -> Material:
    """Read sequences by an `HMM`; see `report_hmm`."""
    estimator = as_fitted_hmm(model)
    hmm: HMM = model if estimator is None else estimator.model_
    unseen: Unseen = "error" if getattr(estimator, "unseen", "error") == "error" else "missing"
    if not hasattr(estimator, "fit_"):  # a model whose parameters were set by hand
        estimator = None
    named = checked_labels(labels, hmm.n_components, model_key(hmm.emissionprob))
    seen = SequenceSummary(hmm, n_texts, count=estimator is None and data is not None)
    for batch in data if isinstance(data, Iterator) else [] if data is None else [data]:
        seen.add(hmm.encode(batch, lengths, unseen))
    prevalence = hmm.stationary()
    diagnosis = _diagnosis(hmm, estimator, seen.data, seen.pairs)
    lags = sorted(diagnosis.spectra)[:1]
    return Material(
        kind="states",
        title="States",
        components=hmm.emissionprob,
        prevalence=prevalence,
        transitions=hmm.transmat,
        vocabulary=hmm.vocabulary or tuple(range(hmm.n_symbols)),
        summary=(
            Item("States", f"{hmm.n_components:,}"),
            *([] if data is None else _about(seen, hmm.n_symbols)),
            *detectable(diagnosis, lags, hmm.n_components, "states"),
            *_learning(estimator),
        ),
        traces=_traces(estimator),
        n_texts=seen.n_pieces,
        cap="" if data is None else _cap(seen),
        readings=tuple(read_piece(hmm, prevalence, i, one) for i, one in seen.pieces.items()),
        labels=named,
        trust=_trust(diagnosis, hmm, estimator, seen.data),
    )


def _cap(seen: SequenceSummary) -> str:
    said = cap_sentence(seen.n_pieces, len(seen.pieces), "sequences", "symbols")
    cut = f" Longer sequences are cut into pieces of {MAX_WORDS:,}."
    return said + (cut if seen.n_pieces > seen.n_sequences else "")


def _about(seen: SequenceSummary, n_symbols: int) -> list[Item]:
    missing = f"; {seen.n_missing:,} missing" if seen.n_missing else ""
    observed = max(seen.n_observations - seen.n_missing, 1)
    return [
        Item("Sequences", f"{seen.n_sequences:,}"),
        Item("Observations", f"{seen.n_observations:,}", f"{n_symbols:,} symbols{missing}"),
        Item("Log-likelihood", number(seen.log_likelihood), "of these sequences"),
        Item(
            "Perplexity",
            number(math.exp(min(-seen.log_likelihood / observed, 700))),
            f"exp(- log-likelihood / observations): 1 is certain, {n_symbols:,} a blind guess",
        ),
    ]


def _learning(model: Any) -> list[Item]:
    if model is None:
        return []
    stopped = "the stop rule was met" if model.fit_.converged else "all passes were used"
    return [
        Item("Lags", ", ".join(map(str, model.counts_.lags)), "distances at which pairs count"),
        Item("Passes", f"{model.fit_.n_iter:,}", stopped),
        Item("Seed", "none" if model.random_state is None else str(model.random_state)),
    ]


def _traces(model: Any) -> tuple[Trace, ...]:
    if model is None:
        return ()
    steps = []
    if model.pair_fit_ is not None:
        steps.append(("Objective, passes over the pairs", model.pair_fit_.history))
    if model.fit_ is not model.pair_fit_:
        steps.append(("Objective, passes over the data", model.fit_.history))
    return tuple(trace(name, history) for name, history in steps if len(history) > 1)


def _diagnosis(
    hmm: HMM, estimator: Any, data: Sequences | None, counts: Cooccurrence | None
) -> Diagnosis:
    """Of an estimator, or of a model set by hand, with its data and the pairs of that.

    Data that says less than what the model was learned from is not looked at.
    """
    if estimator is not None and data is not None and estimator.fit_.model == hmm:
        lag = min(estimator.counts_.lags)
        if np.maximum(data.lengths - lag, 0).sum() < estimator.counts_.n_pairs(lag):
            data = None
    subject = hmm if estimator is None else estimator
    try:
        return diagnose(subject, data, counts=counts)
    except ValueError as error:  # too little data to say more than the model does
        alone = diagnose(subject)
        return replace(alone, missing=(*alone.missing, f"what these sequences show: {error}"))


def _trust(diagnosis: Diagnosis, hmm: HMM, estimator: Any, data: Sequences | None) -> Trust:
    """The diagnosis, and intervals: by what the fit has kept, or by the data."""
    condition = ""
    try:
        if estimator is not None and estimator.fit_.model == hmm:
            errors = estimator.standard_errors()
        elif data is not None:
            errors = standard_errors(FitSummary.of(data, hmm, None), None)
            condition = "true if the model was learned from these sequences, by maximum likelihood"
        else:
            raise ValueError(NO_DATA)
    except ValueError as error:
        return Trust.of(diagnosis, f"not known: {error}")
    low, high = errors.interval(LEVEL)
    texts = (f"{100 * LEVEL:g} %, from {errors.evidence}", *errors.notes, condition)
    return Trust.of(
        diagnosis,
        "; ".join(text for text in texts if text),
        errors.undetermined,
        components=(low.emissionprob, high.emissionprob),
        transitions=(low.transmat, high.transmat),
    )


class Piece(NamedTuple):
    """A part of a sequence that is shown."""

    sequence: int
    begin: int
    """Its place in the sequence."""
    length: int
    is_whole: bool
    symbols: Ints
    """Those of the piece, with a margin on both sides where the sequence goes on."""


class _PairSum:
    """A sum in which counts are added to others of about their size.

    Adding each batch to one large sparse sum would copy that sum as often as there are batches.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, Cooccurrence]] = []

    def add(self, part: Cooccurrence) -> None:
        n = 1
        while self._parts and self._parts[-1][0] == n:
            part = self._parts.pop()[1] + part
            n *= 2
        self._parts.append((n, part))

    def sum(self) -> Cooccurrence:
        return sum((part for _, part in self._parts[-2::-1]), self._parts[-1][1])


class SequenceSummary:
    """Sums over batches of sequences, and pieces that are drawn from them."""

    def __init__(self, hmm: HMM, n_texts: int, count: bool) -> None:
        self._hmm = hmm
        self._draw = Draw(n_texts)
        self._pairs = _PairSum() if count else None
        self._kept: list[Sequences] = []
        self.pieces: dict[int, Piece] = {}
        self.n_sequences = self.n_observations = self.n_missing = 0
        self.log_likelihood = 0.0

    @property
    def n_pieces(self) -> int:
        """How many pieces all sequences have."""
        return self._draw.n_offered

    @property
    def pairs(self) -> Cooccurrence | None:
        """The pairs at lag 1, where they were counted."""
        return None if self._pairs is None else self._pairs.sum()

    @property
    def data(self) -> Sequences | None:
        """All sequences, if they are few enough to be kept."""
        return Sequences.joined(self._kept) if self._kept else None

    def add(self, data: Sequences) -> None:
        """One more batch."""
        each = self._hmm.log_likelihoods(data)
        if (each == -math.inf).any():
            s = self.n_sequences + int((each == -math.inf).argmax())
            raise ValueError(
                f"sequence {s} has probability zero under the model, which cannot have produced "
                "it: leave it out, or learn with smoothing"
            )
        if self._pairs is not None:
            self._pairs.add(pair_counts(data))
        self._choose(data)
        self.log_likelihood += float(each.sum())
        self.n_sequences += len(data)
        self.n_observations += len(data.symbols)
        self.n_missing += int((data.symbols < 0).sum())
        self._kept = [*self._kept, data] if self.n_observations <= MAX_KEPT else []

    def _choose(self, data: Sequences) -> None:
        counts = np.maximum(-(-data.lengths // MAX_WORDS), 1)
        which = np.repeat(np.arange(len(data)), counts)
        part = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        begins = MAX_WORDS * part
        lengths = np.minimum(data.lengths[which] - begins, MAX_WORDS)
        before = self.n_pieces
        chosen = self._draw.offer(lengths)
        new = {
            number: self._piece(data, *(int(a[number - before]) for a in (which, begins, lengths)))
            for number in chosen[chosen >= before].tolist()
        }
        self.pieces = {i: new[i] if i >= before else self.pieces[i] for i in chosen.tolist()}

    def _piece(self, data: Sequences, s: int, begin: int, length: int) -> Piece:
        symbols = data.symbols[data.offsets[s] : data.offsets[s + 1]]
        part = symbols[max(begin - MARGIN, 0) : begin + length + MARGIN].copy()
        return Piece(self.n_sequences + s, begin, length, length == len(symbols), part)


def read_piece(hmm: HMM, prevalence: Floats, number: int, piece: Piece) -> Reading:
    """The states of a piece: the most probable path, place by place, and without any order."""
    before = min(piece.begin, MARGIN)
    if piece.begin > before:  # what came before the margin is not known, and its end is anything
        k = hmm.n_components
        hmm = HMM(np.full(k, 1 / k), hmm.transmat, hmm.emissionprob, hmm.vocabulary)
    offsets = np.array([0, len(piece.symbols)])
    part = Sequences(piece.symbols, offsets, hmm.n_symbols, hmm.vocabulary)
    inner = slice(before, before + piece.length)
    posterior = hmm.posterior(part)[inner]
    path = hmm.decode(part)[1][inner]
    shown = piece.symbols[inner]
    bag = np.where(shown[:, None] >= 0, hmm.emissionprob.T[shown], 1.0) * prevalence
    return Reading(
        number=number,
        name=f"Sequence {piece.sequence}" + ("" if piece.is_whole else f", from {piece.begin:,}"),
        length=len(shown),
        symbols=shown,
        path=path,
        path_p=posterior[np.arange(len(shown)), path],
        best=posterior.argmax(axis=1),
        best_p=posterior.max(axis=1),
        bag=bag.argmax(axis=1),
        shares=posterior.mean(axis=0) if len(shown) else prevalence,
    )

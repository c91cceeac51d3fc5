"""What a report about a hidden Markov model is made from."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from cohmm.data.read_sequences import joined_on_disk
from cohmm.data.sequences import Sequences, Unseen
from cohmm.diagnose.diagnosis import Diagnosis, diagnose
from cohmm.diagnose.fit_summary import FitSummary, as_fitted_hmm
from cohmm.diagnose.standard_errors import standard_errors
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.types import Floats
from cohmm.learn.maximize import visits
from cohmm.model.hmm import HMM
from cohmm.report import prepare
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.render import check_path
from cohmm.report.schema import Item, Material, Reading, Trace, Trust

MARGIN = 200  # symbols on both sides of a piece, which are read and not shown
MAX_KEPT = 1_000_000  # observations, 4 MB: more are not in memory, nor tested against the model
NO_DATA = "this model has no data with it; give the sequences that it was learned from"


def report_hmm(
    model: Any,
    data: Any,
    path: str | os.PathLike[str],
    *,
    lengths: Any = None,
    title: str | None = None,
    n_sequences: int = prepare.N_TEXTS,
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
    prepare.write_report(material, path, title, command)


def hmm_material(
    model: Any,
    data: Any,
    lengths: Any = None,
    n_texts: int = prepare.N_TEXTS,
    labels: Labels | None = None,
) -> Material:
    """Read sequences by an `HMM`; see `report_hmm`."""
    estimator = as_fitted_hmm(model)
    hmm: HMM = model if estimator is None else estimator.model_
    unseen: Unseen = "error" if getattr(estimator, "unseen", "error") == "error" else "missing"
    if not hasattr(estimator, "fit_"):  # a model whose parameters were set by hand
        estimator = None
    named = checked_labels(labels, hmm.n_components, prepare.model_key(hmm.emissionprob))
    if isinstance(data, Iterator):
        data = joined_on_disk((hmm.encode(batch, None, unseen) for batch in data), MAX_KEPT)
    sequences = None if data is None else hmm.encode(data, lengths, unseen)
    about = [] if sequences is None else _about(hmm, sequences)  # refuses what is impossible
    tested = sequences if sequences is not None and len(sequences.symbols) <= MAX_KEPT else None
    counts = None if sequences is None or estimator is not None else pair_counts(sequences)
    diagnosis = _diagnosis(hmm, estimator, tested, counts)
    lags = sorted(diagnosis.spectra)[:1]
    readings, n_pieces = ((), 0) if sequences is None else _readings(hmm, sequences, n_texts)
    return Material(
        kind="states",
        title="States",
        components=hmm.emissionprob,
        prevalence=_shares(hmm, estimator, sequences),
        transitions=hmm.transmat,
        vocabulary=hmm.vocabulary or tuple(range(hmm.n_symbols)),
        summary=(
            Item("States", f"{hmm.n_components:,}"),
            *about,
            *prepare.detectable(diagnosis, lags, hmm.n_components, "states"),
            *_learning(estimator),
        ),
        traces=_traces(estimator),
        n_texts=n_pieces,
        cap="" if sequences is None else _cap(n_pieces, len(readings), len(sequences)),
        readings=readings,
        labels=named,
        trust=_trust(diagnosis, hmm, estimator, tested),
        about=_sentence(hmm, sequences),
    )


def _sentence(hmm: HMM, data: Sequences | None) -> str:
    k, n = hmm.n_components, hmm.n_symbols
    if data is None:
        return f"{k:,} hidden states, as a model of {n:,} symbols has learned them."
    return (
        f"{len(data):,} sequences with {len(data.symbols):,} symbols of {n:,} kinds, explained by "
        f"{k:,} hidden states. While a state lasts, the symbols beside its number are more "
        "frequent than others."
    )


def _shares(hmm: HMM, estimator: Any, data: Sequences | None) -> Floats:
    """The share of each state in these sequences, or those that it was learned from, if any."""
    if data is not None:
        return visits(hmm.expected_counts(data)[1])
    learned = None if estimator is None or estimator.fit_.model != hmm else estimator.fit_.shares
    return hmm.stationary() if learned is None else np.asarray(learned)


def _about(hmm: HMM, data: Sequences) -> list[Item]:
    each = hmm.log_likelihoods(data)
    if (each == -math.inf).any():
        raise ValueError(
            f"sequence {int((each == -math.inf).argmax())} has probability zero under the model, "
            "which cannot have produced it: leave it out, or learn with smoothing"
        )
    n, total = hmm.n_symbols, len(data.symbols)
    parts = (data.symbols[first : first + MAX_KEPT] for first in range(0, total, MAX_KEPT))
    observed = sum(int((part >= 0).sum()) for part in parts)
    missing = f"; {total - observed:,} missing" if observed < total else ""
    perplexity = math.exp(min(-float(each.sum()) / max(observed, 1), 700))
    note = f"exp(- log-likelihood / observations): 1 is certain, {n:,} a blind guess"
    return [
        Item("Sequences", f"{len(data):,}"),
        Item("Observations", f"{total:,}", f"{n:,} symbols{missing}"),
        Item("Log-likelihood", prepare.number(float(each.sum())), "of these sequences"),
        Item("Perplexity", prepare.number(perplexity), note),
    ]


def _cap(n_pieces: int, n_shown: int, n_sequences: int) -> str:
    sentence = prepare.cap_sentence(n_pieces, n_shown, "sequences", "symbols")
    cut = f" Longer sequences are cut into pieces of {prepare.MAX_WORDS:,}."
    return sentence + (cut if n_pieces > n_sequences else "")


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
    histories = {}
    if model is not None and model.pair_fit_ is not None:
        histories["Objective, passes over the pairs"] = model.pair_fit_.history
    if model is not None and model.fit_ is not model.pair_fit_:
        histories["Objective, passes over the data"] = model.fit_.history
    return prepare.traces(histories)


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
    low, high = errors.interval(prepare.LEVEL)
    texts = (f"{100 * prepare.LEVEL:g} %, from {errors.evidence}", *errors.notes, condition)
    return Trust.of(
        diagnosis,
        "; ".join(text for text in texts if text),
        errors.undetermined,
        components=(low.emissionprob, high.emissionprob),
        transitions=(low.transmat, high.transmat),
    )


def _readings(hmm: HMM, data: Sequences, n_texts: int) -> tuple[tuple[Reading, ...], int]:
    """Some pieces of the sequences, as they are read, and how many pieces there are."""
    counts = np.maximum(-(-data.lengths // prepare.MAX_WORDS), 1)
    which = np.repeat(np.arange(len(data)), counts)
    part = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    begins = prepare.MAX_WORDS * part
    chosen = prepare.sample_texts(data.lengths[which] - begins, n_texts)
    prevalence = _shares(hmm, None, data)
    return tuple(
        _reading(hmm, prevalence, data, i, int(which[i]), int(begins[i])) for i in chosen.tolist()
    ), len(which)


def _reading(
    hmm: HMM, prevalence: Floats, data: Sequences, number: int, s: int, begin: int
) -> Reading:
    """The states of a piece: the most probable path, place by place, and without any order.

    It is read with a margin on both sides, where the sequence goes on.
    """
    whole = data.symbols[data.offsets[s] : data.offsets[s + 1]]
    before = min(begin, MARGIN)
    symbols = np.array(whole[begin - before : begin + prepare.MAX_WORDS + MARGIN])
    if begin > before:  # what came before the margin is not known, and its end is anything
        k = hmm.n_components
        hmm = HMM(np.full(k, 1 / k), hmm.transmat, hmm.emissionprob, hmm.vocabulary)
    part = Sequences(symbols, np.array([0, len(symbols)]), hmm.n_symbols, hmm.vocabulary)
    inner = slice(before, before + prepare.MAX_WORDS)
    posterior, path, shown = hmm.posterior(part)[inner], hmm.decode(part)[1][inner], symbols[inner]
    bag = np.where(shown[:, None] >= 0, hmm.emissionprob.T[shown], 1.0) * prevalence
    return Reading(
        number=number,
        name=f"Sequence {s}" + ("" if len(shown) == len(whole) else f", from {begin:,}"),
        length=len(shown),
        symbols=shown,
        path=path,
        path_p=posterior[np.arange(len(shown)), path],
        best=posterior.argmax(axis=1),
        best_p=posterior.max(axis=1),
        bag=bag.argmax(axis=1),
        shares=posterior.mean(axis=0) if len(shown) else prevalence,
    )

"""What a report about a hidden Markov model is made from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cohmm.data.sequences import Sequences, Unseen
from cohmm.evidence.counting import pair_counts
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.fitted import FittedHMM, as_fitted_hmm
from cohmm.model.hmm import HMM
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.prepare import (
    MOST_WORDS,
    N_TEXTS,
    Material,
    Reading,
    cap_sentence,
    model_key,
    sample,
)
from cohmm.report.summary import command_items, detectable, number, trace
from cohmm.report.values import Item

MARGIN = 200  # symbols on both sides of a piece, which are read and not shown


def hmm_material(
    model: HMM | FittedHMM,
    data: Any,
    *,
    lengths: Any = None,
    title: str | None = None,
    n_texts: int = N_TEXTS,
    command: str | None = None,
    labels: Labels | None = None,
) -> Material:
    """Read sequences by an `HMM`; see `cohmm.report.report_hmm`."""
    estimator = as_fitted_hmm(model)
    hmm: HMM = model if estimator is None else estimator.model_  # type: ignore[assignment]
    unseen: Unseen = "error" if estimator is None else estimator.unseen
    named = checked_labels(labels, hmm.n_components, model_key(hmm.emissionprob))
    prevalence = hmm.stationary()
    sequences, about = None, []
    cap, pieces = "", np.empty((0, 3), np.int64)
    readings: tuple[Reading, ...] = ()
    if data is not None:
        sequences = hmm.encode(data, lengths, unseen)
        log_likelihood = _log_likelihood(hmm, sequences)
        pieces, wanted = _pieces(sequences, n_texts)
        readings = tuple(
            _reading(hmm, sequences, prevalence, i, *pieces[i].tolist()) for i in wanted.tolist()
        )
        cap = _cap(sequences, len(pieces), len(wanted))
        about = [*_data(sequences), *_likelihood(sequences, log_likelihood)]
    return Material(
        kind="states",
        title=title or "States",
        components=hmm.emissionprob,
        prevalence=prevalence,
        transitions=hmm.transmat,
        vocabulary=hmm.vocabulary or tuple(range(hmm.n_symbols)),
        summary=(
            Item("States", f"{hmm.n_components:,}"),
            *about,
            *detectable(_counts(estimator, sequences), hmm.n_components, "states"),
            *_learning(estimator),
            *command_items(command),
        ),
        traces=_traces(estimator),
        n_texts=len(pieces),
        cap=cap,
        readings=readings,
        labels=named,
    )


def _log_likelihood(hmm: HMM, data: Sequences) -> float:
    each = hmm.log_likelihoods(data)
    if (each == -math.inf).any():
        s = int((each == -math.inf).argmax())
        raise ValueError(
            f"sequence {s} has probability zero under the model, which cannot have produced it: "
            "leave it out, or learn with smoothing"
        )
    return float(each.sum())


def _cap(data: Sequences, n_pieces: int, shown: int) -> str:
    said = cap_sentence(n_pieces, shown, "sequences", "symbols")
    cut = f" Longer sequences are cut into pieces of {MOST_WORDS:,}."
    return said + (cut if n_pieces > len(data) else "")


def _pieces(data: Sequences, n_texts: int) -> tuple[Ints, Ints]:
    """(sequence, begin, end) of all pieces, and which of them are shown."""
    counts = np.maximum(-(-data.lengths // MOST_WORDS), 1)
    which = np.repeat(np.arange(len(data)), counts)
    part = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    begins = data.offsets[which] + MOST_WORDS * part
    ends = np.minimum(begins + MOST_WORDS, data.offsets[which + 1])
    return np.stack([which, begins, ends], axis=1), sample(len(which), ends - begins, n_texts)


def _reading(
    hmm: HMM, data: Sequences, prevalence: Floats, number: int, s: int, begin: int, end: int
) -> Reading:
    first, last = int(data.offsets[s]), int(data.offsets[s + 1])
    a, b = max(first, begin - MARGIN), min(last, end + MARGIN)
    symbols = data.symbols[a:b]
    part = Sequences(symbols, np.array([0, len(symbols)]), data.n_symbols, data.vocabulary)
    if a > first:  # what came before is not known, and its end is anything
        k = hmm.n_components
        hmm = HMM(np.full(k, 1 / k), hmm.transmat, hmm.emissionprob, hmm.vocabulary)
    inner = slice(begin - a, end - a)
    posterior = hmm.posterior(part)[inner]
    path = hmm.decode(part)[1][inner]
    shown = symbols[inner]
    bag = np.where(shown[:, None] >= 0, hmm.emissionprob.T[shown], 1.0) * prevalence
    whole = begin == first and end == last
    return Reading(
        number=number,
        name=f"Sequence {s}" + ("" if whole else f", from {begin - first:,}"),
        length=len(shown),
        symbols=shown,
        path=path,
        path_p=posterior[np.arange(len(shown)), path],
        best=posterior.argmax(axis=1),
        best_p=posterior.max(axis=1),
        bag=bag.argmax(axis=1),
        shares=posterior.mean(axis=0) if len(shown) else prevalence,
    )


def _data(data: Sequences) -> list[Item]:
    missing = int((data.symbols < 0).sum())
    return [
        Item("Sequences", f"{len(data):,}"),
        Item(
            "Observations",
            f"{len(data.symbols):,}",
            f"{data.n_symbols:,} symbols" + (f"; {missing:,} missing" if missing else ""),
        ),
    ]


def _likelihood(data: Sequences, log_likelihood: float) -> list[Item]:
    observed = max(int((data.symbols >= 0).sum()), 1)
    return [
        Item("Log-likelihood", number(log_likelihood), "of these sequences"),
        Item(
            "Perplexity",
            number(math.exp(-log_likelihood / observed)),
            f"exp(- log-likelihood / observations): 1 is certain, {data.n_symbols:,} a blind guess",
        ),
    ]


def _counts(model: FittedHMM | None, data: Sequences | None) -> Cooccurrence | None:
    if model is not None:
        return model.counts_
    return None if data is None else pair_counts(data, (1,), None)


def _learning(model: FittedHMM | None) -> list[Item]:
    if model is None:
        return []
    stopped = "the stop rule was met" if model.fit_.converged else "all passes were used"
    return [
        Item("Lags", ", ".join(map(str, model.counts_.lags)), "distances at which pairs count"),
        Item("Passes", f"{model.fit_.n_iter:,}", stopped),
        Item("Seed", "none" if model.random_state is None else str(model.random_state)),
    ]


def _traces(model: FittedHMM | None) -> tuple[Any, ...]:
    if model is None:
        return ()
    steps = [("Objective, passes over the pairs", model.pair_fit_.history)]
    if model.fit_ is not model.pair_fit_:
        steps.append(("Objective, passes over the data", model.fit_.history))
    return tuple(trace(name, history) for name, history in steps if len(history) > 1)

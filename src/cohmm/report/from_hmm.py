"""What a report about a hidden Markov model is made from."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from cohmm.data.sequences import Unseen
from cohmm.learn.fitted import FittedHMM, as_fitted_hmm
from cohmm.model.hmm import HMM
from cohmm.report.draw import MOST_WORDS
from cohmm.report.labels import Labels, checked_labels
from cohmm.report.prepare import N_TEXTS, Material, Reading, cap_sentence, model_key
from cohmm.report.summary import command_items, detectable, number, trace
from cohmm.report.survey import Survey, read_piece
from cohmm.report.trust import trust_hmm
from cohmm.report.values import Item


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
    unseen: Unseen = "error" if getattr(estimator, "unseen", "error") == "error" else "missing"
    if not hasattr(estimator, "fit_"):  # a model whose parameters were set by hand
        estimator = None
    named = checked_labels(labels, hmm.n_components, model_key(hmm.emissionprob))
    prevalence = hmm.stationary()
    survey: Survey | None = None
    about: list[Item] = []
    readings: tuple[Reading, ...] = ()
    if data is not None:
        survey = Survey(hmm, n_texts, count=estimator is None)
        for batch in data if isinstance(data, Iterator) else [data]:
            survey.add(hmm.encode(batch, lengths, unseen))
        readings = tuple(
            read_piece(hmm, prevalence, i, piece) for i, piece in survey.pieces.items()
        )
        about = _about(survey, hmm.n_symbols)
    counts = None if survey is None else survey.pairs
    kept = None if survey is None else survey.data
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
            *detectable(
                counts if estimator is None else estimator.counts_, hmm.n_components, "states"
            ),
            *_learning(estimator),
            *command_items(command),
        ),
        traces=_traces(estimator),
        n_texts=0 if survey is None else survey.n_pieces,
        cap="" if survey is None else _cap(survey),
        readings=readings,
        labels=named,
        trust=trust_hmm(hmm, estimator, kept, counts),
    )


def _cap(survey: Survey) -> str:
    said = cap_sentence(survey.n_pieces, len(survey.pieces), "sequences", "symbols")
    cut = f" Longer sequences are cut into pieces of {MOST_WORDS:,}."
    return said + (cut if survey.n_pieces > survey.n_sequences else "")


def _about(survey: Survey, n_symbols: int) -> list[Item]:
    missing = f"; {survey.n_missing:,} missing" if survey.n_missing else ""
    observed = max(survey.n_observations - survey.n_missing, 1)
    return [
        Item("Sequences", f"{survey.n_sequences:,}"),
        Item("Observations", f"{survey.n_observations:,}", f"{n_symbols:,} symbols{missing}"),
        Item("Log-likelihood", number(survey.log_likelihood), "of these sequences"),
        Item(
            "Perplexity",
            number(math.exp(min(-survey.log_likelihood / observed, 700))),
            f"exp(- log-likelihood / observations): 1 is certain, {n_symbols:,} a blind guess",
        ),
    ]


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
    steps = []
    if model.pair_fit_ is not None:
        steps.append(("Objective, passes over the pairs", model.pair_fit_.history))
    if model.fit_ is not model.pair_fit_:
        steps.append(("Objective, passes over the data", model.fit_.history))
    return tuple(trace(name, history) for name, history in steps if len(history) > 1)

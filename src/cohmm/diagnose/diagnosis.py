"""Can this fit be trusted?  One value that says so, in plain words, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.diagnose.fit_summary import as_fitted_hmm, as_fitted_topics
from cohmm.diagnose.format import Finding, advice_for, findings, formatted
from cohmm.diagnose.model_fit import ModelFit, model_fit
from cohmm.diagnose.scatter import TRIES, Scatter, scatter
from cohmm.diagnose.separation import (
    Close,
    Conditioning,
    close_states,
    conditioning,
    pair_residual_test,
    undetected_states,
    zero_thresholds,
)
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.threads import blas_threads
from cohmm.learn.learner import Fit
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.learn.pairwise import PairwiseFit
from cohmm.learn.sequences.held_out import choose_states
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.learn.state_choice import Kind, StateChoice
from cohmm.learn.topics.topic_lags import lag_shares
from cohmm.model.hmm import HMM

LAGS = (1, 2, 3, 4, 5)  # counted where data is at hand


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What is known about a fit.

    Parameters
    ----------
    kind : "state" or "topic"
        What the hidden things are called.
    n_components : int or None
        K; None where counts were given without a model.
    n_symbols : int
        N.
    n_pairs : float
        Pairs at the shortest lag; 0 where none are known.
    n_sequences : int or None
        Of the data; None where it is not at hand.
    spectra : dict of Spectrum
        By lag: what the pairs can show.
    refined : bool or None
        Whether the model was taken to maximum likelihood; None where that is not known.
    scatter : Scatter or None
        Whether pairs determine the emissions.
    close : tuple of Close
        States that are hard to tell apart.
    undetected : tuple of int
        States that pairs cannot show.
    conditioning : Conditioning or None
        How far errors are magnified.
    outside : dict
        By lag, the p-value of pairs outside of what the states explain, from counts alone.
    fit : ModelFit or None
        Whether the data is explained, triples included.
    missing : tuple of str
        What could not be answered, and what it needs.
    choice : StateChoice or None
        Numbers of states on held-out data: those that "auto" compared, or, where the pairs or the
        test of model fit speak for other numbers, those of a comparison of its kind.
    """

    kind: Kind
    n_components: int | None
    n_symbols: int
    n_pairs: float
    n_sequences: int | None
    spectra: dict[int, Spectrum]
    refined: bool | None
    lags: tuple[int, ...]
    outside: dict[int, float]
    fit: ModelFit | None
    missing: tuple[str, ...]
    scatter: Scatter | None = None
    close: tuple[Close, ...] = ()
    undetected: tuple[int, ...] = ()
    conditioning: Conditioning | None = None
    choice: StateChoice | None = None

    @property
    def detectable(self) -> dict[int, int]:
        """By lag, how many states stand out from the noise."""
        return {lag: shown.n_detectable for lag, shown in self.spectra.items()}

    @property
    def suggested_states(self) -> int | None:
        """As many as the pairs at the shortest lag show, or a longer one if that shows two more."""
        if not self.spectra:
            return None
        first = self.detectable[min(self.spectra)]
        most = max(self.detectable.values())
        return most if most >= first + 2 else first

    @property
    def suggested_lags(self) -> tuple[int, ...]:
        """The shortest lag, and all others that show at least half of its states."""
        if not self.spectra:
            return ()
        first = self.detectable[min(self.spectra)]
        return tuple(
            lag
            for lag, n in self.detectable.items()
            if lag == min(self.spectra) or (n > 1 and 2 * n >= first)
        )

    @property
    def pairs_for_one_more(self) -> float | None:
        """At least so many pairs are needed to show one more state, if there is one.

        The noise floor falls as 1 / sqrt(T), to the next singular value, which noise has made
        larger than it is.
        """
        if not self.spectra:
            return None
        shown = self.spectra[min(self.spectra)]
        if len(shown.values) <= shown.n_detectable or self.n_pairs <= 0:
            return None
        following = shown.values[shown.n_detectable]
        if following <= 0:
            return None
        return float(self.n_pairs * max(shown.floor / following, 1.0) ** 2)

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do next, the most urgent first."""
        return advice_for(self)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What ``print`` shows before the advice: what a line is about, and its text."""
        return findings(self)

    def __str__(self) -> str:
        return formatted(self.findings, self.advice)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, for JSON."""
        seen, test = self.scatter, self.fit
        names = ("verdict", "direction", "tries", "zeros", "ranks", "anchors", "log10_volume_ratio")
        result = {
            "kind": self.kind,
            "components": self.n_components,
            "symbols": self.n_symbols,
            "pairs": self.n_pairs,
            "sequences": self.n_sequences,
            "detectable": self.detectable,
            "noise_floor": {lag: shown.floor for lag, shown in self.spectra.items()},
            "suggested_states": self.suggested_states,
            "suggested_lags": self.suggested_lags,
            "pairs_for_one_more": self.pairs_for_one_more,
            "refined": self.refined,
            "scatter": seen
            and {name: getattr(seen, name) for name in names} | {"squared_length": seen.length},
            "close": self.close,
            "undetected": self.undetected,
            "conditioning": self.conditioning,
            "pairs_outside": self.outside,
            "fit": test
            and {
                "p_value": test.p_value,
                "p_values": test.p_values,
                "blames": test.blames,
                "groups": test.n_groups,
                "symbols": test.n_places,
                "cells": [one._replace(symbols=tuple(map(str, one.symbols))) for one in test.cells],
                "untested": test.untested,
            },
            "held_out": self.choice and self.choice.tried,
            "missing": self.missing,
            "advice": self.advice,
        }
        return {name: _plain(value) for name, value in result.items()}


def _plain(value: Any) -> Any:
    """Dictionaries, lists and numbers in place of named tuples and arrays."""
    if isinstance(value, dict) or hasattr(value, "_asdict"):
        items = value if isinstance(value, dict) else value._asdict()
        return {str(name): _plain(one) for name, one in items.items()}
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [_plain(one) for one in value] if isinstance(value, (tuple, list)) else value


@blas_threads(1)
def diagnose(
    value: Any,
    data: Any = None,
    lengths: Iterable[int] | None = None,
    *,
    counts: Cooccurrence | None = None,
    shares: dict[int, float] | None = None,
    tries: int = TRIES,
    random_state: Any = 0,
) -> Diagnosis:
    """Say how far a fit can be trusted, in plain words; ``print`` the result.

    Parameters
    ----------
    value : PairwiseHMM, HTMM, HMM, PairwiseFit or Cooccurrence
        A fitted model, one set by hand, or counts alone.  What is missing is said.
    data, lengths : optional
        The sequences, for the test of model fit and for longer lags.
    counts : Cooccurrence, optional
        Pairs that a model is compared with; default: those it was learned from, or of ``data``.
    shares : dict, optional
        How much each lag of topics counts; default: as where they were learned, or all alike where
        their documents are not at hand.
    tries : int
        Starts of the search for what refutes sufficient scatter.
    random_state : int, optional
        Seed of the search, and of the test.

    >>> from cohmm import PairwiseHMM
    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(16, 4, stay=.5, random_state=0)
    >>> X, _ = truth.sample(50_000, random_state=0)
    >>> model = PairwiseHMM(4, random_state=0).fit(X)
    >>> diagnosis = diagnose(model, X)
    >>> diagnosis.suggested_states, diagnosis.scatter.refuted, diagnosis.fit.fits
    (4, False, True)
    """
    subject = _Subject.of(value)
    model, kind = subject.model, subject.kind
    counts = subject.counts if counts is None else counts
    if lengths is not None and data is None:
        raise ValueError("lengths are of the data: give both, or neither")
    if counts is not None and model is not None and model.n_symbols != counts.n_symbols:
        raise ValueError(
            f"the counts are of {counts.n_symbols:,} symbols, and the model has "
            f"{model.n_symbols:,}: give counts of the same symbols"
        )
    if data is not None and kind == "topic":
        raise ValueError("topics are diagnosed from their counts: leave out the data")
    sequences = None
    if data is not None:
        encode = Sequences.of if model is None else model.encode
        sequences = encode(data, lengths)
        counted = {lag for lag in LAGS if lag < sequences.longest}
        counts = pair_counts(sequences, sorted(counted | set(subject.lags or (1,))))
    spectra = {} if counts is None else _spectra(counts, kind, shares or subject.shares)
    n_pairs = 0.0 if counts is None or not spectra else counts.n_pairs(min(spectra))
    missing = []
    if not spectra:
        missing.append(f"how many {kind}s the data can show: it needs counts of pairs, or the data")
    about: dict[str, Any] = {}
    if model is None:
        missing.append(
            f"which {kind}s are well determined: it needs a model, such as PairwiseHMM(...).fit(X)"
        )
    else:
        about = _about_states(model, n_pairs, spectra, tries, random_state)
    test, outside = None, {}
    if model is not None and sequences is not None:
        try:
            test = model_fit(model, sequences, random_state=random_state)
        except ValueError as error:
            missing.append(f"whether the model fits: {error}")
    elif model is not None and kind == "state":
        missing.append("whether triples are explained: it needs the data, diagnose(model, X)")
        outside = pair_residual_test(model, counts) if counts is not None and spectra else {}
    choice = subject.choice
    held_out = choice is not None and choice.tried
    if not held_out and model is not None and kind == "state" and sequences is not None and spectra:
        shown = spectra[min(spectra)].n_detectable
        if shown != model.n_components or (test is not None and test.blames == "states"):
            choice = choose_states(sequences, shown, 0, also=(model.n_components,))
    return Diagnosis(
        choice=choice,
        kind=kind,
        n_components=None if model is None else model.n_components,
        n_symbols=(model or counts).n_symbols,  # type: ignore[union-attr]
        n_pairs=n_pairs,
        n_sequences=None if sequences is None else len(sequences),
        spectra=spectra,
        refined=subject.refined,
        lags=subject.lags,
        outside=outside,
        fit=test,
        missing=tuple(missing),
        **about,
    )


class _Subject(NamedTuple):
    """What is diagnosed."""

    model: HMM | None
    counts: Cooccurrence | None = None
    refined: bool | None = None
    lags: tuple[int, ...] = ()
    kind: Kind = "state"
    shares: dict[int, float] | None = None
    """How much each lag of topics counts; None: all alike."""
    choice: StateChoice | None = None

    @classmethod
    def of(cls, value: Any) -> _Subject:
        """Of an estimator, a model, a fit or counts."""
        if isinstance(value, HMM):
            return cls(value)
        if isinstance(value, Cooccurrence):
            return cls(None, value, None, value.lags)
        if isinstance(value, PairwiseFit):
            refined, lags = value.refined is not None, value.counts.lags
            return cls(value.model, value.counts, refined, lags, choice=value.choice)
        if isinstance(value, Fit):
            return cls(value.model, None, isinstance(value, RefinedFit))
        if (hmm := as_fitted_hmm(value)) is not None:
            if not hasattr(value, "counts_") or hmm.model_ != hmm.fit_.model:  # set by hand
                return cls(hmm.model_)
            refined = isinstance(hmm.fit_, RefinedFit)
            choice = hmm.fit_.choice
            return cls(hmm.model_, hmm.counts_, refined, hmm.counts_.lags, choice=choice)
        if (topics := as_fitted_topics(value)) is not None:
            fit, counts = topics.fit_, getattr(value, "counts_", None)
            chain = HMM(fit.prevalence, fit.transitions, fit.components, fit.vocabulary)
            lags = () if counts is None else counts.lags
            return cls(chain, counts, True, lags, "topic", _lag_shares(value, lags))
        raise ValueError(
            "diagnose takes a fitted PairwiseHMM or HTMM, an HMM, a PairwiseFit or a Cooccurrence, "
            f"not a {type(value).__name__}"
        )


def _about_states(
    model: HMM, n_pairs: float, spectra: dict[int, Spectrum], tries: int, random_state: Any
) -> dict[str, Any]:
    """What is known of the states of a model, fields of a `Diagnosis`."""
    thresholds = zero_thresholds(model, n_pairs) if n_pairs > 0 else None
    options: Any = {"thresholds": thresholds, "tries": tries, "random_state": random_state}
    return {
        "scatter": scatter(model.emissionprob, **options),
        "close": close_states(model, n_pairs),
        "undetected": undetected_states(model, spectra[min(spectra)]) if spectra else (),
        "conditioning": conditioning(model),
    }


def _lag_shares(topics: Any, lags: tuple[int, ...]) -> dict[int, float] | None:
    """How much each lag counted where an `HTMM` was learned, as far as its documents are there."""
    documents = getattr(topics, "documents_", None)
    if documents is None:
        return None
    shares = lag_shares(topics.lags, documents)
    return {lag: shares[lag] for lag in lags if lag in shares} or None


def _spectra(
    counts: Cooccurrence, kind: str, shares: dict[int, float] | None = None
) -> dict[int, Spectrum]:
    lags = [lag for lag in counts.lags if counts.n_pairs(lag) > 0]
    if not lags:
        return {}
    if kind == "topic":  # lags are summed to one law, which goes by the first of them
        weights = {lag: 1.0 if shares is None else shares.get(lag, 0.0) for lag in lags}
        weights = {lag: weight for lag, weight in weights.items() if weight} or dict.fromkeys(
            lags, 1.0
        )
        return {lags[0]: PairEvidence.of(counts, weights, "summed", weights).spectrum()}
    return PairEvidence.of(counts, lags, "tied").spectra()

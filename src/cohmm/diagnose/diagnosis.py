"""Can this fit be trusted?  One value that says so, in plain words, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cohmm.data.sequences import Sequences
from cohmm.diagnose.advice import advice_for
from cohmm.diagnose.in_words import in_words, lines_of
from cohmm.diagnose.model_fit import ModelFit, model_fit
from cohmm.diagnose.pairs_outside import pairs_outside
from cohmm.diagnose.scatter import TRIES, Scatter, scatter
from cohmm.diagnose.states import (
    Close,
    Conditioning,
    close_states,
    conditioning,
    undetected_states,
)
from cohmm.diagnose.zeros_in_noise import zeros_in_noise
from cohmm.evidence.counting import pair_counts
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.threads import blas_threads
from cohmm.learn.fitted import as_fitted_hmm, as_fitted_topics
from cohmm.learn.learner import Fit
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.learn.pairwise import PairwiseFit
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.model.hmm import HMM

LAGS = (1, 2, 3, 4, 5)  # counted where data is at hand
LARGEST = 5000  # symbols of a model whose pairs are compared with the data


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
    """

    kind: str
    n_components: int | None
    n_symbols: int
    n_pairs: float
    n_sequences: int | None
    spectra: dict[int, Spectrum]
    refined: bool | None
    lags: tuple[int, ...]
    scatter: Scatter | None
    close: tuple[Close, ...]
    undetected: tuple[int, ...]
    conditioning: Conditioning | None
    outside: dict[int, float]
    fit: ModelFit | None
    missing: tuple[str, ...]

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
    def lines(self) -> tuple[tuple[str, str], ...]:
        """What ``print`` shows before the advice: what a line is about, and its text."""
        return lines_of(self)

    def __str__(self) -> str:
        return in_words(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and texts, for JSON."""
        result: dict[str, Any] = {
            "kind": self.kind,
            "components": self.n_components,
            "symbols": self.n_symbols,
            "pairs": self.n_pairs,
            "sequences": self.n_sequences,
            "detectable": {str(lag): n for lag, n in self.detectable.items()},
            "noise_floor": {str(lag): shown.floor for lag, shown in self.spectra.items()},
            "suggested_states": self.suggested_states,
            "suggested_lags": list(self.suggested_lags),
            "pairs_for_one_more": self.pairs_for_one_more,
            "refined": self.refined,
            "scatter": None,
            "close": [close._asdict() for close in self.close],
            "undetected": list(self.undetected),
            "conditioning": None if self.conditioning is None else self.conditioning._asdict(),
            "pairs_outside": {str(lag): p for lag, p in self.outside.items()},
            "fit": None,
            "missing": list(self.missing),
            "advice": list(self.advice),
        }
        if (seen := self.scatter) is not None:
            result["scatter"] = {
                "verdict": seen.verdict,
                "direction": None if seen.direction is None else seen.direction.tolist(),
                "squared_length": seen.length,
                "tries": seen.tries,
                "zeros": seen.zeros.tolist(),
                "ranks": seen.ranks.tolist(),
                "anchors": [own.tolist() for own in seen.anchors],
                "log10_volume_ratio": seen.log10_volume_ratio,
            }
        if (test := self.fit) is not None:
            result["fit"] = {
                "p_value": test.p_value,
                "p_values": test.p_values,
                "blames": test.blames,
                "groups": test.n_groups,
                "symbols": test.n_places,
                "cells": [
                    {
                        "symbols": [str(symbol) for symbol in cell.symbols],
                        "counted": cell.counted,
                        "expected": cell.expected,
                    }
                    for cell in test.cells
                ],
                "untested": test.untested,
            }
        return result


@blas_threads(1)
def diagnose(
    value: Any,
    data: Any = None,
    lengths: Iterable[int] | None = None,
    *,
    counts: Cooccurrence | None = None,
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
    model, known, refined, lags, kind = _parts(value)
    counts = counts if counts is not None else known
    missing: list[str] = []
    sequences = None
    if lengths is not None and data is None:
        raise ValueError("lengths are of the data: give both, or neither")
    if counts is not None and model is not None:
        _check_symbols(model, counts)
    if data is not None and kind == "topic":
        raise ValueError("topics are diagnosed from their counts: leave out the data")
    if data is not None:
        reader = model if model is not None else None
        sequences = (
            reader.encode(data, lengths)
            if reader is not None
            else Sequences.of(data, lengths, vocabulary=None)
        )
        counted = tuple(lag for lag in LAGS if lag < sequences.longest)
        counts = pair_counts(sequences, sorted({*counted, *(lags or (1,))}))
    spectra = _spectra(counts, kind) if counts is not None else {}
    n_pairs = 0.0 if counts is None or not spectra else counts.n_pairs(min(spectra))
    if not spectra:
        missing.append(f"how many {kind}s the data can show: it needs counts of pairs, or the data")
    seen = close = undetected = condition = None
    outside: dict[int, float] = {}
    test = None
    if model is not None:
        thresholds = zeros_in_noise(model, n_pairs) if n_pairs > 0 else None
        seen = scatter(
            model.emissionprob, thresholds=thresholds, tries=tries, random_state=random_state
        )
        close = close_states(model, n_pairs)
        condition = conditioning(model)
        if spectra:
            undetected = undetected_states(model, spectra[min(spectra)])
    else:
        missing.append(
            f"which {kind}s are well determined: it needs a model, such as PairwiseHMM(...).fit(X)"
        )
    if model is not None and sequences is not None:
        try:
            test = model_fit(model, sequences, random_state=random_state)
        except ValueError as error:
            missing.append(f"whether the model fits: {error}")
    elif model is not None and kind == "state":
        missing.append("whether triples are explained: it needs the data, diagnose(model, X)")
        if counts is not None and spectra and model.n_symbols == counts.n_symbols:
            outside = pairs_outside(model, counts)
    return Diagnosis(
        kind=kind,
        n_components=None if model is None else model.n_components,
        n_symbols=(model or counts).n_symbols,  # type: ignore[union-attr]
        n_pairs=n_pairs,
        n_sequences=None if sequences is None else len(sequences),
        spectra=spectra,
        refined=refined,
        lags=lags,
        scatter=seen,
        close=close or (),
        undetected=undetected or (),
        conditioning=condition,
        outside=outside,
        fit=test,
        missing=tuple(missing),
    )


def _parts(
    value: Any,
) -> tuple[HMM | None, Cooccurrence | None, bool | None, tuple[int, ...], str]:
    """The model, its counts, whether it was refined, lags that it was learned from, its kind."""
    if isinstance(value, HMM):
        return value, None, None, (), "state"
    if isinstance(value, Cooccurrence):
        return None, value, None, value.lags, "state"
    if isinstance(value, PairwiseFit):
        return value.model, value.counts, value.refined is not None, value.counts.lags, "state"
    if isinstance(value, Fit):
        return value.model, None, isinstance(value, RefinedFit), (), "state"
    if (hmm := as_fitted_hmm(value)) is not None:
        model = hmm.model_
        if not hasattr(value, "counts_") or model != hmm.fit_.model:  # set by hand, since or ever
            return model, None, None, (), "state"
        return model, hmm.counts_, isinstance(hmm.fit_, RefinedFit), hmm.counts_.lags, "state"
    if (topics := as_fitted_topics(value)) is not None:
        fit = topics.fit_
        chain = HMM(fit.prevalence, fit.transitions, fit.components, fit.vocabulary)
        counts = getattr(value, "counts_", None)
        return chain, counts, True, () if counts is None else counts.lags, "topic"
    raise ValueError(
        "diagnose takes a fitted PairwiseHMM or HTMM, an HMM, a PairwiseFit or a Cooccurrence, "
        f"not a {type(value).__name__}"
    )


def _check_symbols(model: HMM, counts: Cooccurrence) -> None:
    """Refuse counts that are of other symbols than the model."""
    if model.n_symbols != counts.n_symbols:
        raise ValueError(
            f"the counts are of {counts.n_symbols:,} symbols, and the model has "
            f"{model.n_symbols:,}: give counts of the same symbols"
        )


def _spectra(counts: Cooccurrence, kind: str) -> dict[int, Spectrum]:
    lags = [lag for lag in counts.lags if counts.n_pairs(lag) > 0]
    if not lags:
        return {}
    if kind == "topic":  # lags are summed to one law, which goes by the first of them
        evidence = PairEvidence.of(counts, lags, "summed")
        return {lags[0]: evidence.spectrum()}
    return PairEvidence.of(counts, lags, "tied").spectra()

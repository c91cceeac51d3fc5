"""Counts made ready for a learner: pair laws by lag, their weights, the number of states."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from cohmm.evidence.pairs import Cooccurrence
from cohmm.evidence.triples import Triples
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.pairs.pair_law import PairLaw, pair_law
from cohmm.learn.pairs.spectrum import Spectrum, spectrum

Combine = Literal["tied", "summed"]


class EvidenceWarning(UserWarning):
    """The evidence is weaker than what is asked of it."""


@dataclass(frozen=True, eq=False)
class PairEvidence:
    """What the pairwise learner works on.

    Parameters
    ----------
    counts : Cooccurrence
        Where it comes from.
    seen : array
        The symbols that occur in a pair; laws and factors are about these alone.
    laws : dict
        The pair law of every lag that has a weight.
    weights : dict
        The weights of the lags; they sum to one.
    n_pairs : float
        The number of pairs at the shortest lag.
    n_components : int
        K.
    spectrum : Spectrum
        Of the shortest lag.
    """

    counts: Cooccurrence
    seen: Ints
    laws: dict[int, PairLaw]
    weights: dict[int, float]
    n_pairs: float
    n_components: int
    spectrum: Spectrum

    @classmethod
    def of(
        cls,
        counts: Cooccurrence,
        lags: Iterable[int] | None,
        combine: Combine,
        n_components: int | Literal["auto"],
    ) -> PairEvidence:
        """Prepare ``counts``; warns of symbols never seen, and of states that cannot be."""
        if combine not in ("tied", "summed"):
            raise ValueError(f"combine must be 'tied' or 'summed', not {combine!r}")
        chosen = counts.lags if lags is None else tuple(sorted(set(lags)))
        if not chosen:
            raise ValueError("lags is empty: give at least one, such as (1,)")
        matrices = {lag: counts[lag] for lag in chosen}
        n_pairs = float(matrices[chosen[0]].sum())
        for lag, matrix in matrices.items():
            if matrix.sum() == 0:
                raise ValueError(
                    f"no pair was counted at lag {lag}: there is nothing to learn from"
                )
        if combine == "summed":
            matrices = {1: sum(matrix / matrix.sum() for matrix in matrices.values())}
        seen = _seen(counts, matrices)
        laws = {lag: _law(matrix, seen) for lag, matrix in matrices.items()}
        most = 100 if n_components == "auto" else _whole(n_components) + 10
        spectra = {lag: spectrum(law, n_pairs, most) for lag, law in laws.items()}
        shown = spectra[min(laws)]
        k = _n_components(n_components, len(seen), shown)
        weights = lag_weights(spectra, k)
        laws = {lag: law for lag, law in laws.items() if weights[lag] > 0}
        return cls(counts, seen, laws, weights, n_pairs, k, shown)

    def with_laws(self, matrices: dict[int, Any], n_pairs: float) -> PairEvidence:
        """The same preparation with other counts, of the same symbols and lags."""
        laws = {lag: _law(matrix, np.arange(len(self.seen))) for lag, matrix in matrices.items()}
        return replace(self, laws=laws, n_pairs=n_pairs)

    @property
    def frequency(self) -> Floats:
        """How frequent each symbol seen is."""
        return self.laws[min(self.laws)].frequency


def needs(kind: type[Cooccurrence] | type[Triples], given: object, learner: str) -> None:
    """Refuse evidence that is not of the ``kind`` a learner needs, and say how to get it."""
    if not isinstance(given, kind):
        what, how = {
            Cooccurrence: ("pairs, a Cooccurrence", "count_pairs(X)"),
            Triples: ("triples, a Triples", "count_triples(X)"),
        }[kind]
        raise ValueError(
            f"{learner} learns from counts of {what}: give {how}, not a {type(given).__name__}"
        )


def needs_sequences(given: object, learner: str) -> None:
    """Refuse counts where a learner has to read the sequences themselves."""
    if isinstance(given, (Cooccurrence, Triples)):
        raise ValueError(
            f"{learner} reads sequences, of which a {type(given).__name__} says too little: "
            "give the data that was counted"
        )


def lag_weights(spectra: dict[int, Spectrum], k: int) -> dict[int, float]:
    """The weight of a lag: how many of the k states it can show by itself.

    Long lags help where the chain is persistent.  Where it mixes fast they hold noise alone,
    and fitting that would cost what the short ones give.  The singular value of one, which
    all lags have, does not count; the shortest lag always has a weight.
    """
    visible = {lag: int((shown.values[1:k] > shown.floor).sum()) for lag, shown in spectra.items()}
    shortest = min(spectra)
    visible[shortest] = max(visible[shortest], 1)
    total = sum(visible.values())
    return {lag: n / total for lag, n in visible.items()}


def _seen(counts: Cooccurrence, matrices: dict[int, Any]) -> Ints:
    frequency = sum(
        np.asarray(matrix.sum(axis=0)) + np.asarray(matrix.sum(axis=1))
        for matrix in matrices.values()
    )
    seen = np.flatnonzero(frequency > 0)
    if len(seen) < counts.n_symbols:
        unseen = int(np.flatnonzero(frequency == 0)[0])
        label = unseen if counts.vocabulary is None else counts.vocabulary[unseen]
        warnings.warn(
            f"{counts.n_symbols - len(seen)} of {counts.n_symbols} symbols never occur in a pair "
            f"({label!r} among them): every state gives them probability zero",
            EvidenceWarning,
            stacklevel=5,
        )
    return seen


def _law(matrix: Any, seen: Ints) -> PairLaw:
    if len(seen) < matrix.shape[0]:
        matrix = matrix[seen][:, seen]
    return pair_law(matrix / matrix.sum())


def _whole(wanted: object) -> int:
    if isinstance(wanted, bool) or not isinstance(wanted, (int, np.integer)) or wanted < 1:
        raise ValueError(f"n_components must be a whole number from 1, or 'auto', not {wanted!r}")
    return int(wanted)


def _n_components(wanted: int | Literal["auto"], n_seen: int, shown: Spectrum) -> int:
    if wanted == "auto":
        return shown.n_detectable
    if wanted > n_seen:
        raise ValueError(
            f"n_components={wanted} states cannot be learned from pairs of {n_seen} symbols: "
            "there must be at least as many symbols as states"
        )
    if wanted > shown.n_detectable:
        warnings.warn(
            f"these pairs can show {shown.n_detectable} states; n_components={wanted} asks for "
            "more, whose estimates will be mostly noise (more data or more lags may help)",
            EvidenceWarning,
            stacklevel=5,
        )
    return int(wanted)

"""Counts made ready for a learner, and what can be said about them before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from cohmm._validation import check_choice, check_states, silenced
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import DEAD, Fit, by_prevalence, smoothed, warn
from cohmm.learn.pairs.pair_law import PairLaw, Point, pair_law
from cohmm.learn.pairs.spectrum import Spectrum, spectrum
from cohmm.model.hmm import HMM

MAX_STATES = 100  # singular values of a large law that are looked at, where K is not given
BEYOND = 10  # and where it is, so many beyond K
PRIOR_STARTS = 10.0  # sequences
START_STEPS = 100  # of EM


Combine = Literal["tied", "summed"]

States = int | Literal["auto"]


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
    """

    counts: Cooccurrence
    seen: Ints
    laws: dict[int, PairLaw]
    weights: dict[int, float]
    n_pairs: float

    @classmethod
    def of(
        cls,
        counts: Cooccurrence,
        lags: Iterable[int] | None = None,
        combine: Combine = "tied",
        shares: Mapping[int, float] | None = None,
        extra: Any = None,
    ) -> PairEvidence:
        """Prepare ``counts``, all lags with the same weight.

        Or summed in these ``shares``, and then with ``extra`` pairs, where those of the sum are 1.
        """
        check_choice(("tied", "summed"), combine=combine)
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
            matrices = {
                1: sum(
                    (matrix if shares is None else shares[lag] * matrix) / matrix.sum()
                    for lag, matrix in matrices.items()
                )
            }
            if extra is not None:
                matrices = {1: matrices[1] / matrices[1].sum() + extra}
        seen = np.flatnonzero(sum(_frequency(matrix) for matrix in matrices.values()))
        laws = {lag: _law(matrix, seen) for lag, matrix in matrices.items()}
        return cls(counts, seen, laws, dict.fromkeys(laws, 1 / len(laws)), n_pairs)

    @property
    def observed(self) -> Ints:
        """The symbols that occur, be it in no pair."""
        return np.union1d(self.seen, np.flatnonzero(self.counts.symbol_counts))

    @property
    def frequency(self) -> Floats:
        """How frequent each symbol seen is."""
        return self.laws[min(self.laws)].frequency

    def spectra(self, wanted: States = "auto") -> dict[int, Spectrum]:
        """The singular values of every lag: what it can show of so many states."""
        most = MAX_STATES if wanted == "auto" else check_states(wanted, len(self.seen)) + BEYOND
        if len(self.laws) == 1:  # of one lag, or of several that were summed
            return {lag: spectrum(law, self.n_pairs, most) for lag, law in self.laws.items()}
        # Of short sequences a long lag has far fewer pairs, and more noise.
        sizes = {lag: float(self.counts.n_pairs(lag)) for lag in self.laws}
        return {lag: spectrum(law, sizes[lag], most) for lag, law in self.laws.items()}

    def spectrum(self) -> Spectrum:
        """That of the shortest lag alone."""
        return spectrum(self.laws[min(self.laws)], self.n_pairs, MAX_STATES)

    def weighted(self, spectra: dict[int, Spectrum], k: int) -> PairEvidence:
        """Lags weighted by what they show; a lag that shows nothing is left out."""
        weights = lag_weights(spectra, k)
        laws = {lag: law for lag, law in self.laws.items() if weights[lag] > 0}
        return replace(self, laws=laws, weights=weights)

    def with_laws(self, matrices: dict[int, Any], n_pairs: float) -> PairEvidence:
        """The same preparation with other counts, of the same symbols and lags."""
        laws = {lag: _law(matrix, np.arange(len(self.seen))) for lag, matrix in matrices.items()}
        return replace(self, laws=laws, n_pairs=n_pairs)


def n_in_pairs(counts: Cooccurrence) -> int:
    """How many symbols are in a pair: so many states pairs can tell apart, at most."""
    return int(np.count_nonzero(sum(_frequency(counts[lag]) for lag in counts.lags)))


def number_of_states(
    wanted: States, evidence: PairEvidence, shown: Spectrum, *, goes_on: bool = False
) -> int:
    """K, as it was asked for or as the pairs show it; `warn_of_noise` where they show fewer."""
    if wanted == "auto":
        return shown.n_detectable
    k = check_states(wanted, len(evidence.seen))
    warn_of_noise(shown, k, goes_on=goes_on)
    return k


def warn_of_noise(shown: Spectrum, k: int, *, goes_on: bool) -> None:
    """Warn if there are more states than pairs show.

    Where learning goes on from pairs to the data itself, which shows more, only if pairs show half
    of the states at most.  There the error was about half of the distance between states in the
    median, and .05 to .4 of it where pairs show more (235 models of small data).
    """
    seen = shown.n_detectable
    if (2 * seen <= k) if goes_on else (seen < k):
        which = (
            "and select(X) says whether so many predict better"
            if goes_on
            else "whose estimates will be mostly noise (more data or more lags may help)"
        )
        warn(
            f"these pairs can show {seen} state{'s' * (seen != 1)}; n_components={k} asks for "
            f"more, {which}"
        )


@contextmanager
def warned_of_noise_later() -> Iterator[None]:
    """Where pairs may be only the start, more states than they show are nothing to warn of yet."""
    with silenced(beginning="these pairs can show"):
        yield


def warn_of_unseen(evidence: Any, seen: Ints) -> None:
    """Warn of symbols that are in the vocabulary of counts and do not occur."""
    n = evidence.n_symbols
    if len(seen) < n:
        unseen = int(np.setdiff1d(np.arange(n), seen)[0])
        label = unseen if evidence.vocabulary is None else evidence.vocabulary[unseen]
        warn(
            f"{n - len(seen)} of {n} symbols never occur ({label!r} among them): pairs say nothing "
            "of them, and no state tells them apart"
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


def _frequency(matrix: Any) -> Floats:
    return np.asarray(matrix.sum(axis=0) + matrix.sum(axis=1), np.float64)


def _law(matrix: Any, seen: Ints) -> PairLaw:
    if len(seen) < matrix.shape[0]:
        matrix = matrix[seen][:, seen]
    return pair_law(matrix / matrix.sum())


@dataclass(frozen=True)
class PairFit(Fit):
    """A model learned from pairs by `cohmm.learn.min_volume`.

    Parameters
    ----------
    penalty : float
        The weight of the volume term.
    spectrum : Spectrum
        How many states the evidence can show.
    lag_weights : dict
        The weight of each lag in the divergence.
    passes_without_volume : int
        Passes over the pairs after those of the history, without the volume term.
    """

    penalty: float
    spectrum: Spectrum = field(repr=False)
    lag_weights: dict[int, float]
    passes_without_volume: int = 0


def as_hmm(point: Point, evidence: PairEvidence, smoothing: float) -> HMM:
    """The factors as a model: states by prevalence, symbols never seen with probability zero.

    A symbol that was observed, but in no pair, is as frequent in every state as it is overall.
    With ``smoothing``, every state has seen so much more of each symbol, as frequent symbols
    and states are overall: what never happened in the data is then improbable, not impossible.
    """
    prevalence = point.theta.sum(axis=1)
    dead = prevalence < DEAD
    if dead.any():
        warn(f"{dead.sum()} of {len(dead)} states died out: fewer explain these pairs as well")
    emission = np.zeros((len(prevalence), evidence.counts.n_symbols))
    emission[:, evidence.seen] = point.m.T
    transmat = point.theta / prevalence[:, None]
    model = HMM(prevalence / prevalence.sum(), transmat, emission, evidence.counts.vocabulary)
    if smoothing > 0:
        frequency = np.zeros(model.n_symbols)
        frequency[evidence.seen] = evidence.frequency
        model = smoothed(model, evidence.n_pairs, frequency, smoothing)
    first = start_probability(
        model.emissionprob[:, evidence.seen].T,
        evidence.counts.start_counts[evidence.seen],
        model.startprob,
    )
    lonely = _lonely(evidence)
    emission = (1 - lonely.sum()) * model.emissionprob + lonely
    begun = HMM(first, model.transmat, emission, model.vocabulary)
    return by_prevalence(begun, model.startprob)


def _lonely(evidence: PairEvidence) -> Floats:
    """How frequent each symbol is that occurs in no pair, (N,); 0 for all others."""
    observed = np.array(evidence.counts.symbol_counts, np.float64)
    total = observed.sum()
    observed[evidence.seen] = 0.0
    return np.asarray(observed / max(total, 1.0))


def start_probability(m: Floats, start_counts: Floats, prevalence: Floats) -> Floats:
    """The distribution of the first state, from the symbols that sequences begin with.

    Maximum likelihood with the emissions fixed, and a prior worth `PRIOR_STARTS` sequences
    that begin anywhere in the chain: one sequence says little of where they begin.
    """
    total = start_counts.sum()
    first = prevalence / prevalence.sum()
    prior = PRIOR_STARTS * first
    for _ in range(START_STEPS if total > 0 else 0):
        expected = m @ first
        ratio = np.divide(start_counts, expected, out=np.zeros_like(expected), where=expected > 0)
        first = first * (m.T @ ratio) + prior
        first /= first.sum()
    return np.asarray(first)

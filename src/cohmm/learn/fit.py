"""What a learner returns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.learn.pairs.pair_evidence import EvidenceWarning, PairEvidence
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.learn.pairs.squarem import Point
from cohmm.model.hmm import HMM
from cohmm.model.stationary import stationary_distribution

DEAD = 1e-9
LEAK = 1e-12
PRIOR_STARTS = 10.0
START_STEPS = 100


class Progress(NamedTuple):
    """One iteration that was kept."""

    n_iter: int
    """Passes over the evidence so far."""
    objective: float
    """What is minimised: the divergence, and a penalty where there is one."""
    divergence: float
    """How far the evidence is from the model: the Kullback-Leibler divergence, in nats a pair
    or a triple, or, for a learner that reads sequences, minus the log-likelihood of a symbol."""
    volume: float = 0.0
    """The volume term, before it is multiplied by its weight."""
    step: float = 1.0
    """How far the extrapolation went; 1 is the plain update."""
    seconds: float = 0.0
    """Wall time since the learner began."""


@dataclass(frozen=True)
class Fit:
    """A learned model, and how it was learned.

    Parameters
    ----------
    model : HMM
        States ordered by prevalence, the most frequent first.
    converged : bool
        Whether the stop rule was met before the iterations ran out.
    history : tuple of Progress
        Every iteration that was kept; the objective never rises.
    starts : tuple of float
        The objective that each start ended with, the best of which was kept.
    """

    model: HMM
    converged: bool
    history: tuple[Progress, ...] = field(repr=False)
    starts: tuple[float, ...]

    @property
    def objective(self) -> float:
        """The last of ``history``, before the model was smoothed."""
        return self.history[-1].objective

    @property
    def divergence(self) -> float:
        """The last of ``history``, before the model was smoothed."""
        return self.history[-1].divergence

    @property
    def n_iter(self) -> int:
        """Passes over the evidence."""
        return self.history[-1].n_iter


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
    """

    penalty: float
    spectrum: Spectrum = field(repr=False)
    lag_weights: dict[int, float]


def as_hmm(point: Point, evidence: PairEvidence, smoothing: float) -> HMM:
    """The factors as a model: states by prevalence, symbols never seen with probability zero.

    With ``smoothing``, every state has seen so much more of each symbol, as frequent symbols
    and states are overall: what never happened in the data is then improbable, not impossible.
    """
    prevalence = point.theta.sum(axis=1)
    dead = prevalence < DEAD
    if dead.any():
        warnings.warn(
            f"{dead.sum()} of {len(dead)} states died out: fewer explain these pairs as well",
            EvidenceWarning,
            stacklevel=3,
        )
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
    order = np.argsort(-model.startprob, kind="stable")
    model = HMM(first, model.transmat, model.emissionprob, model.vocabulary)
    return model.with_states(order)


def prevalence_of(model: HMM) -> Floats:
    """The stationary distribution; of a chain that falls into parts, as if it leaked a little."""
    k = model.n_components
    return stationary_distribution((1 - LEAK) * model.transmat + LEAK / k)


def smoothed(
    model: HMM, n: float, frequency: Any, smoothing: float, visited: Floats | None = None
) -> HMM:
    """A stationary model, as if every state had seen so much more of each symbol.

    ``n`` is how many symbols were seen, and ``frequency`` (N,) how often each was, in proportion
    to which symbols are added to a state, and states to those that follow it.  ``visited`` (K,)
    is how often each state was, where that is not the stationary distribution.
    """
    prevalence = np.maximum(prevalence_of(model) if visited is None else visited, DEAD)
    extra = smoothing * np.count_nonzero(frequency)
    share = (extra / (extra + n * prevalence))[:, None]
    transmat = (1 - share) * model.transmat + share * prevalence / prevalence.sum()
    emission = (1 - share) * model.emissionprob + share * frequency / frequency.sum()
    return HMM(stationary_distribution(transmat), transmat, emission, model.vocabulary)


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

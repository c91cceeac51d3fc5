"""A model from the factors of a pair law."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.finish import DEAD, by_prevalence, smoothed
from cohmm.learn.fit import Fit
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.learn.run import warn
from cohmm.model.hmm import HMM

PRIOR_STARTS = 10.0  # sequences
START_STEPS = 100  # of EM


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

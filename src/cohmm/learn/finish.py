"""What is done to a model at the end: smoothing, and the order of its states."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.model.hmm import HMM
from cohmm.model.stationary import stationary_distribution

DEAD = 1e-9  # prevalence: a state that is rarer explains nothing
LEAK = 1e-12  # of all transitions, so that a chain in several parts has one stationary distribution


def prevalence_of(model: HMM) -> Floats:
    """The stationary distribution; of a chain that falls into parts, as if it leaked a little."""
    k = model.n_components
    return stationary_distribution((1 - LEAK) * model.transmat + LEAK / k)


def by_prevalence(model: HMM, prevalence: Floats | None = None) -> HMM:
    """``model`` with its states in order, the most frequent first."""
    if prevalence is None:
        prevalence = prevalence_of(model)
    return model.with_states(np.argsort(-prevalence, kind="stable"))


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


def keeping(before: HMM, after: HMM, learned: str = "ste") -> HMM:
    """``after`` with the zeros of ``before``, and with its tables that were not ``learned``."""

    def one(letter: str, old: Floats, new: Floats) -> Floats:
        if letter not in learned:
            return old
        new = np.where(old > 0, new, 0.0)
        return np.asarray(new / new.sum(axis=-1, keepdims=True))

    return HMM(
        one("s", before.startprob, after.startprob),
        one("t", before.transmat, after.transmat),
        one("e", before.emissionprob, after.emissionprob),
        after.vocabulary,
    )

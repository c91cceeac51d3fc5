"""The zeros of emissions: what leads away from them, and what prefers them.

Where a symbol is foreign to a state, maximum likelihood gives it half the time a probability of
about a standard error.  All those together are most of the error that is left in long data.
"""

from __future__ import annotations

from cohmm.learn.sequences.ascent import Sparsity
from cohmm.model.hmm import HMM

OPENING = 0.01  # every emission gets this share of a uniform one to begin with
FLOOR = 0.3  # over N: where the prior ends to prefer zeros, at most
STANDARD_ERRORS = 6.7  # so many, if states were known, are one where they are hidden (measured)


def opened(model: HMM) -> HMM:
    """``model`` with a little more of every emission that is possible: zeros are hard to leave."""
    possible = model.emissionprob > 0
    emission = (1 - OPENING) * model.emissionprob
    emission += OPENING * possible / possible.sum(axis=1, keepdims=True)
    return HMM(model.startprob, model.transmat, emission, model.vocabulary)


def zeros_preferred(
    weight: float, model: HMM, n: float, standard_errors: float = STANDARD_ERRORS
) -> Sparsity:
    """The prior on emissions like those of ``model``, learned from ``n`` symbols.

    It ends to prefer zeros where a probability exceeds what chance would give a zero:
    sqrt(K / (N n)) is the standard error of an emission of 1 / N in one of K known states.

    >>> zeros_preferred(1.0, HMM([1.0], [[1.0]], [[0.25] * 4]), 10**6)
    Sparsity(weight=1.0, floor=0.00335)
    """
    n_symbols, k = model.n_symbols, model.n_components
    return Sparsity(weight, min(FLOOR / n_symbols, standard_errors * (k / (n_symbols * n)) ** 0.5))

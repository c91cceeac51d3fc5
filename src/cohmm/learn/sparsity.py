"""The zeros of emissions: whether there are some, what prefers them, what leads away from them.

Where a symbol is foreign to a state, maximum likelihood gives it half the time a probability of
about a standard error.  All those together are most of the error that is left in long data.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtr

from cohmm.kernels.types import Floats
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

OPENING = 0.01  # every emission gets this share of a uniform one to begin with
FLOOR = 0.3  # over N: where the prior ends to prefer zeros, at most
STANDARD_ERRORS = 6.7  # so many, if states were known, are one where they are hidden (measured)
WEIGHT = 1.0  # of the prior, where zeros show
EVIDENCE = 2.0  # nats: by so much a spike at zero must explain the emissions better
MAX_NOISE = 0.7  # of an average emission: beyond, zeros and small emissions look the same
MAX_ENTRIES = 5000  # looked at
AT_ZERO = 0.3  # standard errors, if states were known: below, an estimate counts as zero
SHARES = tuple(i / 20 for i in range(19))  # of zeros, that are tried
NOISES = 24  # that are tried, each by a factor larger than the one before
DENSITY_FLOOR = 1e-300


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
    Symbols that no state emits do not count.

    >>> zeros_preferred(1.0, HMM([1.0], [[1.0]], [[0.25] * 4]), 10**6)
    Sparsity(weight=1.0, floor=0.00335)
    """
    k = model.n_components
    n_symbols = int(np.count_nonzero((model.emissionprob > 0).any(axis=0)))
    return Sparsity(weight, min(FLOOR / n_symbols, standard_errors * (k / (n_symbols * n)) ** 0.5))


def weight_of(sparsity: float | Literal["auto"], plain: HMM, n: float) -> float:
    """The weight of the prior; "auto": `WEIGHT` if zeros show in the ``plain`` estimate, or 0."""
    if sparsity == "auto":
        return WEIGHT if zeros_show(plain, n) else 0.0
    return sparsity


def zeros_show(plain: HMM, n: float, free: float = 0.0, most_noise: float = MAX_NOISE) -> bool:
    """Whether zeros are behind an estimate of emissions without any preference for them.

    Emissions, each divided by the frequency of its symbol, are taken for

        x + noise,   x = 0 with probability p, else exponential;   negative ones count as zero

    with noise in proportion to the standard error if states were known.  Both p and the proportion
    are fitted, and p = 0 as well: without a spike, as many zeros need so much noise that all others
    would be spread.

    Parameters
    ----------
    plain : HMM
        The estimate, of maximum likelihood.
    n : float
        How many symbols, or pairs, it was learned from.
    free : float
        A share of zeros that is there for another reason.
    most_noise : float
        Standard error of an average emission, of its size, beyond which nothing shows.

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> noise = np.random.default_rng(0).normal(0, .002, (5, 100))
    >>> for zeros in (0.5, 0.0):
    ...     truth = random_hmm(100, 5, zeros, random_state=0)
    ...     estimate = np.maximum(truth.emissionprob + noise, 0)
    ...     estimate /= estimate.sum(axis=1, keepdims=True)
    ...     print(zeros_show(HMM(truth.startprob, truth.transmat, estimate), 10**5))
    True
    False
    """
    ratio, error = _entries(plain, n)
    if not len(ratio):
        return False
    typical = float(np.median(error))
    noises = np.geomspace(1.0, max(2 / typical, 2.0), NOISES)
    fits = np.array([[_log_density(ratio, error, p, c) for c in noises] for p in SHARES])
    noise = noises[fits.argmax() % NOISES] * typical
    without = fits[np.less_equal(SHARES, free)].max()
    return bool(fits.max() > without + EVIDENCE and noise <= most_noise)


def _entries(model: HMM, n: float) -> tuple[Floats, Floats]:
    """Emissions over the frequency of their symbol, and their errors, where these are below one.

    Some of them, if there are many.
    """
    prevalence = prevalence_of(model)
    frequency = prevalence @ model.emissionprob
    told = n * np.outer(prevalence, frequency) > 1
    state, symbol = np.nonzero(told)
    every = -(-len(state) // MAX_ENTRIES) or 1
    state, symbol = state[::every], symbol[::every]
    ratio = model.emissionprob[state, symbol] / frequency[symbol]
    return ratio, 1 / np.sqrt(n * prevalence[state] * frequency[symbol])


def _log_density(ratio: Floats, error: Floats, spike: float, noise: float) -> float:
    """Of entries, if a share ``spike`` of them is zero and the mean is one."""
    mean, sd = 1 / (1 - spike), noise * error
    at_zero = ratio < AT_ZERO * error
    y = np.where(at_zero, AT_ZERO * error, ratio)
    # An exponential with normal noise: its density is tail / mean, and its distribution is known.
    tail = np.exp((sd / mean) ** 2 / 2 - y / mean + log_ndtr(y / sd - sd / mean))
    slab = np.where(at_zero, ndtr(y / sd) - tail, tail / mean)
    zero = np.where(at_zero, ndtr(y / sd), np.exp(-((y / sd) ** 2) / 2) / (sd * np.sqrt(2 * np.pi)))
    return float(np.log(np.maximum(spike * zero + (1 - spike) * slab, DENSITY_FLOOR)).sum())


class Sparsity(NamedTuple):
    """- weight * sum log(1 + p / floor): a preference for zeros among probabilities p."""

    weight: float = 0.0
    floor: float = 1.0

    def log_density(self, table: Floats) -> float:
        """Up to a constant; 0 where all entries are zero."""
        return -self.weight * float(np.log1p(table / self.floor).sum()) if self.weight else 0.0

    def pseudo_counts(self, table: Floats) -> Floats | float:
        """Its gradient times the probabilities, none of them positive."""
        return -self.weight * table / (table + self.floor) if self.weight else 0.0

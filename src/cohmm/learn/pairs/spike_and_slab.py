"""Which emissions are zero, and what the others are, by Bayes: the posterior of a pair estimate.

    M_kn = 0 with probability z, else exponential with mean f_n / (1 - z);    A_ij >= 0, else free

is the prior (as in `zeros.zeros_show`; f are the frequencies of symbols), and the likelihood is
that of the pairs, quadratic around an estimate: T H is its curvature.  How far an entry is from
zero depends on all others, so that they are looked at together, by expectation propagation (Minka,
2001): each prior is stood in for by a Gaussian factor with the same effect on mean and variance.

A total variation is a sum of absolute errors, so emissions are posterior medians: zero where a zero
is the likelier.  A penalty for small entries, by contrast, has to draw on those that are none.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.special import erfcx, expit, log_ndtr, ndtri_exp

from cohmm.kernels.types import Floats
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.pair_law import DensePairs, PairJacobian
from cohmm.model.hmm import HMM

ROUNDS = 6  # of new curvature, and of a new share of zeros
STEPS = 20  # in each, at most
DAMPING = 0.8  # of the way to the new factors
TOL = 0.02  # standard errors that estimates still move, on average
EVEN = 0.5  # share of zeros to begin with
SHARES = (0.01, 0.99)  # of zeros: what is learned stays between
ANY = 10.0  # mean of an exponential that prefers no probability to another
STIFF = 10.0  # times the median curvature: how firmly rows are held at a sum of one
SINGLE = 600  # entries from which single precision serves
FAR = 30.0  # standard deviations
FREE = 1e-4  # of what is known of an entry: so much has to be from others
PROBABILITY_FLOOR = 1e-12


class Quadratic(NamedTuple):
    """log P = slope' d - d' precision d / 2, d = x - at, up to a constant."""

    at: Floats
    slope: Floats
    precision: Floats


class Factors(NamedTuple):
    """The Gaussian stand-ins of all priors, (P,) each."""

    precision: Floats
    shift: Floats


class Marginal(NamedTuple):
    """What is known of every entry, (P,): zero, or else normal above zero."""

    zero: Floats
    """The probability of a zero."""
    centre: Floats
    spread: Floats
    """Mean and standard deviation of the normal, before it was cut off at zero."""
    mean: Floats
    variance: Floats

    def median(self) -> Floats:
        """Of the mixture."""
        # By logarithms of tails: far below zero, what is above it is no difference from one.
        above = np.minimum(0.5 / np.maximum(1 - self.zero, PROBABILITY_FLOOR), 1.0)
        tail = np.log(above) + log_ndtr(self.centre / self.spread)
        median = self.centre - self.spread * ndtri_exp(tail)
        return np.where(self.zero >= 0.5, 0.0, np.maximum(median, 0.0))


def posterior(
    model: HMM,
    laws: Mapping[int, DensePairs],
    weights: Mapping[int, float],
    n_pairs: float,
    small: float,
) -> tuple[HMM, bool, int]:
    """Posterior medians of emissions and means of transitions; if they settled, and the steps.

    ``model`` is an estimate from ``n_pairs`` pairs with these ``laws``, near enough to the maximum
    that the likelihood is quadratic from there to where it leads.  Emissions that are ``small`` are
    zeros to begin with: there may be several sets of zeros that agree with each other.

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> from cohmm.learn.pairs.pair_law import pair_law
    >>> truth = random_hmm(20, 3, .5, stay=.3, random_state=0)
    >>> blurred = .95 * truth.emissionprob + .05 / 20
    >>> start = HMM(truth.startprob, truth.transmat, blurred)
    >>> laws = {1: pair_law(truth.pair_probability())}
    >>> model, settled, _ = posterior(start, laws, {1: 1.0}, 1e6, small=.003)
    >>> bool(((model.emissionprob == 0) == (truth.emissionprob == 0)).all()), settled
    (True, True)
    """
    k, n = model.emissionprob.shape
    emission = np.arange(k * (k + n)) >= k * k
    frequency = sum(weights[lag] * law.frequency for lag, law in laws.items())
    typical = np.concatenate([np.full(k * k, ANY), np.tile(frequency, k)])
    entries = np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()])
    spread = np.where(emission & (entries < small), small, typical)
    factors = Factors(1 / spread**2, np.zeros(len(entries)))
    zeros, before, steps = EVEN, None, 0
    for _ in range(ROUNDS):
        prior_zero = np.where(emission, zeros, 0.0)
        marginal, factors, used = propagated(
            around(model, laws, weights, n_pairs), factors, prior_zero, typical / (1 - prior_zero)
        )
        model, steps = _model(marginal.mean, model), steps + used
        settled = before is not None and _moved(before, marginal) < TOL
        if settled:
            break
        zeros, before = float(np.clip(marginal.zero[emission].mean(), *SHARES)), marginal
    estimate = np.where(emission, marginal.median(), marginal.mean)
    # A symbol that is likelier zero than not in every state is still a symbol that occurs.
    lost = emission & np.concatenate(
        [np.zeros(k * k, bool), np.tile(~estimate[k * k :].reshape(k, n).any(axis=0), k)]
    )
    return _model(np.where(lost, marginal.mean, estimate), model), settled, steps


def around(
    model: HMM, laws: Mapping[int, DensePairs], weights: Mapping[int, float], n_pairs: float
) -> Quadratic:
    """The log-likelihood of the pairs near ``model``, its entries those of `PairJacobian`.

    Of counts that are Poisson's, which leaves no entry without curvature; rows are held at one.
    """
    k, n = model.emissionprob.shape
    entries = np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()])
    precision, slope = np.zeros((len(entries), len(entries))), np.zeros(len(entries))
    for lag, law in laws.items():
        slopes = PairJacobian.of(model, lag)
        more = law.omega / law.omega.sum() - slopes.p
        precision += n_pairs * weights[lag] * slopes.curvature()
        slope += n_pairs * weights[lag] * slopes.sums(sparse.csr_array(more.reshape(1, -1)))[0]
    stiff = STIFF * float(np.median(precision.diagonal()))
    borders = np.concatenate([np.arange(k) * k, k * k + np.arange(k + 1) * n])
    for first, stop in pairwise(borders.tolist()):
        precision[first:stop, first:stop] += stiff
    return Quadratic(entries, slope, precision)


def propagated(
    quadratic: Quadratic, factors: Factors, zero: Floats, mean: Floats
) -> tuple[Marginal, Factors, int]:
    """Steps until the marginals rest."""
    marginal, factors = step(quadratic, factors, zero, mean)
    for used in range(2, STEPS + 1):
        last, (marginal, factors) = marginal, step(quadratic, factors, zero, mean)
        if _moved(last, marginal) < TOL:
            return marginal, factors, used
    return marginal, factors, STEPS


def step(
    quadratic: Quadratic, factors: Factors, zero: Floats, mean: Floats
) -> tuple[Marginal, Factors]:
    """Marginals with all factors as they are, and the factors that these give, damped."""
    variance, centre = _gaussian(quadratic, factors)
    # What is known of an entry without its own factor:
    precision, shift = 1 / variance - factors.precision, centre / variance - factors.shift
    possible = precision > FREE / variance
    precision = np.where(possible, precision, 1 / variance)
    shift = np.where(possible, shift, centre / variance)
    marginal = with_prior(shift / precision, 1 / precision, zero, mean)
    wanted = np.maximum(1 / marginal.variance - precision, 0.0)
    moved = np.where(possible, DAMPING, 0.0)
    return marginal, Factors(
        factors.precision + moved * (wanted - factors.precision),
        factors.shift + moved * (marginal.mean * (precision + wanted) - shift - factors.shift),
    )


def with_prior(x: Floats, variance: Floats, zero: Floats, mean: Floats) -> Marginal:
    """Of entries known to be ``x`` up to normal noise: zero, or exponential with this mean.

    >>> one = np.ones(1)
    >>> with_prior(0 * one, .01 * one, .5 * one, one).zero.round(1)  # sd .1, and typically 1
    array([0.9])
    """
    spread = np.sqrt(variance)
    centre = x - variance / mean
    at = centre / spread
    log_slab = -np.log(mean) - x / mean + variance / (2 * mean**2) + log_ndtr(at)
    log_spike = -(x**2) / (2 * variance) - np.log(2 * np.pi * variance) / 2
    with np.errstate(divide="ignore"):
        probability = expit(log_spike + np.log(zero) - log_slab - np.log1p(-zero))
    cut_mean, cut_variance = _above_zero(at)
    cut_mean, cut_variance = spread * cut_mean, variance * cut_variance
    first = (1 - probability) * cut_mean
    second = (1 - probability) * (cut_variance + cut_mean**2)
    least = PROBABILITY_FLOOR * np.minimum(variance, mean**2)
    return Marginal(probability, centre, spread, first, np.maximum(second - first**2, least))


def _above_zero(at: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of a normal with mean ``at`` and variance one, cut off at zero."""
    far = np.minimum(at, -FAR)  # there differences of large numbers are left to a series
    near = np.maximum(at, -FAR)
    hazard = np.sqrt(2 / np.pi) / erfcx(-near / np.sqrt(2))
    mean = np.where(at < -FAR, -1 / far + 2 / far**3, near + hazard)
    return mean, np.where(at < -FAR, 1 / far**2 - 6 / far**4, 1 - hazard * (near + hazard))


def _gaussian(quadratic: Quadratic, factors: Factors) -> tuple[Floats, Floats]:
    """Variances and means of all entries, with the factors in the place of priors."""
    scale = 1 / np.sqrt(quadratic.precision.diagonal() + factors.precision)
    matrix: NDArray[Any] = quadratic.precision * scale * scale[:, None]
    matrix[np.diag_indices_from(matrix)] = 1.0
    # Of how far entries are from where they were: single precision is then enough.
    shift = scale * (quadratic.slope + factors.shift - factors.precision * quadratic.at)
    failed = 1
    if len(scale) > SINGLE:
        factor, failed = linalg.lapack.spotrf(matrix.astype(np.float32).T, clean=0, overwrite_a=1)
        invert, solve = linalg.lapack.spotri, linalg.blas.strsv
    if failed:
        factor, failed = linalg.lapack.dpotrf(matrix.T, clean=0)
        invert, solve = linalg.lapack.dpotri, linalg.blas.dtrsv
    if failed:
        raise linalg.LinAlgError("the curvature of the pairs is not positive")
    moved = solve(factor, solve(factor, shift.astype(factor.dtype), trans=1))
    inverse, _ = invert(factor, overwrite_c=1)
    variance = scale**2 * inverse.diagonal().astype(np.float64)
    return variance, quadratic.at + scale * moved.astype(np.float64)


def _moved(before: Marginal, after: Marginal) -> float:
    """Standard errors, on average."""
    return float(np.mean(np.abs(after.mean - before.mean)) / np.mean(np.sqrt(after.variance)))


def _model(entries: Floats, like: HMM) -> HMM:
    k = like.n_components
    a, m = (
        np.maximum(part.reshape(k, -1), PROBABILITY_FLOOR) for part in np.split(entries, [k * k])
    )
    m = np.where(m > PROBABILITY_FLOOR, m, 0.0)
    a, m = (table / table.sum(axis=1, keepdims=True) for table in (a, m))
    start = prevalence_of(HMM(like.startprob, a, like.emissionprob))
    return HMM(start, a, m, like.vocabulary)

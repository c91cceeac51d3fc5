"""Pairs alone, and many of them: at the end the volume term is taken away.

The term chooses among models that explain the pairs about as well.  Once there are so many pairs
that the zeros of M choose, all that it adds is a bias.  From the estimate with it,

    maximise    sum_lag w_lag sum Omega_lag log(M diag(pi) A^lag M'),    pi = pi A

by `cohmm.learn.sequences.ascent`; then `spike_and_slab` says which emissions are zero.  Where there
are too many parameters for that, or it ends where the pairs are not explained, the climb goes on
with a preference for zeros (`zeros`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.finish import prevalence_of
from cohmm.learn.pairs.min_volume import EXACT, expected_paths
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_fit import PairFit, as_hmm
from cohmm.learn.pairs.pair_law import DensePairs, PairLaw, Point
from cohmm.learn.pairs.spike_and_slab import posterior
from cohmm.learn.sequences.ascent import Prior, Target, ascend, n_parameters
from cohmm.learn.sequences.likelihood import Expected, StationaryLikelihood
from cohmm.learn.sequences.square_roots import n_windows
from cohmm.learn.sequences.zeros import WEIGHT, opened, zeros_preferred, zeros_show
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.sampling import generator

PASSES = 20
MAX_ITER = 200
TOL = 1e-3
WORTHWHILE = 4e7  # distinct pairs times K: about a minute of one core
MOST_NOISE = 0.4  # of an average emission
VERTEX = 2.0  # times the K (K - 1) zeros that a change of basis gives any M
MOST_PARAMETERS = 4000  # whose covariance takes a second, some twenty times
MOST_LOST = 1.0  # nats per parameter: half of one is what a zero may cost that is right
STANDARD_ERRORS = 2.24  # of an emission in a known state, where the prior ends to prefer zeros


@dataclass(frozen=True, eq=False)
class PairLikelihood:
    """The likelihood of pairs, each a chain of its own: ``startprob`` is that of its first state.

    Parameters
    ----------
    laws : dict
        The pair law of every lag, among the symbols of the model.
    weights : dict
        The weights of the lags; they sum to one.
    """

    laws: dict[int, PairLaw]
    weights: dict[int, float]

    def expected(self, model: HMM) -> Expected:
        """One pass over the pairs."""
        a, pi, m = model.transmat, model.startprob, np.ascontiguousarray(model.emissionprob.T)
        lagged = {lag: pi[:, None] * np.linalg.matrix_power(a, lag) for lag in self.laws}
        ratios = {lag: law.statistics(m, lagged[lag]) for lag, law in self.laws.items()}
        transitions, starts = expected_paths(m, pi, a, lagged, ratios, self.weights)
        emissions = m * sum(
            self.weights[lag] * (ratio.rows @ lagged[lag].T + ratio.columns @ lagged[lag])
            for lag, ratio in ratios.items()
        )
        log_likelihood = sum(self.weights[lag] * ratio.log_fit for lag, ratio in ratios.items())
        return Expected(float(log_likelihood), Counts(starts, transitions, emissions.T))


def if_zeros_show(
    fit: PairFit, counts: Cooccurrence, smoothing: float, random_state: int | None
) -> PairFit:
    """`without_volume` if zeros show in ``fit`` and that is worth its time; else ``fit``."""
    weights = {lag: weight for lag, weight in fit.lag_weights.items() if weight > 0}
    evidence = replace(PairEvidence.of(counts, weights), weights=weights)
    k = fit.model.n_components
    size = sum(law.omega.size for law in evidence.laws.values())
    if fit.divergence < EXACT or size * k > WORTHWHILE:
        return fit
    by_chance = VERTEX * (k - 1) / len(evidence.seen)
    if not zeros_show(fit.model, evidence.n_pairs, by_chance, MOST_NOISE):
        return fit
    return without_volume(
        fit, evidence, sparsity=WEIGHT, smoothing=smoothing, random_state=random_state
    )


def without_volume(
    fit: PairFit,
    evidence: PairEvidence,
    *,
    sparsity: float,
    smoothing: float,
    random_state: int | None,
) -> PairFit:
    """The model of ``fit`` taken to the maximum of the likelihood, with a preference for zeros."""
    m = fit.model.emissionprob[:, evidence.seen]
    model = HMM(prevalence_of(fit.model), fit.model.transmat, m / m.sum(axis=1, keepdims=True))
    rng = generator(random_state)
    plain = Target(
        StationaryLikelihood(PairLikelihood(evidence.laws, evidence.weights)),
        units=evidence.n_pairs,
        symbols=2.0,
        start_weight=1.0,
        prior=Prior(),
        windows=_sampler(evidence.laws[min(evidence.laws)], n_windows(n_parameters(model)), rng),
    )
    # Zeros that are preferred too early are the wrong ones.
    first = ascend(plain, opened(model), passes=PASSES, max_iter=MAX_ITER // 2, tol=TOL)
    second = _posterior(first.model, evidence, plain) or _sparse(first.model, plain, sparsity)
    a = second.model.transmat
    point = Point(second.model.emissionprob.T, prevalence_of(second.model)[:, None] * a)
    return replace(
        fit,
        model=as_hmm(point, evidence, smoothing),
        converged=fit.converged and second.converged,
        passes_without_volume=first.n_iter + second.n_iter,
    )


class _Second(NamedTuple):
    """What came after the plain climb."""

    model: HMM
    converged: bool
    n_iter: int


def _posterior(model: HMM, evidence: PairEvidence, target: Target) -> _Second | None:
    """By Bayes, if the curvature is not too large a matrix, and if pairs are explained as well."""
    laws = {lag: law for lag, law in evidence.laws.items() if isinstance(law, DensePairs)}
    size = n_parameters(model)
    if len(laws) < len(evidence.laws) or size > MOST_PARAMETERS:
        return None
    try:
        second = _Second(*posterior(model, laws, evidence.weights, evidence.n_pairs))
    except np.linalg.LinAlgError:
        return None
    fits = [target.likelihood.expected(each).log_likelihood for each in (model, second.model)]
    return second if target.units * (fits[0] - fits[1]) < MOST_LOST * size else None


def _sparse(model: HMM, target: Target, sparsity: float) -> _Second:
    """By a climb with a preference for zeros."""
    zeros = zeros_preferred(sparsity, model, target.units, STANDARD_ERRORS)
    sparse = target._replace(prior=Prior(emissions=zeros))
    climbed = ascend(sparse, model, passes=PASSES, max_iter=MAX_ITER, tol=TOL)
    return _Second(climbed.model, climbed.converged, climbed.n_iter)


def _sampler(law: PairLaw, n: int, rng: np.random.Generator) -> Callable[[], Ints]:
    """Draws ``n`` pairs."""
    omega = sparse.coo_array(law.omega)
    share: Floats = omega.data / omega.data.sum()

    def sample() -> Ints:
        chosen = rng.choice(len(share), n, p=share)
        return np.stack([index[chosen] for index in omega.coords], axis=1).astype(np.int64)

    return sample

"""Pairs alone, and many of them: at the end the volume term is taken away.

The term chooses among models that explain the pairs about as well.  Once there are so many pairs
that the zeros of M choose, all that it adds is a bias.  From the estimate with it,

    maximise    sum_lag w_lag sum Omega_lag log(M diag(pi) A^lag M'),    pi = pi A

by `cohmm.learn.maximize`, at first as it is, and then with a preference for emissions with
zeros (`zeros`).  From there `spike_and_slab` says which of them are zeros, where there is one lag,
unless there are too many parameters, or it does not settle nearby.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.maximize import Expected, Prior, StationaryLikelihood, Target, ascend, n_parameters
from cohmm.learn.pairs.min_volume import EXACT, expected_paths
from cohmm.learn.pairs.pair_evidence import PairEvidence, PairFit, as_hmm
from cohmm.learn.pairs.pair_law import DensePairs, PairLaw, Point
from cohmm.learn.pairs.spike_and_slab import posterior
from cohmm.learn.sparsity import WEIGHT, opened, zeros_preferred, zeros_show
from cohmm.learn.sqrt_parametrization import n_windows
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.sampling import generator

PASSES = 20
MAX_ITER = 200
TOL = 1e-3
WORTHWHILE = 4e7  # distinct pairs times K: about a minute of one core
MAX_NOISE = 0.4  # of an average emission
VERTEX = 2.0  # times the K (K - 1) zeros that a change of basis gives any M
MAX_PARAMETERS = 4000  # whose covariance takes a second, some twenty times
MAX_MOVED = 0.2  # total variation: the likelihood is quadratic near where the climb ended
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


def debias_if_sparse(
    fit: PairFit, counts: Cooccurrence, smoothing: float, random_state: int | None
) -> PairFit:
    """`debias` if zeros show in ``fit`` and that is worth its time; else ``fit``."""
    weights = {lag: weight for lag, weight in fit.lag_weights.items() if weight > 0}
    evidence = replace(PairEvidence.of(counts, weights), weights=weights)
    k = fit.model.n_components
    size = sum(law.omega.size for law in evidence.laws.values())
    if fit.divergence < EXACT or size * k > WORTHWHILE:
        return fit
    by_chance = VERTEX * (k - 1) / len(evidence.seen)
    if not zeros_show(fit.model, evidence.n_pairs, by_chance, MAX_NOISE):
        return fit
    return debias(fit, evidence, sparsity=WEIGHT, smoothing=smoothing, random_state=random_state)


def debias(
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
    zeros = zeros_preferred(sparsity, model, evidence.n_pairs, STANDARD_ERRORS)
    # Zeros that are preferred too early are the wrong ones.
    first = ascend(plain, opened(model), passes=PASSES, max_iter=MAX_ITER // 2, tol=TOL)
    sparse = plain._replace(prior=Prior(emissions=zeros))
    climbed = ascend(sparse, first.model, passes=PASSES, max_iter=MAX_ITER, tol=TOL)
    second = _Estimate(climbed.model, climbed.converged, climbed.n_iter)
    second = _posterior(second, evidence, zeros.floor) or second
    a = second.model.transmat
    point = Point(second.model.emissionprob.T, prevalence_of(second.model)[:, None] * a)
    return replace(
        fit,
        model=as_hmm(point, evidence, smoothing),
        converged=fit.converged and second.converged,
        passes_without_volume=first.n_iter + second.n_iter,
    )


class _Estimate(NamedTuple):
    """Where a step led."""

    model: HMM
    converged: bool
    n_iter: int


def _posterior(climbed: _Estimate, evidence: PairEvidence, floor: float) -> _Estimate | None:
    """By Bayes; None if the curvature is too large a matrix, or the answer cannot be trusted.

    Where it went astray (4 of 35 models with N=20, K=4 and 1e6 pairs), it had not settled.  Weights
    of lags sum to one, so that what several lags say together is more than the curvature has: small
    emissions are then taken for zeros.
    """
    laws = {lag: law for lag, law in evidence.laws.items() if isinstance(law, DensePairs)}
    if not len(laws) == len(evidence.laws) == 1 or n_parameters(climbed.model) > MAX_PARAMETERS:
        return None
    try:
        model, settled, steps = posterior(
            climbed.model, laws, evidence.weights, evidence.n_pairs, floor
        )
    except np.linalg.LinAlgError:
        return None
    if not settled or max(model.distance(climbed.model)) > MAX_MOVED:
        return None
    return _Estimate(model, climbed.converged, climbed.n_iter + steps)


def _sampler(law: PairLaw, n: int, rng: np.random.Generator) -> Callable[[], Ints]:
    """Draws ``n`` pairs."""
    omega = sparse.coo_array(law.omega)
    share: Floats = omega.data / omega.data.sum()

    def sample() -> Ints:
        chosen = rng.choice(len(share), n, p=share)
        return np.stack([index[chosen] for index in omega.coords], axis=1).astype(np.int64)

    return sample

"""Where the factorisation starts: AnchorFree, perturbed for restarts, or a given model."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.pairs.anchor_free import AnchorFreeError, anchor_free
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import PairLaw, Point
from cohmm.learn.pairs.spectrum import whitened_basis
from cohmm.learn.pairs.theta_update import onto_constraints
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

MIXED_IN = 1e-3
PERTURBED_BY = 0.5  # standard deviation of the logarithm, for restarts
LEAST = 1e-15
NEARLY_ZERO = 1e-9


def starts(
    evidence: PairEvidence, k: int, n_init: int, random_state: int | None, given: HMM | None
) -> list[Point]:
    """``n_init`` points to start from; the first is AnchorFree's own, or the given model.

    Where AnchorFree has no answer, the first is as random as the others.
    """
    *streams, last = generator(random_state).spawn(n_init)
    if given is not None:
        first = _of_model(evidence, k, given)
    else:
        try:
            first = _anchor_free(evidence, k)
        except AnchorFreeError:
            m = np.repeat(evidence.frequency[:, None], k, axis=1)
            first = _perturbed(m, evidence.frequency, last)
    return [first, *(_perturbed(first.m, evidence.frequency, rng) for rng in streams)]


def _perturbed(m: Floats, frequency: Floats, rng: np.random.Generator) -> Point:
    m = mixed(m, frequency) * np.exp(PERTURBED_BY * rng.normal(size=m.shape))
    return Point(m / m.sum(axis=0), plain_theta(m.shape[1]))


def mixed(m: Floats, frequency: Floats) -> Floats:
    """A little of the symbols' frequencies in every state: a zero would stay one for ever."""
    m = (1 - MIXED_IN) * m + MIXED_IN * frequency[:, None]
    return np.asarray(m / m.sum(axis=0))


def plain_theta(k: int) -> Floats:
    """The paper's start, (I + 11') scaled to sum to one."""
    return (np.eye(k) + 1) / (k * (k + 1))


def _anchor_free(evidence: PairEvidence, k: int) -> Point:
    lags = sorted(evidence.laws)
    laws, weights = [evidence.laws[lag] for lag in lags], [evidence.weights[lag] for lag in lags]
    basis, symbols = whitened_basis(laws, weights, evidence.n_pairs, k)
    # Symbols too rare for the basis start by their frequency; the updates place them.
    m = np.repeat(evidence.frequency[:, None], k, axis=1)
    emissions = anchor_free(basis, evidence.frequency[symbols])
    m[symbols] = np.maximum(emissions, LEAST) * evidence.frequency[symbols].sum()
    m /= m.sum(axis=0)
    theta = _exact_theta(laws[0], m) if len(symbols) == len(m) else None
    if theta is not None:
        return Point(m, theta)
    return Point(mixed(m, evidence.frequency), plain_theta(k))


def _exact_theta(law: PairLaw, m: Floats) -> Floats | None:
    """Theta with Omega = M Theta M', if there is one; least squares, so only if it is exact."""
    left = np.linalg.pinv(m)
    theta = left @ (law.omega @ left.T)
    if theta.min() < -NEARLY_ZERO:
        return None
    theta = np.maximum(theta, LEAST)
    theta /= theta.sum()
    if law.negative_entropy - law.statistics(m, theta).log_fit > NEARLY_ZERO:
        return None
    theta = onto_constraints(theta)
    # Of a chain that does not come back, such as one sequence, no theta has equal marginals.
    return theta if abs(theta.sum() - 1) < NEARLY_ZERO else None


def _of_model(evidence: PairEvidence, k: int, model: HMM) -> Point:
    if (model.n_components, model.n_symbols) != (k, evidence.counts.n_symbols):
        raise ValueError(
            f"cannot start from {model}: there are {k} states and "
            f"{evidence.counts.n_symbols} symbols to learn"
        )
    m = mixed(model.emissionprob.T[evidence.seen], evidence.frequency)
    theta = np.maximum(model.stationary()[:, None] * model.transmat, LEAST)
    return Point(m, onto_constraints(theta / theta.sum()))

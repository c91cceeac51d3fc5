"""Standard errors of a model learned from counts of pairs, from the counts alone.

    Cov = H^+ V H^+ / T,     bias = - lambda H^+ grad volume

H and V as in `pair_information`.  Entries are pinned at zero where they are below half of what
1 / sqrt(T H_jj) says.  An interval is as wide as the root of the variance and the squared bias.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from cohmm.diagnose.information import entries
from cohmm.diagnose.pair_information import pair_information
from cohmm.diagnose.standard_errors import (
    FEWEST_SEQUENCES,
    Held,
    StandardErrors,
    check_size,
    row_numbers,
    start_errors,
)
from cohmm.diagnose.uncertain import Uncertain, from_information
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.volume import Volume
from cohmm.model.hmm import HMM

SMALL_ENOUGH = 0.1  # what is larger is no zero, however little is known of it
HALF = 0.5  # of a standard error, if all other entries were known: what is smaller is pinned
SMALL = 1e-12
NOTES = (
    "from counts of pairs: right where pairs determine the model; where emissions have no zeros "
    "they do not, and the volume term chose: refine, if the sequences are at hand",
)


@dataclass(frozen=True)
class PairTerms:
    """How a model was learned from its pairs.

    Parameters
    ----------
    weights : dict
        The weight of every lag.
    penalty : float
        Of the volume term, lambda; 0 where it was taken away at the end.
    volume : Volume
        The term.
    summed : bool
        Whether lags were summed to one law, which is then no chain's.
    given : float
        lambda to begin with, wherever it was taken away later.
    """

    weights: Mapping[int, float]
    penalty: float
    volume: Volume
    summed: bool = False
    given: float = 0.0


@blas_threads(1)
def pair_errors(
    model: HMM, counts: Cooccurrence, terms: PairTerms, held: Held | None = None
) -> StandardErrors:
    """Of a model learned from ``counts`` in this way.

    >>> from cohmm import count_pairs
    >>> from cohmm.learn.pairs.volume import NoVolume
    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.5, .5, 0], [0, .5, .5]])
    >>> counts = count_pairs(truth.sample(10_000, random_state=0)[0])
    >>> errors = pair_errors(truth, counts, PairTerms({1: 1.0}, 1e-9, NoVolume()))
    >>> bool(errors.transmat.max() < .02)
    True
    """
    check_size(model)
    held = held or Held.nothing(model)
    seen = np.flatnonzero(model.emissionprob.sum(axis=0) > 0)
    among = HMM(
        model.startprob,
        model.transmat,
        model.emissionprob[:, seen] / model.emissionprob[:, seen].sum(axis=1, keepdims=True),
    )
    weights = {lag: weight for lag, weight in terms.weights.items() if weight > 0}
    n_pairs = float(counts[min(weights)].sum())
    fixed = np.concatenate([held.transmat.ravel(), held.emissionprob[:, seen].ravel()])
    rest = _uncertain(among, counts, seen, replace(terms, weights=weights), n_pairs, fixed)
    notes = list(NOTES)
    if terms.summed:
        notes.append(
            "lags were summed: transitions are not those of one step, and pairs are taken for "
            "independent of each other"
        )
    elif set(weights) != {1}:
        notes.append("several lags: how far pairs that overlap vary together is simulated")
    n_starts = float(counts.start_counts.sum())
    first = None
    if n_starts >= FEWEST_SEQUENCES:
        first = start_errors(model, _start_information(model, counts), n_starts, held.startprob)
    else:
        notes.append("one sequence: how sequences begin is not determined")
    return StandardErrors.of(
        model,
        first,
        _widened(rest, model, seen, held, n_pairs),
        f"{n_pairs:,.0f} pairs",
        tuple(notes),
    )


def _uncertain(
    model: HMM,
    counts: Cooccurrence,
    seen: Ints,
    terms: PairTerms,
    n_pairs: float,
    held: np.ndarray,
) -> Uncertain:
    weights = {1: 1.0} if terms.summed else terms.weights
    omega = {lag: _law(counts, lag, seen) for lag in terms.weights}
    if terms.summed:
        omega = {1: np.sum([terms.weights[lag] * law for lag, law in omega.items()], axis=0)}
    h, v, scale, slope = pair_information(model, weights, omega)
    if terms.summed:
        v = h
    p = entries(model)
    pinned = (p * n_pairs * h.diagonal() < HALF**2) & (p < SMALL_ENOUGH)
    pull = np.zeros(len(p))
    if terms.penalty > 0:
        pull[: model.n_components**2] = terms.penalty * n_pairs * volume_slope(model, terms.volume)
    else:
        # Zeros were preferred: by as much as the likelihood would still gain, estimates are off,
        # and an entry that it would let grow is no zero to build on.
        pull = n_pairs * slope
        pinned &= slope <= 0
    found = from_information(
        p,
        row_numbers(model),
        information=n_pairs * h,
        scale=scale,
        slope=n_pairs * slope,
        pinned=pinned,
        held=held,
        # Zeros of emissions are what makes pairs determine a model: they are not in doubt.
        adapted=np.arange(len(p)) < model.n_components**2,
    )
    free = found.free
    inverse = found.covariance / scale[free]
    return replace(
        found,
        covariance=n_pairs * inverse @ v[np.ix_(free, free)] @ inverse.T,
        bias=np.abs(found.covariance @ pull[free]),
    )


def volume_slope(model: HMM, volume: Volume) -> Floats:
    """How the volume term changes with the transitions, (K K,), each at the cost of its row."""
    a, pi = model.transmat, prevalence_of(model)
    theta = pi[:, None] * a
    bound = volume.majoriser(theta)
    by_theta = bound.quadratic * theta - bound.log / np.maximum(theta, SMALL) + bound.linear
    z = np.linalg.inv(np.eye(len(pi)) - a + pi)
    by_a = pi[:, None] * (by_theta + z @ (a * by_theta).sum(axis=1))
    return np.asarray(by_a - (a * by_a).sum(axis=1, keepdims=True)).ravel()


def _law(counts: Cooccurrence, lag: int, seen: Ints) -> Floats:
    matrix = counts[lag][seen][:, seen]
    dense: Any = matrix.toarray() if sparse.issparse(matrix) else matrix
    return np.asarray(dense / dense.sum())


def _start_information(model: HMM, counts: Cooccurrence) -> Floats:
    """What the first symbols say about the first states: sum g g', (K, K)."""
    expected = model.startprob @ model.emissionprob
    ratio = np.divide(
        model.emissionprob, expected, out=np.ones_like(model.emissionprob), where=expected > 0
    )
    return np.asarray(((ratio - 1) * counts.start_counts) @ (ratio - 1).T)


def _widened(rest: Uncertain, model: HMM, seen: Ints, held: Held, n_pairs: float) -> Uncertain:
    """The same with all symbols: those that never occur are pinned at zero."""
    k, n = model.emissionprob.shape
    if len(seen) == n:
        return replace(rest, estimate=entries(model))
    places = np.concatenate([np.arange(k * k), (k * k + np.arange(k)[:, None] * n + seen).ravel()])
    never = np.setdiff1d(np.arange(k * (k + n)), places)
    never = never[~np.concatenate([held.transmat.ravel(), held.emissionprob.ravel()])[never]]
    directions = np.zeros((len(rest.directions), k * (k + n)))
    directions[:, places] = rest.directions
    unknown = np.zeros(k * (k + n), bool)
    unknown[places] = rest.unknown
    return replace(
        rest,
        estimate=entries(model),
        rows=row_numbers(model),
        free=places[rest.free],
        pinned=np.concatenate([places[rest.pinned], never]),
        slope=np.concatenate([rest.slope, n_pairs * prevalence_of(model)[(never - k * k) // n]]),
        curvature=np.concatenate([rest.curvature, np.zeros(len(never))]),
        directions=directions,
        unknown=unknown,
    )

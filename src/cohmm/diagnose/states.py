"""States of a model that are hard to tell apart, or that the data cannot show."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.diagnose.zeros_in_noise import FACTOR, zeros_in_noise
from cohmm.kernels.types import Floats
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.model.hmm import HMM

CLOSE = 0.1  # total variation
MOSTLY = 0.5  # of what tells a state from the average


class Close(NamedTuple):
    """Two states, and the total variation of what they emit."""

    first: int
    second: int
    distance: float


class Conditioning(NamedTuple):
    """Smallest singular values: near 0, small errors of the pairs are large ones of the model."""

    emissions: float
    """Of M, its columns divided by their lengths: 1 where states share no symbol."""
    joint: float
    """Of Theta = P(state, next state), times K: 1 where all states are equally frequent and the
    next is known."""


def close_states(model: HMM, n_pairs: float | None = None) -> tuple[Close, ...]:
    """Pairs of states nearer than .1 in total variation, or than twice its standard error.

    >>> twins = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.5, .5, 0], [.48, .5, .02]])
    >>> close_states(twins)
    (Close(first=0, second=1, distance=0.02),)
    """
    from scipy.spatial.distance import pdist, squareform  # takes its time to import

    m = model.emissionprob
    if len(m) < 2:
        return ()
    distance = squareform(pdist(m, "cityblock")) / 2
    limit = np.full(distance.shape, CLOSE)
    if n_pairs is not None and n_pairs > 0:
        error = np.minimum(zeros_in_noise(model, n_pairs) / FACTOR, np.sqrt(m * (1 - m)) + 1e-12)
        each = error.sum(axis=1) / 2
        limit = np.minimum(np.maximum(limit, np.hypot.outer(each, each)), MOSTLY)
    first, second = np.nonzero(np.triu(distance < limit, 1))
    order = np.argsort(distance[first, second], kind="stable")
    return tuple(
        Close(int(i), int(j), round(float(distance[i, j]), 6))
        for i, j in zip(first[order], second[order], strict=True)
    )


def undetected_states(model: HMM, shown: Spectrum) -> tuple[int, ...]:
    """States most of which lies in directions that the noise of the pairs covers.

    Directions are the singular vectors of the model's own whitened pairs at lag 1; those whose
    value is below the noise floor are covered.
    """
    m, prevalence = model.emissionprob.T, prevalence_of(model)
    scale = np.sqrt(m @ prevalence)
    used = scale > 0
    rest = m[used] / scale[used, None]
    basis, values, _ = np.linalg.svd(rest, full_matrices=False)
    basis = basis[:, values > 1e-12]
    within = basis.T @ rest  # (d, K)
    law = within @ (prevalence[:, None] * model.transmat) @ within.T
    known = basis.T @ scale[used]
    law = law - np.outer(known, known)
    vectors, sizes, _ = np.linalg.svd(np.hstack([law, law.T]), full_matrices=False)
    covered = vectors[:, sizes / np.sqrt(2) <= shown.floor]
    apart = within - known[:, None]
    energy = (apart**2).sum(axis=0)
    share = ((covered.T @ apart) ** 2).sum(axis=0) / np.where(energy > 0, energy, 1.0)
    # The direction of the average itself is covered by definition, and has no part in `apart`.
    return tuple(int(k) for k in np.flatnonzero((share > MOSTLY) & (energy > 0)))


def conditioning(model: HMM) -> Conditioning:
    """How far small errors of the pairs are magnified.

    >>> conditioning(HMM([.5, .5], [[.9, .1], [.1, .9]], [[1, 0], [0, 1]]))
    Conditioning(emissions=1.0, joint=0.8)
    """
    m = model.emissionprob
    joint = prevalence_of(model)[:, None] * model.transmat
    return Conditioning(
        _smallest(m / np.linalg.norm(m, axis=1, keepdims=True)),
        _smallest(joint * len(joint)),
    )


def _smallest(matrix: Any) -> float:
    if matrix.shape[1] < matrix.shape[0]:  # more states than symbols: some combine to nothing
        return 0.0
    values: Floats = np.linalg.svd(matrix, compute_uv=False)
    return round(float(values[-1]), 12)

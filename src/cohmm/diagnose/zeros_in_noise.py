"""Which emissions of an estimate may be zero: those within the noise of zero.

An estimate from T pairs gives a zero of the truth about a standard error, or, smoothed, a tenth of
an observation.  The standard error, were all other parameters known, is 1 / sqrt(T H) with the
information of one pair

    H_nk = sum_ab (d p_ab / d M_nk)^2 / p_ab,    p = M Theta M'.

Others are not known, so that the noise is larger: `FACTOR` of those were the best of 1 to 8 on
models learned from 1e4 to 1e6 symbols, by pairs and refined (``benchmarks/identifiability.py``).
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

FACTOR = 4.0
ROWS = 512  # at a time
LARGEST = 5000  # symbols: beyond, as if states were known
TINY = 1e-300


def zeros_in_noise(model: HMM, n_pairs: float) -> Floats:
    """Thresholds (K, N) below which an emission learned from ``n_pairs`` may be zero.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(16, 4, random_state=0)
    >>> zeros = truth.emissionprob < zeros_in_noise(truth, 10**6)
    >>> bool((zeros >= (truth.emissionprob == 0)).all()), bool(zeros.mean() < .3)
    (True, True)
    """
    if not n_pairs > 0:
        raise ValueError(f"n_pairs must be above 0, not {n_pairs!r}")
    return np.asarray(FACTOR / np.sqrt(n_pairs * np.maximum(_information(model), TINY)))


def _information(model: HMM) -> Floats:
    """H, (K, N), of one pair at lag 1."""
    prevalence = prevalence_of(model)
    m = model.emissionprob
    if model.n_symbols > LARGEST:  # an emission p of a known state has the variance p / (T pi)
        frequency = np.maximum(prevalence @ m, TINY)
        return np.asarray(prevalence[:, None] / frequency)
    theta = prevalence[:, None] * model.transmat
    after, before = theta @ m, theta.T @ m  # (K, N): d p / d M, first place and second place
    information = np.zeros_like(m)
    for first in range(0, model.n_symbols, ROWS):
        rows = slice(first, first + ROWS)
        follows = np.maximum(m[:, rows].T @ after, TINY)
        precedes = np.maximum(m[:, rows].T @ before, TINY)
        information[:, rows] = after**2 @ (1 / follows).T + before**2 @ (1 / precedes).T
    return information

"""Symbols that were never seen, as one rare symbol that every state emits."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.model.hmm import HMM


def good_turing(symbol_counts: Any) -> float:
    """The probability that the next symbol is new: the share of those seen once (Good, 1953).

    Where none was seen once, as if half of one had been, so that it is improbable, not impossible.

    >>> good_turing([5, 3, 1, 1])
    0.2
    """
    counts = np.asarray(symbol_counts, np.float64)
    once = float(np.count_nonzero((counts > 0) & (counts <= 1)))
    return min(max(once, 0.5) / max(float(counts.sum()), 1.0), 0.5)


def with_rare(model: HMM, probability: float) -> HMM:
    """``model`` with one more symbol, the last, which every state emits with a ``probability``."""
    column = np.full((model.n_components, 1), probability)
    emission = np.concatenate([(1 - probability) * model.emissionprob, column], axis=1)
    return HMM(model.startprob, model.transmat, emission)

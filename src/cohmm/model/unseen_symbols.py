"""Symbols that a model was not learned from: new ones, and one rare symbol for all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.data.vocabulary import Vocabulary, codes_in
from cohmm.kernels.types import Floats
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


def with_symbols(
    model: HMM, vocabulary: Vocabulary | None, n_symbols: int, share: Floats | None = None
) -> HMM:
    """``model`` among ``n_symbols`` symbols, of which its own have the places ``vocabulary`` says.

    New symbols have probability zero; or, with ``share``, (N,), every state emits them as often as
    it says.

    >>> with_symbols(HMM([1], [[1]], [[.5, .5]], ("a", "c")), ("a", "b", "c"), 3).emissionprob
    array([[0.5, 0. , 0.5]])
    """
    if model.n_symbols == n_symbols and model.vocabulary == vocabulary:
        return model
    places = np.arange(model.n_symbols)
    if model.vocabulary is not None and vocabulary is not None:
        places = codes_in(model.vocabulary, vocabulary)
    emission = np.zeros((model.n_components, n_symbols))
    new = np.ones(n_symbols, bool)
    new[places] = False
    left = 1.0
    if share is not None:
        emission[:, new] = share[new]
        left = 1.0 - share[new].sum()
    emission[:, places] = left * model.emissionprob
    return HMM(
        model.startprob,
        model.transmat,
        emission / emission.sum(axis=1, keepdims=True),
        vocabulary,
    )

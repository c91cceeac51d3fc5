"""A model with room for symbols that have come since it was learned."""

from __future__ import annotations

import numpy as np

from cohmm.data.vocabulary import Vocabulary, codes_in
from cohmm.kernels.types import Floats
from cohmm.model.hmm import HMM


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

"""How a model is learned again from data drawn anew: as it was learned, from where it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.diagnose.bootstrap import Refit
from cohmm.diagnose.kept import Kept
from cohmm.evidence.counting import count_pairs
from cohmm.kernels.types import Floats
from cohmm.learn.constraints import ALL, Known
from cohmm.learn.pairwise import pairwise
from cohmm.learn.refinement import refine_triples
from cohmm.learn.sequences.refine import refine
from cohmm.model.hmm import HMM

PASSES = 40  # from so near, more change nothing that counts


def refit(kept: Kept, lags: tuple[int, ...], *, smoothing: float, sparsity: float) -> Refit:
    """A function that learns again as ``kept`` says that the model was learned."""
    if kept.pairs is not None:
        return lambda data, weights, seed: by_pairs(kept, lags, data, weights, seed)
    if kept.n_triples:

        def by_triples(data: Sequences, weights: Floats | None, seed: int) -> HMM:
            drawn = data if weights is None else repeated(data, weights)
            return refine_triples(
                kept.model, drawn, sparsity=sparsity, smoothing=smoothing, random_state=seed
            ).model

        return by_triples

    def by_sequences(data: Sequences, weights: Floats | None, seed: int) -> HMM:
        return refine(
            kept.model,
            data,
            weights=weights,
            learned=_learned(kept),
            as_given=True,
            smoothing=smoothing,
            sparsity=sparsity,
            max_iter=PASSES,
            random_state=seed,
        ).model

    return by_sequences


def by_pairs(
    kept: Kept, lags: tuple[int, ...], data: Sequences, weights: Floats | None, seed: int
) -> HMM:
    """From the pairs of data drawn anew."""
    terms = kept.pairs
    assert terms is not None
    counts = count_pairs(data, lags=lags, weights=weights)
    known = None
    if any(mask.any() for mask in kept.held):
        model = kept.model
        known = Known(model.startprob, model.transmat, model.emissionprob, _learned(kept))
    fit = pairwise(
        counts,
        kept.model.n_components,
        combine="summed" if terms.summed and len(lags) > 1 else "tied",
        volume=terms.volume,
        penalty=terms.given or None,
        known=known,
        refine=False,
        sparsity="auto" if terms.penalty == 0 else 0.0,
        start=None if known else kept.model,
        random_state=seed,
    )
    return fit.model


def repeated(data: Sequences, weights: Floats) -> Sequences:
    """Every sequence so often, one after the other."""
    which = np.repeat(np.arange(len(data)), weights.astype(np.int64))
    lengths = data.lengths[which]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(offsets[-1]) + np.repeat(data.offsets[:-1][which] - offsets[:-1], lengths)
    return replace(data, symbols=data.symbols[places], offsets=offsets)


def _learned(kept: Kept) -> str:
    return "".join(letter for letter, mask in zip(ALL, kept.held, strict=True) if not mask.all())

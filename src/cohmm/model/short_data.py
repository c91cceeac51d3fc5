"""Inference over so little data that neither threads nor gangs of blocks are worth their while.

`cohmm.model.inference` comes here with it: most of all because a first fit in a new environment
has one small kernel to compile then, and not the large ones.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats, Ints
from cohmm.kernels.short_chain import smooth_short
from cohmm.model.passes import Forward, Smoothed, Sums, empty_counts, sum_counts
from cohmm.model.tables import Tables

LARGEST = 2**19
"""Symbols times (states + 8) squared: a pass then takes a third of a millisecond, either way."""


def is_short(tables: Tables, symbols: Ints) -> bool:
    """Whether there are so few symbols, for that many states."""
    # What does not grow with the states takes as long as 64 products: of 2 to 50 states, measured.
    return len(symbols) * (tables.n_states + 8) ** 2 <= LARGEST


def forward(tables: Tables, symbols: Ints, offsets: Ints) -> Forward:
    """Log-probabilities and the last filtered rows; ``lost`` is what logarithms have to repeat."""
    n = len(offsets) - 1
    log_prob, lost, filtered = _run(
        tables, symbols, offsets, np.ones(n), empty_counts(tables, count=False), _rows(tables, 0)
    )
    return Forward(log_prob, lost, None, filtered[offsets[1:] - 1])


def smooth(
    tables: Tables,
    symbols: Ints,
    offsets: Ints,
    weights: Floats,
    keep: bool,
    count: bool,
    best: bool,
) -> Smoothed:
    """As `cohmm.model.inference.smooth`; ``lost`` is what logarithms have to repeat."""
    sums = empty_counts(tables, count)
    posterior = _rows(tables, len(symbols) if keep or best else 0)
    log_prob, lost, _ = _run(tables, symbols, offsets, weights, sums, posterior)
    return Smoothed(
        log_prob,
        lost,
        posterior if keep else None,
        sum_counts(tables, [sums]) if count else None,
        posterior.argmax(axis=1).astype(np.int32) if best else None,
    )


def _run(
    tables: Tables, symbols: Ints, offsets: Ints, weights: Floats, sums: Sums, posterior: Floats
) -> tuple[Floats, Ints, Floats]:
    """Log-probabilities and lost places of all sequences, and all filtered rows."""
    log_prob, lost = np.empty(len(weights)), np.empty(len(weights), np.int64)
    filtered, factors = _rows(tables, len(symbols)), np.empty(len(symbols))
    smooth_short(
        symbols, offsets, weights, tables.start, tables.trans, tables.emit, log_prob, lost,
        filtered, factors, *sums, posterior,
    )  # fmt: skip
    return log_prob, lost, filtered


def _rows(tables: Tables, n: int) -> Floats:
    return np.empty((n, tables.n_states))

"""What passes over sequences give, and the sums of which expected counts are made."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats, Ints
from cohmm.kernels.simd import aligned_zeros
from cohmm.model.tables import Tables

Sums = tuple[Floats, Floats, Floats]
"""Starts (W,), transitions (W, W) and emissions (N + 1, W), as kernels add them up."""


class Counts(NamedTuple):
    """Expected counts: starts (K,), transitions (K, K), emissions (K, N) without the missing."""

    starts: Floats
    transitions: Floats
    emissions: Floats


class Forward(NamedTuple):
    """What a forward pass gives; ``lost`` is the first impossible place of a sequence or -1."""

    log_prob: Floats
    lost: Ints
    filtered: Floats | None
    last: Floats


class Smoothed(NamedTuple):
    """What a forward-backward pass gives."""

    log_prob: Floats
    lost: Ints
    posterior: Floats | None
    counts: Counts | None
    best: Ints | None


def empty_counts(tables: Tables, count: bool = True) -> Sums:
    """Zeros for kernels to add to; no rows of emissions where nothing is to be counted."""
    n, width = len(tables.emit) if count else 0, tables.width
    return np.zeros(width), aligned_zeros((width, width)), aligned_zeros((n, width))


def sum_counts(tables: Tables, groups: list[Sums]) -> Counts:
    """What kernels have added up, without padding and with the transition probabilities."""
    starts, transitions, emissions = groups[0]
    for group in groups[1:]:
        starts += group[0]
        transitions += group[1]
        emissions += group[2]
    k = tables.n_states
    return Counts(
        starts[:k].copy(),
        transitions[:k, :k] * tables.trans[:, :k],
        np.ascontiguousarray(emissions[:-1, :k].T),
    )

"""Drawing sequences from a model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels import native
from cohmm.kernels.types import Floats, Ints

CHUNK = 2**20


def generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a Generator or a legacy RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)


class AliasTables(NamedTuple):
    """Walker's alias tables of the rows of an HMM: one uniform number per draw."""

    trans_cut: Floats
    trans_alias: Ints
    emit_cut: Floats
    emit_alias: Ints


def alias_tables(probabilities: Floats) -> tuple[Floats, Ints]:
    """Walker's alias tables of every row: (cut, alias), both of the shape of ``probabilities``."""
    shape = probabilities.shape
    cut, alias = np.empty(shape), np.empty(shape, np.int32)
    native.alias_tables(np.ascontiguousarray(probabilities), cut, alias)
    return cut, alias


def sample(
    startprob: Floats, transmat: Floats, emissionprob: Floats, n: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """``n`` symbols of one sequence, and their states."""
    symbols = np.empty(n, np.int32)
    states = np.empty(n, np.int32)
    tables = AliasTables(*alias_tables(transmat), *alias_tables(emissionprob))
    state = int(rng.choice(len(startprob), p=startprob / startprob.sum()))
    for first in range(0, n, CHUNK):
        piece = slice(first, first + CHUNK)
        uniforms = rng.random((len(symbols[piece]), 2))
        state = native.sample_path(state, uniforms, tables, symbols[piece], states[piece])
    return symbols, states

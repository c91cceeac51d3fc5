"""An HMM's three arrays, laid out as the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.kernels.simd import aligned_zeros, pad_columns


class Tables(NamedTuple):
    """Padded tables: probabilities, or their logarithms.

    ``start`` (W,), ``trans`` (K, W), ``back`` (K, W), its transpose, and ``emit`` (N + 1, W),
    whose last row is the missing observation's.
    """

    n_states: int
    start: Floats
    trans: Floats
    back: Floats
    emit: Floats

    @property
    def width(self) -> int:
        """W, with the padding."""
        return int(self.trans.shape[1])


def probability_tables(startprob: Floats, transmat: Floats, emissionprob: Floats) -> Tables:
    """The tables of the scaled recursions."""
    missing = np.ones((1, len(startprob)))
    return Tables(
        len(startprob),
        pad_columns(startprob),
        pad_columns(transmat),
        pad_columns(transmat.T),
        pad_columns(np.concatenate([emissionprob.T, missing])),
    )


def log_tables(tables: Tables) -> Tables:
    """The tables of Viterbi's and of the logarithmic recursions."""
    logs = [aligned_zeros(table.shape) for table in tables[1:]]
    with np.errstate(divide="ignore"):
        for table, log_table in zip(tables[1:], logs, strict=True):
            np.log(table, out=log_table)
    return Tables(tables.n_states, *logs)

"""An HMM's three arrays, laid out as the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats, Lanes
from cohmm.kernels.simd import lanes_for, pad_columns


class Tables(NamedTuple):
    """Padded tables: probabilities, or their logarithms.

    ``start`` (W,), ``trans`` (K, W), ``back`` (K, W), its transpose, and ``emit`` (N + 1, W),
    whose last row is the missing observation's.
    """

    lanes: Lanes
    start: Floats
    trans: Floats
    back: Floats
    emit: Floats

    @property
    def n_states(self) -> int:
        """K, without the padding."""
        return len(self.trans)

    @property
    def width(self) -> int:
        """W, with the padding."""
        return int(self.trans.shape[1])


def probability_tables(startprob: Floats, transmat: Floats, emissionprob: Floats) -> Tables:
    """The tables of the scaled recursions."""
    missing = np.ones((1, len(startprob)))
    return Tables(
        lanes_for(len(startprob)),
        pad_columns(startprob),
        pad_columns(transmat),
        pad_columns(transmat.T),
        pad_columns(np.concatenate([emissionprob.T, missing])),
    )


def log_tables(tables: Tables) -> Tables:
    """The tables of Viterbi's and of the logarithmic recursions."""
    with np.errstate(divide="ignore"):
        return Tables(tables.lanes, *(np.log(table) for table in tables[1:]))

"""Forward, backward and Viterbi: what they are given and what they fill, arrays under names.

`cohmm._native` reads these by their names (``arguments.hpp``).  Tables have one row per symbol and
one column per state, the columns padded with impossible states; the last row belongs to the missing
observation: ones, it says nothing of the state.  What is not wanted is None.
"""

from __future__ import annotations

from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from cohmm.kernels.types import Floats, Ints

VECTOR = 8  # doubles in the widest vector that any processor has
CACHE_LINE = 64  # bytes

FORGETS = 1e-100  # with transitions at least so probable, what underflows is made up for at once
FAINT = 1e-200  # a state with a smaller share of a row may have lost digits
RAISED = 1e-50  # to which smaller probabilities are raised for an upper bound
FLOOR = 1e-150  # to which smaller shares of a row are raised for an upper bound


class Scaling(NamedTuple):
    """How rows are kept in range, and what is said of those that may not be.

    Rows are scaled in every step, or every fourth.  A state whose share of a row falls below
    ``faint`` is reported; possible states are raised to ``floor``, where it is not 0.
    """

    every_step: bool
    faint: float
    floor: float


class Tables(NamedTuple):
    """An HMM as kernels read it: probabilities, or their logarithms.

    ``start`` (W,), ``trans`` (K, W), ``back`` (K, W), its transpose, and ``emit`` (N + 1, W).
    """

    n_states: int
    start: Floats
    trans: Floats
    back: Floats
    emit: Floats
    scaling: Scaling

    @property
    def width(self) -> int:
        """W, with the padding."""
        return int(self.trans.shape[1])


class Blocks(NamedTuple):
    """Symbols, and the blocks of them that run side by side: see `cohmm.kernels.blocks`."""

    symbols: Ints
    blocks: Ints
    groups: Ints


class Borders(NamedTuple):
    """Vectors at joints, (J, W): with which blocks begin, and what is computed on leaving them.

    Where ``warm_up`` is given, block j is the warm-up of joint j, and is lengthened until what it
    computes has settled to ``tolerance``.
    """

    before: Floats
    after: Floats
    warm_up: Ints | None = None
    tolerance: float = 1e-12


class Filtered(NamedTuple):
    """What a forward pass fills: log_prob, lost (B,), rows (T, K), last (S, K), surprise (T,)."""

    log_prob: Floats | None = None
    lost: Ints | None = None
    rows: Floats | None = None
    last: Floats | None = None
    surprise: Floats | None = None


class Smoothed(NamedTuple):
    """What forward-backward fills: expected counts before they are weighed, or posteriors."""

    starts: Floats | None = None
    transitions: Floats | None = None
    emissions: Floats | None = None
    posterior: Floats | None = None
    best: Ints | None = None


class Paths(NamedTuple):
    """What Viterbi is given and fills, one value per block, and the path (T,)."""

    ends: Ints | None = None
    known: Ints | None = None
    passed: Ints | None = None
    lost: Ints | None = None
    states: Ints | None = None


def padded(n_states: int) -> int:
    """The number of columns that a table for ``n_states`` states has.

    >>> padded(20), padded(64), padded(100)
    (24, 64, 104)
    """
    return -(-n_states // VECTOR) * VECTOR


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike = np.float64) -> np.ndarray:
    """Zeros that begin at a cache line, so that no vector lies across two of them."""
    size = prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + CACHE_LINE, np.uint8)
    first = -raw.__array_interface__["data"][0] % CACHE_LINE  # ctypes takes its time
    return raw[first : first + size].view(dtype).reshape(shape)


def pad_columns(array: np.ndarray, fill: float = 0.0) -> np.ndarray:
    """``array`` with its last axis, the states, filled up to `padded`."""
    n_states = array.shape[-1]
    out = aligned_zeros((*array.shape[:-1], padded(n_states)))
    out[..., n_states:] = fill
    out[..., :n_states] = array
    return out


def probability_tables(startprob: Floats, transmat: Floats, emissionprob: Floats) -> Tables:
    """The tables of the scaled recursions."""
    missing = np.ones((1, len(startprob)))
    return Tables(
        len(startprob),
        pad_columns(startprob),
        pad_columns(transmat),
        pad_columns(transmat.T),
        pad_columns(np.concatenate([emissionprob.T, missing])),
        _scaling(startprob, transmat, emissionprob),
    )


def log_tables(tables: Tables) -> Tables:
    """The tables of Viterbi's and of the logarithmic recursions."""
    with np.errstate(divide="ignore"):
        return tables._replace(
            start=np.log(tables.start, out=aligned_zeros(tables.start.shape)),
            trans=np.log(tables.trans, out=aligned_zeros(tables.trans.shape)),
            back=np.log(tables.back, out=aligned_zeros(tables.back.shape)),
            emit=np.log(tables.emit, out=aligned_zeros(tables.emit.shape)),
        )


def _scaling(startprob: Floats, transmat: Floats, emissionprob: Floats) -> Scaling:
    """What has to be watched in chains with these probabilities.

    Where every state can be reached from every other, the weight of what follows differs between
    states by 1 / `FORGETS` at most, and nothing that underflows can matter.  Elsewhere a state may
    fade, and come back when the evidence turns.  By ``smallest`` its share can fall in one step:
    it must not get from above `FAINT` to zero between two looks.
    """
    if transmat.min() > FORGETS:
        return Scaling(False, 0.0, 0.0)
    start, trans, emit = (
        float(np.min(array, where=array > 0, initial=1.0))
        for array in (startprob, transmat, emissionprob)
    )
    smallest = min(start, trans) * emit
    return Scaling(smallest < 1e-25, np.inf if smallest < 1e-100 else FAINT, 0.0)


def upper_bound(tables: Tables) -> tuple[Tables, Floats]:
    """Tables under which no path is less probable, and in which nothing underflows.

    With `FLOOR` for shares of rows they give a likelihood that is an upper bound; the plain
    recursion, which drops what underflows, gives a lower one.  Also returns the logarithm of what
    each row of ``emit`` was divided by, (N + 1,).
    """
    highest = tables.emit.max(axis=1)
    divisor = np.where((highest > 0) & (highest < RAISED), highest, 1.0)
    start, trans, back, emit = (
        np.where(array > 0, np.maximum(array, RAISED), 0.0)
        for array in (tables.start, tables.trans, tables.back, tables.emit / divisor[:, None])
    )
    return Tables(tables.n_states, start, trans, back, emit, Scaling(True, 0.0, FLOOR)), np.log(
        divisor
    )

"""How surprising each symbol is, given those before it: -log P(y_t | y_1, ..., y_t-1)."""

from __future__ import annotations

import numpy as np

from cohmm.kernels.chain import probability_tables
from cohmm.kernels.compiled import Floats, Ints
from cohmm.model import inference

CHUNK = 2**20  # symbols that are filtered at once: what is kept in memory is (CHUNK, K)


def surprise(
    startprob: Floats, transmat: Floats, emissionprob: Floats, symbols: Ints, offsets: Ints
) -> Floats:
    """Nats, (T,): 0 where a symbol is missing, infinite where it is impossible.

    An impossible symbol is passed over, as if it were missing, so that one does not hide the next.
    """
    result = np.empty(len(symbols))
    emitted = np.concatenate([emissionprob.T, np.ones((1, len(startprob)))])
    s = 0
    while s < len(offsets) - 1:
        end = int(np.searchsorted(offsets, offsets[s] + CHUNK, side="right")) - 1
        if end > s:  # several sequences at once
            a, b = offsets[s], offsets[end]
            local = offsets[s : end + 1] - a
            result[a:b] = _piece(startprob, transmat, emitted, symbols[a:b], local)[0]
        else:
            end = s + 1
            _long(startprob, transmat, emitted, symbols, offsets[s : end + 1], result)
        s = end
    return result


def _long(
    startprob: Floats,
    transmat: Floats,
    emitted: Floats,
    symbols: Ints,
    ends: Ints,
    result: Floats,
) -> None:
    """One sequence that is longer than a chunk: each chunk begins with what the last predicts."""
    begin = startprob
    for first in range(int(ends[0]), int(ends[1]), CHUNK):
        last = min(first + CHUNK, int(ends[1]))
        local = np.array([0, last - first])
        result[first:last], state = _piece(begin, transmat, emitted, symbols[first:last], local)
        begin = state @ transmat


def _piece(
    begin: Floats, transmat: Floats, emitted: Floats, symbols: Ints, offsets: Ints
) -> tuple[Floats, Floats]:
    """Surprise of every symbol, and the last filtered distribution."""
    symbols = symbols.copy()
    impossible = np.zeros(len(symbols), bool)
    tables = probability_tables(begin, transmat, emitted[:-1].T)
    while True:
        forward = inference.forward(tables, symbols, offsets, keep=True)
        lost = forward.lost[forward.lost >= 0]
        if not len(lost):
            break
        impossible[lost] = True
        symbols[lost] = -1
    filtered = forward.filtered
    assert filtered is not None
    ahead = np.empty_like(filtered)
    ahead[1:] = filtered[:-1] @ transmat
    ahead[offsets[:-1]] = begin
    expected = np.einsum("tk,tk->t", ahead, emitted[symbols])
    with np.errstate(divide="ignore"):
        nats = np.maximum(-np.log(expected), 0.0)
    nats[impossible] = np.inf
    return nats, filtered[-1]

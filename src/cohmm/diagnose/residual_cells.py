"""Pairs and triples of symbols that a model does not expect as often, or as seldom, as they are."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.evidence.windows import MOST_SYMBOLS, triple_counts
from cohmm.kernels.types import Floats
from cohmm.model.hmm import HMM

LEAST_EXPECTED = 5.0
MOST_CELLS = 2_000_000
LEAST_DEVIATIONS = 3.0


class Cell(NamedTuple):
    """Symbols in a row, and how often they were counted and expected."""

    symbols: tuple[Any, ...]
    counted: float
    expected: float

    @property
    def deviations(self) -> float:
        """How far apart the two are, in roots of what was expected."""
        return float((self.counted - self.expected) / self.expected**0.5)

    def __str__(self) -> str:
        row = " ".join(map(str, self.symbols))
        return f"{row!r} {self.counted:,.0f} times, not {self.expected:,.0f}"


def surprising_cells(model: HMM, data: Sequences, occupied: Floats, n: int) -> tuple[Cell, ...]:
    """The ``n`` triples that differ most from the model, the most surprising first.

    ``occupied`` (K,) is the distribution of states where triples begin.  Triples that were never
    seen are looked at where there are few symbols.
    """
    if model.n_symbols > MOST_SYMBOLS:
        return ()
    triples = triple_counts(data)
    total = float(triples.n_triples)
    rows, counts = np.asarray(triples.triples), np.asarray(triples.counts, np.float64)
    if model.n_symbols**3 <= MOST_CELLS:
        table = np.zeros((model.n_symbols,) * 3)
        table[tuple(rows.T)] = counts
        rows, counts = np.argwhere(np.ones(table.shape, bool)), table.ravel()
    elif len(rows) > MOST_CELLS:
        top = np.argpartition(-counts, MOST_CELLS)[:MOST_CELLS]
        rows, counts = rows[top], counts[top]
    m = model.emissionprob
    before, after = (m.T * occupied) @ model.transmat, model.transmat @ m
    expected = np.empty(len(rows))
    for first in range(0, len(rows), 2**16):
        part = slice(first, first + 2**16)
        a, b, c = rows[part].T
        expected[part] = total * (before[a] * m.T[b] * after.T[c]).sum(axis=1)
    kept = np.flatnonzero(expected >= LEAST_EXPECTED)
    deviations = (counts[kept] - expected[kept]) / np.sqrt(expected[kept])
    order = kept[np.argsort(-np.abs(deviations), kind="stable")]
    labels = model.vocabulary or range(model.n_symbols)
    cells = (
        Cell(tuple(labels[code] for code in rows[i]), float(counts[i]), float(expected[i]))
        for i in order[:n]
    )
    return tuple(cell for cell in cells if abs(cell.deviations) >= LEAST_DEVIATIONS)

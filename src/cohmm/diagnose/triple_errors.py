"""Standard errors of a model that maximises the likelihood of triples, each a chain of its own.

    Cov = H^-1 V H^-1 / T

with H the mean of s s' over the scores s of triples, and V that of S S' over their sums S in long
windows, per triple: triples overlap, and tell less than as many that do not.  The law of the first
state of a triple is estimated beside A and M.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cohmm.diagnose.blocks import NOTHING, Blocks
from cohmm.diagnose.information import AT_ONCE, SMALLEST, entries, gradients, start_information
from cohmm.diagnose.standard_errors import (
    FEWEST_SEQUENCES,
    LEAST_COUNT,
    Held,
    StandardErrors,
    check_size,
    row_numbers,
    start_errors,
)
from cohmm.diagnose.uncertain import Uncertain, from_information
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM

WIDTH = 3
WINDOWS = 1000  # whose sums are looked at: standard errors are then right to about 2 %
PER_PARAMETER = 12  # triples


@blas_threads(1)
def triple_errors(
    model: HMM,
    blocks: Blocks,
    n_triples: float,
    starts: Blocks | None = None,
    held: Held | None = None,
) -> StandardErrors:
    """Of a model learned from ``n_triples``; ``blocks`` of the data say how triples overlap."""
    check_size(model)
    held = held or Held.nothing(model)
    symbols = blocks.symbols
    whole = (symbols != NOTHING).all(axis=1)
    if whole.sum() >= WINDOWS / 2:
        symbols = symbols[whole]
    rest = _uncertain(model, symbols.astype(np.int64), n_triples, held)
    first = None
    n_sequences = 0.0 if starts is None else float(starts.weights.sum())
    notes = ["from triples: blocks of the data say how far those that overlap vary together"]
    if starts is not None and n_sequences >= FEWEST_SEQUENCES:
        first = start_errors(model, start_information(model, starts), n_sequences, held.startprob)
    else:
        notes.append("one sequence: how sequences begin is not determined")
    return StandardErrors.of(model, first, rest, f"{n_triples:,.0f} triples", tuple(notes))


def _uncertain(model: HMM, windows: Ints, n_triples: float, held: Held) -> Uncertain:
    k = model.n_components
    # The first state of a triple is one more row, at the end.
    p = np.concatenate([entries(model), prevalence_of(model)])
    rows = np.concatenate([row_numbers(model), np.full(k, 2 * k)])
    scale = np.sqrt(np.maximum(p, SMALLEST))
    h, v = _moments(model, windows, scale, p, rows)
    fixed = np.concatenate([held.transmat.ravel(), held.emissionprob.ravel(), np.zeros(k, bool)])
    visits = np.concatenate([np.repeat(prevalence_of(model), k), *_by_state(model), np.ones(k)])
    found = from_information(
        p,
        rows,
        information=n_triples * h,
        scale=scale,
        slope=np.zeros(len(p)),
        pinned=n_triples * visits * p < LEAST_COUNT,
        held=fixed,
    )
    inverse = found.covariance / scale[found.free]
    covariance = n_triples * inverse @ v[np.ix_(found.free, found.free)] @ inverse.T
    inner = found.free < len(p) - k
    zeros = found.pinned < len(p) - k
    return replace(
        found,
        estimate=p[:-k],
        rows=rows[:-k],
        free=found.free[inner],
        covariance=covariance[np.ix_(inner, inner)],
        bias=found.bias[inner],
        pinned=found.pinned[zeros],
        slope=found.slope[zeros],
        curvature=found.curvature[zeros],
        directions=found.directions[:, :-k],
        unknown=found.unknown[:-k],
    )


def _by_state(model: HMM) -> list[Floats]:
    return [np.repeat(prevalence_of(model), model.n_symbols)]


def _moments(
    model: HMM, windows: Ints, scale: Floats, p: Floats, rows: Ints
) -> tuple[Floats, Floats]:
    """H and V, (P, P), per triple."""
    k, size = model.n_components, len(p)
    settled = HMM(prevalence_of(model), model.transmat, model.emissionprob)
    inside = windows.shape[1] - WIDTH + 1
    wanted = max(WINDOWS, -(-PER_PARAMETER * size // inside))
    windows = windows[np.linspace(0, len(windows) - 1, min(wanted, len(windows))).astype(int)]
    h, v = np.zeros((size, size)), np.zeros((size, size))
    member = np.zeros((size, int(rows.max()) + 1))
    member[np.arange(size), rows] = 1.0
    n = 0
    at_once = max(AT_ONCE // (size * inside), 1)
    for first in range(0, len(windows), at_once):
        part = windows[first : first + at_once]
        triples = np.lib.stride_tricks.sliding_window_view(part, WIDTH, axis=1)
        triples = triples.reshape(-1, WIDTH)
        there = (triples != NOTHING).all(axis=1)
        found = gradients(settled, triples, None, np.ones(len(triples), bool), 0)
        score = np.concatenate([found[:, k:], found[:, :k]], axis=1)
        score -= ((score * p) @ member) @ member.T
        score *= scale
        score[~there] = 0.0
        n += int(there.sum())
        h += score.T @ score
        sums = score.reshape(len(part), inside, size).sum(axis=1)
        v += sums.T @ sums
    return h / max(n, 1), v / max(n, 1)

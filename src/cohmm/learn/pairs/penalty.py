"""lambda by held-out pairs: the largest that predicts as well as the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from cohmm.kernels.types import Floats
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.start import starts
from cohmm.learn.pairs.volume import Volume
from cohmm.model.sampling import generator

HELD_OUT = 0.2
GRID = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # times 1 / sqrt(number of pairs)
SMOOTHED = 1e-6
CHUNK = 2**18


def held_out_penalty(
    evidence: PairEvidence,
    k: int,
    volume: Volume,
    random_state: int | None,
    fit: Callable[[PairEvidence, Volume, float, Point], Point],
) -> float:
    """The largest lambda of a grid within one standard error of the best.

    Each pair counted is held out with probability `HELD_OUT`.  Held-out likelihood is almost
    flat in lambda, so that the best itself would be chance.
    """
    rng = generator(random_state)
    kept, held = _thinned(evidence, rng)
    training = evidence.with_laws(kept, float(kept[min(kept)].sum()))
    [begin] = starts(training, k, 1, random_state, None)
    scale = 1 / np.sqrt(evidence.n_pairs)
    points = [fit(training, volume, step * scale, begin) for step in GRID]
    test = held[min(held)]
    counts, rows, columns = _entries(test)
    logs = [_log_probabilities(point, rows, columns, training.frequency) for point in points]
    total = counts.sum()
    if total == 0:
        return GRID[0]
    means = [float(counts @ log) / total for log in logs]
    best = int(np.argmax(means))
    for step, log in reversed(list(zip(GRID, logs, strict=True))):
        loss = logs[best] - log
        mean = float(counts @ loss) / total
        error = np.sqrt(float(counts @ (loss - mean) ** 2) / total / total)
        if mean <= error:
            return float(step * scale)
    return float(GRID[best] * scale)


def _thinned(
    evidence: PairEvidence, rng: np.random.Generator
) -> tuple[dict[int, Any], dict[int, Any]]:
    kept, held = {}, {}
    for lag in evidence.laws:
        matrix = evidence.counts[lag] if lag in evidence.counts.lags else None
        if matrix is None or not np.issubdtype(matrix.dtype, np.integer):
            raise ValueError(
                "penalty='auto' holds out pairs, and so needs counts of pairs, unweighted and "
                "not summed over lags; give a number instead"
            )
        matrix = matrix[evidence.seen][:, evidence.seen]
        if sparse.issparse(matrix):
            away = matrix.copy()
            away.data = rng.binomial(matrix.data, HELD_OUT)
        else:
            away = rng.binomial(matrix, HELD_OUT)
        kept[lag], held[lag] = matrix - away, away
    return kept, held


def _entries(matrix: Any) -> tuple[Floats, np.ndarray, np.ndarray]:
    entries = sparse.coo_array(matrix)
    return entries.data.astype(np.float64), entries.row, entries.col


def _log_probabilities(
    point: Point, rows: np.ndarray, columns: np.ndarray, frequency: Floats
) -> Floats:
    """log P of pairs, smoothed by chance so that a pair never seen has a finite one."""
    left = point.m @ point.theta
    out = np.empty(len(rows))
    for first in range(0, len(rows), CHUNK):
        part = slice(first, first + CHUNK)
        expected = np.einsum("ij,ij->i", left[rows[part]], point.m[columns[part]])
        chance = frequency[rows[part]] * frequency[columns[part]]
        out[part] = np.log((1 - SMOOTHED) * expected + SMOOTHED * chance + 1e-300)
    return out

"""Are the pairs of saved counts explained by so many states?  For when no sequence is at hand.

Outside of the span of M, on both sides, pairs are noise whose entries vary by the root of the law
(pairs that overlap are not correlated there, as a function of symbols outside has mean zero in
every state).  The largest singular value is compared with that of simulated noise.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.types import Floats
from cohmm.learn.learner import prevalence_of
from cohmm.model.hmm import HMM
from cohmm.model.stationary import transition_power

SIMULATIONS = 199
MOST_SYMBOLS = 200
LEAST_COUNT = 20
IN_SPAN = 1e-7


def pairs_outside(model: HMM, counts: Cooccurrence) -> dict[int, float]:
    """By lag, how often noise alone would stand out as much from what K states can explain.

    >>> from cohmm import count_pairs
    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(12, 3, stay=.5, random_state=0)
    >>> counts = count_pairs(truth.sample(20_000, random_state=1)[0])
    >>> pairs_outside(truth, counts)[1] > .05
    True
    >>> one = HMM([1.], [[1.]], counts.symbol_counts[None] / counts.symbol_counts.sum())
    >>> pairs_outside(one, counts)[1] < .05
    True
    """
    counted = counts.symbol_counts
    order = np.argsort(-counted, kind="stable")[: MOST_SYMBOLS - 1]
    kept = np.sort(order[counted[order] >= LEAST_COUNT])
    lumps = np.full(model.n_symbols, len(kept))
    lumps[kept] = np.arange(len(kept))
    together = sparse.csr_array(
        (np.ones(model.n_symbols), (lumps, np.arange(model.n_symbols))),
        shape=(len(kept) + 1, model.n_symbols),
    )
    m = together @ model.emissionprob.T
    used = np.flatnonzero(m.sum(axis=1) > 0)
    m = m[used]
    prevalence = prevalence_of(model)
    scale = np.sqrt(m @ prevalence)
    left, values, _ = np.linalg.svd(m / scale[:, None])
    outside = (left[:, int((values > IN_SPAN).sum()) :] / scale[:, None]).T
    if not len(outside):
        return {}
    p_values = {}
    for lag in counts.lags:
        if counts.n_pairs(lag) > 0:
            table = (together @ sparse.csr_array(counts[lag]) @ together.T).toarray()
            table = table[np.ix_(used, used)]
            theta = prevalence[:, None] * transition_power(model.transmat, lag)
            p_values[lag] = _p_value(table, table.sum() * (m @ theta @ m.T), outside)
    return p_values


def _p_value(table: Floats, expected: Floats, outside: Floats) -> float:
    rng = np.random.default_rng(0)  # the same counts have the same p-value
    deviation = np.sqrt(expected)

    def largest(residual: Floats) -> float:
        return float(np.linalg.norm(outside @ residual @ outside.T, 2))

    noise = [largest(deviation * rng.normal(size=table.shape)) for _ in range(SIMULATIONS)]
    return float((1 + np.sum(np.array(noise) >= largest(table))) / (1 + SIMULATIONS))

"""Which states the pairs tell apart, which emissions may be zero, whether there are more states.

An estimate from T pairs gives a zero of the truth about a standard error, or, smoothed, a tenth of
an observation.  The standard error, were all other parameters known, is 1 / sqrt(T H) with the
information of one pair

    H_nk = sum_ab (d p_ab / d M_nk)^2 / p_ab,    p = M Theta M'.

Others are not known, so that the noise is larger: `FACTOR` of those were the best of 1 to 8 on
models learned from 1e4 to 1e6 symbols, by pairs and refined (``benchmarks/identifiability.py``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import transition_power

CLOSE = 0.1  # total variation
MOSTLY = 0.5  # of what tells a state from the average
FACTOR = 4.0  # standard errors
BATCH = 512  # symbols
MAX_SYMBOLS = 5000  # beyond, as if states were known
FLOOR = 1e-300
SIMULATIONS = 199
MAX_TESTED = 200  # symbols in the test of residual pairs
MIN_COUNT = 20  # of a symbol, else it is taken together with others
IN_SPAN = 1e-7


class Close(NamedTuple):
    """Two states, and the total variation of what they emit."""

    first: int
    second: int
    distance: float


class Conditioning(NamedTuple):
    """Smallest singular values: near 0, small errors of the pairs are large ones of the model."""

    emissions: float
    """Of M, its columns divided by their lengths: 1 where states share no symbol."""
    joint: float
    """Of Theta = P(state, next state), times K: 1 where all states are equally frequent and the
    next is known."""


def close_states(model: HMM, n_pairs: float | None = None) -> tuple[Close, ...]:
    """Pairs of states nearer than .1 in total variation, or than twice its standard error.

    >>> twins = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.5, .5, 0], [.48, .5, .02]])
    >>> close_states(twins)
    (Close(first=0, second=1, distance=0.02),)
    """
    from scipy.spatial.distance import pdist, squareform  # takes its time to import

    m = model.emissionprob
    if len(m) < 2:
        return ()
    distance = squareform(pdist(m, "cityblock")) / 2
    limit = np.full(distance.shape, CLOSE)
    if n_pairs is not None and n_pairs > 0:
        error = np.minimum(zero_thresholds(model, n_pairs) / FACTOR, np.sqrt(m * (1 - m)) + 1e-12)
        each = error.sum(axis=1) / 2
        limit = np.minimum(np.maximum(limit, np.hypot.outer(each, each)), MOSTLY)
    first, second = np.nonzero(np.triu(distance < limit, 1))
    order = np.argsort(distance[first, second], kind="stable")
    return tuple(
        Close(int(i), int(j), round(float(distance[i, j]), 6))
        for i, j in zip(first[order], second[order], strict=True)
    )


def undetected_states(model: HMM, shown: Spectrum) -> tuple[int, ...]:
    """States most of which lies in directions that the noise of the pairs covers.

    Directions are the singular vectors of the model's own whitened pairs at lag 1; those whose
    value is below the noise floor are covered.
    """
    m, prevalence = model.emissionprob.T, prevalence_of(model)
    scale = np.sqrt(m @ prevalence)
    used = scale > 0
    rest = m[used] / scale[used, None]
    basis, values, _ = np.linalg.svd(rest, full_matrices=False)
    basis = basis[:, values > 1e-12]
    within = basis.T @ rest  # (d, K)
    law = within @ (prevalence[:, None] * model.transmat) @ within.T
    known = basis.T @ scale[used]
    law = law - np.outer(known, known)
    vectors, sizes, _ = np.linalg.svd(np.hstack([law, law.T]), full_matrices=False)
    covered = vectors[:, sizes / np.sqrt(2) <= shown.floor]
    apart = within - known[:, None]
    energy = (apart**2).sum(axis=0)
    share = ((covered.T @ apart) ** 2).sum(axis=0) / np.where(energy > 0, energy, 1.0)
    # The direction of the average itself is covered by definition, and has no part in `apart`.
    return tuple(int(k) for k in np.flatnonzero((share > MOSTLY) & (energy > 0)))


def conditioning(model: HMM) -> Conditioning:
    """How far small errors of the pairs are magnified.

    >>> conditioning(HMM([.5, .5], [[.9, .1], [.1, .9]], [[1, 0], [0, 1]]))
    Conditioning(emissions=1.0, joint=0.8)
    """
    m = model.emissionprob
    joint = prevalence_of(model)[:, None] * model.transmat

    def smallest(matrix: Floats) -> float:
        if matrix.shape[1] < matrix.shape[0]:  # more states than symbols: some combine to nothing
            return 0.0
        return round(float(np.linalg.svd(matrix, compute_uv=False)[-1]), 12)

    rows = m / np.linalg.norm(m, axis=1, keepdims=True)
    return Conditioning(smallest(rows), smallest(joint * len(joint)))


def zero_thresholds(model: HMM, n_pairs: float) -> Floats:
    """Thresholds (K, N) below which an emission learned from ``n_pairs`` may be zero.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(16, 4, random_state=0)
    >>> zeros = truth.emissionprob < zero_thresholds(truth, 10**6)
    >>> bool((zeros >= (truth.emissionprob == 0)).all()), bool(zeros.mean() < .3)
    (True, True)
    """
    if not n_pairs > 0:
        raise ValueError(f"n_pairs must be above 0, not {n_pairs!r}")
    return np.asarray(FACTOR / np.sqrt(n_pairs * np.maximum(_information(model), FLOOR)))


def _information(model: HMM) -> Floats:
    """H, (K, N), of one pair at lag 1."""
    prevalence = prevalence_of(model)
    m = model.emissionprob
    if model.n_symbols > MAX_SYMBOLS:  # an emission p of a known state has the variance p / (T pi)
        frequency = np.maximum(prevalence @ m, FLOOR)
        return np.asarray(prevalence[:, None] / frequency)
    theta = prevalence[:, None] * model.transmat
    after, before = theta @ m, theta.T @ m  # (K, N): d p / d M, first place and second place
    information = np.zeros_like(m)
    for first in range(0, model.n_symbols, BATCH):
        rows = slice(first, first + BATCH)
        follows = np.maximum(m[:, rows].T @ after, FLOOR)
        precedes = np.maximum(m[:, rows].T @ before, FLOOR)
        information[:, rows] = after**2 @ (1 / follows).T + before**2 @ (1 / precedes).T
    return information


def pair_residual_test(model: HMM, counts: Cooccurrence) -> dict[int, float]:
    """Whether K states explain the pairs of saved counts: p-values by lag, without any sequence.

    Outside of the span of M, on both sides, pairs are noise whose entries vary by the root of the
    law (pairs that overlap are not correlated there, as a function of symbols outside has mean zero
    in every state).  The largest singular value is compared with that of simulated noise.

    >>> from cohmm import count_pairs
    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(12, 3, stay=.5, random_state=0)
    >>> counts = count_pairs(truth.sample(20_000, random_state=1)[0])
    >>> pair_residual_test(truth, counts)[1] > .05
    True
    >>> one = HMM([1.], [[1.]], counts.symbol_counts[None] / counts.symbol_counts.sum())
    >>> pair_residual_test(one, counts)[1] < .05
    True
    """
    prevalence = prevalence_of(model)
    place, lumped = lump(model, counts.symbol_counts, MAX_TESTED)
    outside = Whitened.of(lumped, prevalence).outside
    if not len(outside):
        return {}
    n, m = model.n_symbols, lumped.emissionprob
    together = sparse.csr_array((np.ones(n), (place, np.arange(n))), (lumped.n_symbols, n))
    p_values = {}
    for lag in counts.lags:
        if counts.n_pairs(lag) > 0:
            table = (together @ sparse.csr_array(counts[lag]) @ together.T).toarray()
            theta = prevalence[:, None] * transition_power(model.transmat, lag)
            p_values[lag] = _p_value(table, table.sum() * (m.T @ theta @ m), outside)
    return p_values


def _p_value(table: Floats, expected: Floats, outside: Floats) -> float:
    rng = np.random.default_rng(0)  # the same counts have the same p-value
    deviation = np.sqrt(expected)

    def largest(residual: Floats) -> float:
        return float(np.linalg.norm(outside @ residual @ outside.T, 2))

    noise = [largest(deviation * rng.normal(size=table.shape)) for _ in range(SIMULATIONS)]
    return float((1 + np.sum(np.array(noise) >= largest(table))) / (1 + SIMULATIONS))


class Whitened(NamedTuple):
    """The model as the test sees it: its symbols whitened, the span of its emissions."""

    inside: Floats
    """Functions of symbols (d, N), of variance 1 under the model, that span the emissions."""
    outside: Floats
    """And (N - d, N) those of mean zero in every state."""
    seen: Floats
    """L = inside M, (d, K): their means in the states."""
    transmat: Floats
    occupied: Floats
    """P(state) where triples begin, (K,)."""

    @classmethod
    def of(cls, model: HMM, occupied: Floats) -> Whitened:
        """Of a model whose states have this distribution, (K,)."""
        m = model.emissionprob.T
        scale = np.sqrt(m @ occupied)
        inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
        known = scale / np.linalg.norm(scale)
        rest = inverse[:, None] * m
        rest = rest - np.outer(known, known @ rest)
        left, values, _ = np.linalg.svd(rest, full_matrices=True)
        d = int((values > IN_SPAN).sum())
        left[:, :d] -= np.outer(known, known @ left[:, :d])
        basis = np.column_stack([known, left[:, :d]])
        others = np.linalg.qr(np.column_stack([basis, left]))[0][:, d + 1 :]
        inside = basis.T * inverse
        return cls(inside, others.T * inverse, inside @ m, model.transmat, occupied)


def lump(model: HMM, counts: Ints, most: int) -> tuple[Ints, HMM]:
    """Rare symbols as one: what each of the N becomes, of so many at most, and their model."""
    kept = np.argsort(-counts, kind="stable")[: most - 1]
    kept = np.sort(kept[counts[kept] >= MIN_COUNT])
    rest = np.setdiff1d(np.arange(model.n_symbols), kept)
    size, other = len(kept) + 1, len(kept)
    if counts[rest].sum() < MIN_COUNT and len(kept):  # too few to stand for themselves
        size, other = len(kept), int(counts[kept].argmin())
    place = np.full(model.n_symbols, other)
    place[kept] = np.arange(len(kept))
    emission = np.zeros((model.n_components, size))
    np.add.at(emission.T, place, model.emissionprob.T)
    return place, HMM(model.startprob, model.transmat, emission)

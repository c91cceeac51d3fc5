"""How many states a pair law can show, and the space that their emissions span.

W = D^-1/2 Omega D^-1/2, with D the frequencies of the symbols, has one singular value of 1, with
the vector D^1/2 1 on either side, those of the chain, and noise.  W and W' side by side, that
vector taken out, show the same states twice.  Were the symbols independent, the largest singular
value of the noise of T pairs would be near (1 + sqrt 2) sqrt(N / T), the edge of the law of
Marchenko and Pastur; where some symbols are rare it may be larger, which simulated noise tells.  A
state whose singular value does not stand above that floor cannot be told from chance.  Where r
states do, the next must stand above the noise in the N - r directions that are left, which
is less: (sqrt(N - r) + sqrt(2 N)) / sqrt T.  (All are given over sqrt 2, so that they are those
of W where it is symmetric.)

Two rare symbols that are seen together once, out of c times each, are an entry 1 / c of W: as large
as the noise of all the others where c < sqrt(T / N).  Symbols as rare as that are taken together as
one, which leaves the law that of a chain of as many states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import LinearOperator, eigsh

from cohmm.kernels.types import Floats, Ints
from cohmm.learn.pairs.pair_law import PairLaw, pair_law

SIMULATIONS, QUANTILE = 20, 0.95
BEYOND_EDGE = 1.025  # the noise ends there in all but some of 100 sets, where it is not simulated
MAX_SIMULATED = 300  # symbols: the noise of more hardly varies, and costs
LARGEST_DENSE = 1500
MAX_SYMBOLS = 5000  # rare symbols have noisy rows: the space is found on the frequent ones
MIN_COUNT = 50
MIN_POOLED = 5.0  # pairs of a symbol, at least, that stands for itself


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of a whitened pair law, the largest first, and their noise floor.

    ``n_detectable`` of the values stand above the floor: so many states the data can show.
    """

    values: Floats
    floor: float

    @property
    def n_detectable(self) -> int:
        """How many states stand out from the noise."""
        return max(1, int((self.values > self.floor).sum()))


def frequent_symbols(law: PairLaw, n_pairs: float) -> Ints:
    """Symbols frequent enough for their rows to be trusted, in ascending order."""
    order = np.argsort(-law.frequency, kind="stable")[:MAX_SYMBOLS]
    trusted = law.frequency[order] * n_pairs >= MIN_COUNT
    if trusted.sum() < min(len(order), MIN_COUNT):
        trusted = law.frequency[order] > 0
    return np.sort(order[trusted])


def pool(counts: Any, least: float, most: int) -> Ints:
    """Which of fewer symbols each of N becomes, (N,): the rare ones are taken together as one.

    Those counted less than ``least`` times, and those beyond ``most``.  If they are rare together
    too, they join the rarest of the others.

    >>> pool([9, 1, 8, 2, 7], least=3, most=5).tolist()
    [0, 3, 1, 3, 2]
    """
    counts = np.asarray(counts)
    kept = np.argsort(-counts, kind="stable")[: most - 1]
    kept = np.sort(kept[counts[kept] >= least])
    rest = counts.sum() - counts[kept].sum()
    other = len(kept) if rest >= least or not len(kept) else int(counts[kept].argmin())
    place = np.full(len(counts), other)
    place[kept] = np.arange(len(kept))
    return place


def _pooled(law: PairLaw, n_pairs: float) -> PairLaw:
    """The same law of frequent symbols and one for all that are rare."""
    n = int(np.count_nonzero(law.frequency))
    least = max(MIN_POOLED, float(np.sqrt(n_pairs / max(n, 1))))
    place = pool(law.frequency * n_pairs, least, MAX_SYMBOLS)
    size = int(place.max()) + 1
    if size == len(place):
        return law
    ones = np.ones(len(place))
    together = sparse.csr_array((ones, (place, np.arange(len(place)))), (size, len(place)))
    omega = together @ sparse.csr_array(law.omega) @ together.T
    return pair_law(omega if sparse.issparse(law.omega) else omega.toarray())


def spectrum(law: PairLaw, n_pairs: float, most: int) -> Spectrum:
    """The singular values of a whitened pair law, at most ``most`` of a large one."""
    law = _pooled(law, n_pairs)
    symbols = np.arange(len(law.frequency))
    whitened, scale = _whitened(law, symbols)
    n, known = len(symbols), scale / np.linalg.norm(scale)
    noise: _Noise = _Edge(n, n_pairs)
    if n <= MAX_SIMULATED:
        apart = _apart(_dense(whitened), known)
        vectors, values, _ = np.linalg.svd(np.hstack([apart, apart.T]), full_matrices=False)
        values, noise = values[: n - 1], _Simulated(_dense(whitened), scale, n_pairs, vectors)
    elif n <= LARGEST_DENSE:
        apart = _apart(_dense(whitened), known)
        squares = np.linalg.eigvalsh(apart @ apart.T + apart.T @ apart)
        values = np.sqrt(np.maximum(squares[:0:-1], 0.0))
    elif (wanted := min(most, n) - 1) > 0:
        values, _ = _largest_pairs([whitened], wanted, known, on_both_sides=True)
    else:
        values = np.empty(0)
    values = values / np.sqrt(2)
    floor = noise.floor(1)
    while (r := 1 + int((values > floor).sum())) < n and (lower := noise.floor(r)) < floor:
        floor = lower
    first = known @ (whitened @ known)
    return Spectrum(np.concatenate([[first], values]), float(floor))


class _Edge:
    """Where the noise of T pairs of N symbols ends, if all symbols are equally frequent."""

    def __init__(self, n: int, n_pairs: float):
        self.n, self.n_pairs = n, n_pairs

    def floor(self, r: int) -> float:
        """Above which the noise beside r states is seldom found."""
        edge = (np.sqrt(self.n - r + 1) + np.sqrt(2 * self.n)) / np.sqrt(2 * self.n_pairs)
        return float(BEYOND_EDGE * edge)


class _Simulated:
    """Noise as the law itself would have it, drawn some times.

    A count of pairs varies by its root: an entry of W by the root of W / (T D^1/2 D^1/2').
    """

    def __init__(self, whitened: Floats, scale: Floats, n_pairs: float, vectors: Floats):
        rng = np.random.default_rng(0)  # the same law has the same floor
        outer = np.outer(scale, scale)
        ratio = np.divide(whitened, outer, out=np.zeros_like(outer), where=outer > 0)
        deviation, known = np.sqrt(ratio / n_pairs), scale / np.linalg.norm(scale)
        self.edge = _Edge(len(scale), n_pairs)
        self.grams = []
        for _ in range(SIMULATIONS):
            noise = vectors.T @ _apart(deviation * rng.normal(size=deviation.shape), known)
            turned = noise @ vectors
            self.grams.append(noise @ noise.T + turned.T @ turned)

    def floor(self, r: int) -> float:
        """Above which the noise beside r states is seldom found, in directions that are left."""
        largest = []
        for gram in self.grams:
            rest = gram[r - 1 :, r - 1 :]
            square = eigvalsh(rest, subset_by_index=[len(rest) - 1] * 2)
            largest.append(np.sqrt(max(square[0], 0.0) / 2))
        return max(float(np.quantile(largest, QUANTILE)), self.edge.floor(r))


_Noise = _Edge | _Simulated


def _apart(matrix: Floats, known: Floats) -> Floats:
    """``matrix`` without the direction that is known, on either side."""
    matrix = matrix - np.outer(known, known @ matrix)
    return np.asarray(matrix - np.outer(matrix @ known, known))


def whitened_basis(
    laws: list[PairLaw], weights: list[float], n_pairs: float, k: int
) -> tuple[Floats, Ints]:
    """A basis (n, k) of the space that the columns of M span, on the symbols returned.

    The top left singular vectors of [W, W'], of all laws side by side, each times its weight,
    times D^1/2; only the range matters, so that Omega may be neither symmetric nor definite.
    D^1/2 1 is known to be one of them, since M pi is the frequencies; taking it as given keeps
    it apart from others of singular value one, which a periodic chain has.
    """
    symbols = frequent_symbols(laws[0], n_pairs)
    if len(symbols) < k:
        symbols = np.flatnonzero(laws[0].frequency > 0)
    parts = [_whitened(law, symbols) for law in laws]
    scale = parts[0][1]
    known = scale / np.linalg.norm(scale)
    matrices = [matrix * weight for (matrix, _), weight in zip(parts, weights, strict=True)]
    if k == 1:
        vectors = np.empty((len(symbols), 0))
    elif len(symbols) <= LARGEST_DENSE:
        both = np.hstack([side for matrix in map(_dense, matrices) for side in (matrix, matrix.T)])
        both -= np.outer(known, known @ both)
        vectors = np.linalg.svd(both, full_matrices=False)[0][:, : k - 1]
    else:
        _, vectors = _largest_pairs(matrices, k - 1, known)
    return scale[:, None] * np.column_stack([known, vectors]), symbols


def _whitened(law: PairLaw, symbols: Ints) -> tuple[Any, Floats]:
    """D^-1/2 Omega D^-1/2, and D^1/2; a symbol that this lag has in no pair is zero in both."""
    scale = np.sqrt(law.frequency[symbols])
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    omega = law.submatrix(symbols)
    if sparse.issparse(omega):
        diagonal = sparse.diags_array(inverse)
        return (diagonal @ omega @ diagonal).tocsr(), scale
    return omega * np.outer(inverse, inverse), scale


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def _largest_pairs(
    matrices: list[Any], k: int, known: Floats, *, on_both_sides: bool = False
) -> tuple[Floats, Floats]:
    """Largest singular values and left vectors of the matrices and transposes side by side.

    The direction that is ``known`` is left out, on the left or on both sides.
    """
    n = matrices[0].shape[0]

    def apart(x: Floats) -> Floats:
        return x - np.multiply.outer(known, known @ x)

    def gram(x: Floats) -> Floats:
        x = apart(x)
        total = np.zeros_like(x)
        for matrix in matrices:
            for one, other in ((matrix, matrix.T), (matrix.T, matrix)):
                inner = other @ x
                total += one @ (apart(inner) if on_both_sides else inner)
        return apart(total)

    start = np.random.default_rng(0).normal(size=n)  # ARPACK would draw its own
    operator = LinearOperator((n, n), matvec=gram, matmat=gram, dtype=np.float64)
    squares, vectors = eigsh(operator, k, v0=start)
    order = np.argsort(-squares)
    return np.sqrt(np.maximum(squares[order], 0)), vectors[:, order]

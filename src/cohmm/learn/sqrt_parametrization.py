"""Square roots of an HMM's joint probabilities as coordinates, and the curvature there.

    c = sqrt(w start),   b = sqrt(pi A),   a = sqrt(pi M)

with weights w and pi (how often a state is visited) frozen.  Signs are free, and any vector is
a model: A = b^2 / its row sums, and so on.  In these coordinates the information in a chain
whose states are known is four times the identity, so what a preconditioner has to mend is
only what the states being hidden takes away; an entry that tends to zero gets there in a
straight line, not along a tail as in logarithms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

from cohmm.data.partitioned import Data
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import ALL, tables
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

WINDOW = 3  # symbols: what windows of three tell of the curvature serves sequences as well
WINDOWS = 4000  # for at most as many parameters (N=100, K=20 has 2,420); else half of them
MAX_SCORES = 2**26  # numbers in the matrix of scores, 256 MB
MAX_PRODUCTS = 2e10  # windows^2 times parameters: half a second for the Gram matrix
RIDGE = 0.1  # of the mean curvature
SMALL = 600  # parameters: up to here products of all scores in double precision cost little
COORDINATE_FLOOR = 1e-12  # a coordinate nearer to zero is divided by as if it were this far
RAREST = 1e-8  # prevalence: a state that is rarer is weighed as if it were not

Tables = tuple[Floats, Floats, Floats]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class SqrtParametrization:
    """A chart of all models with K states and N symbols.

    Parameters
    ----------
    like : HMM
        A model with the vocabulary, and the zeros, of those to come.
    prevalence : array, (K,)
        pi.
    start_weight : float
        w, starts per symbol, or per window.
    learned : str
        Letters of the tables that may move: start, transitions, emissions.
    """

    like: HMM
    prevalence: Floats
    start_weight: float
    learned: str = ALL

    @classmethod
    def around(
        cls, model: HMM, visited: Floats, start_weight: float, learned: str = ALL
    ) -> SqrtParametrization:
        """The chart for models like ``model``, which visits its states so often."""
        return cls(model, np.maximum(visited, RAREST), start_weight, learned)

    def of(self, model: HMM) -> Floats:
        """The coordinates of a model, one vector."""
        weight = self.prevalence[:, None]
        return np.sqrt(
            _joined(
                self.start_weight * model.startprob,
                weight * model.transmat,
                weight * model.emissionprob[:, self.symbols],
            )
        )

    def model(self, point: Floats) -> HMM:
        """The model with these coordinates."""
        c, b, a = (part**2 / (part**2).sum(axis=-1, keepdims=True) for part in self._parts(point))
        emission = np.zeros(self.like.emissionprob.shape)
        emission[:, self.symbols] = a
        start, transmat, emission = (
            moved if letter in self.learned else table
            for letter, moved, table in zip(ALL, (c, b, emission), tables(self.like), strict=True)
        )
        return HMM(start, transmat, emission, self.like.vocabulary)

    def gradient(self, point: Floats, model: HMM, counts: Counts) -> Floats:
        """Of the log-likelihood: 2 / a (E - M sum E), with E the expected emissions, and so on."""
        return _joined(
            *(
                2 * (count - table * count.sum(axis=-1, keepdims=True)) / _away_from_zero(part)
                if letter in self.learned
                else np.zeros_like(part)
                for letter, part, table, count in zip(
                    ALL,
                    self._parts(point),
                    self._tables(*tables(model)),
                    self._tables(*counts),
                    strict=True,
                )
            )
        )

    def bend(self, point: Floats, model: HMM, counts: Counts) -> Floats:
        """The curvature that an entry has because it tends to zero: 2 (sum E - E / M) / sum a^2."""
        return _joined(
            *(
                2
                * np.maximum(count.sum(axis=-1, keepdims=True) - _ratio(count, table), 0)
                / (part**2).sum(axis=-1, keepdims=True)
                for part, table, count in zip(
                    self._parts(point),
                    self._tables(*tables(model)),
                    self._tables(*counts),
                    strict=True,
                )
            )
        )

    def scores(self, point: Floats, model: HMM, windows: Ints) -> WindowScores:
        """The gradient of the log-likelihood of every window by itself, float32.

        A window begins in state k as often as k is visited; the starts of sequences get no score,
        and have no coordinate.  Windows that the model cannot produce are left out.
        """
        _, b, a = self._parts(point)
        codes = self._codes[windows]
        codes = codes[(codes >= 0).all(axis=1)]
        transmat, emission = model.transmat, model.emissionprob[:, self.symbols].T
        emitted = emission[codes]
        (n, length), k = codes.shape, len(transmat)
        alpha = np.empty(emitted.shape)  # scaled: the filtered states
        scale = np.empty((n, length, 1))
        ahead = np.broadcast_to(self.prevalence, (n, k))
        for t in range(length):
            joint = ahead * emitted[:, t]
            scale[:, t] = np.maximum(joint.sum(axis=1, keepdims=True), COORDINATE_FLOOR**2)
            alpha[:, t] = joint / scale[:, t]
            ahead = alpha[:, t] @ transmat
        beta = np.ones((n, k))
        gamma = np.empty((n, length, k), np.float32)
        xi = np.zeros((n, k, k), np.float32)  # expected transitions
        for t in range(length - 1, -1, -1):
            gamma[:, t] = alpha[:, t] * beta
            if t > 0:
                weighted = beta * emitted[:, t] / scale[:, t]
                before = alpha[:, t - 1].astype(np.float32)
                xi += before[:, :, None] * weighted.astype(np.float32)[:, None, :]
                beta = weighted @ transmat.T
        xi *= transmat.astype(np.float32)
        xi -= transmat.astype(np.float32) * xi.sum(axis=-1, keepdims=True)
        xi *= (2 / _away_from_zero(b) if "t" in self.learned else 0 * b).astype(np.float32)
        slope = 2 / _away_from_zero(a.T) if "e" in self.learned else 0 * a.T
        return WindowScores(
            xi.reshape(n, k * k),
            gamma,
            codes,
            np.ascontiguousarray(slope, np.float32),
            np.ascontiguousarray(slope * emission, np.float32),
        )

    def preconditioner(
        self, point: Floats, model: HMM, counts: Counts, windows: Ints, symbols: float
    ) -> Callable[[Floats], Floats]:
        """The inverse of an approximate Hessian, of the log-likelihood of so many ``symbols``.

        Gauss-Newton: the mean of s s' over the scores s of ``windows``, with the bend and a ridge
        on the diagonal.
        """
        scores = self.scores(point, model, windows)
        weight = symbols / max(windows.size, 1)
        diagonal = self.bend(point, model, counts)
        diagonal += (
            RIDGE * (weight * scores.trace() + diagonal.sum()) / len(point) + COORDINATE_FLOOR
        )
        np.maximum(
            diagonal, COORDINATE_FLOOR, out=diagonal
        )  # where all is determined, rounding is left
        starts, others = np.split(diagonal, [model.n_components])
        starts[:] = 4.0
        solve = _inverse(scores, weight, others)
        return lambda x: np.concatenate([x[: len(starts)] / starts, solve(x[len(starts) :])])

    @cached_property
    def symbols(self) -> Ints:
        """Symbols that some state can emit, (n,): those that have coordinates."""
        return np.flatnonzero((self.like.emissionprob > 0).any(axis=0))

    @cached_property
    def _codes(self) -> Ints:
        """The place of each symbol among those, (N,), or -1."""
        codes = np.full(self.like.n_symbols, -1)
        codes[self.symbols] = np.arange(len(self.symbols))
        return codes

    def _tables(self, starts: Floats, transitions: Floats, emissions: Floats) -> Tables:
        """Three tables of a model, or of counts, without symbols that have no coordinates."""
        if len(self.symbols) == self.like.n_symbols:
            return starts, transitions, emissions
        return starts, transitions, emissions[:, self.symbols]

    def _parts(self, point: Floats) -> Tables:
        k = self.like.n_components
        c, b, a = np.split(point, [k, k + k * k])
        return c, b.reshape(k, k), a.reshape(-1, k).T


@dataclass(frozen=True, eq=False)
class WindowScores:
    """Scores of n windows, each the gradient of its log-likelihood, in P = K^2 + N K coordinates.

    A score has K^2 entries for transitions and N K for emissions, by symbol, then by state.  Of the
    latter, only those of the window's own symbols are its own; what is taken from all others is K
    numbers times a constant:

        s = S - G centre,    S the posterior states by symbol times a slope, G their sums

    So sums of products of scores cost O(K^2) per window or pair of windows, not O(N K), nor its
    square.

    Parameters
    ----------
    transitions : array, (n, K^2)
        The scores of transitions.
    posterior : array, (n, width, K)
        The states at every place.
    symbols : array, (n, width)
        Codes below N.
    slope, centre : array, (N, K)
        How the score of an emission follows from the posterior at its symbol, and from its sum.

    >>> one = np.float32(1)
    >>> scores = WindowScores(np.ones((1, 1), np.float32), np.ones((1, 2, 1), np.float32),
    ...                       np.array([[0, 2]]), np.full((3, 1), 2 * one), np.full((3, 1), one))
    >>> scores.dense()
    array([[ 1.,  0., -2.,  0.]], dtype=float32)
    """

    transitions: Singles
    posterior: Singles
    symbols: Ints
    slope: Singles
    centre: Singles

    @property
    def shape(self) -> tuple[int, int]:
        """Windows and coordinates."""
        return len(self.transitions), self.transitions.shape[1] + self.slope.size

    @cached_property
    def _sums(self) -> Singles:
        """G, (n, K)."""
        return np.asarray(self.posterior.sum(axis=1))

    @cached_property
    def _weighted(self) -> Singles:
        """What S is made of, (n, width, K)."""
        return np.asarray(self.posterior * self.slope[self.symbols])

    @cached_property
    def _own(self) -> sparse.csr_array:
        """S, (n, N K)."""
        n, width, k = self.posterior.shape
        places = (self.symbols[:, :, None] * k + np.arange(k)).ravel()
        rows = np.arange(n + 1) * (width * k)
        return sparse.csr_array((self._weighted.ravel(), places, rows), shape=(n, self.slope.size))

    @cached_property
    def _met(self) -> Singles:
        """S centre', (n, K)."""
        return np.asarray((self._weighted * self.centre[self.symbols]).sum(axis=1))

    def scaled(self, factor: Singles) -> WindowScores:
        """The scores with every coordinate multiplied by its ``factor``, (P,)."""
        transitions, emissions = self._parts(factor)
        return WindowScores(
            self.transitions * transitions,
            self.posterior,
            self.symbols,
            self.slope * emissions,
            self.centre * emissions,
        )

    def dense(self) -> Singles:
        """All of them, (n, P)."""
        own = self._own.toarray().reshape(len(self.symbols), *self.slope.shape)
        emissions = own - self._sums[:, None] * self.centre
        return np.hstack([self.transitions, emissions.reshape(len(own), self.slope.size)])

    def times(self, x: Singles) -> Singles:
        """``dense() @ x``, (n,)."""
        transitions, emissions = self._parts(x)
        common = self._sums @ (self.centre * emissions).sum(axis=0)
        return np.asarray(self.transitions @ transitions + self._own @ emissions.ravel() - common)

    def summed(self, weights: Singles) -> Singles:
        """``weights @ dense()``, (P,)."""
        own = (self._own.T @ weights).reshape(self.slope.shape)
        emissions = own - self.centre * (weights @ self._sums)
        return np.concatenate([weights @ self.transitions, emissions.ravel()])

    def trace(self) -> float:
        """The sum of all squares."""
        same = self.symbols[:, :, None] == self.symbols[:, None, :]
        products = np.einsum("itk,iuk->itu", self._weighted, self._weighted)
        common = (self.centre**2).sum(axis=0) * self._sums - 2 * self._met
        total = np.vdot(self.transitions, self.transitions) + products[same].sum()
        return float(total + np.vdot(common, self._sums))

    def products_of_windows(self) -> Singles:
        """``dense() @ dense().T``, (n, n)."""
        gram = self.transitions @ self.transitions.T
        gram += (self._own @ self._own.T).toarray()
        gram -= self._met @ self._sums.T
        gram += self._sums @ ((self.centre**2).sum(axis=0) * self._sums - self._met).T
        return np.asarray(gram)

    def products_of_coordinates(self) -> Singles:
        """``dense().T @ dense()``, (P, P), of which only the lower triangle is written.

        S' S is summed symbol by symbol: the rows of a symbol are those of the windows with it.
        """
        (n, size), (n_symbols, k) = self.shape, self.slope.shape
        moves = size - n_symbols * k
        whole = np.empty((n, size), np.float32)
        whole[:, :moves] = self.transitions
        whole[:, moves:] = self._own.toarray()
        own_sums = np.asarray(self._own.T @ self._sums)
        moves_sums = np.ascontiguousarray((self.transitions.T @ self._sums).T)
        centre = self.centre.ravel()
        of_all = np.tile(self._sums.T @ self._sums, (n_symbols, 1))
        common = np.ascontiguousarray((own_sums - centre[:, None] * of_all).T)

        gram = np.zeros((size, size), np.float32)
        gram[:moves, :moves] = self.transitions.T @ self.transitions
        order = np.argsort(self.symbols, axis=None, kind="stable")
        cuts = np.cumsum(np.bincount(self.symbols.ravel(), minlength=n_symbols))[:-1]
        weighted = self._weighted.reshape(-1, k)
        for symbol, places in enumerate(np.split(order, cuts)):
            own, first = slice(symbol * k, symbol * k + k), moves + symbol * k
            rows = weighted[places].T @ whole[places // self.symbols.shape[1], : first + k]
            rows[:, :moves] -= self.centre[symbol][:, None] * moves_sums
            rows[:, moves:] -= self.centre[symbol][:, None] * common[:, : own.stop]
            before = rows[:, moves:].reshape(k, symbol + 1, k)
            before -= own_sums[own, None, :] * self.centre[: symbol + 1]
            gram[first : first + k, : first + k] = rows
        return gram

    def _parts(self, x: Singles) -> tuple[Singles, Singles]:
        """Of a vector of coordinates: for transitions, and for emissions."""
        transitions, emissions = np.split(x, [self.transitions.shape[1]])
        return transitions, emissions.reshape(self.slope.shape)


def _inverse(scores: WindowScores, weight: float, diagonal: Floats) -> Callable[[Floats], Floats]:
    """x to (weight scores' scores + diag)^-1 x, by Woodbury's identity where scores are fewer."""
    if not scores.shape[0]:
        return lambda x: np.asarray(x / diagonal)
    root = np.sqrt(diagonal)
    scores = scores.scaled((np.sqrt(weight) / root).astype(np.float32))
    fewer = scores.shape[0] < scores.shape[1]
    if scores.shape[1] <= SMALL:
        dense = scores.dense().astype(np.float64)
        gram: NDArray[Any] = dense @ dense.T if fewer else dense.T @ dense
    else:
        gram = scores.products_of_windows() if fewer else scores.products_of_coordinates()
    gram[np.diag_indices_from(gram)] += 1.0
    inverse = _inverse_of(gram)

    def solve(x: Floats) -> Floats:
        scaled = x / root
        if fewer:
            seen = inverse(scores.times(scaled.astype(np.float32)))
            return np.asarray((scaled - scores.summed(seen.astype(np.float32))) / root)
        return np.asarray(inverse(scaled) / root)

    return solve


def _inverse_of(gram: NDArray[Any]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """x to gram^-1 x, by Cholesky; of a symmetric matrix whose lower triangle is filled."""
    # LAPACK's matrices are transposed: the lower triangle is its upper one, and nothing is copied.
    single, failed = len(gram) > SMALL, 0
    if single:
        factor, failed = linalg.lapack.spotrf(gram.T, lower=0, clean=0)
    if not single or failed:
        factor, _ = linalg.lapack.dpotrf(gram.T.astype(np.float64), lower=0, clean=0)
    # trsv is six times as fast as potrs, which is made for many right sides
    solve = linalg.blas.dtrsv if factor.dtype == np.float64 else linalg.blas.strsv
    return lambda x: np.asarray(solve(factor, solve(factor, x, trans=1)))


def n_windows(parameters: int) -> int:
    """How many windows the curvature is estimated from."""
    if parameters <= WINDOWS:
        return WINDOWS
    return min(WINDOWS // 2, MAX_SCORES // parameters, int((MAX_PRODUCTS / parameters) ** 0.5))


def sample_windows(data: Data, n_parameters: int, rng: np.random.Generator) -> Ints:
    """Some windows of three symbols from the data, (n, 3), with nothing missing.

    Of two or one where no sequence is longer.
    """
    most = n_windows(n_parameters)
    width = min(WINDOW, data.longest)
    if width == 0:
        return np.zeros((0, WINDOW), np.int64)
    places = rng.integers(0, data.n_observations - width + 1, 4 * most)
    spans = data.spans(places, places + width)
    windows = spans.symbols[np.repeat(spans.lengths == width, spans.lengths)].reshape(-1, width)
    return np.asarray(windows[(windows >= 0).all(axis=1)][:most], np.int64)


def _joined(starts: Floats, transitions: Floats, emissions: Floats) -> Floats:
    """One vector, emissions by symbol."""
    return np.concatenate([starts, transitions.ravel(), emissions.T.ravel()])


def _away_from_zero(part: Floats) -> Floats:
    return np.where(np.abs(part) < COORDINATE_FLOOR, COORDINATE_FLOOR, part)


def _ratio(count: Floats, table: Floats) -> Floats:
    return np.divide(count, table, out=np.zeros_like(count), where=table > 0)

"""The scores of windows, each the gradient of its log-likelihood, kept by what they are made of.

A score has K^2 entries for transitions and N K for emissions.  Of the latter, only those of the
window's own symbols are its own; what is taken from all others is K numbers times a constant:

    s = S - G centre,    S the posterior states by symbol times a slope, G their sums

So sums of products of scores cost O(K^2) per window or pair of windows, not O(N K), nor its
square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cohmm.kernels.types import Ints

Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class WindowScores:
    """Scores of n windows in P = K^2 + N K coordinates; emissions are by symbol, then by state.

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

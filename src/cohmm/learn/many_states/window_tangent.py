"""How the law of windows changes with the chain's parameters, M and A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.learn.many_states.polyadic import products
from cohmm.learn.many_states.window_law import joined, sides
from cohmm.model.stationary import stationary_distribution

LEAST = 1e-12  # a probability that is zero has no gradient in its root


class Chain(NamedTuple):
    """The parameters, with what follows from them."""

    m: Floats
    """Emissions, (n, K); columns sum to one."""
    a: Floats
    """Transitions, (K, K); rows sum to one."""
    pi: Floats
    """The stationary distribution of ``a``, (K,)."""

    @classmethod
    def of(cls, m: Floats, a: Floats, mixed: float = LEAST) -> Chain:
        """A chain without zeros: a share ``mixed`` of all symbols and states is added to each."""
        m = m + mixed / len(m)
        a = a + mixed / len(a)
        a = a / a.sum(axis=1, keepdims=True)
        return cls(m / m.sum(axis=0), a, stationary_distribution(a))

    @classmethod
    def start(cls, m: Floats, a: Floats) -> Chain:
        """M and A as they are; a trace of all transitions in pi, which might not exist else."""
        return cls(m, a, cls.of(m, a).pi)


@dataclass(frozen=True, eq=False)
class Roots:
    """Square roots of pi M and pi A at a point, pi being held; (n + K) K numbers."""

    point: Chain

    @property
    def values(self) -> tuple[Floats, Floats]:
        """Of M, (n, K), and of A, (K, K)."""
        m, a, pi = self.point
        return np.sqrt(pi * m), np.sqrt(pi[:, None] * a)

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        """The two parts of a step."""
        m, a, _ = self.point
        return x[: m.size].reshape(m.shape), x[m.size :].reshape(a.shape)

    def along(self, x: Floats) -> tuple[Floats, Floats]:
        """The change of M and A with a small step."""
        m, a, pi = self.point
        dm, da = (2 * root * part for root, part in zip(self.values, self.split(x), strict=True))
        return (dm - m * dm.sum(axis=0)) / pi, (da - a * da.sum(axis=1)[:, None]) / pi[:, None]

    def back(self, by_m: Floats, by_a: Floats) -> Floats:
        """The gradient in the roots, from that in M and A."""
        m, a, pi = self.point
        root_m, root_a = self.values
        by_m = 2 * root_m / pi * (by_m - (m * by_m).sum(axis=0))
        by_a = 2 * root_a / pi[:, None] * (by_a - (a * by_a).sum(axis=1)[:, None])
        return np.concatenate([by_m.ravel(), by_a.ravel()])

    def at_zero(self, by_m: Floats, by_a: Floats) -> Floats:
        """The objective's curvature in a root that is zero, where it is positive."""
        m, a, pi = self.point
        own_m = 2 * (by_m - (m * by_m).sum(axis=0)) / pi
        own_a = 2 * (by_a - (a * by_a).sum(axis=1)[:, None]) / pi[:, None]
        return np.asarray(np.maximum(np.concatenate([own_m.ravel(), own_a.ravel()]), 0.0))

    def moved(self, step: Floats) -> Chain:
        """The chain after a step."""
        pi = self.point.pi
        m, a = (
            (root + part) ** 2 for root, part in zip(self.values, self.split(step), strict=True)
        )
        return Chain.of(m / pi, a / pi[:, None])


@dataclass(frozen=True, eq=False)
class Tangent:
    """The law of windows near a chain: how it changes with M and A, and the transpose."""

    point: Chain
    past: list[Floats]
    future: list[Floats]
    expected: Floats
    settling: Floats
    """(I - A + 1 pi')^-1: pi changes by pi dA times this."""

    @classmethod
    def at(cls, point: Chain, tau: int) -> Tangent:
        """Compute what both directions need."""
        past, future = sides(*point, tau)
        expected = joined(past[-1], point.m, future[-1])
        settling = np.linalg.inv(np.eye(len(point.pi)) - point.a + point.pi)
        return cls(point, past, future, expected, np.asarray(settling, np.float64))

    def along(self, dm: Floats, da: Floats) -> Floats:
        """The change of the law with a small change of M and A."""
        m, a, pi = self.point
        d_past, d_future = ((pi @ da) @ self.settling)[None], np.zeros((1, len(pi)))
        for past, future in zip(self.past[:-1], self.future[:-1], strict=True):
            d_past = (products(d_past, m) + products(past, dm)) @ a + products(past, m) @ da
            d_future = (products(dm, future) + products(m, d_future)) @ a.T + products(
                m, future
            ) @ da.T
        past, future = self.past[-1], self.future[-1]
        left = products(d_past, m) + products(past, dm)
        return np.asarray(left @ future.T + products(past, m) @ d_future.T)

    def back(self, weights: Floats) -> tuple[Floats, Floats]:
        """The gradient of sum(weights * law) in M and in A."""
        m, a, pi = self.point
        n, k = m.shape
        by_left = (weights @ self.future[-1]).reshape(-1, n, k)
        by_future = weights.T @ products(self.past[-1], m)
        by_m = np.einsum("ink,ik->nk", by_left, self.past[-1])
        by_past = np.einsum("ink,nk->ik", by_left, m)
        by_a = np.zeros_like(a)
        for past, future in zip(self.past[-2::-1], self.future[-2::-1], strict=True):
            by_a += products(past, m).T @ by_past + by_future.T @ products(m, future)
            by_left = (by_past @ a.T).reshape(-1, n, k)
            by_m += np.einsum("ink,ik->nk", by_left, past)
            by_past = np.einsum("ink,nk->ik", by_left, m)
            by_right = (by_future @ a).reshape(n, -1, k)
            by_m += np.einsum("nik,ik->nk", by_right, future)
            by_future = np.einsum("nik,nk->ik", by_right, m)
        by_a += np.outer(pi, self.settling @ by_past[0])
        return by_m, by_a

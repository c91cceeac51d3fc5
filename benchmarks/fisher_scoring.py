"""The climb that `cohmm.learn.maximize` is measured against, for `climbs.py`.

    minimise    KL(law of windows || p(window; M, A, pi = pi A))

by Gauss-Newton with the exact Fisher information, in the square roots of pi M and pi A, a step by
conjugate gradients: products with the information are two passes over all windows, one along
a change of M and A, and one back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import khatri_rao

from cohmm import HMM
from cohmm.kernels.types import Floats
from cohmm.learn.windows.polyadic import Local
from cohmm.learn.windows.window_law import WindowLaw, sides
from cohmm.model.markov_chain import stationary_distribution

LEAST = 1e-12  # a probability that is zero has no gradient in its root


class Chain(NamedTuple):
    """The parameters, with what follows from them."""

    m: Floats  # (n, K); columns sum to one
    a: Floats  # (K, K); rows sum to one
    pi: Floats  # the stationary distribution of a

    @classmethod
    def of(cls, m: Floats, a: Floats) -> Chain:
        a = a + LEAST
        a = a / a.sum(axis=1, keepdims=True)
        return cls(m / m.sum(axis=0), a, stationary_distribution(a))

    @property
    def model(self) -> HMM:
        return HMM(self.pi, self.a, self.m.T)


@dataclass(frozen=True, eq=False)
class Roots:
    """Square roots of pi M and pi A at a point, pi being held; (n + K) K numbers."""

    point: Chain

    @property
    def values(self) -> tuple[Floats, Floats]:
        m, a, pi = self.point
        return np.sqrt(pi * m), np.sqrt(pi[:, None] * a)

    def split(self, x: Floats) -> tuple[Floats, Floats]:
        m, a, _ = self.point
        return x[: m.size].reshape(m.shape), x[m.size :].reshape(a.shape)

    def along(self, x: Floats) -> tuple[Floats, Floats]:
        """The change of M and A with a small step."""
        m, a, pi = self.point
        dm, da = (2 * root * part for root, part in zip(self.values, self.split(x), strict=True))
        return (dm - m * dm.sum(axis=0)) / pi, (da - a * da.sum(axis=1)[:, None]) / pi[:, None]

    def back(self, by_m: Floats, by_a: Floats) -> tuple[Floats, Floats]:
        """The gradient in the roots, from that in M and A; and what an entry at zero adds."""
        m, a, pi = self.point
        root_m, root_a = self.values
        by_m = 2 / pi * (by_m - (m * by_m).sum(axis=0))
        by_a = 2 / pi[:, None] * (by_a - (a * by_a).sum(axis=1)[:, None])
        own = np.maximum(np.concatenate([by_m.ravel(), by_a.ravel()]), 0.0)
        return np.concatenate([(root_m * by_m).ravel(), (root_a * by_a).ravel()]), own

    def moved(self, step: Floats) -> Chain:
        pi = self.point.pi
        parts = zip(self.values, self.split(step), strict=True)
        m, a = ((root + part) ** 2 for root, part in parts)
        return Chain.of(m / pi, a / pi[:, None])


@dataclass(frozen=True, eq=False)
class Tangent:
    """The law of windows near a chain: how it changes with M and A, and the transpose."""

    point: Chain
    alpha: list[Floats]
    beta: list[Floats]
    expected: Floats
    settling: Floats  # (I - A + 1 pi')^-1: pi changes by pi dA times this

    @classmethod
    def at(cls, point: Chain, tau: int) -> Tangent:
        alpha, beta = sides(*point, tau)
        expected = khatri_rao(alpha[-1], point.m) @ beta[-1].T
        settling = np.linalg.inv(np.eye(len(point.pi)) - point.a + point.pi)
        return cls(point, alpha, beta, np.maximum(expected, 1e-300), settling)

    def along(self, dm: Floats, da: Floats) -> Floats:
        """The change of the law with a small change of M and A."""
        m, a, pi = self.point
        d_alpha, d_beta = ((pi @ da) @ self.settling)[None], np.zeros((1, len(pi)))
        for alpha, beta in zip(self.alpha[:-1], self.beta[:-1], strict=True):
            changed = khatri_rao(d_alpha, m) + khatri_rao(alpha, dm)
            d_alpha = changed @ a + khatri_rao(alpha, m) @ da
            changed = khatri_rao(dm, beta) + khatri_rao(m, d_beta)
            d_beta = changed @ a.T + khatri_rao(m, beta) @ da.T
        changed = khatri_rao(d_alpha, m) + khatri_rao(self.alpha[-1], dm)
        return changed @ self.beta[-1].T + khatri_rao(self.alpha[-1], m) @ d_beta.T

    def back(self, weights: Floats) -> tuple[Floats, Floats]:
        """The gradient of sum(weights * law) in M and in A."""
        m, a, pi = self.point
        n, k = m.shape
        by_product = (weights @ self.beta[-1]).reshape(-1, n, k)
        by_beta = weights.T @ khatri_rao(self.alpha[-1], m)
        by_m = np.einsum("ink,ik->nk", by_product, self.alpha[-1])
        by_alpha = np.einsum("ink,nk->ik", by_product, m)
        by_a = np.zeros_like(a)
        for alpha, beta in zip(self.alpha[-2::-1], self.beta[-2::-1], strict=True):
            by_a += khatri_rao(alpha, m).T @ by_alpha + by_beta.T @ khatri_rao(m, beta)
            by_product = (by_alpha @ a.T).reshape(-1, n, k)
            by_m += np.einsum("ink,ik->nk", by_product, alpha)
            by_alpha = np.einsum("ink,nk->ik", by_product, m)
            by_product = (by_beta @ a).reshape(n, -1, k)
            by_m += np.einsum("nik,ik->nk", by_product, beta)
            by_beta = np.einsum("nik,nk->ik", by_product, m)
        by_a += np.outer(pi, self.settling @ by_alpha[0])
        return by_m, by_a


@dataclass(frozen=True, eq=False)
class FisherScoring:
    """A `cohmm.learn.windows.polyadic.Problem`; ``report`` is told every objective."""

    law: WindowLaw
    report: Callable[[float], None]

    def objective(self, point: Chain) -> float:
        """Nats per window."""
        alpha, beta = sides(*point, self.law.tau)
        expected = np.maximum(khatri_rao(alpha[-1], point.m) @ beta[-1].T, 1e-300)
        observed = self.law.probability.reshape(expected.shape)
        objective = self.law.negative_entropy - float(np.vdot(observed, np.log(expected)))
        self.report(objective)
        return objective

    def local(self, point: Chain) -> Local:
        """Gradient and Fisher information; an entry at zero adds its own curvature."""
        tangent, roots = Tangent.at(point, self.law.tau), Roots(point)
        observed = self.law.probability.reshape(tangent.expected.shape)
        gradient, own = roots.back(*tangent.back(-observed / tangent.expected))

        def curvature(x: Floats) -> Floats:
            along = tangent.along(*roots.along(x))
            return roots.back(*tangent.back(along / tangent.expected))[0] + own * x

        def preconditioner(damping: float) -> Callable[[Floats], Floats]:
            inverse = 1 / (1 + own + damping)
            return lambda r: inverse * r

        return Local(gradient, curvature, preconditioner, 1.0)

    def moved(self, point: Chain, step: Floats) -> Chain:
        return Roots(point).moved(step)

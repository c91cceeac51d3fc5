"""What keeps Theta small: the identifiability term, as a small family of values.

The paper's |det Theta| underflows (1e-43 for K = 20 in its own experiment), so that any
ordinary lambda adds less than rounding error.  Its logarithm has the right size, but is
unbounded below.  `LogDet` is the logarithm kept from running away, and majorised for real.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.pairs.theta_update import Terms


@dataclass(frozen=True)
class LogDet:
    """1/2 logdet(S S' + delta I), S = K Theta.

    It is concave in S S', so that 1/2 tr(F S S') with F = (S S' + delta I)^-1 of the current
    point lies above it.  F = F+ - F-, both >= 0, and for Theta > 0 each part has an upper bound
    that is separable (as in multiplicative updates): a square for F+, a logarithm for F-.
    """

    delta: float = 1e-4

    def value(self, theta: Floats) -> float:
        """The term at ``theta``."""
        k = len(theta)
        return float(0.5 * np.linalg.slogdet(k * k * theta @ theta.T + self.delta * np.eye(k))[1])

    def majoriser(self, theta: Floats) -> Terms:
        """A separable upper bound, tight at ``theta``."""
        k = len(theta)
        f = k * k * np.linalg.inv(k * k * theta @ theta.T + self.delta * np.eye(k))
        return Terms(
            log=(np.maximum(-f, 0) @ theta) * theta,
            quadratic=(np.maximum(f, 0) @ theta) / theta,
        )


@dataclass(frozen=True)
class Det:
    """The paper's |det Theta|, literally, with its linear approximation (no upper bound)."""

    def value(self, theta: Floats) -> float:
        """The term at ``theta``."""
        return float(np.abs(np.linalg.det(theta)))

    def majoriser(self, theta: Floats) -> Terms:
        """|det Theta| Theta^-T, the gradient."""
        sign, log = np.linalg.slogdet(theta)
        if sign == 0:
            return Terms(0.0)
        return Terms(0.0, linear=np.exp(log) * np.linalg.inv(theta).T)


@dataclass(frozen=True)
class NoVolume:
    """No such term: plain non-negative tri-factorisation."""

    def value(self, theta: Floats) -> float:
        """Zero."""
        return 0.0

    def majoriser(self, theta: Floats) -> Terms:
        """Zero."""
        return Terms(0.0)


Volume = LogDet | Det | NoVolume

_BY_NAME: dict[str, Volume] = {"logdet": LogDet(), "det": Det(), "none": NoVolume()}


def volume_term(volume: str | Volume) -> Volume:
    """A term by its name, or the value itself.

    >>> volume_term("logdet")
    LogDet(delta=0.0001)
    """
    if isinstance(volume, str):
        if volume not in _BY_NAME:
            raise ValueError(f"volume must be one of {', '.join(_BY_NAME)}, not {volume!r}")
        return _BY_NAME[volume]
    if not isinstance(volume, (LogDet, Det, NoVolume)):
        raise ValueError(f"volume must be one of {', '.join(_BY_NAME)}, not {volume!r}")
    return volume

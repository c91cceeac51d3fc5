"""The law of windows: tau symbols before, one in the middle, tau after.

Given the middle state, the three parts of a window are independent,

    P(past, b, future) = sum_k P[past, k] M[b, k] F[future, k],

with P[past, k] the probability of the past together with the state, and F that of the future
given the state.  Triples are the windows of tau = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.grams import keys_of
from cohmm.evidence.triples import Triples
from cohmm.evidence.windows import Windows
from cohmm.kernels.compiled import Floats, Ints
from cohmm.learn.finish import by_prevalence
from cohmm.learn.many_states.polyadic import products
from cohmm.learn.pairs.pair_evidence import warn_of_unseen
from cohmm.model.hmm import HMM
from cohmm.model.stationary import stationary_distribution

MOST_CELLS = 2**24


@dataclass(frozen=True, eq=False)
class WindowLaw:
    """A law of windows as the learners see it: an array, among the symbols seen.

    Parameters
    ----------
    probability : array, (n^tau, n, n^tau)
        By past, middle and future.
    tau : int
        Symbols on either side.
    n_windows : float
        How many were counted; infinitely many where the law was given.
    seen : array, (n,)
        The symbols that occur.
    n_symbols : int
        N, all symbols.
    vocabulary : tuple or None
        Their labels.
    """

    probability: Floats
    tau: int
    n_windows: float
    seen: Ints
    n_symbols: int
    vocabulary: Vocabulary | None

    @classmethod
    def of(cls, evidence: Triples | Windows) -> WindowLaw:
        """Prepare counts; warns of symbols never seen."""
        windows = evidence.triples if isinstance(evidence, Triples) else evidence.windows
        total = float(evidence.counts.sum())
        if not total > 0:
            raise ValueError(f"there is nothing to learn from: {evidence}")
        tau = windows.shape[1] // 2
        seen = np.unique(windows[evidence.counts > 0])
        n = len(seen)
        warn_of_unseen(evidence, seen)
        if n ** (2 * tau + 1) > MOST_CELLS:
            raise ValueError(
                f"{n} symbols make {n ** (2 * tau + 1):,} windows of {2 * tau + 1}, and this "
                f"learner keeps a number for each, {MOST_CELLS:,} at most: use a smaller tau, "
                "or fewer symbols"
            )
        code = np.zeros(evidence.n_symbols, np.int64)
        code[seen] = np.arange(n)
        present = evidence.counts > 0
        cells = np.zeros(n ** (2 * tau + 1))
        cells[keys_of(code[windows[present]], n)] = evidence.counts[present] / total
        counted = np.issubdtype(evidence.counts.dtype, np.integer)
        return cls(
            cells.reshape(n**tau, n, n**tau),
            tau,
            total if counted else np.inf,
            seen,
            evidence.n_symbols,
            evidence.vocabulary,
        )

    @cached_property
    def frequency(self) -> Floats:
        """How frequent each symbol seen is, in all places of a window."""
        n, width = len(self.seen), 2 * self.tau + 1
        places = [self.probability.reshape(n**i, n, -1).sum(axis=(0, 2)) for i in range(width)]
        return np.asarray(np.mean(places, axis=0))

    def divergence(self, expected: Floats) -> float:
        """Of Kullback and Leibler, in nats per window, from an expected law to this one."""
        cells = self.probability > 0
        found = self.probability[cells]
        with np.errstate(divide="ignore"):  # what the model thinks impossible
            ratio = np.log(found) - np.log(expected.reshape(self.probability.shape)[cells])
        return max(float(found @ ratio), 0.0)

    def model(self, m: Floats, a: Floats, smoothing: float) -> HMM:
        """M, (n, K), and A as a model: states by prevalence, symbols never seen impossible.

        ``smoothing`` as in `cohmm.learn.min_volume`; a law that was given gets none.
        """
        pi = stationary_distribution(a)
        if smoothing > 0 and np.isfinite(self.n_windows):
            extra = smoothing * len(self.seen)
            share = (extra / (extra + self.n_windows * pi))[:, None]
            a = (1 - share) * a + share * pi
            m = (1 - share.T) * m + share.T * self.frequency[:, None]
            pi = stationary_distribution(a)
        emission = np.zeros((len(pi), self.n_symbols))
        emission[:, self.seen] = m.T
        return by_prevalence(HMM(pi, a, emission, self.vocabulary), pi)


def sides(m: Floats, a: Floats, pi: Floats, tau: int) -> tuple[list[Floats], list[Floats]]:
    """P and F of all windows up to tau: entry i is of i symbols, (n^i, K)."""
    past, future = [pi[None]], [np.ones((1, len(pi)))]
    for _ in range(tau):
        past.append(products(past[-1], m) @ a)
        future.append(products(m, future[-1]) @ a.T)
    return past, future


def joined(past: Floats, m: Floats, future: Floats) -> Floats:
    """P(past, b, future) as (n^tau n, n^tau)."""
    return products(past, m) @ future.T


def window_probability(model: HMM, tau: int = 2) -> Floats:
    """P(tau symbols, the next, tau more) of the stationary chain, (N^tau, N, N^tau).

    The symbols on a side are one number of base N, in the order in which they are seen.

    >>> weather = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2], [.3, .7]])
    >>> law = window_probability(weather, tau=1)
    >>> bool(np.allclose(law, weather.triple_probability()))
    True
    """
    if isinstance(tau, bool) or not isinstance(tau, (int, np.integer)) or tau < 1:
        raise ValueError(f"tau must be a whole number from 1, not {tau!r}")
    n = model.n_symbols
    if n ** (2 * tau + 1) > MOST_CELLS:
        raise ValueError(
            f"{n} symbols make {n ** (2 * tau + 1):,} windows of {2 * tau + 1}: at most "
            f"{MOST_CELLS:,} are computed; use a smaller tau"
        )
    m = model.emissionprob.T
    past, future = sides(m, model.transmat, model.stationary(), int(tau))
    return joined(past[-1], m, future[-1]).reshape(n**tau, n, n**tau)

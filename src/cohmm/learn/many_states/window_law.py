"""The law of windows: tau symbols before, one in the middle, tau after.

Given the middle state, the three parts of a window are independent,

    P(past, b, future) = sum_k alpha[past, k] M[b, k] beta[future, k],

with alpha[past, k] the probability of the past together with the state, and beta that of the
future given the state.  Triples are the windows of tau = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import khatri_rao

from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.windows import Triples, Windows, keys_of
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.finish import prevalence_of
from cohmm.learn.pairs.pair_evidence import warn_of_unseen
from cohmm.learn.sequences.likelihood import sides
from cohmm.learn.triples.triple_law import Products
from cohmm.model.hmm import HMM

MOST_CELLS = 2**24  # 128 MB
TINY = 1e-300


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

    @cached_property
    def negative_entropy(self) -> float:
        """sum P log P, what no model can exceed."""
        present = self.probability[self.probability > 0]
        return float(present @ np.log(present))

    def e_step(self, past: Floats, middle: Floats, future: Floats) -> Products:
        """One pass over the windows, W being the ratio of the law to the model: see `Products`."""
        n, k = middle.shape
        product = khatri_rao(past, middle)
        expected = np.maximum(product @ future.T, TINY)
        observed = self.probability.reshape(expected.shape)
        ratio = observed / expected
        by_product = (ratio @ future).reshape(-1, n, k)
        return Products(
            float(np.vdot(observed, np.log(expected))),
            np.einsum("ink,nk->ik", by_product, middle),
            np.einsum("ink,ik->nk", by_product, past),
            ratio.T @ product,
        )

    def sample(self, size: int, rng: np.random.Generator) -> Ints:
        """Windows drawn from the law, (size, 2 tau + 1)."""
        cells = rng.choice(self.probability.size, size, p=self.probability.ravel())
        shape = (len(self.seen),) * (2 * self.tau + 1)
        return self.seen[np.stack(np.unravel_index(cells, shape), axis=1)]

    def model(self, m: Floats, a: Floats) -> HMM:
        """M, (n, K), and A as a stationary model, in which symbols never seen are impossible."""
        emission = np.zeros((len(a), self.n_symbols))
        emission[:, self.seen] = m.T
        model = HMM(np.full(len(a), 1 / len(a)), a, emission, self.vocabulary)
        return replace(model, startprob=prevalence_of(model))


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
    alpha, beta = sides(m, model.transmat, model.stationary(), int(tau))
    return np.asarray(khatri_rao(alpha[-1], m) @ beta[-1].T).reshape(n**tau, n, n**tau)

"""The law of windows: tau symbols before, one in the middle, tau after.

Given the middle state, the three parts of a window are independent,

    P(past, b, future) = sum_k alpha[past, k] M[b, k] beta[future, k],

with alpha[past, k] the probability of the past together with the state, and beta that of the
future given the state.  Triples are the windows of tau = 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.linalg import khatri_rao

from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.cooccurrence import LARGEST_DENSE, Cooccurrence
from cohmm.evidence.windows import Triples, Windows, keys_of
from cohmm.kernels import native
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints, Part
from cohmm.learn.learner import prevalence_of
from cohmm.learn.maximize import Expected
from cohmm.learn.pairs.pair_evidence import PairEvidence, States, number_of_states, warn_of_unseen
from cohmm.learn.pairs.pair_law import Point
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

MAX_CELLS = 2**24  # 128 MB
PROBABILITY_FLOOR = 1e-300
PARTS = 32
PART = 50_000  # triples, at least: less is not worth a thread


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
    def of(cls, evidence: Windows) -> WindowLaw:
        """Prepare counts; warns of symbols never seen."""
        windows = evidence.windows
        total = float(evidence.counts.sum())
        if not total > 0:
            raise ValueError(f"there is nothing to learn from: {evidence}")
        tau = windows.shape[1] // 2
        seen = np.unique(windows[evidence.counts > 0])
        n = len(seen)
        warn_of_unseen(evidence, seen)
        if n ** (2 * tau + 1) > MAX_CELLS:
            raise ValueError(
                f"{n} symbols make {n ** (2 * tau + 1):,} windows of {2 * tau + 1}, and this "
                f"learner keeps a number for each, {MAX_CELLS:,} at most: use a smaller tau, "
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
        expected = np.maximum(product @ future.T, PROBABILITY_FLOOR)
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
    if n ** (2 * tau + 1) > MAX_CELLS:
        raise ValueError(
            f"{n} symbols make {n ** (2 * tau + 1):,} windows of {2 * tau + 1}: at most "
            f"{MAX_CELLS:,} are computed; use a smaller tau"
        )
    m = model.emissionprob.T
    alpha, beta = sides(m, model.transmat, model.stationary(), int(tau))
    return np.asarray(khatri_rao(alpha[-1], m) @ beta[-1].T).reshape(n**tau, n, n**tau)


class Factors(NamedTuple):
    """The parameters; each is a distribution along its first axis."""

    weights: Floats
    """Of the states, (K,)."""
    before: Floats
    """L, (N, K): the symbol before a state."""
    middle: Floats
    """M, (N, K)."""
    after: Floats
    """R, (N, K): the symbol after a state."""


def implied(point: Point) -> Factors:
    """The factors of a chain, with Theta > 0: its columns are the laws of the state before.

    >>> implied(Point(np.eye(2), np.array([[.4, .1], [.1, .4]]))).after
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    weights, entered = point.theta.sum(axis=1), point.theta.sum(axis=0)
    return Factors(
        weights,
        point.m @ (point.theta / entered),
        point.m,
        point.m @ (point.theta.T / weights),
    )


class Products(NamedTuple):
    """What one pass over the triples gives: a sum over two of the symbols for each third."""

    log_fit: float
    """sum P log(expected); 0 where nothing was divided"""
    before: Floats
    """sum_bc W[a, b, c] M[b] R[c], (N, K)"""
    middle: Floats
    """sum_ac W[a, b, c] L[a] R[c], (N, K)"""
    after: Floats
    """sum_ab W[a, b, c] L[a] M[b], (N, K)"""


@dataclass(frozen=True, eq=False)
class TripleLaw:
    """Triples as the learners see them: the distinct ones in order, among the symbols seen.

    Parameters
    ----------
    pairs : PairEvidence
        The pairs in the triples: symbols seen, frequencies.
    borders, before, middle : array
        Runs of triples that begin with the same two symbols: where each run begins, and those.
    after : array
        The third symbol of every triple.
    probability : array
        Of every triple; they sum to one.
    """

    pairs: PairEvidence
    borders: Ints
    before: Ints
    middle: Ints
    after: Ints
    probability: Floats
    tau: ClassVar[int] = 1

    @classmethod
    def of(cls, triples: Triples) -> TripleLaw:
        """Prepare ``triples``."""
        if not triples.n_triples > 0:
            raise ValueError(f"there is nothing to learn from: {triples}")
        pairs = PairEvidence.of(_pairs_in(triples))
        code = np.zeros(triples.n_symbols, np.int64)
        code[pairs.seen] = np.arange(len(pairs.seen))
        before, middle, after = np.ascontiguousarray(code[triples.triples].T)
        new = np.flatnonzero(np.diff(before * len(pairs.seen) + middle, prepend=-1))
        return cls(
            pairs,
            np.append(new, len(after)),
            before[new],
            middle[new],
            after,
            triples.counts / triples.n_triples,
        )

    def number_of_states(self, wanted: States) -> int:
        """K; warns of symbols never seen, and of states that the pairs cannot show."""
        warn_of_unseen(self.pairs.counts, self.pairs.observed)
        return number_of_states(wanted, self.pairs, self.pairs.spectrum())

    @property
    def seen(self) -> Ints:
        """The symbols that occur, (n,)."""
        return self.pairs.seen

    @cached_property
    def negative_entropy(self) -> float:
        """sum P log P, what no model can exceed."""
        present = self.probability[self.probability > 0]
        return float(present @ np.log(present))

    @cached_property
    def _parts(self) -> list[Part]:
        """Ranges of runs; each has tables of its own, which should cost less than its triples."""
        n = len(self.after)
        n_parts = max(1, min(PARTS, n // max(PART, 4 * len(self.pairs.seen))))
        cuts = np.searchsorted(self.borders, np.linspace(0, n, n_parts + 1).astype(np.int64))
        return [(int(a), int(b)) for a, b in pairwise(cuts) if b > a]

    def products(
        self, left: Floats, centre: Floats, right: Floats, *, divided: bool = False
    ) -> Products:
        """One pass over the triples: see `Products`, W being the law or its ratio to the model."""
        left, centre, right = (np.ascontiguousarray(table) for table in (left, centre, right))

        def part(first: int, stop: int) -> Products:
            sums = Products(0.0, *(np.zeros(left.shape) for _ in range(3)))
            log_fit = native.triple_pass(self, (first, stop), divided, left, centre, right, sums)
            return sums._replace(log_fit=log_fit)

        return reduce(lambda a, b: Products(*map(add, a, b)), run(part, self._parts))

    def e_step(self, past: Floats, middle: Floats, future: Floats) -> Products:
        """One pass over the triples, W being the ratio of the law to the model."""
        return self.products(past, middle, future, divided=True)

    def divergence(self, factors: Factors) -> float:
        """How far the law is from that of the factors, in nats per triple."""
        weights, left, m, right = factors
        products = self.products(left * weights, m, right, divided=True)
        return self.negative_entropy - products.log_fit

    def compressed(self, table: Floats) -> Floats:
        """sum P table[a] x table[b] x table[c], (K, K, K), for a ``table`` (N, K)."""
        k = table.shape[1]
        cube = np.zeros((k, k, k))
        rows = sparse.csr_array(
            (self.probability, self.after, self.borders), shape=(len(self.before), len(table))
        )
        starts = np.flatnonzero(np.diff(self.before, prepend=-1))
        for first, stop in pairwise([*starts.tolist(), len(self.before)]):
            follow = table[self.middle[first:stop]].T @ (rows[first:stop] @ table)
            cube += table[self.before[first]][:, None, None] * follow
        return cube


def _pairs_in(triples: Triples) -> Cooccurrence:
    """The pairs that the triples are made of; most pairs of the data are in two triples."""
    n = triples.n_symbols
    rows = np.concatenate([triples.triples[:, 0], triples.triples[:, 1]])
    columns = np.concatenate([triples.triples[:, 1], triples.triples[:, 2]])
    halves = np.tile(triples.counts / 2, 2)
    matrix = sparse.csr_array((halves, (rows, columns)), shape=(n, n))
    counts = matrix.toarray() if n <= LARGEST_DENSE else matrix
    frequency = np.asarray(matrix.sum(axis=1)).ravel()
    return Cooccurrence({1: counts}, frequency, np.zeros(n), triples.vocabulary)


class LawOfWindows(Protocol):
    """The law of windows of 2 tau + 1 symbols: `TripleLaw` is sparse, `WindowLaw` an array."""

    @property
    def tau(self) -> int:
        """Symbols on either side of the middle."""

    @property
    def seen(self) -> Ints:
        """The n symbols that occur."""

    def e_step(self, past: Floats, middle: Floats, future: Floats) -> Products:
        """The log-likelihood, and how it changes with each of the three tables."""


@dataclass(frozen=True, eq=False)
class WindowLikelihood:
    """The likelihood of windows, each a chain of its own: O(K) per distinct window.

    Its cost does not depend on the length of the data.  ``startprob`` is the law of the state
    that a window begins in.
    """

    law: LawOfWindows

    def expected(self, model: HMM) -> Expected:
        """One pass over the windows: sum P log p, p = sum_k alpha[past, k] M[b, k] beta[future, k].

        The sums that the law gives are led back through the recursions of `sides`.
        """
        a, pi, seen = model.transmat, model.startprob, self.law.seen
        m = np.ascontiguousarray(model.emissionprob[:, seen].T)
        n, k = m.shape
        alpha, beta = sides(m, a, pi, self.law.tau)
        log_likelihood, by_alpha, by_m, by_beta = self.law.e_step(alpha[-1], m, beta[-1])
        by_a = np.zeros_like(a)
        for before, after in zip(alpha[-2::-1], beta[-2::-1], strict=True):
            by_a += khatri_rao(before, m).T @ by_alpha + by_beta.T @ khatri_rao(m, after)
            by_product = (by_alpha @ a.T).reshape(-1, n, k)
            by_m = by_m + np.einsum("ink,ik->nk", by_product, before)
            by_alpha = np.einsum("ink,nk->ik", by_product, m)
            by_product = (by_beta @ a).reshape(n, -1, k)
            by_m = by_m + np.einsum("nik,ik->nk", by_product, after)
            by_beta = np.einsum("nik,nk->ik", by_product, m)
        emissions = np.zeros_like(model.emissionprob)
        emissions[:, seen] = (m * by_m).T
        return Expected(log_likelihood, Counts(pi * by_alpha[0], a * by_a, emissions))


def sides(m: Floats, a: Floats, pi: Floats, tau: int) -> tuple[list[Floats], list[Floats]]:
    """Forward and backward variables of all windows up to tau: entry i is of i symbols, (n^i, K).

    alpha[past, k] is the probability of the symbols before a state together with it, beta[future,
    k] that of those after it given the state.  ``m`` is (n, K).
    """
    alpha, beta = [pi[None]], [np.ones((1, len(pi)))]
    for _ in range(tau):
        alpha.append(khatri_rao(alpha[-1], m) @ a)
        beta.append(khatri_rao(m, beta[-1]) @ a.T)
    return alpha, beta

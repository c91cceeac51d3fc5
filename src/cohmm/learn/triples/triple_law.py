"""The law of triples as the learners see it: one primitive, sparse in the triples that occur.

`TripleLaw.products` is the only place where triples meet three factors L, M and R, (N, K)
each: an update of any of them follows from a sum over the two other symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import add
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from cohmm.evidence.cooccurrence import LARGEST_DENSE, Cooccurrence
from cohmm.evidence.windows import Triples
from cohmm.kernels.sparse_pass import triple_pass
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Ints, Part
from cohmm.learn.pairs.pair_evidence import (
    PairEvidence,
    States,
    number_of_states,
    warn_of_unseen,
)
from cohmm.learn.pairs.pair_law import Point

PARTS = 32
PART = 50_000  # triples, at least: less is not worth a thread


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
            log_fit = triple_pass(self, (first, stop), divided, left, centre, right, sums)
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

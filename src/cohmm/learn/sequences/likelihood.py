"""Two likelihoods of a model, each with the counts that it expects: of sequences, of windows.

The expected counts are EM's E step, and the gradient as well: d log P / d A = transitions / A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.kernels.compiled import Floats
from cohmm.learn.triples.triple_law import TripleLaw
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts


class Expected(NamedTuple):
    """What one pass over the evidence gives."""

    log_likelihood: float
    """Nats per symbol, or a window."""
    counts: Counts
    """Expected starts, transitions and emissions, a symbol or a window."""


def visits(counts: Counts) -> Floats:
    """The share of all places that each state is expected to be at, (K,).

    Near the stationary distribution where sequences are long.  Where they are short, and above
    all where the chain leaves states for good, it is this that says how much was seen of a state.
    """
    seen = counts.starts + counts.transitions.sum(axis=0)
    return np.asarray(seen / seen.sum())


class Likelihood(Protocol):
    """Evidence that can be explained by an HMM."""

    def expected(self, model: HMM) -> Expected:
        """One pass over the evidence."""


@dataclass(frozen=True, eq=False)
class SequenceLikelihood:
    """The likelihood of sequences, by forward-backward: O(K^2) a symbol."""

    data: Sequences

    def expected(self, model: HMM) -> Expected:
        """One pass over the sequences."""
        n = len(self.data.symbols)
        log_prob, counts = model.expected_counts(self.data)
        return Expected(log_prob / n, Counts(*(count / n for count in counts)))


@dataclass(frozen=True, eq=False)
class WindowLikelihood:
    """The likelihood of windows of three symbols, each a chain of its own: O(K) a distinct triple.

    Its cost does not depend on the length of the data.  ``startprob`` is the law of the state
    that a window begins in.
    """

    law: TripleLaw

    def expected(self, model: HMM) -> Expected:
        """One pass over the triples: sum P log p, with p = sum_x h[a, x] M[b, x] U[c, x].

        h = (M pi) A is the first symbol and the middle state, U = M A' the last given it.
        """
        seen = self.law.pairs.seen
        a = model.transmat
        m = np.ascontiguousarray(model.emissionprob[:, seen].T)
        first = m * model.startprob
        found = self.law.products(first @ a, m, m @ a.T, divided=True)
        back = found.before @ a.T
        transitions = a * (first.T @ found.before + found.after.T @ m)
        emissions = np.zeros_like(model.emissionprob)
        emissions[:, seen] = (m * (found.middle + model.startprob * back + found.after @ a)).T
        starts = model.startprob * (m * back).sum(axis=0)
        return Expected(found.log_fit, Counts(starts, transitions, emissions))

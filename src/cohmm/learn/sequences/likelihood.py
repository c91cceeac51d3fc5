"""Likelihoods of a model, each with the counts that it expects: of sequences, of windows.

The expected counts are EM's E step, and the gradient as well: d log P / d A = transitions / A.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
from scipy.linalg import khatri_rao

from cohmm.data.partitioned import Partitioned
from cohmm.data.sequences import Sequences
from cohmm.kernels.recursions import probability_tables
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.finish import prevalence_of
from cohmm.learn.sequences.labels import Labels
from cohmm.learn.triples.triple_law import Products
from cohmm.model import inference
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

RIDGE = 1e-12  # so that a chain that falls into parts is no error


class Expected(NamedTuple):
    """What one pass over the evidence gives."""

    log_likelihood: float
    """Nats per symbol, or per window."""
    counts: Counts
    """Expected starts, transitions and emissions, per symbol or per window."""


def visits(counts: Counts) -> Floats:
    """The share of all places that each state is expected to be at, (K,).

    Near the stationary distribution where sequences are long.  Where they are short, and above
    all where the chain leaves states for good, it is this that says how much was seen of a state.
    """
    arrivals = counts.starts + counts.transitions.sum(axis=0)
    return np.asarray(arrivals / arrivals.sum())


class Likelihood(Protocol):
    """Evidence that can be explained by an HMM."""

    def expected(self, model: HMM) -> Expected:
        """One pass over the evidence."""


@dataclass(frozen=True, eq=False)
class SequenceLikelihood:
    """The likelihood of sequences, by forward-backward: O(K^2) per symbol.

    Parameters
    ----------
    data : Sequences or Partitioned
        The evidence.
    weights : array, (S,), optional
        How often each sequence counts; once by default.
    labels : Labels, optional
        States that are known: the likelihood is then theirs too.  Neither is for parts.
    """

    data: Sequences | Partitioned
    weights: Floats | None = None
    labels: Labels | None = None

    @property
    def units(self) -> float:
        """How many symbols there are, by weight."""
        if self.weights is None:
            return float(self.data.n_observations)
        return float(self.weights @ self.data.lengths)

    def expected(self, model: HMM) -> Expected:
        """One pass over the sequences."""
        log_likelihood, counts = self.data.map_sum(_summed, model, self.weights, self.labels)
        n = self.units
        return Expected(log_likelihood / n, Counts(*(count / n for count in counts)))


def _summed(
    data: Sequences, model: HMM, weights: Floats | None, labels: Labels | None
) -> tuple[float, Counts]:
    """The log-likelihood of all sequences, and what they are expected to count."""
    emission = model.emissionprob if labels is None else labels.widened(model.emissionprob)
    result = inference.smooth(
        probability_tables(model.startprob, model.transmat, emission),
        data.symbols if labels is None else labels.codes,
        data.offsets,
        count=True,
        weights=weights,
    )
    model.check_possible(data, result.lost, "" if labels is None else " in the state given")
    counts = cast(Counts, result.counts)
    if labels is not None:
        counts = counts._replace(emissions=labels.folded(counts.emissions))
    log_prob = result.log_prob
    return float(log_prob.sum() if weights is None else weights @ log_prob), counts


def encoded(model: HMM, data: Sequences | Partitioned) -> Sequences | Partitioned:
    """The data in the symbols of a model; parts have to have them."""
    if isinstance(data, Partitioned):
        return data.in_terms_of(model.vocabulary, model.n_symbols)
    return model.encode(data)


def log_likelihood(model: HMM, data: Sequences | Partitioned) -> float:
    """log P of all sequences."""
    return float(data.map_sum(_log_likelihood, model))


def _log_likelihood(data: Sequences, model: HMM) -> float:
    return model.log_likelihood(data)


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


@dataclass(frozen=True, eq=False)
class StationaryLikelihood:
    """A likelihood of evidence that begins anywhere in the chain: ``startprob`` is pi = pi A.

    Parameters
    ----------
    free : Likelihood
        The same, as a function of ``startprob`` too.
    """

    free: Likelihood

    def expected(self, model: HMM) -> Expected:
        """One pass over the evidence; starts are counted as the transitions that led to them.

        pi changes by pi dA Z, Z = (I - A + 1 pi')^-1: an expected start in j is worth
        pi_i A_ij (Z g)_j of the transitions i to j, g = starts / pi.
        """
        a, pi = model.transmat, prevalence_of(model)
        settled = HMM(pi, a, model.emissionprob, model.vocabulary)
        log_likelihood, (starts, transitions, emissions) = self.free.expected(settled)
        worth = np.linalg.solve((1 + RIDGE) * np.eye(len(pi)) - a + pi, starts / pi)
        worth -= min(worth.min(), 0.0)  # the same for all successors changes nothing: A sums to one
        led_there = pi[:, None] * a * worth
        return Expected(
            log_likelihood, Counts(np.zeros_like(pi), transitions + led_there, emissions)
        )


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

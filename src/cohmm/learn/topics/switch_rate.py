"""The chain of documents, with topics as they are: how often a topic is drawn anew, and the prior.

The prior of a document's topics is worth so many draws, shared as the corpus shares its topics.
Titles say little of their own, and lean on it; long articles need next to none.  Both numbers are
those under which documents are most probable, every word given those before it: not under a chain
that was fitted to them, since a document of five words fits anything.

Topics know the documents that they were learned from.  So documents are predicted by topics that
their own words were taken away from.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from cohmm.data.documents import Documents
from cohmm.kernels.documents import DocumentChain
from cohmm.kernels.types import Floats
from cohmm.learn.topics.sticky_em import (
    PRIOR_FLOOR,
    Counted,
    Data,
    expected_counts,
    prevalence_of,
)
from cohmm.model.sampling import generator
from cohmm.model.topic_model import floored, predicted

PRIOR_DRAWS = tuple(2.0**n for n in range(-1, 6))  # that are compared
LOG_ODDS = (-5.0, 5.0)  # of switching that are searched
LOG_ODDS_TOLERANCE = 0.05
FOLDS = 5
SMALL_CORPUS = 50_000  # words: all documents are predicted, each fold of them once
SAMPLE = 100_000  # words from which the rate of switching is learned
SETTLED = 1e-3  # change of the rate from pass to pass
MAX_PASSES = 50
FIRST_SWEEPS = 10  # of the first of them


class HeldOut(NamedTuple):
    """Documents, and topics to predict them by."""

    documents: Documents
    weights: Floats | None
    emission: Floats

    def log_likelihood(self, chain: DocumentChain) -> float:
        """Of all words, each given those before it, by these topics and the chain's parameters."""
        logs = predicted(self.documents, chain._replace(emission=self.emission))
        if self.weights is None:
            return float(logs.sum())
        return float(logs @ np.repeat(self.weights, self.documents.lengths))


class Trials(NamedTuple):
    """The chain that predicts best, and how well others do."""

    best: DocumentChain
    losses: dict[float, float]
    """Minus the log-likelihood, by how many draws the prior is worth."""


def best_chain(chain: DocumentChain, held_out: list[HeldOut]) -> DocumentChain:
    """The same topics, with the rate of switching and the prior that predict best."""
    return chain_trials(chain, held_out).best


def chain_trials(chain: DocumentChain, held_out: list[HeldOut]) -> Trials:
    """The same topics, with rates of switching and priors that were compared."""
    from scipy.optimize import minimize_scalar  # takes its time to import

    prevalence = prevalence_of(chain)

    def candidate(draws: float, odds: float) -> DocumentChain:
        prior = np.maximum(draws * prevalence, PRIOR_FLOOR)
        return chain._replace(switch=float(expit(odds)), prior=prior)

    @cache
    def loss(draws: float, odds: float) -> float:
        return -sum(some.log_likelihood(candidate(draws, odds)) for some in held_out)

    draws, odds, options = 1.0, 0.0, {"xatol": LOG_ODDS_TOLERANCE}
    for _ in range(2):

        def by_odds(x: float, draws: float = draws) -> float:
            return loss(draws, float(x))

        best = minimize_scalar(by_odds, bounds=LOG_ODDS, method="bounded", options=options)
        odds = float(best.x)
        losses = {n: loss(n, odds) for n in PRIOR_DRAWS}
        draws = min(losses, key=losses.__getitem__)
    return Trials(candidate(draws, odds), losses)


def fit_switch_rate(chain: DocumentChain, documents: Data, weights: Floats | None) -> DocumentChain:
    """The same topics, with the chain that predicts some of the documents best.

    They may know these: where a pass has been made over all of them, `leave_out_topics` is better.
    """
    return best_chain(chain, [HeldOut(*_sample(documents, weights), chain.emission)])


def leave_out_topics(
    documents: Data,
    weights: Floats | None,
    chain: DocumentChain,
    counted: Counted,
    smoothing: float,
) -> list[HeldOut]:
    """Some documents, with topics as a pass over all the others would have made them.

    ``counted`` is what the pass by ``chain`` expects of all documents.
    """
    n_words = int(documents.n_words)
    if n_words > SMALL_CORPUS:
        parts = [_sample(documents, weights, min(SAMPLE, n_words // FOLDS))]
    else:
        order = generator(0).permutation(len(documents))
        folds = [np.sort(fold) for fold in np.array_split(order, FOLDS) if len(fold)]
        parts = [_selected(documents, weights, fold) for fold in folds]
    held_out = []
    for part in parts:
        own = expected_counts(part[0], chain, part[1])
        rest = np.maximum(counted.words - own.words, 0.0)
        held_out.append(HeldOut(*part, floored(rest + smoothing)))
    return held_out


def settled_switch(documents: Data, chain: DocumentChain) -> float:
    """The rate of switching that EM finds for these topics, from some of the documents.

    The rate moves slowly from pass to pass: here M stays as it is, and passes are cheap.
    """
    some, _ = _sample(documents, None)
    proportions = np.repeat(prevalence_of(chain)[None], len(some), axis=0)
    sweeps = FIRST_SWEEPS  # documents first: while they have the corpus' topics, all keep theirs
    for _ in range(MAX_PASSES):
        counted = expected_counts(some, chain, None, sweeps=sweeps, proportions=proportions)
        done = abs(counted.switch - chain.switch) < SETTLED
        chain = chain._replace(switch=counted.switch)
        if done:
            break
        sweeps = 1
    return chain.switch


def _sample(
    documents: Data, weights: Floats | None, n_words: int = SAMPLE
) -> tuple[Documents, Floats | None]:
    among = True if weights is None else weights > 0
    return _selected(documents, weights, documents.some(n_words, among))


def _selected(
    documents: Data, weights: Floats | None, which: Any
) -> tuple[Documents, Floats | None]:
    return documents.select(which), None if weights is None else weights[which]

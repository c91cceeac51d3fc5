"""How documents are read, chosen by prediction: how often a topic is drawn anew, and the prior.

The prior of a document's topics is worth so many draws, shared as the corpus shares its topics.
Titles say little of their own, and lean on it; long articles need next to none.  Both numbers are
those under which documents are most probable, every word given those before it: not under a chain
that was fitted to them, since a document of five words fits anything.

Topics know the documents that they were learned from.  So documents are predicted by topics that
their own words were taken away from.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cohmm.data.documents import Documents
from cohmm.kernels.documents import DocumentChain, predict_words
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats
from cohmm.learn.topics.sticky_em import (
    LEAST,
    SAMPLE,
    Counted,
    Data,
    Topics,
    expected_counts,
    floored,
    parts_of,
)
from cohmm.model.sampling import generator

DRAWS = tuple(2.0**n for n in range(-1, 6))
ODDS = (-5.0, 5.0)  # logarithms of the odds of switching that are looked at
FINE = 0.05
FOLDS = 5
SMALL = 50_000  # words: all documents are predicted, each fold of them once


class Unread(NamedTuple):
    """Documents, and topics that do not know them."""

    documents: Documents
    weights: Floats | None
    emission: Floats


def with_chain_of(topics: Topics, unread: list[Unread]) -> Topics:
    """The same topics, with the rate of switching and the prior that predict best."""
    from scipy.optimize import minimize_scalar  # takes its time to import

    @cache
    def loss(draws: float, odds: float) -> float:
        chain = topics._replace(switch=float(expit(odds)), prior=_prior(topics, draws))
        return -sum(_log_likelihood(some, chain) for some in unread)

    draws, odds = 1.0, 0.0
    for _ in range(2):
        odds = float(
            minimize_scalar(
                lambda x, draws=draws: loss(draws, float(x)),
                bounds=ODDS,
                method="bounded",
                options={"xatol": FINE},
            ).x
        )
        draws = min(DRAWS, key=lambda n, odds=odds: loss(n, odds))  # type: ignore[misc]
    return topics._replace(switch=float(expit(odds)), prior=_prior(topics, draws))


def _prior(topics: Topics, draws: float) -> Floats:
    return np.maximum(draws * topics.prevalence, LEAST)


def _log_likelihood(some: Unread, chain: Topics) -> float:
    documents = some.documents
    logs = np.empty(documents.n_words)
    own = DocumentChain(some.emission, chain.prior, chain.switch)

    def task(first: int, last: int) -> None:
        predict_words(documents.symbols, documents.offsets, (first, last), own, logs)

    run(task, parts_of(documents))
    if some.weights is None:
        return float(logs.sum())
    return float(logs @ np.repeat(some.weights, documents.lengths))


def with_chain_that_suits(topics: Topics, documents: Data, weights: Floats | None) -> Topics:
    """The same topics, with the chain that predicts some of the documents best.

    They may know these: where a pass has been made over all of them, `unread_by` is better.
    """
    chosen = documents.some(SAMPLE, True if weights is None else weights > 0)
    some = documents.select(chosen)
    return with_chain_of(
        topics, [Unread(some, None if weights is None else weights[chosen], topics.emission)]
    )


def unread_by(
    documents: Data, weights: Floats | None, before: Topics, counted: Counted, smoothing: float
) -> list[Unread]:
    """Some documents, with topics as a pass over all the others would have made them.

    ``counted`` is what the pass with the topics ``before`` expects of all documents.
    """
    found = []
    for chosen in _chosen(documents, weights):
        some, weighing = documents.select(chosen), None if weights is None else weights[chosen]
        own = expected_counts(some, before, weighing)
        rest = np.maximum(counted.words - own.words, 0.0)
        found.append(Unread(some, weighing, floored(rest + smoothing)))
    return found


def _chosen(documents: Data, weights: Floats | None) -> list[Floats]:
    """Which documents are predicted together, by topics of the others."""
    n_words = int(documents.n_words)
    if n_words > SMALL:
        among = True if weights is None else weights > 0
        return [documents.some(min(SAMPLE, n_words // FOLDS), among)]
    order = generator(0).permutation(len(documents))
    return [np.sort(some) for some in np.array_split(order, FOLDS) if len(some)]

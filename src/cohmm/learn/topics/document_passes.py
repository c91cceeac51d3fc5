"""Passes over the documents: as many as documents that are held back do not mind.

Every pass of EM makes topics differ more, and suits them to the documents that it saw.  Long
articles gain by several; titles of five words are learned by heart, and one is too many by one.  So
some documents are held back, from the pairs as well, and predicted word by word after every pass.

    1. a pass over all documents, with topics that never saw those held back;
    2. without what the pass expects of these: topics that have still not seen them.  They predict
       them, with the chain that suits them best, and are what the next pass begins with;
    3. again, until that is worse than it was, by more than chance would have it.

The topics are those of the last pass that was no worse, with all documents in it.  Where several
numbers of passes predict alike, the largest is taken: topics then differ more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_documents
from cohmm.kernels.documents import DocumentChain
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Record
from cohmm.learn.topics.sticky_em import Data, expected_counts, prevalence_of, tempered_switch
from cohmm.learn.topics.switch_rate import HeldOut, Trials, chain_trials
from cohmm.learn.topics.topic_fit import Choices
from cohmm.model.topic_model import predicted

MIN_DOCUMENTS = 100  # a share of fewer says nothing
HELD_SHARE = 0.05
MAX_HELD_WORDS = 100_000
MAX_PASSES = 6


class HeldBack(NamedTuple):
    """Documents to choose by, and their weights."""

    documents: Documents
    weights: Floats | None

    @classmethod
    def of(cls, documents: Data, weights: Floats | None) -> HeldBack | None:
        """Some of the documents, always the same; None where they are too few."""
        some = 0 if len(documents) < MIN_DOCUMENTS else int(HELD_SHARE * documents.n_words)
        if not some:
            return None
        among = True if weights is None else weights > 0
        which = documents.some(min(some, MAX_HELD_WORDS), among)
        own = None if weights is None else weights[which]
        return cls(documents.select(which), own)

    def counts(self, like: Cooccurrence) -> Cooccurrence:
        """Their pairs, at the lags of others."""
        return count_documents(self.documents, like.lags, self.weights)

    def trials(self, chain: DocumentChain) -> Trials:
        """The chain by which topics predict them best."""
        return chain_trials(chain, [HeldOut(*self, chain.emission)])

    def losses(self, chain: DocumentChain) -> Floats:
        """Minus the log-likelihood of every document."""
        words = predicted(self.documents, chain)
        ends = np.append(0.0, np.cumsum(words))[self.documents.offsets]
        losses = -np.diff(ends)
        return losses if self.weights is None else losses * self.weights

    @property
    def sizes(self) -> Floats:
        """The words of every document, as its weight has them."""
        lengths = self.documents.lengths.astype(np.float64)
        return lengths if self.weights is None else lengths * self.weights


class Passed(NamedTuple):
    """Topics after some passes."""

    chain: DocumentChain
    """That of all documents."""
    trials: Trials
    """How those without the documents held back predict these."""
    losses: Floats
    """Of every document held back."""


def passes_by_held_back(
    documents: Data,
    weights: Floats | None,
    chain: DocumentChain,
    held_back: HeldBack,
    smoothing: float,
    record: Record,
    lags: dict[int, float],
) -> tuple[DocumentChain, Choices]:
    """Topics after as many passes as suit them: see the module."""
    draws, switch, sizes = float(chain.prior.sum()), chain.switch, held_back.sizes
    tried: list[Passed] = []
    while len(tried) < MAX_PASSES:
        # 1. a pass over all documents
        tempered = tempered_switch(chain)
        counted = expected_counts(documents, tempered, weights)
        own = expected_counts(held_back.documents, tempered, held_back.weights)
        # 2. topics of all, and of all but those held back
        rest = counted._replace(words=np.maximum(counted.words - own.words, 0.0))
        everything, chain = (
            some.maximized(smoothing, draws)._replace(switch=switch) for some in (counted, rest)
        )
        trials = held_back.trials(chain)
        tried.append(Passed(everything, trials, held_back.losses(trials.best)))
        record(len(tried), counted.objective)
        # 3. as long as that is no worse
        means, errors = _compared([one.losses for one in tried], sizes)
        if means[-1] > errors[-1]:
            break
    chosen = max(n for n, mean in enumerate(means) if mean <= errors[n])
    everything, trials, _ = tried[chosen]
    best = trials.best
    prior = best.prior.sum() * prevalence_of(everything)
    totals = np.array([one.losses.sum() for one in tried]) / sizes.sum()
    return everything._replace(switch=best.switch, prior=prior), Choices(
        n_documents=len(held_back.documents),
        n_words=held_back.documents.n_words,
        lags={lag: float(share) for lag, share in lags.items()},
        passes=chosen + 1,
        perplexities=tuple(np.exp(totals).tolist()),
        errors=tuple(errors.tolist()),
        prior=float(best.prior.sum()),
        by_prior={
            draws: float(np.exp(loss / sizes.sum())) for draws, loss in trials.losses.items()
        },
    )


def _compared(losses: list[Any], sizes: Floats) -> tuple[Floats, Floats]:
    """How much worse each is than the best, nats per word, and the standard error of that."""
    best = min(losses, key=lambda one: one.sum())
    means, errors = np.zeros(len(losses)), np.zeros(len(losses))
    n = len(sizes)
    for place, one in enumerate(losses):
        worse = one - best
        means[place] = worse.sum() / sizes.sum()
        squares = ((worse - means[place] * sizes) ** 2).sum()
        errors[place] = np.sqrt(squares * n / max(n - 1, 1)) / sizes.sum()
    return means, errors

"""EM over documents that are sticky chains, each with topic proportions of its own.

    x_1 ~ p_d;   x_{t+1} = x_t with probability 1 - switch, else drawn from p_d;   w_t ~ M[:, x_t]

A pass is O(K) per word (`cohmm.kernels.documents`).  `cohmm.learn.htmm` makes a pass or two
after it has learned from pairs; `gruber` makes many from random topics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.kernels import native
from cohmm.kernels.documents import DocumentChain
from cohmm.kernels.threads import run
from cohmm.kernels.types import Floats, Part
from cohmm.learn.learner import Callback, Record, learner
from cohmm.learn.topics.topic_fit import TopicFit, term_counts, topic_fit
from cohmm.model.sampling import generator
from cohmm.model.topic_model import floored, parts_of

Data = Documents | Partitioned

START_SWITCH = 0.5  # the rate of switching that learning begins with
TEMPERATURE = 0.4  # the power of the rate of switching while topics are learned
SWEEPS = 3  # of EM over a document, for its own proportions
PRIOR_MOVES = 1.0  # transitions from every topic
SMOOTHING = 0.01  # observations of every word in every topic
PRIOR_FLOOR = 1e-30  # pseudo-counts of a topic
MIN_SWITCH = 1e-6
GROUPS = (4, 16)  # of documents whose counts are summed apart: at least, at most
TABLE_ENTRIES = 2**26  # in the tables of all groups


def sticky_chain(m: Floats, prior: Any, switch: float) -> DocumentChain:
    """The state of EM: M, (V, K), scaled to one with nothing impossible, a prior, and a rate.

    The share of every topic in the corpus is the prior's, scaled to one.  A prior is worth one
    draw, unless documents say more: fewer than for a bag of words, since a sticky chain draws
    fewer topics than there are words.
    """
    return DocumentChain(floored(m), np.maximum(prior, PRIOR_FLOOR), switch)


def prevalence_of(chain: DocumentChain) -> Floats:
    """The share of every topic in the corpus, (K,)."""
    return np.asarray(chain.prior / chain.prior.sum())


def tempered_switch(chain: DocumentChain) -> DocumentChain:
    """The same chain, drawn anew more often, as passes that learn topics have it.

    A word's own say, which its neighbours would drown, gives topics that differ more.
    """
    return chain._replace(switch=chain.switch**TEMPERATURE)


def sticky_transitions(prevalence: Floats, switch: float) -> Floats:
    """(1 - switch) I + switch 1 pi': of documents that share topics as the corpus does."""
    a = (1 - switch) * np.eye(len(prevalence)) + switch * prevalence
    return np.asarray(a / a.sum(axis=1, keepdims=True))


class Counted(NamedTuple):
    """What a pass over documents expects to have happened."""

    words: Floats
    """How often each topic emitted each word, (V, K)."""
    switches: float
    transitions: float
    log_likelihood: float
    n_words: float

    @property
    def objective(self) -> float:
        """Minus the log-likelihood per word."""
        return -self.log_likelihood / max(self.n_words, 1.0)

    @property
    def switch(self) -> float:
        """The rate of switching."""
        if self.transitions <= 0:
            return START_SWITCH
        return float(np.clip(self.switches / self.transitions, MIN_SWITCH, 1.0))

    def maximized(self, smoothing: float, draws: float = 1.0) -> DocumentChain:
        """The M-step, with a prior of so many draws."""
        share = self.words.sum(axis=0)
        return sticky_chain(self.words + smoothing, draws * (share / share.sum()), self.switch)


def expected_counts(
    documents: Data,
    chain: DocumentChain,
    weights: Floats | None,
    *,
    sweeps: int = SWEEPS,
    proportions: Floats | None = None,
) -> Counted:
    """One pass over the documents: the E-step, with ``sweeps`` steps for every document's own.

    Documents begin at the prior, or at ``proportions``, (D, K), which are kept up to date.
    """
    counted: Counted = documents.map_sum(_counted, chain, weights, sweeps, proportions)
    return counted


def _counted(
    documents: Documents,
    chain: DocumentChain,
    weights: Floats | None,
    sweeps: int,
    proportions: Floats | None,
) -> Counted:
    weights = np.ones(len(documents)) if weights is None else weights

    def task(first: int, last: int) -> tuple[Floats, Floats]:
        words, totals = np.zeros(chain.emission.shape), np.zeros(4)
        if proportions is None:
            own = np.repeat(prevalence_of(chain)[None], last - first, axis=0)
        else:
            own = proportions[first:last]
        place = (documents.symbols, documents.offsets, (first, last))
        native.count_words(*place, weights, chain, sweeps, own, words, totals)
        return words, totals

    words, totals = np.zeros(chain.emission.shape), np.zeros(4)
    for more, also in run(task, _groups(documents, chain.emission.size)):
        words += more
        totals += also
    return Counted(words, *map(float, totals))


def _groups(documents: Documents, size: int) -> list[Part]:
    """Parts that each have a table of ``size`` numbers."""
    least, most = GROUPS
    return parts_of(documents, max(least, min(most, TABLE_ENTRIES // size)))


def corpus_transitions(documents: Data, chain: DocumentChain, weights: Floats | None) -> Floats:
    """From which topic to which the words go, as the documents' own chains expect it, (K, K).

    A topic that next to no word has goes on as in a document like the corpus.
    """
    moves = PRIOR_MOVES * sticky_transitions(prevalence_of(chain), chain.switch)
    moves = moves + expected_moves(documents, chain, weights)
    return np.asarray(moves / moves.sum(axis=1, keepdims=True))


def expected_moves(documents: Data, chain: DocumentChain, weights: Floats | None) -> Floats:
    """How often words are expected to go from which topic to which, (K, K)."""
    moves: Floats = documents.map_sum(_moves, chain, weights)
    return moves


def _moves(documents: Documents, chain: DocumentChain, weights: Floats | None) -> Floats:
    weights = np.ones(len(documents)) if weights is None else weights
    shape = (len(chain.prior), len(chain.prior))

    def task(first: int, last: int) -> Floats:
        moves = np.zeros(shape)
        place = (documents.symbols, documents.offsets, (first, last))
        native.count_moves(*place, weights, chain, SWEEPS, moves)
        return moves

    return np.asarray(sum(run(task, _groups(documents, len(chain.prior) ** 2)), np.zeros(shape)))


@learner
def gruber(
    documents: Documents,
    n_components: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
    smoothing: float = SMOOTHING,
    weights: Any = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> TopicFit:
    """Gruber's hidden topic Markov model (2007): EM over the documents alone, from a random start.

    Here the topic may change at every word; in Gruber's, at the borders of sentences, which lists
    of words do not have.

    Parameters
    ----------
    documents : Documents
        The corpus.
    n_components : int
        Number of topics.
    max_iter : int
        Passes over the documents, at most.
    tol : float
        Stop when a pass gains less log-likelihood per word than this, in nats.
    smoothing : float
        Pseudo-observations of every word that each topic is given at every pass.
    weights : array, (D,), optional
        One weight per document.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called with every pass; the objective is minus the log-likelihood per word.

    >>> words = ("corn", "gold", "ore", "wheat")
    >>> documents = Documents([1, 2, 1, 2, 0, 3, 3, 0, 0], [0, 2, 4, 6, 9], words)
    >>> gruber(documents, 2, random_state=0).components.round(1)
    array([[0.6, 0. , 0. , 0.4],
           [0. , 0.5, 0.5, 0. ]])
    """
    record = Record(callback)
    k = n_components
    term_counts(documents, k)  # for its complaints
    weights = documents.checked_weights(weights)
    frequency = np.bincount(documents.symbols, minlength=documents.n_symbols) + SMOOTHING
    noise = generator(random_state).exponential(size=(len(frequency), k))
    chain = sticky_chain(frequency[:, None] * noise, np.full(k, 1 / k), START_SWITCH)
    proportions = np.full((len(documents), k), 1 / k)
    converged = False
    for n_iter in range(1, max_iter + 1):
        counted = expected_counts(documents, chain, weights, sweeps=1, proportions=proportions)
        gain = record.gain(counted.objective)
        converged = gain < tol
        if gain < 0:  # priors, which the objective leaves out, have the last word
            break
        chain = counted.maximized(smoothing)
        record(n_iter, counted.objective)
        if converged:
            break
    return topic_fit(
        chain.emission.T,
        chain.prior,
        documents.vocabulary,
        prior=chain.prior,
        transitions=sticky_transitions(prevalence_of(chain), chain.switch),
        switch=chain.switch,
        name="HTMM (Gruber)",
        converged=converged,
        history=tuple(record.history),
        seconds=record.seconds,
        passes=tuple(record.history),
    )

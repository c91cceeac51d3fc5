"""Gruber's hidden topic Markov model (2007): sticky chains by EM over the documents alone.

The same E-step as the passes of `cohmm.learn.htmm`, from random topics and many times.  Here the
topic may change at every word; in Gruber's, at the borders of sentences, which word lists lack.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.data.documents import Documents
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Callback, Record, learner
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.sticky_em import (
    SMOOTHING,
    SWITCH,
    Topics,
    checked_weights,
    expected_counts,
    sticky_transitions,
)
from cohmm.learn.topics.topic_fit import term_counts
from cohmm.model.sampling import generator


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
) -> HTMMFit:
    """Learn topics and sticky chains by EM from a random start.

    Parameters
    ----------
    documents : Documents
        The corpus.
    n_components : int
        Number of topics.
    max_iter : int
        Passes over the documents, at most.
    tol : float
        Stop when a pass gains less log-likelihood than this a word, in nats.
    smoothing : float
        Pseudo-observations of every word that each topic is given at every pass.
    weights : array, (D,), optional
        One weight per document.
    random_state : int, optional
        Seed.
    callback : function of a `Progress`, optional
        Called with every pass; the objective is minus the log-likelihood of a word.

    >>> words = ("corn", "gold", "ore", "wheat")
    >>> documents = Documents([1, 2, 1, 2, 0, 3, 3, 0, 0], [0, 2, 4, 6, 9], words)
    >>> gruber(documents, 2, random_state=0).components.round(1)
    array([[0.6, 0. , 0. , 0.4],
           [0. , 0.5, 0.5, 0. ]])
    """
    record = Record(callback)
    term_counts(documents, n_components)  # for its complaints
    weighing = checked_weights(documents, weights)
    converged = False
    topics = _random(documents, n_components, random_state)
    own = np.full((len(documents), n_components), 1 / n_components)
    for n_iter in range(1, max_iter + 1):
        counted = expected_counts(documents, topics, weighing, sweeps=1, proportions=own)
        gain = record.gain(counted.objective)
        if gain < 0:  # priors, which the objective leaves out, have the last word
            converged = True
            break
        topics = counted.topics(smoothing)
        record(n_iter, counted.objective)
        if gain < tol:
            converged = True
            break
    return HTMMFit.of(
        topics,
        sticky_transitions(topics.prevalence, topics.switch),
        documents.vocabulary,
        name="HTMM (Gruber)",
        converged=converged,
        history=tuple(record.history),
        seconds=record.seconds,
        passes=tuple(record.history),
    )


def _random(documents: Documents, k: int, random_state: int | None) -> Topics:
    """Every word's frequency times an exponential number."""
    frequency = np.bincount(documents.symbols, minlength=documents.n_symbols) + SMOOTHING
    noise: Floats = generator(random_state).exponential(size=(len(frequency), k))
    return Topics.of(frequency[:, None] * noise, np.full(k, 1 / k), SWITCH)

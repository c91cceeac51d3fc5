"""Gruber's hidden topic Markov model (2007): sticky chains by EM over the documents alone.

The same E-step as the passes of `cohmm.learn.htmm`, from random topics and many times.  Here the
topic may change at every word; in Gruber's, at the borders of sentences, which word lists lack.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from cohmm.data.documents import Documents
from cohmm.kernels.compiled import Floats
from cohmm.learn.fit import Progress
from cohmm.learn.topics.htmm import (
    SMOOTHING,
    SWITCH,
    HTMMFit,
    Topics,
    chain_prior,
    checked_weights,
    expected_counts,
    sticky_transitions,
)
from cohmm.learn.topics.topic_fit import check_options, term_counts


def gruber(
    documents: Documents,
    n_components: int,
    *,
    max_iter: int = 100,
    tol: float = 1e-4,
    smoothing: float = SMOOTHING,
    weights: Any = None,
    random_state: int | None = None,
    callback: Callable[[Progress], None] | None = None,
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
        A weight a document.
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
    check_options(random_state, smoothing, max_iter=max_iter)
    if not 0 <= tol < np.inf:
        raise ValueError(f"tol must be finite and at least 0, not {tol}")
    began = time.perf_counter()
    term_counts(documents, n_components)  # for its complaints
    weighing = checked_weights(documents, weights)
    history: list[Progress] = []
    converged = False
    with threadpool_limits(1, "blas"):  # the same sums for any number of threads
        topics = _random(documents, n_components, random_state)
        own = np.full((len(documents), n_components), 1 / n_components)
        for n_iter in range(1, max_iter + 1):
            counted = expected_counts(documents, topics, weighing, sweeps=1, proportions=own)
            topics = counted.topics(smoothing)
            gain = history[-1].objective - counted.objective if history else np.inf
            history.append(counted.progress(n_iter, time.perf_counter() - began))
            if callback is not None:
                callback(history[-1])
            if gain < tol:
                converged = True
                break
    order = np.argsort(-topics.prevalence, kind="stable")
    prevalence = topics.prevalence[order]
    return HTMMFit(
        topics.emission.T[order],
        prevalence,
        chain_prior(prevalence),
        documents.vocabulary,
        name="HTMM (Gruber)",
        converged=converged,
        history=tuple(history),
        seconds=time.perf_counter() - began,
        transitions=sticky_transitions(prevalence, topics.switch),
        switch=topics.switch,
        passes=tuple(history),
    )


def _random(documents: Documents, k: int, random_state: int | None) -> Topics:
    """Every word's frequency times an exponential number."""
    frequency = np.bincount(documents.symbols, minlength=documents.n_symbols) + SMOOTHING
    noise: Floats = np.random.default_rng(random_state).exponential(size=(len(frequency), k))
    return Topics.of(frequency[:, None] * noise, np.full(k, 1 / k), SWITCH)

"""The value that a figure draws: a model, its tables, or arrays in place of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.diagnose.fit_summary import as_fitted_hmm, as_fitted_topics
from cohmm.kernels.types import Floats
from cohmm.learn.learner import Fit, prevalence_of
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm import HMM


class Table(NamedTuple):
    """Rows of probabilities, and what to call things."""

    values: Floats
    """P(symbol | state), (K, N), or P(next state | state), (K, K)."""
    prevalence: Floats | None = None
    """Of the states, (K,); of emissions, those of topics alone."""
    kind: str = "state"
    """"state" or "topic"."""
    names: tuple[str, ...] = ()
    """What the states are called; (): by their numbers."""
    vocabulary: tuple[Any, ...] = ()
    """The N symbols."""


def unwrap(model: Any) -> Any:
    """The value of an estimator or a fit: an `HMM`, a `TopicFit`, or ``model`` itself."""
    if (hmm := as_fitted_hmm(model)) is not None:
        return hmm.model_
    if (topics := as_fitted_topics(model)) is not None:
        return topics.fit_
    return model.model if isinstance(model, Fit) else model


def emissions_of(model: Any) -> Table:
    """The emissions of a model, or an array of them, (K, N).

    >>> emissions_of([[.5, .5, 0], [0, .5, .5]]).vocabulary
    (0, 1, 2)
    """
    model = unwrap(model)
    if isinstance(model, TopicFit):
        names = _names_of_topics(model)
        return Table(model.components, model.prevalence, "topic", names, model.vocabulary)
    if not isinstance(model, HMM):
        k = _rows(model, "emissions, (K, N)")
        model = HMM(np.full(k, 1 / k), np.eye(k), model)
    return Table(model.emissionprob, vocabulary=model.vocabulary or tuple(range(model.n_symbols)))


def transitions_of(model: Any) -> Table:
    """The transitions of a model, or an array of them, (K, K)."""
    model = unwrap(model)
    if isinstance(model, TopicFit):
        if model.chain == "independent":
            raise ValueError(f"{model!r} has no transitions: give an HTMM")
        return Table(model.transitions, model.prevalence, "topic", _names_of_topics(model))
    if not isinstance(model, HMM):
        k = _rows(model, "transitions, (K, K)")
        model = HMM(np.full(k, 1 / k), model, np.ones((k, 1)))
    return Table(model.transmat, prevalence_of(model))


def _names_of_topics(fit: TopicFit) -> tuple[str, ...]:
    """A label, or a number, of every topic; () where none has a label."""
    return tuple(str(k) if label is None else label for k, label in enumerate(fit.labels))


def _rows(array: Any, what: str) -> int:
    """The number of rows of a table, whose probabilities `HMM` checks."""
    if np.ndim(array) != 2 or not np.size(array):
        raise ValueError(f"give a fitted model or an array of {what}, not a {type(array).__name__}")
    return len(array)

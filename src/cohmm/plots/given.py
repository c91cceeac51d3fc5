"""What a picture is given: a model of any kind, or its arrays."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.fitted import as_fitted_hmm, as_fitted_topics
from cohmm.learn.learner import Fit, prevalence_of
from cohmm.learn.topics.htmm_fit import HTMMFit
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.model.hmm import HMM

ROUNDING = 1e-6
LEVEL = 0.9  # coverage of intervals


class Emissions(NamedTuple):
    """P(symbol | state), and what to call things."""

    values: Floats
    """(K, N)."""
    vocabulary: tuple[Any, ...]
    """The N symbols."""
    kind: str
    """"state" or "topic"."""
    prevalence: Floats | None = None
    """Of topics, (K,)."""
    names: tuple[str, ...] = ()
    """What the states are called; (): by their numbers."""

    @property
    def symbol(self) -> str:
        """What a symbol is called."""
        return "word" if self.kind == "topic" else "symbol"


class Transitions(NamedTuple):
    """P(next state | state)."""

    values: Floats
    """(K, K), from row to column."""
    prevalence: Floats
    """(K,)."""
    kind: str
    """"state" or "topic"."""
    names: tuple[str, ...] = ()
    """What the states are called; (): by their numbers."""


def unwrapped(model: Any) -> Any:
    """The value of an estimator or a fit: an `HMM`, a `TopicFit`, or what was given."""
    if (hmm := as_fitted_hmm(model)) is not None:
        return hmm.model_
    if (topics := as_fitted_topics(model)) is not None:
        return topics.fit_
    return model.model if isinstance(model, Fit) else model


def emissions_of(model: Any) -> Emissions:
    """The emissions of a model, or an array of them, (K, N).

    >>> emissions_of([[.5, .5, 0], [0, .5, .5]]).vocabulary
    (0, 1, 2)
    """
    model = unwrapped(model)
    if isinstance(model, HMM):
        labels = tuple(range(model.n_symbols)) if model.vocabulary is None else model.vocabulary
        return Emissions(model.emissionprob, labels, "state")
    if isinstance(model, TopicFit):
        return Emissions(
            model.components, model.vocabulary, "topic", model.prevalence, names_of_topics(model)
        )
    values = _probabilities(model, "emissions, (K, N)")
    return Emissions(values, tuple(range(values.shape[1])), "state")


def transitions_of(model: Any) -> Transitions:
    """The transitions of a model, or an array of them, (K, K)."""
    model = unwrapped(model)
    if isinstance(model, HMM):
        return Transitions(model.transmat, prevalence_of(model), "state")
    if isinstance(model, HTMMFit):
        return Transitions(model.transitions, model.prevalence, "topic", names_of_topics(model))
    if isinstance(model, TopicFit):
        raise ValueError(f"{model!r} has no transitions: give an HTMM")
    values = _probabilities(model, "transitions, (K, K)")
    k = len(values)
    if values.shape != (k, k):
        raise ValueError(f"transitions must be (K, K), not {values.shape}")
    chain = HMM(np.full(k, 1 / k), values, np.ones((k, 1)))
    return Transitions(values, prevalence_of(chain), "state")


def interval_of(errors: Any, values: Floats, names: tuple[str, str]) -> tuple[Floats, Floats]:
    """From where to where ``values`` may be, with 90 %, by errors of states or of topics.

    ``names`` are those of the table, of an HMM and of topics.
    """
    if not callable(getattr(errors, "interval", None)):
        raise ValueError(
            f"errors must be what model.standard_errors() gives, not a {type(errors).__name__}"
        )
    low, high = (
        next(getattr(end, name) for name in names if hasattr(end, name))
        for end in errors.interval(LEVEL)
    )
    if low.shape != values.shape:
        raise ValueError(
            f"errors are of a table {low.shape}, and the model has {values.shape}: give those of "
            "the same model"
        )
    return low, high


def names_of_topics(fit: TopicFit) -> tuple[str, ...]:
    """A label, or a number, of every topic; () where none has a label."""
    if not isinstance(fit, HTMMFit) or not fit.labels:
        return ()
    return tuple(str(k) if label is None else label for k, label in enumerate(fit.labels))


def _probabilities(given: Any, what: str) -> Floats:
    refused = f"give a fitted model or an array of {what}, not a {type(given).__name__}"
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(refused) from None
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{refused} of the shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        row, column = np.argwhere(~(np.isfinite(values) & (values >= 0)))[0]
        raise ValueError(f"row {row}, column {column} of the {what} is {values[row, column]}")
    off = np.abs(values.sum(axis=1) - 1)
    if off.max() > ROUNDING:
        row = int(off.argmax())
        raise ValueError(
            f"every row of the {what} must sum to one; row {row} sums to {values[row].sum():g}"
        )
    return np.asarray(values)

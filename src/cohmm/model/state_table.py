"""A table of states, or of topics: one row each, with what they emit most."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cohmm._html import html_table, more_than
from cohmm.kernels.types import Floats

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM
    from cohmm.model.topic_model import TopicModel

MAX_STATES = 20
TOP_SYMBOLS = 6
NEVER_LEFT = 1e-9  # the probability to leave a state that the chain stays in for good


class StateRow(NamedTuple):
    """What a table says of a state, as text."""

    share: str
    """How much of the data it has, or of a long sequence by the stationary law."""
    mean_run: str
    """For how many symbols it lasts, on average."""
    symbols: list[tuple[str, str]]
    """Its most probable symbols, and their probabilities."""


def state_rows(model: HMM, shares: Floats | None = None) -> list[StateRow]:
    """The first states of a model, with their ``shares`` of the data; default: the stationary law.

    >>> from cohmm import HMM
    >>> weather = HMM([1, 0], [[.9, .1], [.5, .5]], [[.7, .3], [.2, .8]], ["sun", "rain"])
    >>> state_rows(weather)[1]
    StateRow(share='16.7%', mean_run='2.0', symbols=[('rain', '0.80'), ('sun', '0.20')])
    """
    leaving = 1 - model.transmat.diagonal()
    shares = model.stationary() if shares is None else shares
    labels = model.vocabulary or range(model.n_symbols)
    return [
        StateRow(
            f"{shares[k]:.1%}",
            "for good" if leaving[k] < NEVER_LEFT else f"{1 / leaving[k]:.1f}",
            most_probable(model.emissionprob[k], labels),
        )
        for k in range(min(model.n_components, MAX_STATES))
    ]


def most_probable(probabilities: Floats, labels: Iterable[object]) -> list[tuple[str, str]]:
    """The most probable symbols, each in one line, and their probabilities."""
    names = list(labels)
    top = [n for n in np.argsort(-probabilities, kind="stable")[:TOP_SYMBOLS] if probabilities[n]]
    return [
        (" ".join(str(names[n]).split()) or repr(names[n]), f"{probabilities[n]:.2f}") for n in top
    ]


def states_as_html(model: HMM, title: str, shares: Floats | None = None) -> str:
    """A table of states for a notebook, with their ``shares`` of the data where those are known."""
    rows = [
        (k, row.share, row.mean_run, "  ".join(map(" ".join, row.symbols)))
        for k, row in enumerate(state_rows(model, shares))
    ]
    share = "stationary share" if shares is None else "share"
    columns = ["state", share, "mean run", "most probable symbols"]
    return html_table(title, columns, rows, more_than(len(rows), model.n_components, "states"))


def topics_as_html(model: TopicModel, title: str) -> str:
    """A table of topics for a notebook; a label stands before the words."""
    rows = []
    for k, label in enumerate(model.all_labels[:MAX_STATES]):
        words = " ".join(word for word, _ in most_probable(model.components[k], model.vocabulary))
        name = words if label is None else f"{label}: {words}"
        rows.append((k, f"{model.prevalence[k]:.1%}", name))
    columns = ["topic", "share", "most probable words"]
    return html_table(title, columns, rows, more_than(len(rows), model.n_components, "topics"))

"""What a report shows, as plain values: numbers, strings and lists, ready to be JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Item:
    """A line of the summary."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Trace:
    """How the objective went: its value after so many passes."""

    name: str
    passes: list[int]
    values: list[float]


@dataclass(frozen=True)
class Topic:
    """A topic, or a state.

    ``words`` are places in `Report.vocabulary`, and ``probabilities`` theirs in this topic: all
    that can be among the top words at any relevance.  ``run`` is the expected number of words
    until the topic ends; None: it never does.  ``contrast`` is how much its share varies between
    documents.  From ``low`` to ``high`` the probabilities may be; empty where that is not known.
    """

    prevalence: float
    stay: float
    run: float | None
    coherence: float | None
    contrast: float | None
    words: list[int]
    probabilities: list[float]
    low: list[float]
    high: list[float]


@dataclass(frozen=True)
class Trust:
    """How far the fit can be trusted: lines of a diagnosis, and what to do next, in order."""

    lines: list[Item]
    advice: list[str]


@dataclass(frozen=True)
class Text:
    """A document, or a piece of a sequence, read in three ways.

    Parameters
    ----------
    number : int
        Which of all documents it is.
    name : str
        Where it came from.
    length : int
        How many words it has, of which those in the lists below are the first.
    words : list of int
        Places in `Report.vocabulary`; -1: the observation is missing.
    text : str or None
        The text that the words are from, where there is one.
    spans : list of int
        Of ``text``: how many UTF-16 units lie before the first word, how many it has, how many
        lie before the second ...
    path, path_p : list of int
        The topics of the most probable path, and their posteriors in percent.
    best, best_p : list of int
        The most probable topic of each word by itself, and its posterior in percent.
    bag : list of int
        The topics by a model that knows nothing of order.
    shares : list of [topic, share]
        The topics that have a part in it, the largest first.
    """

    number: int
    name: str
    length: int
    words: list[int]
    text: str | None
    spans: list[int]
    path: list[int]
    path_p: list[int]
    best: list[int]
    best_p: list[int]
    bag: list[int]
    shares: list[list[float]]


@dataclass(frozen=True)
class Over:
    """Topics over time, or by class: lists of G groups, and those of K topics of G values.

    ``period`` is None where groups are classes; a value is None where there is none.
    """

    groups: list[str]
    period: str | None
    level: float
    documents: list[int]
    words: list[int]
    share: list[list[float | None]]
    share_low: list[list[float | None]]
    share_high: list[list[float | None]]
    run: list[list[float | None]]
    run_low: list[list[float | None]]
    run_high: list[list[float | None]]


@dataclass(frozen=True)
class Report:
    """All that a page shows.

    ``flow`` says where the transitions are from.  ``order`` is that of the topics in which
    neighbours follow one another, and ``threshold`` the probability below which the graph hides
    an edge at first.  ``overall`` are the probabilities of the words of ``vocabulary`` in the
    corpus.  ``key`` tells models apart; ``labels`` are those that a reader gave, by the numbers
    of topics.  ``level`` is the coverage of all intervals, and ``transitions_low`` and
    ``transitions_high`` are those of the transitions; empty where they are not known.
    """

    kind: str
    title: str
    key: str
    labels: dict[str, str]
    version: str
    summary: list[Item]
    traces: list[Trace]
    topics: list[Topic]
    vocabulary: list[str]
    overall: list[float]
    transitions: list[list[float]]
    transitions_low: list[list[float]]
    transitions_high: list[list[float]]
    level: float
    order: list[int]
    threshold: float
    colours: int
    n_texts: int
    cap: str
    flow: str
    texts: list[Text]
    over: Over | None
    trust: Trust | None

    @property
    def has_intervals(self) -> bool:
        """Whether it is known how sure the probabilities of words are."""
        return any(topic.low for topic in self.topics)

    @property
    def has_contrast(self) -> bool:
        """Whether topics can be told apart by their contrast."""
        return any(topic.contrast is not None for topic in self.topics)

    def as_json(self) -> dict[str, Any]:
        """For the page."""
        many = ("summary", "traces", "topics", "texts")
        lists = {name: [vars(item) for item in getattr(self, name)] for name in many}
        over = None if self.over is None else vars(self.over)
        trust = None if self.trust is None else _trust_json(self.trust)
        return vars(self) | lists | {"over": over, "trust": trust}


def _trust_json(trust: Trust) -> dict[str, Any]:
    return {"lines": [vars(item) for item in trust.lines], "advice": trust.advice}

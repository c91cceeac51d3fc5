"""What a report is made from, arrays, and what its page shows: plain values, ready to be JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cohmm.diagnose.diagnosis import Diagnosis
from cohmm.diagnose.format import Finding
from cohmm.kernels.types import Floats, Ints
from cohmm.topics.over_time import TopicsOver


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


class Trust(NamedTuple):
    """How far a fit can be trusted."""

    findings: tuple[Finding, ...]
    """The lines of its diagnosis."""
    advice: tuple[str, ...]
    """What to do next, in order."""
    components: tuple[Floats, Floats] | None = None
    """Ends of the intervals of P(word | topic), (K, V) each; None where errors are not known."""
    transitions: tuple[Floats, Floats] | None = None
    """Ends of those of the transitions, (K, K) each."""

    @classmethod
    def of(
        cls, diagnosis: Diagnosis, intervals: str, undetermined: Iterable[str] = (), **tables: Any
    ) -> Trust:
        """Findings of a diagnosis, among them what is said of intervals, before what is missing."""
        more = [Finding("intervals", intervals)]
        more += [Finding("not determined", change) for change in undetermined]
        findings = list(diagnosis.findings)
        end = len(findings) - len(diagnosis.missing)
        return cls((*findings[:end], *more, *findings[end:]), diagnosis.advice, **tables)


@dataclass(frozen=True, eq=False)
class Reading:
    """One document, read in three ways; arrays are (L,)."""

    number: int
    name: str
    length: int
    symbols: Ints
    path: Ints
    path_p: Floats
    best: Ints
    best_p: Floats
    bag: Ints
    shares: Floats
    text: str | None = None
    spans: tuple[tuple[int, int], ...] = ()
    """Where the words are in ``text``: begin and end."""


@dataclass(frozen=True, eq=False)
class Material:
    """What a report is made from.

    Parameters
    ----------
    kind : "topics" or "states"
        What the rows of ``components`` are called.
    components : array, (K, V)
        P(word | topic).
    prevalence, transitions : array, (K,) and (K, K)
        The share of every topic, and from which to which the words go.
    vocabulary : tuple
        What the columns are called.
    coherence : array (K,) or None
        Of every topic.
    n_texts : int
        How many documents there are, of which ``readings`` has some.
    cap : str
        A sentence that says which.
    labels : dict
        Labels of topics, by their numbers, that a reader gave them.
    flow : str
        A sentence that says where ``transitions`` are from.
    contrast : array (K,) or None
        Of every topic, between documents.
    over : TopicsOver or None
        Topics over time, or by class.
    trust : Trust or None
        How far the fit can be trusted, with intervals.
    """

    kind: Literal["topics", "states"]
    title: str
    components: Floats
    prevalence: Floats
    transitions: Floats
    vocabulary: tuple[Any, ...]
    summary: tuple[Item, ...] = ()
    traces: tuple[Trace, ...] = ()
    coherence: Floats | None = None
    n_texts: int = 0
    cap: str = ""
    readings: tuple[Reading, ...] = field(default=(), repr=False)
    labels: dict[int, str] = field(default_factory=dict)
    flow: str = ""
    contrast: Floats | None = None
    over: TopicsOver | None = None
    trust: Trust | None = None


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
class TrustSection:
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
    trust: TrustSection | None

    @property
    def has_intervals(self) -> bool:
        """Whether it is known how sure the probabilities of words are."""
        return any(topic.low for topic in self.topics)

    @property
    def has_contrast(self) -> bool:
        """Whether topics can be told apart by their contrast."""
        return any(topic.contrast is not None for topic in self.topics)

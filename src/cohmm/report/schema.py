"""What a report is made from: arrays, which `cohmm.report.prepare` makes the values of a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from cohmm.diagnose.diagnosis import Diagnosis
from cohmm.diagnose.format import Finding
from cohmm.kernels.types import Floats, Ints
from cohmm.report.plain_words import Light, in_plain_words
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
    lights: tuple[Light, ...] = ()
    """The same in plain words."""

    @classmethod
    def of(
        cls, diagnosis: Diagnosis, intervals: str, undetermined: Iterable[str] = (), **tables: Any
    ) -> Trust:
        """Findings of a diagnosis, among them what is said of intervals, before what is missing."""
        more = [Finding("intervals", intervals)]
        more += [Finding("not determined", change) for change in undetermined]
        findings = list(diagnosis.findings)
        end = len(findings) - len(diagnosis.missing)
        lights = in_plain_words(diagnosis, tables.get("components"))
        findings = [*findings[:end], *more, *findings[end:]]
        return cls(tuple(findings), diagnosis.advice, **tables, lights=lights)


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
    runs : array (K,) or None
        The mean run of every topic in decoded documents; None: as its chain expects it.
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
    about : str
        What the model is of, in a sentence or two, for the first screen.
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
    runs: Floats | None = None
    n_texts: int = 0
    cap: str = ""
    readings: tuple[Reading, ...] = field(default=(), repr=False)
    labels: dict[int, str] = field(default_factory=dict)
    flow: str = ""
    contrast: Floats | None = None
    over: TopicsOver | None = None
    trust: Trust | None = None
    about: str = ""

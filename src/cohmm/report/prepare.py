"""From the arrays of a model, and of documents read by it, to the plain values of a report."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cohmm.kernels.types import Floats, Ints
from cohmm.model.seriation import first_threshold, seriated
from cohmm.report.colours import N_COLOURS
from cohmm.report.draw import MOST_WORDS
from cohmm.report.relevance import candidates
from cohmm.report.trust import LEVEL, Certain
from cohmm.report.values import Item, Over, Report, Text, Topic, Trace, Trust
from cohmm.topics.over_time import TopicsOver
from cohmm.version import __version__

N_TEXTS = 400
MOST_BYTES = 10_000  # of a text
LEAST_BYTES = 500
BYTES_IN_ALL = 2_000_000
LONGEST_WORD = 300  # characters
LEAST_SHARE = 0.005
MISSING = -1


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
    trust : Certain or None
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
    trust: Certain | None = None


def prepare_report(material: Material) -> Report:
    """The values that a page shows.

    >>> k = Material("states", "Weather", np.eye(2), np.array([.5, .5]),
    ...              np.array([[.9, .1], [.1, .9]]), ("sun", "rain"))
    >>> [topic.run for topic in prepare_report(k).topics]
    [10.0, 10.0]
    """
    overall = material.prevalence @ material.components
    words = candidates(material.components, overall)
    used = [*words, *(reading.symbols for reading in material.readings)]
    codes = np.unique(np.concatenate([part[part >= 0] for part in used]))
    codes = codes[np.argsort(-overall[codes], kind="stable")]  # short numbers for frequent words
    place = np.full(len(overall) + 1, MISSING)
    place[codes] = np.arange(len(codes))  # the last is for what is missing: symbol -1
    room = room_for(len(material.readings))
    return Report(
        kind=material.kind,
        title=_clean(material.title),
        key=model_key(material.components),
        labels={str(k): _clean(label) for k, label in material.labels.items()},
        version=__version__,
        summary=[Item(item.name, _clean(item.value), item.note) for item in material.summary],
        traces=list(material.traces),
        topics=[_topic(material, k, words[k], place) for k in range(len(words))],
        vocabulary=[_word(material.vocabulary[code]) for code in codes.tolist()],
        overall=rounded(overall[codes]),
        transitions=[rounded(row) for row in material.transitions],
        transitions_low=_rows(material.trust, "transitions", 0),
        transitions_high=_rows(material.trust, "transitions", 1),
        level=LEVEL,
        order=seriated(material.transitions, material.prevalence),
        threshold=_round(first_threshold(material.transitions)),
        colours=N_COLOURS,
        n_texts=material.n_texts,
        cap=material.cap,
        flow=material.flow,
        texts=[_text(reading, place, room) for reading in material.readings],
        over=None if material.over is None else _over(material.over),
        trust=None if material.trust is None else _trust(material.trust),
    )


def _trust(trust: Certain) -> Trust:
    lines = [Item(_capital(name), _clean(text)) for name, text in trust.lines]
    return Trust(lines, [_capital(_clean(line)) for line in trust.advice])


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _rows(trust: Certain | None, name: str, end: int) -> list[list[float]]:
    between = None if trust is None else getattr(trust, name)
    return [] if between is None else [rounded(row) for row in between[end]]


def _over(over: TopicsOver) -> Over:
    def by_topic(values: Floats) -> list[list[float | None]]:
        return [[_known(value) for value in column] for column in values.T.tolist()]

    return Over(
        groups=[_word(group) for group in over.groups],
        period=over.period,
        level=over.level,
        documents=over.documents.tolist(),
        words=over.words.tolist(),
        share=by_topic(over.share),
        share_low=by_topic(over.share_low),
        share_high=by_topic(over.share_high),
        run=by_topic(over.run),
        run_low=by_topic(over.run_low),
        run_high=by_topic(over.run_high),
    )


def _known(value: float) -> float | None:
    """Four digits, or None where there is no number."""
    return None if value != value else _round(value)


def _topic(material: Material, k: int, words: Ints, place: Ints) -> Topic:
    stay = float(material.transitions[k, k])
    between = None if material.trust is None else material.trust.components
    low, high = ([], []) if between is None else (rounded(end[k, words]) for end in between)
    return Topic(
        prevalence=_round(float(material.prevalence[k])),
        stay=_round(stay),
        run=_round(1 / (1 - stay)) if stay < 1 else None,
        coherence=None if material.coherence is None else _round(float(material.coherence[k])),
        contrast=None if material.contrast is None else _known(float(material.contrast[k])),
        words=place[words].tolist(),
        probabilities=rounded(material.components[k, words]),
        low=low,
        high=high,
    )


def _text(reading: Reading, place: Ints, room: int) -> Text:
    n = min(len(reading.symbols), MOST_WORDS)
    text: str | None = None
    spans: list[int] = []
    if reading.text is not None:
        text, spans = _cut(reading.text, reading.spans[:n], n == reading.length, room)
        n = len(spans) // 2
    largest = np.argsort(-reading.shares, kind="stable")
    return Text(
        number=reading.number,
        name=_clean(reading.name),
        length=reading.length,
        words=place[reading.symbols[:n]].tolist(),
        text=text,
        spans=spans,
        path=reading.path[:n].tolist(),
        path_p=_percent(reading.path_p[:n]),
        best=reading.best[:n].tolist(),
        best_p=_percent(reading.best_p[:n]),
        bag=reading.bag[:n].tolist(),
        shares=[
            [int(k), round(float(reading.shares[k]), 4)]
            for k in largest
            if reading.shares[k] >= LEAST_SHARE
        ],
    )


def _cut(
    text: str, spans: tuple[tuple[int, int], ...], whole: bool, room: int
) -> tuple[str, list[int]]:
    """As much of a text as there is room for, and the lengths of what is between and in words."""
    text = _clean(text[: room + 1])  # beyond it nothing fits, as a character has a byte at least
    lengths: list[int] = []
    at = 0
    for begin, end in spans:
        room -= len(text[at:end].encode())
        if room < 0 or end > len(text):
            return text[:at], lengths
        lengths += [_units(text[at:begin]), _units(text[begin:end])]
        at = end
    fits = len(text[at:].encode()) <= room
    return (text if whole and fits else text[:at]), lengths


def room_for(n_texts: int) -> int:
    """How many bytes of each text there is room for, where so many are shown.

    >>> room_for(10), room_for(400)
    (10000, 5000)
    """
    return max(LEAST_BYTES, min(MOST_BYTES, BYTES_IN_ALL // max(n_texts, 1)))


def _units(text: str) -> int:
    """The length of a string in a browser, which counts UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def _word(label: Any) -> str:
    text = str(label)
    return _clean(text[:LONGEST_WORD]) + ("…" if len(text) > LONGEST_WORD else "")


def _clean(text: str) -> str:
    """Without lone surrogates, which no file can hold."""
    if text.isascii():
        return text
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def rounded(values: Any) -> list[float]:
    """Four digits each: what a page can show."""
    return [_round(value) for value in np.asarray(values, np.float64).tolist()]


def _round(value: float) -> float:
    return float(f"{value:.4g}")


def _percent(values: Floats) -> list[int]:
    return [int(value) for value in np.rint(100 * values)]


def model_key(components: Floats) -> str:
    """Tells this model from others, so that each keeps its own labels."""
    return hashlib.sha256(np.ascontiguousarray(components).tobytes()).hexdigest()[:16]


def cap_sentence(n_texts: int, shown: int, texts: str, words: str) -> str:
    """What of the data the page has.

    >>> cap_sentence(20_000, 400, "documents", "words")
    '400 of 20,000 documents are shown, drawn at random; of each at most 1,000 words or 5 kB.'
    """
    which = (
        f"All {n_texts:,} {texts} are shown"
        if shown == n_texts
        else f"{shown:,} of {n_texts:,} {texts} are shown, drawn at random"
    )
    return f"{which}; of each at most {MOST_WORDS:,} {words} or {room_for(shown) / 1000:g} kB."

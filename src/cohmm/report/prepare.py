"""From the arrays of a model, and of documents read by it, to the plain values of a page."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from cohmm._validation import is_whole
from cohmm.diagnose.diagnosis import Diagnosis
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import Progress
from cohmm.model.markov_chain import first_threshold, seriated
from cohmm.report.colours import PALETTE
from cohmm.report.render import write
from cohmm.report.schema import Item, Material, Reading, Trace, Trust
from cohmm.topics.over_time import TopicsOver
from cohmm.version import __version__

N_TEXTS = 400  # that are shown, unless others are asked for
MAX_WORDS = 1000  # of a text
MAX_TOTAL_WORDS = 100_000  # about 3 MB
MAX_BYTES = 10_000  # of a text
MIN_BYTES = 500
MAX_TOTAL_BYTES = 2_000_000
MAX_WORD_LENGTH = 300  # characters
MIN_SHARE = 0.005
MISSING = -1
LEVEL = 0.9  # coverage of the intervals
RELEVANCE_STEPS = 10  # of the slider from 0 to 1
N_TOP_WORDS = 15
GLANCE_WORDS = 3  # that stand for a topic which has no label
TELLING = 0.5  # the relevance by which words tell topics apart: core.js has it too
MAX_STEPS = 400  # of a history


def write_report(
    material: Material, path: str | os.PathLike[str], title: str | None, command: str | None
) -> None:
    """Prepare and write a page with this title; its summary says what was typed."""
    typed = [Item("Command", command)] if command else []
    summary = (*material.summary, Item("cohmm", __version__), *typed)
    material = replace(material, title=title or material.title, summary=summary)
    write(prepare_report(material), path)


def prepare_report(material: Material) -> dict[str, Any]:
    """The values that a page shows, ready to be JSON.

    ``vocabulary`` has the words that the page needs, and words are places in it; -1 is a missing
    observation.  ``overall`` are their probabilities in the corpus.  ``order`` is that of the
    topics in which neighbours follow one another, and ``threshold`` the probability below which
    the graph hides an edge at first.  ``key`` tells models apart; ``labels`` are those that a
    reader gave, by the numbers of topics.  ``level`` is the coverage of all intervals.

    >>> k = Material("states", "Weather", np.eye(2), np.array([.5, .5]),
    ...              np.array([[.9, .1], [.1, .9]]), ("sun", "rain"))
    >>> [topic["run"] for topic in prepare_report(k)["topics"]]
    [10.0, 10.0]
    """
    overall = material.prevalence @ material.components
    words = relevant_words(material.components, overall)
    used = [*words, *(reading.symbols for reading in material.readings)]
    codes = np.unique(np.concatenate([part[part >= 0] for part in used]))
    codes = codes[np.argsort(-overall[codes], kind="stable")]  # short numbers for frequent words
    place = np.full(len(overall) + 1, MISSING)
    place[codes] = np.arange(len(codes))  # the last is for what is missing: symbol -1
    room = room_for(len(material.readings))
    ends = None if material.trust is None else material.trust.transitions
    low, high = [[rounded(row) for row in end] for end in ends] if ends else ([], [])
    return {
        "kind": material.kind,
        "title": _clean(material.title),
        "key": model_key(material.components),
        "labels": {str(k): _clean(label) for k, label in material.labels.items()},
        "version": __version__,
        "about": _clean(material.about),
        "glance": _glance(material, words, overall),
        "summary": [Item(item.name, _clean(item.value), item.note) for item in material.summary],
        "traces": material.traces,
        "topics": [_topic(material, k, words[k], place) for k in range(len(words))],
        "vocabulary": [_word(material.vocabulary[code]) for code in codes.tolist()],
        "overall": rounded(overall[codes]),
        "transitions": [rounded(row) for row in material.transitions],
        "transitions_low": low,
        "transitions_high": high,
        "level": LEVEL,
        "order": seriated(material.transitions, material.prevalence),
        "threshold": _round(first_threshold(material.transitions)),
        "colours": len(PALETTE),
        "n_texts": material.n_texts,
        "cap": material.cap,
        "flow": material.flow,
        "texts": [_text(reading, place, room) for reading in material.readings],
        "over": None if material.over is None else _over(material.over),
        "trust": None if material.trust is None else _trust(material.trust),
    }


def _glance(material: Material, words: list[Ints], overall: Floats) -> list[dict[str, Any]]:
    """The topics for the first screen: the largest first, each with a label or three words."""
    shown = []
    for k in np.argsort(-material.prevalence, kind="stable").tolist():
        p = material.components[k, words[k]]
        relevance = np.log(p) - (1 - TELLING) * np.log(overall[words[k]])
        top = words[k][np.argsort(-relevance, kind="stable")[:GLANCE_WORDS]]
        names = ", ".join(_word(material.vocabulary[code]) for code in top.tolist())
        name = _clean(material.labels.get(k, "")) or names
        shown.append({"topic": k, "name": name, "share": _round(float(material.prevalence[k]))})
    return shown


def _trust(trust: Trust) -> dict[str, Any]:
    """What is said in plain words, the lines of the diagnosis, and what to do next, in order."""
    return {
        "lights": [light._asdict() for light in trust.lights],
        "lines": [Item(_capital(name), _clean(text)) for name, text in trust.findings],
        "advice": [_capital(_clean(line)) for line in trust.advice],
    }


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _over(over: TopicsOver) -> dict[str, Any]:
    """Topics over time, or by class: lists of G groups, and those of K topics of G values.

    ``period`` is None where groups are classes; a value is None where there is none.
    """
    intervals = {
        f"{name}{end}": [_known(column) for column in getattr(over, name + end).T]
        for name in ("share", "run")
        for end in ("", "_low", "_high")
    }
    return {
        "groups": [_word(group) for group in over.groups],
        "period": over.period,
        "level": over.level,
        "documents": over.documents.tolist(),
        "words": over.words.tolist(),
        **intervals,
    }


def _known(values: Floats) -> list[float | None]:
    """Four digits each, or None where there is no number."""
    return [None if value != value else value for value in rounded(values)]


def _topic(material: Material, k: int, words: Ints, place: Ints) -> dict[str, Any]:
    """A topic, or a state; ``words`` are all that can be among the top words at any relevance.

    ``run`` is its mean run, in words; None: it never ends.  From
    ``low`` to ``high`` the probabilities may be; both are empty where that is not known.
    """
    stay = float(material.transitions[k, k])
    between = None if material.trust is None else material.trust.components
    low, high = ([], []) if between is None else (rounded(end[k, words]) for end in between)
    return {
        "prevalence": _round(float(material.prevalence[k])),
        "stay": _round(stay),
        "run": _run(material, k),
        "coherence": None if material.coherence is None else _round(float(material.coherence[k])),
        "contrast": None if material.contrast is None else _known(material.contrast[k : k + 1])[0],
        "words": place[words].tolist(),
        "probabilities": rounded(material.components[k, words]),
        "low": low,
        "high": high,
    }


def _run(material: Material, k: int) -> float | None:
    """The mean run of a topic in decoded documents, or as its chain expects it."""
    if material.runs is not None:
        return _round(float(material.runs[k]))
    stay = float(material.transitions[k, k])
    return _round(1 / (1 - stay)) if stay < 1 else None


def _text(reading: Reading, place: Ints, room: int) -> dict[str, Any]:
    """A document, or a piece of a sequence; of its ``length`` words the lists have the first.

    ``spans`` says how many UTF-16 units of ``text`` lie before the first word, how many it has, how
    many lie before the second, and so on.  Posteriors are whole percents; ``shares`` are pairs of a
    topic and its share, the largest first.
    """
    n = min(len(reading.symbols), MAX_WORDS)
    text: str | None = None
    spans: list[int] = []
    if reading.text is not None:
        text, spans = _cut(reading.text, reading.spans[:n], n == reading.length, room)
        n = len(spans) // 2
    shares = sorted(enumerate(reading.shares.tolist()), key=lambda one: -one[1])
    return {
        "number": reading.number,
        "name": _clean(reading.name),
        "length": reading.length,
        "words": place[reading.symbols[:n]].tolist(),
        "text": text,
        "spans": spans,
        "path": reading.path[:n].tolist(),
        "path_p": _percents(reading.path_p[:n]),
        "best": reading.best[:n].tolist(),
        "best_p": _percents(reading.best_p[:n]),
        "bag": reading.bag[:n].tolist(),
        "shares": [[k, round(p, 4)] for k, p in shares if p >= MIN_SHARE],
    }


def _percents(probabilities: Floats) -> list[int]:
    percents: list[int] = np.rint(100 * probabilities).astype(int).tolist()
    return percents


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
    return max(MIN_BYTES, min(MAX_BYTES, MAX_TOTAL_BYTES // max(n_texts, 1)))


def _units(text: str) -> int:
    """The length of a string in a browser, which counts UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def _word(label: Any) -> str:
    text = str(label)
    return _clean(text[:MAX_WORD_LENGTH]) + ("…" if len(text) > MAX_WORD_LENGTH else "")


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


def model_key(components: Floats) -> str:
    """Tells this model from others, so that each keeps its own labels."""
    return hashlib.sha256(np.ascontiguousarray(components).tobytes()).hexdigest()[:16]


def cap_sentence(n_texts: int, shown: int, texts: str, words: str) -> str:
    """What of the data the page has.

    >>> cap_sentence(20_000, 400, "documents", "words")
    '400 of 20,000 documents are shown, drawn at random; of each at most 1,000 words or 5 kB.'
    """
    which = f"{shown:,} of {n_texts:,} {texts} are shown, drawn at random"
    if shown == n_texts:
        which = f"All {n_texts:,} {texts} are shown"
    return f"{which}; of each at most {MAX_WORDS:,} {words} or {room_for(shown) / 1000:g} kB."


def relevant_words(components: Floats, overall: Floats) -> list[Ints]:
    """Of every topic the words that are among its most relevant ones at a step of the slider.

    relevance(w, k) = l log p(w | k) + (1 - l) log(p(w | k) / p(w))      (Sievert, Shirley 2014)

    The most probable come first; a word that the topic never has is none of its own.

    >>> components = np.array([[.6, .4, 0], [.5, 0, .5]])
    >>> [codes.tolist() for codes in relevant_words(components, np.array([.55, .2, .25]))]
    [[0, 1], [0, 2]]
    """
    n = min(N_TOP_WORDS, components.shape[1])
    by_topic = []
    for row in components:
        possible = np.flatnonzero(row > 0)
        log_p = np.log(row[possible])
        lift = log_p - np.log(overall[possible])
        taken = set()
        for step in range(RELEVANCE_STEPS + 1):
            # Rounded, since words in the same number have relevances that differ by rounding.
            share = step / RELEVANCE_STEPS
            values = np.round(share * log_p + (1 - share) * lift, 9)
            threshold = np.partition(values, -n)[-n] if n < len(values) else -np.inf
            top = np.flatnonzero(values >= threshold)  # of equal ones the first n are taken
            taken.update(top[np.argsort(-values[top], kind="stable")[:n]].tolist())
        chosen = possible[sorted(taken)]
        by_topic.append(chosen[np.argsort(-row[chosen], kind="stable")])
    return by_topic


def number(value: float) -> str:
    """Four digits, and no more zeros than are needed.

    >>> number(1234.567), number(-0.000123456)
    ('1,235', '-0.0001235')
    """
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def traces(histories: dict[str, tuple[Progress, ...]]) -> tuple[Trace, ...]:
    """Histories of two steps or more; long ones are thinned out, but for their last step."""
    thinned = []
    for name, steps in histories.items():
        if len(steps) > 1:
            kept = [*steps[: -1 : -(-len(steps) // MAX_STEPS)], steps[-1]]
            objectives = [float(step.objective) for step in kept]
            thinned.append(Trace(name, [step.n_iter for step in kept], objectives))
    return tuple(thinned)


def detectable(diagnosis: Diagnosis, lags: Iterable[int], k: int, what: str) -> list[Item]:
    """How many states stand out from the noise of the pairs at ``lags``, where there are pairs."""
    if not diagnosis.spectra:
        return []
    shown = diagnosis.spectra[min(diagnosis.spectra)]
    n, lags = shown.n_detectable, sorted(lags)
    at_least = "at least " if n == len(shown.values) < diagnosis.n_symbols else ""
    comparison = f"fewer than the {k} learned" if n < k and not at_least else f"{k} were learned"
    at = f"lag {lags[0]}" if len(lags) == 1 else f"lags {', '.join(map(str, lags))}"
    note = (
        f"{comparison}; so many singular values of the pairs at {at} stand above the noise floor "
        f"of {shown.floor:.3g}"
    )
    return [Item(f"Detectable {what}", f"{at_least}{n:,}", note)]


def sample_texts(lengths: Ints, n: int) -> Ints:
    """Which texts, with so many words each, are shown: ``n`` at random, within the cap on words.

    The draw is always the same.

    >>> sample_texts(np.array([10, 10, 10, 10]), 2)
    array([2, 3])
    """
    if not is_whole(n) or n < 0:
        raise ValueError(f"the number of documents to show must be from 0, not {n!r}")
    order = np.argsort(np.random.default_rng(0).random(len(lengths)), kind="stable")
    words = np.cumsum(np.minimum(lengths[order], MAX_WORDS))
    return np.sort(order[: min(n, int(np.searchsorted(words, MAX_TOTAL_WORDS, side="right")))])

"""What reports are made from, by hand: small, and with everything that can be in one."""

from __future__ import annotations

import numpy as np

from cohmm.diagnose.format import Finding
from cohmm.report.plain_words import Light
from cohmm.report.prepare import cap_sentence
from cohmm.report.schema import Item, Material, Reading, Trace, Trust
from cohmm.topics.over_time import TopicsOver

WORDS = (
    *("ship", "harbour", "cargo", "tide", "anchor"),
    *("bread", "oven", "flour", "butter", "soup"),
    *("star", "planet", "orbit", "comet", "moon"),
    *("judge", "court", "trial", "jury", "verdict"),
)
TRICKY = (
    "<script>window.hacked=1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "<!--<script>",
    '"quoted"',
    "it's & so",
    "שלום",
    "مرحبا",
    "👩‍🚀🚀",
    "supercalifragilistic" * 12,
    "\u2028line",
    "=1+1",
    "a,b",
    "{{ 7 * 7 }}",
    "\ud800",
    " ",
)


def material(
    k: int = 4,
    n_texts: int = 30,
    length: int = 40,
    vocabulary: tuple = WORDS,
    kind: str = "topics",
    text: bool = True,
    seed: int = 0,
) -> Material:
    """A model of k topics, and documents that follow it."""
    rng = np.random.default_rng(seed)
    v = len(vocabulary)
    components = rng.dirichlet(np.full(v, 0.3), size=k)
    own = -(-v // k)
    for topic in range(k):
        components[topic, topic * own : (topic + 1) * own] += 1
    components /= components.sum(axis=1, keepdims=True)
    leaving = rng.dirichlet(np.full(k, 0.5), size=k)
    transitions = 0.8 * np.eye(k) + 0.2 * leaving
    prevalence = np.sort(rng.dirichlet(np.full(k, 5.0)))[::-1]
    readings = tuple(
        reading(d, rng, components, transitions, prevalence, vocabulary, length, text)
        for d in range(n_texts)
    )
    return Material(
        kind=kind,
        title="A <b>small</b> model",
        components=components,
        prevalence=prevalence,
        transitions=transitions,
        vocabulary=vocabulary,
        summary=(
            Item("Documents", f"{n_texts}"),
            Item("Coherence", "-12.5", "eps = 0.01"),
            Item("Command", "cohmm report 'a b' \"c\" <d>"),
        ),
        traces=(Trace("Objective", [1, 2, 3], [0.5, 0.2, 0.1]),),
        coherence=rng.normal(size=k) if kind == "topics" else None,
        n_texts=n_texts,
        cap=cap_sentence(n_texts, n_texts, "documents", "words"),
        readings=readings,
        contrast=np.linspace(0.9, 0.1, k) if kind == "topics" else None,
    )


def an_over(k: int = 4, period: str | None = "year", seed: int = 0) -> TopicsOver:
    """Topics in eight groups, of which the third has no document and the last has one."""
    rng = np.random.default_rng(seed)
    documents = np.array([12, 9, 0, 30, 14, 8, 5, 1])
    share = rng.dirichlet(np.ones(k), size=8)
    share[2] = np.nan
    low, high = np.maximum(share - 0.1, 0), np.minimum(share + 0.1, 1)
    low[7] = high[7] = np.nan
    years = tuple(str(1990 + n) for n in range(8))
    return TopicsOver(
        years if period else tuple(f"class <{n}>" for n in range(8)),
        np.array(years, "datetime64[s]") if period else None,
        period,  # type: ignore[arg-type]
        0.9,
        documents,
        100 * documents,
        share,
        low,
        high,
        10 * share + 1,
        10 * low + 1,
        10 * high + 1,
        tuple(map(str, range(k))),
    )


def a_trust(seed: int = 0) -> Trust:
    """Of `material`: intervals that hold its probabilities, of which one is not known at all."""
    given = material(seed=seed)
    ends = []
    for table in (given.components, given.transitions):
        low, high = np.maximum(0.8 * table - 0.005, 0), np.minimum(1.2 * table + 0.005, 1)
        low[0, 0], high[0, 0] = 0, 1
        ends.append((low, high))
    lines = (
        Finding("fit of", "4 topics, 20 symbols"),
        Finding("scatter", "not refuted <i>so far</i>"),
        Finding("not answered", "whether " + "a_very_long_name" * 20 + " is there"),
    )
    lights = (Light("good", "There is <i>enough</i>."), Light("poor", "All may be off."))
    return Trust(lines, ("try <b>5</b> states", "find more data"), *ends, lights=lights)


def reading(d, rng, components, transitions, prevalence, vocabulary, length, text) -> Reading:
    k, v = components.shape
    path = [int(rng.integers(k))]
    while len(path) < length:
        path.append(int(rng.choice(k, p=transitions[path[-1]])))
    path = np.array(path[:length], np.int64)
    symbols = np.array([rng.choice(v, p=components[topic]) for topic in path], np.int64)
    best = np.where(rng.random(length) < 0.1, rng.integers(k, size=length), path)
    posterior = prevalence * components[:, symbols].T
    shares = np.bincount(path, minlength=k) / max(length, 1)
    written, spans = "The ", []
    for code in symbols:
        spans.append((len(written), len(written) + len(vocabulary[code])))
        written += f"{vocabulary[code]} of "
    return Reading(
        number=d,
        name=f"Document {d}",
        length=length,
        symbols=symbols,
        path=path,
        path_p=rng.uniform(0.3, 1, size=length),
        best=best,
        best_p=rng.uniform(0.3, 1, size=length),
        bag=posterior.argmax(axis=1),
        shares=shares if length else prevalence,
        text=written if text else None,
        spans=tuple(spans) if text else (),
    )

"""Words in the colours of their topics, for a terminal or a figure.

A colour is a background with the black or white that is legible on it, so that it is the same
on a dark and on a light terminal.  They are those of Paul Tol's "muted" scheme, made for readers
who see fewer colours than others; and the number of the topic stands behind every run of words,
so that colour is never all there is to go by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import count, groupby
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.text import Text

DARK, LIGHT = "#000000", "#ffffff"


class Colour(NamedTuple):
    """A background, and the letters on it."""

    paper: str
    ink: str


PALETTE = (
    Colour("#88ccee", DARK),
    Colour("#ddcc77", DARK),
    Colour("#117733", LIGHT),
    Colour("#332288", LIGHT),
    Colour("#cc6677", DARK),
    Colour("#44aa99", DARK),
    Colour("#882255", LIGHT),
    Colour("#999933", DARK),
    Colour("#aa4499", LIGHT),
    Colour("#dddddd", DARK),
)

_NUMBERS = count()


class Run(NamedTuple):
    """Neighbouring words of one topic."""

    words: tuple[str, ...]
    topic: int

    def __str__(self) -> str:
        return f"{' '.join(self.words)} [{self.topic}]"


def runs_of(words: Sequence[str], topics: Iterable[int]) -> list[Run]:
    """The runs of a document.

    >>> print(*runs_of(["grain", "stocks", "oil"], [4, 4, 2]))
    grain stocks [4] oil [2]
    """
    pairs = zip(words, map(int, topics), strict=True)
    by_topic = groupby(pairs, key=lambda pair: pair[1])
    return [Run(tuple(word for word, _ in run), topic) for topic, run in by_topic]


def colours_of(topics: Iterable[int]) -> dict[int, Colour]:
    """A colour for every topic, by how many words have it: the ten most frequent differ.

    >>> list(colours_of([7, 2, 2]))
    [2, 7]
    """
    counts = Counter(map(int, topics))
    order = sorted(counts, key=lambda topic: (-counts[topic], topic))
    return {topic: PALETTE[place % len(PALETTE)] for place, topic in enumerate(order)}


def coloured(runs: Iterable[Run], colours: dict[int, Colour]) -> Text:
    """Runs for `rich.console.Console`, which leaves out colours where there is no terminal.

    >>> print(coloured([Run(("grain", "stocks"), 4)], colours_of([4, 4])))
    grain stocks [4]
    """
    from rich.style import Style
    from rich.text import Text

    text = Text()
    # Rich keeps the codes of a style, and of those equal to it, for the first console that prints
    # it: one with fewer colours would take them away from all others.
    own = {"text": next(_NUMBERS)}
    for number, run in enumerate(runs):
        colour = colours[run.topic]
        text.append(" " if number else "")
        text.append(" ".join(run.words), Style(color=colour.ink, bgcolor=colour.paper, meta=own))
        text.append(f" [{run.topic}]")
    return text

"""Words in the colours of their topics."""

from __future__ import annotations

import io
import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from cohmm.topics.rich_text import PALETTE, coloured, colours_of, runs_of

WORDS = ["china", "daily", "vermin", "eat", "[red]pct"]
TOPICS = [4, 4, 2, 4, 4]
PLAIN = "china daily [4] vermin [2] eat [red]pct [4]"


def luminance(colour: str) -> float:
    """Of WCAG 2: how light a colour is, from 0 to 1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return sum(w * p for w, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def printed(**options) -> str:
    file = io.StringIO()
    text = coloured(runs_of(WORDS, TOPICS), colours_of(TOPICS))
    Console(file=file, width=200, **options).print(text)
    return file.getvalue()


@pytest.mark.parametrize("colour", PALETTE)
def test_letters_are_legible(colour):
    dark, light = sorted(map(luminance, colour))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_colours_differ_and_the_most_frequent_topics_have_them():
    assert len({colour.paper for colour in PALETTE}) == len(PALETTE) <= 12
    topics = [t for t in range(13) for _ in range(20 - t)]
    colours = colours_of(topics)
    assert len({colours[t] for t in range(10)}) == 10
    assert colours[10] == colours[0]


def test_a_terminal_has_colours_and_numbers(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    found = printed(force_terminal=True, color_system="truecolor")
    assert "\x1b[38;2;0;0;0;48;2;136;204;238mchina daily\x1b[0m" in found
    assert re.sub(r"\x1b\[[\d;]*m", "", found) == PLAIN + "\n"


def test_consoles_with_more_and_fewer_colours_share_nothing(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    systems = ["standard", "256", "truecolor"]
    for order in (systems, systems[::-1]):
        found = {system: printed(force_terminal=True, color_system=system) for system in order}
        assert "48;2;136;204;238m" in found["truecolor"]
        assert "48;5;" in found["256"]
        assert "48;" not in found["standard"]
        assert "\x1b[" in found["standard"]


def test_without_colour_the_numbers_remain(monkeypatch):
    assert printed(force_terminal=False) == PLAIN + "\n"
    monkeypatch.setenv("NO_COLOR", "1")
    assert "48;2;" not in printed(force_terminal=True, color_system="truecolor")


@given(st.lists(st.integers(0, 3), max_size=30))
def test_runs_are_the_document_cut_where_topics_change(topics):
    words = [f"w{place}" for place in range(len(topics))]
    runs = runs_of(words, topics)
    assert [word for run in runs for word in run.words] == words
    assert [run.topic for run in runs for _ in run.words] == topics
    assert all(a.topic != b.topic for a, b in pairwise(runs))

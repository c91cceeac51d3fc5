"""What notebooks show of values: small tables, in which everything is text."""

from html.parser import HTMLParser

import numpy as np
import pytest

from cohmm import HMM, Cooccurrence, count_pairs
from cohmm._html import html_table
from cohmm.learn.learner import Fit, Progress
from cohmm.learn.topics.topic_fit import TopicFit

TRICKY = ("<script>alert(1)</script>", 'a"b', "c&d")


class Cells(HTMLParser):
    """The tags of a table, and the texts in its cells."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def model():
    return HMM([1, 0], [[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.2, 0.1], [0.2, 0.8, 0]], TRICKY)


def test_everything_is_text():
    cells = Cells(html_table("<b>", ["<i>"], [["<u>"], ["&lt;"]], "<s>"))
    assert cells.texts == ["<b>", "<i>", "<u>", "&lt;", "<s>"]
    assert set(cells.tags) == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


def test_a_model_is_a_table_of_its_states(model):
    cells = Cells(model._repr_html_())
    assert cells.texts[0] == "HMM(2 states, 3 symbols)"
    assert cells.texts[1:5] == ["state", "stationary share", "mean run", "most probable symbols"]
    assert cells.texts[5:8] == ["0", "83.3%", "10.0"]
    assert cells.texts[8] == '<script>alert(1)</script> 0.70  a"b 0.20  c&d 0.10'
    assert cells.texts[12] == 'a"b 0.80  <script>alert(1)</script> 0.20'  # c&d never comes
    assert "script" not in cells.tags


def test_many_states_are_cut_short():
    k = 25
    page = HMM(np.full(k, 1 / k), np.full((k, k), 1 / k), np.eye(k))._repr_html_()
    cells = Cells(page)
    assert cells.tags.count("tr") == 21
    assert cells.texts[-1] == "... and 5 more states"


def test_counts_are_a_table_of_their_lags():
    counts = count_pairs([["a", "b", "a", "b"], ["a", "a"]], lags=(1, 2))
    cells = Cells(counts._repr_html_())
    assert cells.texts[0] == repr(counts)
    assert cells.texts[5:] == ["1", "4", "3", "a b 2  a a 1  b a 1", "2", "2", "2", "a a 1  b b 1"]
    sparse = Cooccurrence({1: counts[1]}, counts.symbol_counts, counts.start_counts)
    assert "0 1 2  0 0 1  1 0 1" in sparse._repr_html_()


def test_a_fit_says_how_it_went(model):
    fit = Fit(model, True, (Progress(7, 0.25, 0.2),), (0.25,))
    assert Cells(fit._repr_html_()).texts[0] == "Fit: 7 passes, converged; objective 0.250000"
    assert "10.0" in fit._repr_html_()


def test_topics_have_their_labels():
    fit = TopicFit(
        [[0.7, 0.3, 0], [0, 0.2, 0.8]],
        [0.6, 0.4],
        [1.0, 1.0],
        TRICKY,
        "by hand",
        labels=("<x>", None),
    )
    cells = Cells(fit._repr_html_())
    assert cells.texts[4:] == [
        *("0", "60.0%", f"<x>: {TRICKY[0]} {TRICKY[1]}"),
        *("1", "40.0%", f"{TRICKY[2]} {TRICKY[1]}"),
    ]

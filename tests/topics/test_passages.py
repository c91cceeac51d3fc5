"""Passages: the best of all ways to cut a text, where its words and topics change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from cohmm import HTMM
from cohmm.topics.passages import (
    _best_cuts,
    _border_probabilities,
    _topic_scores,
    _word_scores,
    sentences,
)

OIL = "Oil and gas rose. Crude oil fell in spring. Gas is dear. "
GRAIN = "Wheat and corn fell. Farmers grow corn. Wheat rose again. "
GOLD = "Gold ore was mined. Gold fell. Miners found silver ore. "


@pytest.fixture(scope="module")
def topics() -> HTMM:
    return HTMM(3, random_state=0, stop_words="english").fit([OIL * 5, GRAIN * 5, GOLD * 5] * 6)


def log_dirichlet(counts: np.ndarray, prior: np.ndarray) -> float:
    return float(
        gammaln(prior.sum())
        - gammaln(prior.sum() + counts.sum())
        + (gammaln(prior + counts) - gammaln(prior)).sum()
    )


def test_passages_are_where_texts_were_glued(topics: HTMM) -> None:
    text = OIL * 3 + GRAIN * 3 + GOLD * 3
    (cut,) = topics.passages([text])
    assert [text[p.start : p.end] for p in cut] == [
        (part * 3).strip() for part in (OIL, GRAIN, GOLD)
    ]
    tops = [int(topics.transform([part])[0].argmax()) for part in (OIL, GRAIN, GOLD)]
    assert [int(p.shares.argmax()) for p in cut] == tops
    assert all(p.border > 0.5 for p in cut)
    assert cut[0].border == pytest.approx(1)


def test_words_in_lists(topics: HTMM) -> None:
    words = ["oil", "gas", "crude"] * 20 + ["wheat", "corn", "farmers"] * 20
    (cut,) = topics.passages([words])
    assert [(p.start, p.end) for p in cut] == [(0, 60), (60, 120)]


def test_length_is_what_was_asked_for(topics: HTMM) -> None:
    text = (OIL + GRAIN + GOLD) * 8
    n_words = len(text.split())
    (short,), (long,) = (topics.passages([text], length=length) for length in (8, 200))
    assert len(short) > 2 * len(long)
    assert n_words / len(short) < 40


def test_every_sentence_is_in_one_passage(topics: HTMM) -> None:
    text = OIL + "\n\n" + GRAIN + GOLD
    (cut,) = topics.passages([text])
    places = sentences(text)
    assert cut[0].start == places[0][0]
    assert cut[-1].end == places[-1][1]
    starts = {first for first, _ in places}
    assert all(a.end <= b.start and b.start in starts for a, b in pairwise(cut))


def all_cuts(n: int) -> Iterator[tuple[int, ...]]:
    for size in range(n):
        for inner in combinations(range(1, n), size):
            yield (0, *inner, n)


@given(st.integers(1, 7), st.floats(0.05, 0.6), st.integers(0, 2**16))
def test_all_ways_to_cut(n: int, rate: float, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(n, n))
    values = {}
    for cuts in all_cuts(n):
        borders = len(cuts) - 2
        value = borders * np.log(rate) + (n - 1 - borders) * np.log1p(-rate)
        values[cuts] = value + sum(scores[a, b - a - 1] for a, b in pairwise(cuts))
    best = max(values, key=lambda cuts: values[cuts])
    assert tuple(_best_cuts(scores, rate)) == best
    weights = {cuts: np.exp(value - values[best]) for cuts, value in values.items()}
    total = sum(weights.values())
    expected = [sum(w for cuts, w in weights.items() if i in cuts) / total for i in range(n)]
    np.testing.assert_allclose(_border_probabilities(scores, rate), expected, atol=1e-9)


@given(st.integers(1, 8), st.integers(1, 6), st.integers(0, 2**16))
def test_scores_of_words_and_topics(n: int, n_words: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.7, (n, n_words))
    symbols = np.concatenate([np.repeat(np.arange(n_words), row) for row in counts])
    lengths = counts.sum(axis=1)
    prior = rng.exponential(size=n_words) + 0.1
    words, soft = _word_scores(symbols, lengths, n_words), _topic_scores(counts * 1.0, prior)
    for i in range(n):
        for size in range(1, n - i + 1):
            inside = counts[i : i + size].sum(axis=0)
            expected = log_dirichlet(inside, np.ones(n_words))
            assert words[i, size - 1] == pytest.approx(expected, abs=1e-9)
            assert soft[i, size - 1] == pytest.approx(log_dirichlet(inside, prior), abs=1e-9)


def test_sentences() -> None:
    def cut(text: str) -> list[str]:
        return [text[a:b] for a, b in sentences(text)]

    assert cut("He left. Then he came.") == ["He left.", "Then he came."]
    assert cut("Acme Inc. said so. Yes!") == ["Acme Inc. said so.", "Yes!"]
    assert cut("A title\nThe text runs\non here.") == ["A title", "The text runs\non here."]
    assert cut("\u96e8\u3002\u6674\u308c\u3002") == ["\u96e8\u3002", "\u6674\u308c\u3002"]
    assert len(cut("word " * 200)) == 10
    assert cut("  \n ") == []


def test_texts_that_say_little(topics: HTMM) -> None:
    empty, unknown, one = topics.passages(["", "Zebras run. Lions sleep.", "Oil."])
    assert empty == []
    assert [(p.start, p.end) for p in unknown] == [(0, 24)]
    np.testing.assert_allclose(unknown[0].shares, topics.topic_prevalence_)
    assert len(one) == 1


def test_what_has_no_passages(topics: HTMM) -> None:
    with pytest.raises(ValueError, match="the raw text is needed, and a Documents has its words"):
        topics.passages(topics.documents_)
    with pytest.raises(ValueError, match="length must be a number of words from 1, not 0"):
        topics.passages([OIL], length=0)
    with pytest.raises(ValueError, match="there is no document"):
        topics.passages([])

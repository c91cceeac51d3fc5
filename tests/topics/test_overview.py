"""Subjects and sections: the contrast of topics; how long a topic lasts."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HTMM
from cohmm.topics.overview import contrast, count_runs


def correlation(topics: list[np.ndarray], k: int) -> float:
    """Between two words of the same document, does each have topic k: all pairs, one by one."""
    p = np.mean(np.concatenate(topics) == k)
    pairs = [
        (a - p) * (b - p)
        for row in topics
        for i, a in enumerate(row == k)
        for j, b in enumerate(row == k)
        if i != j
    ]
    return float(np.mean(pairs) / (p * (1 - p)))


def test_it_is_the_correlation_of_two_words_of_a_document() -> None:
    rng = np.random.default_rng(0)
    proportions = rng.dirichlet([0.5] * 3, size=300)
    topics = [rng.choice(3, size=12, p=row) for row in proportions]
    shares = np.array([np.bincount(row, minlength=3) / 12 for row in topics])
    found = contrast(shares, np.full(300, 12))
    assert found == pytest.approx([correlation(topics, k) for k in range(3)], abs=0.01)


@pytest.mark.parametrize("truth", [0.0, 0.05, 0.3, 0.7, 1.0])
@pytest.mark.parametrize("length", [10, 100])
def test_it_is_that_of_the_proportions_however_short_documents_are(
    truth: float, length: int
) -> None:
    rng = np.random.default_rng(0)
    d, p = 4000, 0.2
    if truth in (0.0, 1.0):
        proportions = np.full(d, p) if truth == 0 else (rng.random(d) < p).astype(float)
    else:
        proportions = rng.beta((1 / truth - 1) * p, (1 / truth - 1) * (1 - p), size=d)
    lengths = np.maximum(rng.poisson(length, size=d), 1)
    shares = rng.binomial(lengths, proportions) / lengths
    found = contrast(np.stack([shares, 1 - shares], axis=1), lengths)
    assert found == pytest.approx(truth, abs=0.03)


@given(st.integers(0, 2**32 - 1), st.integers(0, 9))
def test_it_is_a_share_or_nothing(seed: int, d: int) -> None:
    rng = np.random.default_rng(seed)
    found = contrast(rng.dirichlet([0.3] * 3, size=d), rng.integers(0, 9, size=d))
    assert found.shape == (3,)
    known = found[np.isfinite(found)]
    assert ((known >= 0) & (known <= 1)).all()


def test_where_nothing_can_be_said() -> None:
    assert np.isnan(contrast([[0.5, 0.5]], [100])).all()
    assert np.isnan(contrast([[1, 0], [0, 1]], [1, 1])).all()
    found = contrast([[1, 0], [1, 0]], [50, 50])
    assert np.isnan(found).all()  # the one is everywhere, the other nowhere
    with pytest.raises(ValueError, match="do not fit together"):
        contrast([[1, 0]], [1, 2])


def sections_and_subjects(rng: np.random.Generator) -> list[str]:
    """Every document has an introduction, a method, and a subject between."""
    words = {
        part: [f"{part}{n}" for n in range(12)]
        for part in ("intro", "method", "whales", "planets", "glaciers", "bridges")
    }

    def some(part: str) -> list[str]:
        return rng.choice(words[part], size=rng.integers(25, 40)).tolist()

    subjects = ("whales", "planets", "glaciers", "bridges")
    return [" ".join([*some("intro"), *some(subjects[d % 4]), *some("method")]) for d in range(120)]


def test_sections_are_told_from_subjects() -> None:
    texts = sections_and_subjects(np.random.default_rng(0))
    topics = HTMM(6, random_state=0).fit(texts)
    table = topics.to_frame("topics", n_words=1)
    for _, row in table.iterrows():
        if row["words"].startswith(("intro", "method")):
            assert row["contrast"] < 0.05
        else:
            assert 0.2 < row["contrast"] <= 1
    by_contrast = table.sort_values("contrast")["words"].tolist()
    assert {word.rstrip("0123456789") for word in by_contrast[:2]} == {"intro", "method"}


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=9))
def test_runs_are_those_of_every_document(documents):
    number, words = np.zeros(4), np.zeros(4)
    for topics in documents:
        for topic, run in groupby(topics):
            number[topic] += 1
            words[topic] += len(list(run))
    flat = np.array([topic for topics in documents for topic in topics], np.int32)
    found = count_runs(flat, np.cumsum([0, *map(len, documents)]), 4)
    assert found.number.tolist() == number.tolist()
    assert found.words.tolist() == words.tolist()
    assert found.mean == words.sum() / max(number.sum(), 1)
    assert np.array_equal(found.means, words / np.maximum(number, 1))

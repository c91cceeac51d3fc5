"""Topics over time, and by class; intervals of ratios."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from cohmm import HTMM, Documents, TextWarning
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.over_time import groups_of, ratio_intervals

OIL, WHEAT = "oil gas oil barrel gas oil", "wheat corn grain wheat corn"
TEXTS = [OIL, WHEAT, OIL, OIL] * 9
CLASSES = ["a", "a", "b", "b"] * 9


@pytest.fixture(scope="module")
def topics() -> HTMM:
    return HTMM(2, lags=1, random_state=0).fit(TEXTS)


def oil_of(topics: HTMM) -> int:
    return next(k for k, words in enumerate(topics.top_words(1)) if words == ["oil"])


def test_shares_are_those_of_the_words(topics: HTMM) -> None:
    over = topics.over(TEXTS, by=CLASSES)
    assert over.groups == ("a", "b")
    assert over.documents.tolist() == [18, 18]
    assert over.words.tolist() == [9 * 11, 9 * 12]
    k = oil_of(topics)
    assert over.share[:, k] == pytest.approx([6 / 11, 1], abs=0.01)
    assert over.share.sum(axis=1) == pytest.approx(1)
    assert over.run[0, k] == 6
    assert over.share_low[0, k] < over.share[0, k] < over.share_high[0, k]


def test_a_share_of_a_group_is_the_mean_of_its_documents_by_words(topics: HTMM) -> None:
    sample = sample_htmm(60, n_components=3, n_words=90, length=20, random_state=0)
    model = HTMM(3, random_state=0).fit(sample.documents)
    by = np.arange(60) % 4
    over = model.over(sample.documents, by=by)
    shares, lengths = model.transform(sample.documents), sample.documents.lengths
    for g in range(4):
        mean = np.average(shares[by == g], axis=0, weights=lengths[by == g])
        assert over.share[g] == pytest.approx(mean)
    assert over.groups == ("0", "1", "2", "3")
    assert over.starts is None


def test_runs_are_those_of_the_decoded_documents(topics: HTMM) -> None:
    mixed = [f"{OIL} {WHEAT} {OIL}", f"{WHEAT} {OIL}", OIL]
    over = topics.over(mixed, by=["x", "x", "x"])
    k = oil_of(topics)
    assert over.run[0, k] == 6
    assert over.run[0, 1 - k] == 5
    assert over.run_low[0, k] <= 6 <= over.run_high[0, k]


def test_time_has_gaps(topics: HTMM) -> None:
    over = topics.over([OIL, OIL, WHEAT, WHEAT], by=[1790, 1791, 1793, 1793])
    assert over.groups == ("1790", "1791", "1792", "1793")
    assert over.period == "year"
    assert over.documents.tolist() == [1, 1, 0, 2]
    assert np.isnan(over.share[2]).all()
    assert np.isnan(over.share_low[:3]).all()
    assert np.isfinite(over.share_low[3]).all()
    assert str(over.starts[3])[:4] == "1793"


@pytest.fixture(autouse=True)
def _hush(request: pytest.FixtureRequest) -> Iterator[None]:
    with warnings.catch_warnings():
        if "said" not in request.node.name:
            warnings.simplefilter("ignore", TextWarning)
        yield


def test_one_document_alone_is_said(topics: HTMM) -> None:
    with pytest.warns(TextWarning, match="1 of 2 classes have one document, and so no interval: b"):
        over = topics.over([OIL, WHEAT, OIL], by=["a", "a", "b"])
    assert over.single == ("b",)
    assert np.isnan(over.share_high[1]).all()
    assert over.share[1].max() > 0.9


def test_documents_without_a_known_word_count_for_nothing_but_themselves(topics: HTMM) -> None:
    over = topics.over([OIL, "unknown", WHEAT, "unknown"], by=["a", "a", "b", "c"])
    assert over.documents.tolist() == [2, 1, 1]
    assert over.words.tolist() == [6, 5, 0]
    assert np.isnan(over.share[2]).all()
    assert over.single == ("a", "b")


@pytest.mark.parametrize(
    "by",
    [
        pd.Series(["1987-02-26", "1987-02-27", "1987-03-05", "1987-03-06"]),
        pd.to_datetime(pd.Series(["1987-02-26", "1987-02-27", "1987-03-05", "1987-03-06"])),
        np.array(["1987-02-26", "1987-02-27", "1987-03-05", "1987-03-06"], "datetime64[D]"),
        pa.array(["1987-02-26", "1987-02-27", "1987-03-05", "1987-03-06"]),
        (
            f"{day} 15:01:01.79"
            for day in ("26-FEB-1987", "27-FEB-1987", "5-MAR-1987", "6-MAR-1987")
        ),
    ],
)
def test_dates_of_all_kinds(topics: HTMM, by: Any) -> None:
    over = topics.over([OIL, OIL, WHEAT, WHEAT], by=by, period="week")
    assert over.groups == ("1987-02-23", "1987-03-02")
    assert over.documents.tolist() == [2, 2]


def test_years_can_be_classes(topics: HTMM) -> None:
    over = topics.over([OIL] * 4, by=[1987, 1987, 1990, 1990], period="class")
    assert (over.groups, over.period) == (("1987", "1990"), None)


def test_training_documents_where_none_are_given(topics: HTMM, tmp_path: Any) -> None:
    assert (topics.over(by=CLASSES).share == topics.over(TEXTS, by=CLASSES).share).all()
    topics.save(tmp_path / "model.cohmm")
    loaded = HTMM.load(tmp_path / "model.cohmm")
    with pytest.raises(ValueError, match="over needs the training documents"):
        loaded.over(by=CLASSES)


def test_bad_input(topics: HTMM) -> None:
    with pytest.raises(ValueError, match="by has 2 values for 36 documents"):
        topics.over(TEXTS, by=["a", "b"])
    with pytest.raises(ValueError, match="document 1 has no class"):
        topics.over([OIL, OIL], by=["a", None])
    with pytest.raises(ValueError, match="document 1 has no date"):
        topics.over([OIL, OIL], by=["1987-02-26", None])
    with pytest.raises(ValueError, match="document 1 has the date 'soon', which cannot be read"):
        topics.over([OIL, OIL], by=["1987-02-26", "soon"], period="day")
    with pytest.raises(ValueError, match="one date or class per document, not 'year'"):
        topics.over(TEXTS, by="year")
    with pytest.raises(ValueError, match=r"document 0 has the class \[1\]"):
        topics.over([OIL], by=[[1]])
    with pytest.raises(ValueError, match=r"by .* is missing"):
        topics.over(TEXTS)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        topics.over(TEXTS, by=CLASSES, level=90)
    with pytest.raises(ValueError, match="period must be one of"):
        topics.over(TEXTS, by=CLASSES, period="fortnight")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="there are no documents"):
        groups_of([], Documents([], [0], ("oil",)))


def test_frame(topics: HTMM) -> None:
    over = topics.over([OIL, OIL, WHEAT, WHEAT], by=[1987, 1987, 1989, 1989])
    table = over.to_frame()
    assert table.columns.tolist() == [
        "group",
        "start",
        "documents",
        "words",
        "topic",
        "name",
        "share",
        "share_low",
        "share_high",
        "run",
        "run_low",
        "run_high",
    ]
    assert len(table) == 3 * 2
    assert table["share"].tolist()[:2] == over.share[0].tolist()
    assert set(table["name"][table["topic"] == oil_of(topics)]) == {over.names[oil_of(topics)]}
    assert "oil" in over.names[oil_of(topics)]
    assert table["group"].tolist()[::2] == ["1987", "1988", "1989"]
    assert "start" not in topics.over(TEXTS, by=CLASSES).to_frame()
    assert repr(over) == "TopicsOver(3 periods (year), 1987 to 1989; 2 topics, 4 documents)"


SIZES = (2, 3, 5, 10, 30, 100)
K = 6


def drawn(
    rng: np.random.Generator, base: np.ndarray, which: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Words of every topic and of all, of documents that a few draws of topics make up."""
    lengths = np.maximum(rng.lognormal(4, 0.7, size=len(which)).astype(int), 1)
    gammas = rng.gamma(2.0 * base[which] + 1e-9)
    shares = gammas / gammas.sum(axis=1, keepdims=True)
    draws = 1 + rng.binomial(lengths - 1, 0.2)
    return lengths[:, None] * rng.multinomial(draws, shares) / draws[:, None], lengths


def test_intervals_cover() -> None:
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(len(SIZES)), SIZES)
    hits, n = np.zeros(len(SIZES)), 300
    for _ in range(n):
        base = rng.dirichlet(np.ones(K), size=len(SIZES))
        part, whole = drawn(rng, base, which)
        found = ratio_intervals(part, whole, which, len(SIZES))
        hits += ((found.low <= base) & (base <= found.high)).mean(axis=1)
    assert (hits / n > 0.85).all(), hits / n
    assert (hits / n < 0.95).all(), hits / n
    assert 0.88 < (hits / n).mean() < 0.92


def test_lengths_cover() -> None:
    rng = np.random.default_rng(0)
    which = np.repeat(np.arange(len(SIZES)), SIZES)
    hits, known = np.zeros(len(SIZES)), np.zeros(len(SIZES))
    for _ in range(300):
        runs = rng.poisson(2.0, size=(len(which), K))
        own = rng.gamma(4.0, size=(len(which), K))  # a document's words per run, 4 on average
        words = runs + rng.poisson(runs * own)
        found = ratio_intervals(words, runs, which, len(SIZES), kind="length")
        hits += ((found.low <= 5) & (found.high >= 5)).sum(axis=1)
        known += np.isfinite(found.low).sum(axis=1)
    assert (hits / known > 0.85).all(), hits / known
    assert (hits / known < 0.95).all(), hits / known


def test_one_group_of_equal_documents_is_the_mean_and_its_error() -> None:
    # The textbook's t interval of a mean, on the scale on which Wilson's is symmetric.
    shares = np.array([0.2, 0.3, 0.25, 0.4, 0.35])
    found = ratio_intervals(100 * shares[:, None], np.full(5, 100), np.zeros(5, int), 1)
    mean, error = shares.mean(), shares.std(ddof=1) / np.sqrt(5)
    assert found.value[0, 0] == pytest.approx(mean)
    for bound in (found.low[0, 0], found.high[0, 0]):
        spread = error * np.sqrt(bound * (1 - bound) / (mean * (1 - mean)))
        assert abs(bound - mean) == pytest.approx(student.ppf(0.95, 4) * spread)


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from(["share", "length"]),
)
def test_intervals_hold_the_ratio_and_stay_within_bounds(
    seed: int, d: int, g: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    which = rng.integers(g, size=d)
    if kind == "share":
        whole = rng.integers(0, 9, size=d)
        part = rng.binomial(whole[:, None], rng.choice([0, 0.3, 1], size=(d, 2)))
    else:
        whole = rng.integers(0, 4, size=(d, 2))
        part = whole * rng.integers(1, 5, size=(d, 2))
    found = ratio_intervals(part, whole, which, g, kind=kind)  # type: ignore[arg-type]
    known = np.isfinite(found.low)
    assert (known == np.isfinite(found.high)).all()
    # As many documents with words as an interval needs.
    there = np.zeros((g, 2))
    np.add.at(there, which, whole[:, None] > 0 if whole.ndim == 1 else whole > 0)
    assert (known == (there > 1)).all()
    assert (np.isfinite(found.value) == (there > 0)).all()
    assert (found.low[known] <= found.value[known] + 1e-12).all()
    assert (found.value[known] <= found.high[known] + 1e-12).all()
    assert (found.low[known] >= (0 if kind == "share" else 1)).all()
    if kind == "share":
        assert (found.high[known] <= 1).all()


def test_a_topic_that_never_occurs_has_an_interval_with_a_length() -> None:
    part = np.zeros((6, 1))
    part[:3, 0] = [1, 0, 5]
    found = ratio_intervals(part, np.full(6, 10), [0, 0, 0, 1, 1, 1], 2)
    assert found.value[1, 0] == found.low[1, 0] == 0
    assert 0 < found.high[1, 0] < 0.6
    nowhere = ratio_intervals(np.zeros((2, 1)), [10, 10], [0, 0], 1)
    assert 0 < nowhere.high[0, 0] < 1


def test_a_wider_level_is_a_wider_interval() -> None:
    given_ = ([[2.0], [3.0], [5.0]], [10, 12, 9], [0, 0, 0], 1)
    narrow, wide = (ratio_intervals(*given_, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low
    assert narrow.high < wide.high

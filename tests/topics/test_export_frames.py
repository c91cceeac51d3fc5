"""Topics and documents as data frames."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from cohmm import HTMM, Documents, TextWarning
from cohmm.data.documents import Names
from cohmm.datasets.synthetic_topics import sample_htmm


@pytest.fixture(scope="module")
def documents() -> Documents:
    return sample_htmm(60, n_components=3, n_words=40, length=30, random_state=0).documents


@pytest.fixture(scope="module")
def topics(documents: Documents) -> HTMM:
    return HTMM(3, random_state=0).fit(documents)


@pytest.fixture
def loaded(topics: HTMM, tmp_path: Path) -> HTMM:
    topics.save(tmp_path / "topics")
    return HTMM.load(tmp_path / "topics")


def test_a_row_a_topic(topics: HTMM, loaded: HTMM) -> None:
    table = topics.to_frame("topics", n_words=4)
    figures = ["document_share", "effective_documents", "distance", "code_share", "junk"]
    assert list(table) == [
        *("topic", "prevalence", "mean_run", "coherence", "contrast", *figures, "words")
    ]
    assert table["topic"].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(table["prevalence"], topics.topic_prevalence_)
    segments = topics.to_frame("segments")
    means = segments.groupby("topic")["n_words"].mean()
    np.testing.assert_allclose(table["mean_run"], means)
    np.testing.assert_array_equal(table["coherence"], topics.coherence(by_topic=True))
    assert table["words"].str.split().tolist() == topics.top_words(4, "relevance")
    table = topics.to_frame("topics", n_words=4, order="probability")
    assert table["words"].str.split().tolist() == topics.top_words(4)
    assert list(loaded.to_frame("topics")) == ["topic", "prevalence", "words"]


def test_a_row_a_top_word(topics: HTMM) -> None:
    table = topics.to_frame("words", n_words=5)
    assert list(table) == ["topic", "rank", "word", "probability"]
    assert table.groupby("topic")["word"].agg(list).tolist() == topics.top_words(5, "relevance")
    by_frex = topics.to_frame("words", n_words=5, order="frex")["word"].tolist()
    assert by_frex == [word for words in topics.top_words(5, by="frex") for word in words]
    assert table["rank"].tolist() == [1, 2, 3, 4, 5] * 3
    codes = [topics.vocabulary_.index(word) for word in table["word"]]
    np.testing.assert_array_equal(table["probability"], topics.components_[table["topic"], codes])
    assert len(topics.to_frame("words", n_words=40)) == 120


def test_labels_stand_beside_numbers(topics: HTMM) -> None:
    named = topics.rename({0: "sea", 2: "sky"})
    labels = {0: "sea", 1: None, 2: "sky"}
    for what in ("topics", "words", "documents", "tokens", "segments"):
        table, plain = named.to_frame(what), topics.to_frame(what)  # type: ignore[arg-type]
        assert "label" not in plain
        place = list(table).index("topic")
        assert list(table)[place + 1] == "label"
        assert [labels[k] for k in table["topic"]] == [
            label if isinstance(label, str) else None for label in table["label"]
        ]
        assert table.drop(columns="label").equals(plain)
    assert list(named.to_frame("transitions")) == [
        "from_topic",
        "from_label",
        "to_topic",
        "to_label",
        "probability",
    ]


def test_a_row_a_transition(loaded: HTMM) -> None:
    table = loaded.to_frame("transitions")
    square = table.pivot(index="from_topic", columns="to_topic", values="probability")
    np.testing.assert_array_equal(square, loaded.topic_transitions_)


def test_a_row_a_document_and_topic(topics: HTMM, documents: Documents) -> None:
    table = topics.to_frame("documents")
    assert list(table) == ["document", "n_words", "topic", "share"]
    square = table.pivot(index="document", columns="topic", values="share")
    np.testing.assert_array_equal(square, topics.transform(documents))
    named = Documents([0, 1, 0], [0, 2, 3], documents.vocabulary, Names.of(["a.txt", "b.txt"]))
    table = topics.to_frame("documents", named)
    assert table["name"].tolist() == ["a.txt"] * 3 + ["b.txt"] * 3
    assert table["n_words"].tolist() == [2] * 3 + [1] * 3


def test_a_row_a_word_of_a_document(topics: HTMM, documents: Documents) -> None:
    table = topics.to_frame("tokens")
    assert len(table) == documents.n_words
    for d, read in enumerate(topics.segment(documents)):
        here = table[table["document"] == d]
        assert here["place"].tolist() == list(range(len(read)))
        assert here["word"].tolist() == read.words
        assert here["topic"].tolist() == read.topics.tolist()
        np.testing.assert_array_equal(here["probability"], read.probabilities)


def test_a_row_a_segment(topics: HTMM, documents: Documents) -> None:
    table = topics.to_frame("segments")
    for d, read in enumerate(topics.segment(documents)):
        here = table[table["document"] == d]
        runs = list(zip(here["first"], here["last"], here["topic"], strict=True))
        assert runs == read.runs
        assert here["segment"].tolist() == list(range(len(runs)))
        assert " ".join(here["text"]).split() == read.words
        means = [read.probabilities[a : b + 1].mean() for a, b, _ in runs]
        np.testing.assert_allclose(here["probability"], means)
    assert (table["n_words"] == table["last"] - table["first"] + 1).all()
    assert table["n_words"].sum() == documents.n_words


def test_documents_without_words_have_shares_alone(topics: HTMM) -> None:
    with pytest.warns(TextWarning):
        assert len(topics.to_frame("documents", [["unknown"]])) == 3
    with pytest.warns(TextWarning):
        assert len(topics.to_frame("tokens", [["unknown"]])) == 0
    with pytest.warns(TextWarning):
        empty = topics.to_frame("segments", [["unknown"]])
    assert len(empty) == 0
    assert "text" in empty


def test_tables_that_cannot_be(topics: HTMM, loaded: HTMM, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match=r"what must be one of topics, words, .*, not 'topic'"):
        topics.to_frame("topic")  # type: ignore[arg-type]
    for what in ("documents", "tokens", "segments"):
        with pytest.raises(ValueError, match=f"'{what}' is about documents.*give documents"):
            loaded.to_frame(what)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"need pandas: pip install 'cohmm\[frames\]'"):
        topics.to_frame("words")


def test_coherence_is_unknown_where_no_document_has_the_words(
    topics: HTMM, documents: Documents
) -> None:
    few = documents.select(np.arange(2))
    table = topics.to_frame("topics", few)
    assert table["coherence"].isna().any()
    assert table["words"].notna().all()
    whole = topics.to_frame("topics", documents)["coherence"]
    np.testing.assert_array_equal(whole, topics.coherence(by_topic=True))


def test_a_vocabulary_of_fewer_words_than_are_shown() -> None:
    small = HTMM(2, random_state=0).fit([["oil", "gas"], ["rain", "sun"]] * 20)
    assert [len(text.split()) for text in small.to_frame("topics")["words"]] == [4, 4]
    assert len(small.to_frame("words")) == 8
    assert [len(words) for _, words in small.to_gensim()["topics"]] == [4, 4]
    assert [len(words) for words in small.to_octis()["topics"]] == [4, 4]

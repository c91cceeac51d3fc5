"""Documents found by topics and words."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HTMM, Documents
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.topics.search import OWN_WORDS, TopicIndex

TEXTS = ["oil gas oil pipe", "wheat corn wheat farm", "gold ore gold mine"] * 9


@pytest.fixture(scope="module")
def topics() -> HTMM:
    return HTMM(3, random_state=0).fit(TEXTS)


@pytest.fixture(scope="module")
def drawn() -> HTMM:
    sample = sample_htmm(60, n_components=4, n_words=50, random_state=0)
    return HTMM(4, random_state=0).fit(sample.documents)


def slow_gain(index: TopicIndex, d: int, query: list[str]) -> float:
    """The formula of the module, word by word."""
    documents = index.documents
    every = [word for words in documents for word in words]
    words, m = documents.words(d), np.median(documents.lengths[documents.lengths > 0])
    total = len(every) + documents.n_symbols
    gain = 0.0
    for word in query:
        overall = (every.count(word) + 1) / total
        own = (words.count(word) + m * overall) / (len(words) + m)
        code = index.model.vocabulary.index(word)
        topical = index.shares[d] @ index.model.components[:, code]
        gain += np.log(OWN_WORDS * own + (1 - OWN_WORDS) * topical) - np.log(overall)
    return gain / len(query)


def test_scores_are_those_of_the_formula(drawn: HTMM) -> None:
    index = drawn.index()
    query = [drawn.vocabulary_[3], drawn.vocabulary_[8], drawn.vocabulary_[3]]
    hits = drawn.search(query, index, n=60)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits:
        assert hit.score == pytest.approx(slow_gain(index, hit.document, query), abs=1e-9)


def test_a_query_finds_the_topic_of_its_words_even_where_they_do_not_stand(topics: HTMM) -> None:
    documents = ["corn farm", "gold mine", "wheat", "oil pipe"]
    assert [hit.document for hit in topics.search("wheat", documents, n=2)] == [2, 0]


def test_the_passage_holds_the_word(drawn: HTMM) -> None:
    word = drawn.vocabulary_[5]
    for hit in drawn.search([word], n=3):
        first, last = hit.passage
        words = drawn.documents_.words(hit.document)
        assert 0 <= first < last <= len(words)
        if word in words:
            assert word in words[first:last]


def test_a_document_is_most_like_itself(drawn: HTMM) -> None:
    shares = drawn.transform(drawn.documents_)
    for d, hits in enumerate(drawn.similar(drawn.documents_, 3)):
        assert hits[0].score == pytest.approx(1)
        np.testing.assert_allclose(shares[hits[0].document], shares[d], atol=1e-6)


def test_representative_documents_are_of_the_topic(topics: HTMM) -> None:
    for k, hits in enumerate(topics.representative(4)):
        shares = topics.transform(TEXTS)
        assert len(hits) == 4
        assert all(shares[hit.document].argmax() == k for hit in hits)


def test_a_long_document_comes_before_one_word_of_the_topic(topics: HTMM) -> None:
    best = topics.representative(1, ["wheat", " ".join(["wheat corn farm"] * 30), "gold"])
    wheat = int(topics.transform(["wheat"])[0].argmax())
    assert best[wheat][0].document == 1


def test_an_index_is_made_once(topics: HTMM) -> None:
    index = topics.index()
    assert topics.index() is index
    assert topics.index(index) is index
    assert topics.merge([[0, 1]]).index() is not index


def test_empty_documents_are_never_an_answer(topics: HTMM) -> None:
    documents = Documents([0, 1], [0, 0, 2], topics.vocabulary_)
    assert [hit.document for hit in topics.search("gold", documents)] == [1]


def test_unknown_words(topics: HTMM) -> None:
    assert topics.search("zebra wheat", n=1)[0].document == 1
    with pytest.raises(
        ValueError, match=r"no word of the query is known to the topics: \['zebra'\]"
    ):
        topics.search("zebra")
    with pytest.raises(ValueError, match="no document has a word that the topics know"):
        topics.index(Documents([], [0, 0], topics.vocabulary_))
    with pytest.raises(ValueError, match="n must be"):
        topics.search("wheat", n=0)

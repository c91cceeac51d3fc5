"""Topics for pyLDAvis, gensim and OCTIS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gensim.models import LdaModel

from cohmm import HTMM, Documents, TextWarning, read_documents
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.export import pyldavis_arrays
from tests.laws import rows_are_distributions

FIVE = ["topic_term_dists", "doc_topic_dists", "doc_lengths", "vocab", "term_frequency"]


@pytest.fixture(scope="module")
def documents() -> Documents:
    sample = sample_htmm(200, n_components=3, n_words=40, length=40, random_state=0)
    return read_documents(list(sample.documents))  # of words that occur


@pytest.fixture(scope="module")
def topics(documents: Documents) -> HTMM:
    return HTMM(3, random_state=0).fit(documents)


@pytest.fixture
def loaded(topics: HTMM, tmp_path: Path) -> HTMM:
    topics.save(tmp_path / "topics")
    return HTMM.load(tmp_path / "topics")


def check_as_pyldavis_does(arrays: dict[str, object], n_documents: int) -> None:
    """What ``pyLDAvis.prepare`` checks of its arguments, and what it divides by."""
    assert list(arrays) == FIVE
    terms, shares, lengths, vocab, frequency = arrays.values()
    assert shares.shape == (n_documents, len(terms))
    assert len(lengths) == n_documents
    assert terms.shape[1] == len(vocab) == len(frequency)
    assert len(set(vocab)) == len(vocab)
    rows_are_distributions(terms)
    rows_are_distributions(shares)
    assert (frequency > 0).all()
    assert lengths.sum() == frequency.sum()


# -- pyLDAvis -------------------------------------------------------------------------------


def test_the_five_arrays_of_pyldavis(topics: HTMM, documents: Documents) -> None:
    arrays = topics.to_pyldavis()
    check_as_pyldavis_does(arrays, len(documents))
    counts = documents.term_counts().toarray()
    assert arrays["vocab"] == list(documents.vocabulary)
    np.testing.assert_array_equal(arrays["term_frequency"], counts.sum(axis=0))
    np.testing.assert_array_equal(arrays["doc_lengths"], counts.sum(axis=1))
    np.testing.assert_allclose(arrays["topic_term_dists"], topics.components_)
    np.testing.assert_allclose(arrays["doc_topic_dists"], topics.transform(documents))
    again = topics.to_pyldavis(documents)
    for name in FIVE:
        np.testing.assert_array_equal(again[name], arrays[name])


def test_documents_without_a_known_word_and_words_without_a_document(topics: HTMM) -> None:
    first, second = topics.vocabulary_[:2]
    with pytest.warns(TextWarning):
        arrays = topics.to_pyldavis([[first, second, first], ["unknown"], []])
    check_as_pyldavis_does(arrays, 3)
    assert arrays["doc_lengths"].tolist() == [3, 0, 0]
    assert arrays["vocab"] == [first, second]
    assert arrays["term_frequency"].tolist() == [2, 1]
    both = topics.components_[:, :2]
    np.testing.assert_allclose(arrays["topic_term_dists"], both / both.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(arrays["doc_topic_dists"][1:], [topics.topic_prevalence_] * 2)


def test_nothing_to_show(topics: HTMM, loaded: HTMM) -> None:
    with pytest.warns(TextWarning), pytest.raises(ValueError, match="there is nothing to show"):
        topics.to_pyldavis([["unknown"]])
    with pytest.raises(ValueError, match=r"to_pyldavis needs the training documents.*give doc"):
        loaded.to_pyldavis()
    fit = TopicFit(np.eye(2), [0.5, 0.5], [1.0, 1.0], ("oil", "gold"), name="by hand")
    one = Documents([0], [0, 1], fit.vocabulary)
    with pytest.raises(ValueError, match="no document has a word of topic 1"):
        pyldavis_arrays(fit, one, np.ones((1, 2)) / 2)


# -- gensim ---------------------------------------------------------------------------------


def test_topics_are_as_gensim_shows_them(topics: HTMM) -> None:
    lists = topics.to_gensim(n_words=7)
    assert lists["id2word"] == dict(enumerate(topics.vocabulary_))
    theirs = LdaModel(num_topics=3, id2word=lists["id2word"], dtype=np.float64)
    theirs.state.sstats = 1000 * topics.components_ - theirs.eta
    shown = theirs.show_topics(num_topics=-1, num_words=7, formatted=False)
    for (k, words), (their_k, their_words) in zip(lists["topics"], shown, strict=True):
        assert k == their_k
        assert [word for word, _ in words] == [word for word, _ in their_words]
        np.testing.assert_allclose([p for _, p in words], [p for _, p in their_words])
        assert type(words[0][1]) is float


def test_topics_of_documents_are_as_gensim_lists_them(topics: HTMM, documents: Documents) -> None:
    shares = topics.transform(documents)
    for least in (0.0, 0.01, 0.2):
        lists = topics.to_gensim(documents, minimum_probability=least)["document_topics"]
        assert len(lists) == len(documents)
        assert any(len(row) < 3 for row in lists) or not least
        for row, wanted in zip(lists, shares, strict=True):
            assert row == [(k, p) for k, p in enumerate(wanted) if p >= least]
    assert topics.to_gensim()["document_topics"] == topics.to_gensim(documents)["document_topics"]
    for least in (-0.1, 2, float("nan")):
        with pytest.raises(ValueError, match="minimum_probability must be from 0 to 1"):
            topics.to_gensim(minimum_probability=least)


# -- OCTIS ----------------------------------------------------------------------------------


def test_octis_has_a_row_a_topic(topics: HTMM, documents: Documents) -> None:
    output = topics.to_octis(documents, n_words=5)
    assert list(output) == ["topics", "topic-word-matrix", "topic-document-matrix"]
    assert output["topics"] == topics.top_words(5)
    np.testing.assert_array_equal(output["topic-word-matrix"], topics.components_)
    np.testing.assert_array_equal(output["topic-document-matrix"], topics.transform(documents).T)
    output["topic-word-matrix"][:] = 0  # OCTIS may write to it: it is a copy
    assert topics.components_.all()


def test_a_model_from_a_file_has_topics_alone(loaded: HTMM, documents: Documents) -> None:
    assert list(loaded.to_octis()) == ["topics", "topic-word-matrix"]
    assert list(loaded.to_gensim()) == ["topics", "id2word"]
    few = documents.select([0, 1])
    assert loaded.to_octis(few)["topic-document-matrix"].shape == (3, 2)
    assert len(loaded.to_gensim(few)["document_topics"]) == 2

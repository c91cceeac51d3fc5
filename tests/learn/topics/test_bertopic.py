"""BERTopic: our side of it everywhere, with a stand-in for the library; itself where installed."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from cohmm import Documents
from cohmm.learn.topics import bertopic as module
from cohmm.learn.topics.bertopic import BERTopicFit, bertopic, embed, fit_of
from tests.laws import rows_are_distributions
from tests.topics.samples import documents_of

# Two subjects in turn, a document without words, and one word that no document has.
TEXTS = [[0, 0, 1], [2, 3, 3], [1, 0], [3, 2, 2, 3], []] * 5
DOCUMENTS = documents_of(TEXTS, n_words=5)
VECTORS = np.arange(50.0).reshape(25, 2)


class Library:
    """What is called of BERTopic: clusters by the remainder of a document's number."""

    def __init__(self, n_found: int = 2, outliers: bool = True):
        self.n_found, self.outliers = n_found, outliers

    def BERTopic(self, nr_topics, umap_model, vectorizer_model):
        self.asked, self.seed, self.vectorizer = nr_topics, umap_model, vectorizer_model
        return self

    def fit_transform(self, texts, vectors):
        self.texts, self.vectors = texts, vectors
        numbers = np.arange(len(texts)) % 5
        self.topics_ = np.where(numbers == 4, -1, 1 - numbers % 2).tolist()
        if not self.outliers:
            self.topics_ = (np.arange(len(texts)) % self.n_found).tolist()
        self._count()
        return self.topics_, None

    def reduce_topics(self, texts, nr_topics):
        self.topics_ = [min(topic, nr_topics - 1) for topic in self.topics_]
        self._count()

    def _count(self):
        names = sorted(set(self.topics_))
        joined = [
            " ".join(t for t, topic in zip(self.texts, self.topics_, strict=True) if topic == k)
            for k in names
        ]
        self.c_tf_idf_ = sparse.csr_matrix(self.vectorizer.fit_transform(joined) * 0.1)


@pytest.fixture
def library(monkeypatch):
    def install(**how) -> Library:
        standing_in = Library(**how)
        monkeypatch.setitem(sys.modules, "bertopic", standing_in)
        monkeypatch.setitem(
            sys.modules, "umap", SimpleNamespace(UMAP=lambda random_state, **_: random_state)
        )
        return standing_in

    return install


def test_topics_are_the_words_of_their_documents(library):
    called = library()
    fit = bertopic(DOCUMENTS, 2, embedding=VECTORS, random_state=7)
    assert (called.asked, called.seed) == (3, 7)  # outliers are a topic of BERTopic's count
    assert called.texts[:5] == ["0 0 1", "2 3 3", "1 0", "3 2 2 3", ""]
    np.testing.assert_array_equal(called.vectors, VECTORS)
    # The other way round than BERTopic has them: 35 words against 25.
    np.testing.assert_allclose(fit.components, [[0, 0, 3 / 7, 4 / 7, 0], [3 / 5, 2 / 5, 0, 0, 0]])
    np.testing.assert_allclose(fit.prevalence, [7 / 12, 5 / 12])
    np.testing.assert_allclose(fit.distinctive * 10, [[0, 0, 15, 20, 0], [15, 10, 0, 0, 0]])
    assert fit.document_topics.tolist() == [1, 0, 1, 0, -1] * 5
    assert fit.outliers == 0.2
    assert (fit.name, fit.converged, fit.vocabulary) == ("BERTopic", None, DOCUMENTS.vocabulary)
    rows_are_distributions(fit.components)


def test_without_outliers_there_are_no_more_topics_than_asked_for(library):
    library(n_found=3, outliers=False)
    fit = bertopic(DOCUMENTS, 2, embedding=VECTORS)
    assert len(fit.components) == len(fit.distinctive) == 2
    assert fit.outliers == 0


def test_what_the_language_model_reads(library):
    library()
    read = []
    model = SimpleNamespace(encode=lambda texts: read.append(texts) or VECTORS)
    bertopic(DOCUMENTS, 2, embedding=model)
    words = DOCUMENTS.vocabulary
    assert read[0][:2] == [f"{words[0]} {words[0]} {words[1]}", f"{words[2]} {words[3]} {words[3]}"]
    raw = [f"Text {d}, as it was written." for d in range(25)]
    bertopic(DOCUMENTS, 2, embedding=model, texts=raw)
    assert read[1] == raw


def test_a_folder_has_a_model_and_nothing_is_fetched(monkeypatch, tmp_path):
    calls = []

    def load(name, **options):
        calls.append((name, options))
        return SimpleNamespace(encode=lambda texts: np.ones((len(texts), 3)))

    stand_in = SimpleNamespace(SentenceTransformer=load)
    monkeypatch.setitem(sys.modules, "sentence_transformers", stand_in)
    assert embed(["a", "b"], tmp_path).shape == (2, 3)
    assert calls == [(str(tmp_path), {"local_files_only": True})]
    with pytest.raises(ValueError, match="all-MiniLM-L6-v2: there is no such folder"):
        embed(["a"], "all-MiniLM-L6-v2")
    carried = SimpleNamespace(get_model_path=lambda: tmp_path)
    monkeypatch.setitem(sys.modules, module.CARRIES_A_MODEL, carried)
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match="needs a language model: give embedding= a folder"):
        embed(["a"])
    monkeypatch.setattr(module, "find_spec", lambda name: name)
    assert embed(["a"]).shape == (1, 3)


def test_a_cluster_of_empty_documents_is_a_topic_of_no_word():
    documents = Documents([0, 1], [0, 2, 2, 2], ("oil", "gold"))
    fit = fit_of(np.array([0, 1, -1]), np.eye(2), documents.term_counts(), documents)
    np.testing.assert_allclose(fit.components, 0.5)
    assert fit.prevalence[1] < 1e-6
    with pytest.raises(ValueError, match="found no topic: all 3 documents are outliers"):
        fit_of(np.full(3, -1), np.zeros((0, 2)), documents.term_counts(), documents)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("there are 2 texts for 25 documents", {"texts": ["a", "b"]}),
        (r"numbers \(25, d\).* the shape \(24, 2\)", {"embedding": VECTORS[1:]}),
        (r"not of <U1 and the shape \(25,\)", {"embedding": list("a" * 25)}),
        ("finite; that of document 24 is not", {"embedding": np.where(VECTORS == 49, np.nan, 0)}),
        ("n_components must be a whole number from 1 to 5.* not 6", {"n_components": 6}),
        ("at least 17 documents, not 5", {"documents": documents_of(TEXTS[:5], n_words=5)}),
    ],
)
def test_bad_input_is_named(library, message, options):
    library()
    given = {"documents": DOCUMENTS, "n_components": 2, "embedding": VECTORS} | options
    with pytest.raises(ValueError, match=message):
        bertopic(**given)


def test_the_library_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "bertopic", None)
    with pytest.raises(ImportError, match=r"needs the package bertopic: pip install 'cohmm\[bert"):
        bertopic(DOCUMENTS, 2, embedding=VECTORS)


@pytest.mark.skipif(find_spec("bertopic") is None, reason="bertopic is not installed (torch)")
def test_bertopic_itself_finds_separate_clusters():
    rng = np.random.default_rng(0)
    subject = np.arange(120) % 2
    documents = documents_of([(rng.integers(0, 4, 8) + 4 * k).tolist() for k in subject], 8)
    vectors = rng.normal(size=(120, 6)) * 0.05 + np.eye(6)[subject]
    fit, again = (bertopic(documents, 2, embedding=vectors, random_state=0) for _ in range(2))
    assert isinstance(fit, BERTopicFit)
    assert len(fit.components) == 2
    kept = fit.document_topics >= 0
    assert kept.mean() == 1 - fit.outliers > 0.8
    assert len(set(zip(fit.document_topics[kept], subject[kept], strict=True))) == 2
    assert (fit.components > 0).sum() == 8
    assert ((fit.distinctive > 0) == (fit.components > 0)).all()
    np.testing.assert_array_equal(fit.document_topics, again.document_topics)

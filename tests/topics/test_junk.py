"""Topics that say little, and twins."""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HTMM, Documents, read_documents
from cohmm.model.topic_model import TopicModel
from cohmm.topics.junk import Junk, code_words, distance_from_others, effective_number, twins

SUBJECTS = {
    "sea": "whale ship harbour sailor anchor wave tide island",
    "farm": "wheat barley plough tractor cattle harvest meadow barn",
    "law": "court judge lawyer verdict appeal statute jury trial",
}
FUNCTION_WORDS = ["the", "of", "and", "to", "in", "that", "is", "was", "for", "it"]


def corpus(rng: np.random.Generator, d: int = 240, function_words: int = 0) -> list[list[str]]:
    """Documents of one subject each, with function words in between."""
    texts = []
    for n in range(d):
        subject = list(SUBJECTS.values())[n % 3].split()
        words = (
            rng.choice(subject, 40).tolist() + rng.choice(FUNCTION_WORDS, function_words).tolist()
        )
        texts.append(rng.permutation(words).tolist())
    return texts


def model_of(topics: list[list[str]], documents: Documents) -> TopicModel:
    """Topics that have these words alike."""
    components = np.array([[word in topic for word in documents.vocabulary] for topic in topics])
    mass = components[:, documents.symbols].sum(axis=1)
    k = len(topics)
    return TopicModel(
        components / components.sum(axis=1, keepdims=True),
        mass / mass.sum(),
        np.full(k, 0.1),
        documents.vocabulary,
    )


def test_each_kind_of_junk_is_named() -> None:
    rng = np.random.default_rng(0)
    texts = corpus(rng, function_words=20)
    codes = [f"{a}{b}{c}" for a in "xyz" for b in range(10) for c in "qwk"]
    years = [str(year) for year in range(1900, 1990)]
    speech = ["fellow", "citizen", "senate", "solemn"]
    texts += [rng.choice(codes, 60).tolist() for _ in range(8)]
    texts += [rng.choice(years, 60).tolist() for _ in range(8)]
    texts += [rng.choice(speech, 2000).tolist()]
    documents = read_documents(texts)
    subjects = [words.split() for words in SUBJECTS.values()]
    model = model_of([*subjects, FUNCTION_WORDS, codes, years, speech], documents)
    junk = Junk.of(model, documents)
    # Words that no other topic has are far from all others, however frequent they are.
    assert junk.verdicts == ("", "", "", "", "encoded", "numbers", "one document")
    assert junk.topics == {4: "encoded", 5: "numbers", 6: "one document"}
    mixed = [words + FUNCTION_WORDS for words in subjects]
    junk = Junk.of(
        model_of([*mixed, FUNCTION_WORDS], read_documents(texts[:240])), read_documents(texts[:240])
    )
    assert junk.verdicts == ("", "", "", "function words")


def test_figures_by_hand() -> None:
    documents = Documents([0, 0, 1, 0, 1, 1], [0, 3, 3, 5, 6], ("oil", "m9v"))
    model = TopicModel([[0.75, 0.25], [0, 1]], [0.6, 0.4], [0.6, 0.4], documents.vocabulary)
    shares = np.array([[1.0, 0.0], [0.5, 0.5], [0.95, 0.05], [0.0, 1.0]])
    junk = Junk.of(model, documents, shares)
    assert junk.document_share.tolist() == [2 / 3, 1 / 3]  # of documents with words
    masses = [np.array([3, 1.9, 0]) / 4.9, np.array([0, 0.1, 1]) / 1.1]
    for k, mass in enumerate(masses):
        entropy = -sum(p * math.log(p) for p in mass if p)
        assert junk.effective_documents[k] == pytest.approx(math.exp(entropy))
    assert junk.distance == pytest.approx([0.75, 0.75])  # of two topics: from each other
    assert junk.code_share == pytest.approx([0.25, 1.0])
    columns = junk.columns()
    assert columns["junk"] == list(junk.verdicts)
    assert columns["code_share"] is junk.code_share


def test_codes_are_told_from_words() -> None:
    rare = ["bhj", "xyz", "élan", "हिन्दी", "g9v", "1987", "b2b"]
    common = ["pct", "vs", "mr", "oil"]
    texts = [common for _ in range(500)] + [rare] + [["ax"] * 60, ["nz", "rain"]]
    documents = read_documents(texts, analyzer=str.split)
    codes, numbers = code_words(documents)
    found = {word for word, code in zip(documents.vocabulary, codes, strict=True) if code}
    assert found == {"bhj", "g9v", "1987", "b2b", "ax"}
    assert [documents.vocabulary[n] for n in np.flatnonzero(numbers)] == ["1987"]


def test_where_codes_are_the_language_they_are_no_junk() -> None:
    texts = [["e1", "e2"] * 20, ["e3", "e4"] * 20] * 30
    assert HTMM(2, random_state=0).fit(texts).junk() == {}


def test_one_topic_and_no_words() -> None:
    documents = Documents([0, 1, 0], [0, 2, 3], ("oil", "gas"))
    alone = TopicModel([[0.5, 0.5]], [1.0], [1.0], documents.vocabulary)
    assert distance_from_others(alone).tolist() == [1]
    assert Junk.of(alone, documents).topics == {}
    empty = Documents(np.empty(0, np.int32), [0, 0, 0], documents.vocabulary)
    junk = Junk.of(alone, empty)
    assert (junk.effective_documents.tolist(), junk.verdicts) == ([0], ("",))


@given(st.lists(st.lists(st.floats(0, 9), min_size=2, max_size=2), max_size=6))
def test_the_effective_number_is_at_most_the_number(rows: list[list[float]]) -> None:
    mass = np.array(rows).reshape(-1, 2)
    found = effective_number(mass)
    assert (found <= (mass > 0).sum(axis=0) + 1e-9).all()
    assert ((found >= 1 - 1e-9) == (mass.sum(axis=0) > 0)).all()
    assert effective_number(np.ones((7, 1))) == pytest.approx(7)


@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.floats(0.05, 1))
def test_twins_are_all_pairs_that_are_near(seed: int, k: int, within: float) -> None:
    topics = np.random.default_rng(seed).dirichlet(np.ones(4), size=k)
    expected = [
        (i, j)
        for i, j in combinations(range(k), 2)
        if sum(abs(a - b) for a, b in zip(topics[i], topics[j], strict=True)) / 2 < within
    ]
    assert twins(topics, within) == expected


def test_an_estimator_names_its_junk_and_drops_it() -> None:
    rng = np.random.default_rng(0)
    codes = [f"{a}{b}{c}" for a in "xyz" for b in range(10) for c in "qwk"]
    texts = corpus(rng) + [rng.choice(codes, 300).tolist() for _ in range(8)]
    topics = HTMM(4, random_state=0).fit(texts)
    junk = topics.junk()
    assert list(junk.values()) == ["encoded"]
    left = topics.drop(junk)
    assert left.n_components == 3
    assert not any(char.isdigit() for words in left.top_words(8) for word in words for char in word)
    assert left.junk() == {}
    assert np.array_equal(left.drop(left.junk()).components_, left.components_)
    table = topics.to_frame("topics")
    (k,) = junk
    assert table["junk"].tolist() == ["encoded" if n == k else "" for n in range(4)]
    assert table["effective_documents"][k] == pytest.approx(8, abs=0.5)
    assert topics.junk(texts[:240]) == junk  # what its words are does not depend on documents


@pytest.mark.parametrize(
    "texts", [["oil gas oil wheat"] * 20, ["oil gas oil wheat " * 10], ["oil gas", "", "gas oil"]]
)
def test_equal_documents_one_alone_and_empty_ones(texts: list[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        topics = HTMM(2, random_state=0).fit(texts)
        table = topics.to_frame("topics")
    assert table["effective_documents"].between(1, len(texts) + 1e-9).all()
    assert table["distance"].between(0, 1).all()
    assert topics.junk() == {}

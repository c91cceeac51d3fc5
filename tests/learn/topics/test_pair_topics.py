"""Topics that start from given words, and keep their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cohmm import HTMM, Documents
from cohmm.datasets.demo_topics import demo_model
from cohmm.datasets.synthetic_topics import sample_documents
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.topics.pair_topics import SEED_PAIRS, Seeds, checked_seeds, seed_pairs
from cohmm.learn.topics.topic_start import k_means

WORDS = ("corn", "gold", "oil", "ore", "wheat")
GIVEN = {"weather": ["rain", "snow"], "kitchen": ["oven", "flour"]}


@pytest.fixture(scope="module")
def subjects() -> Documents:
    return sample_documents(demo_model(), 300, length=60, random_state=0)[0]


def fitted(subjects: Documents, **options: object) -> HTMM:
    return HTMM(12, **{"random_state": 0} | options).fit(subjects)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore:these pairs can show")
def test_named_topics_have_their_words_and_their_names(subjects: Documents, tmp_path: Path) -> None:
    for seed in range(3):
        model = fitted(subjects, seed_words=GIVEN, random_state=seed)
        assert sorted(filter(None, model.labels_)) == sorted(GIVEN)
        for label, words in GIVEN.items():
            topic = model.labels_.index(label)
            assert {*words} <= {*model.top_words(10)[topic]}
    model.save(tmp_path / "named.cohmm")
    again = HTMM.load(tmp_path / "named.cohmm")
    assert again.labels_ == model.labels_
    assert again.seed_words == GIVEN


@pytest.mark.filterwarnings("ignore:these pairs can show")
def test_topics_without_a_name(subjects: Documents) -> None:
    named = fitted(subjects, seed_words=GIVEN)
    listed = fitted(subjects, seed_words=list(GIVEN.values()))
    np.testing.assert_array_equal(named.components_, listed.components_)
    assert set(listed.labels_) == {None}


def test_seeds_hold_their_clusters() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3)) * 0.1 + np.repeat(np.eye(3), 20, axis=0)
    held = np.full(60, -1)
    held[[0, 59]] = 0  # points of two clusters
    held[25] = 1
    labels = k_means(points, np.ones(60), 3, rng, held)
    assert labels[[0, 59, 25]].tolist() == [0, 0, 1]
    assert set(labels.tolist()) == {0, 1, 2}


def test_extra_pairs_are_among_the_words_of_a_topic_alone() -> None:
    frequency = np.array([0.1, 0.2, 0.3, 0.4])
    extra = seed_pairs(Seeds(("a", None), (np.array([0, 2]), np.array([3]))), frequency)
    assert sparse.issparse(extra)
    dense = extra.toarray()
    np.testing.assert_allclose(dense.sum(), SEED_PAIRS * 0.8)
    np.testing.assert_allclose(dense[3, 3], SEED_PAIRS * 0.4)
    np.testing.assert_allclose(dense[0], SEED_PAIRS * 0.4 * 0.25 * np.array([0.25, 0, 0.75, 0]))
    assert (dense[1] == 0).all()
    assert (dense == dense.T).all()


def test_labels_go_with_their_words() -> None:
    seeds = checked_seeds({"metal": ["ore", "gold", "ore"]}, WORDS, 3)
    assert seeds.words[0].tolist() == [3, 1]
    assert seeds.labels == ("metal",)
    assert checked_seeds([["oil"]], WORDS, 3).labels == ()
    assert checked_seeds(None, WORDS, 3) == Seeds((), ())


def test_unknown_words_are_named_and_left_out() -> None:
    with pytest.warns(EvidenceWarning, match=r"\['maize', 'rye'\] are not in the documents"):
        seeds = checked_seeds({"grain": ["maize", "corn", "rye"]}, WORDS, 3)
    assert seeds.words[0].tolist() == [0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": ["corn"], "b": ["gold", "corn"]}, "'corn' is a seed word of topics 'a' and 'b'"),
        ([["corn"], ["corn"]], "'corn' is a seed word of topics 0 and 1"),
        ({"a": ["maize"]}, "no seed word of topic 'a' is in the documents: \\['maize'\\]"),
        ({"a": []}, "no seed word of topic 'a' is in the documents: none"),
        ({"a": "corn"}, "the seed words of topic 'a' must be a list, not 'corn'"),
        ([["corn"], 3], "the seed words of topic 1 must be a list, not 3"),
        ("corn", "seed_words must be lists of words"),
        ({" ": ["corn"]}, "the label of topic 0 is blank"),
        ([[word] for word in WORDS], "seed_words are for 5 topics, and there are 4"),
    ],
)
def test_what_is_wrong_is_named(given: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        checked_seeds(given, WORDS, 4)  # type: ignore[arg-type]

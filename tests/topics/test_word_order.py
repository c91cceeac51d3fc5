"""In which order the words of a topic are shown."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.topics.describe import diversity, top_codes
from cohmm.topics.word_order import word_values


@pytest.fixture
def components() -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.full(30, 0.3), size=4)


def test_relevance_is_what_its_authors_say(components: np.ndarray) -> None:
    prevalence = np.array([0.4, 0.3, 0.2, 0.1])
    found = top_codes(components, 30, "relevance", prevalence)
    for k, row in enumerate(components):
        value = {}
        for word in range(30):
            overall = sum(prevalence[j] * components[j, word] for j in range(4))
            value[word] = 0.5 * np.log(row[word]) + 0.5 * np.log(row[word] / overall)
        assert found[k].tolist() == sorted(value, key=lambda word: -value[word])


def test_frex_is_the_harmonic_mean_of_two_ranks(components: np.ndarray) -> None:
    found = word_values(components, "frex")
    own = components / components.sum(axis=0)
    for k, word in [(0, 3), (2, 17), (3, 29)]:
        common = np.mean(components[k] <= components[k, word])
        exclusive = np.mean(own[k] <= own[k, word])
        np.testing.assert_allclose(found[k, word], 2 * common * exclusive / (common + exclusive))


@pytest.mark.parametrize("by", ["probability", "relevance", "frex"])
def test_words_that_a_topic_never_has_come_last(by: str) -> None:
    components = [[0.0, 0.6, 0.0, 0.4], [0.5, 0.0, 0.0, 0.5]]
    assert {*top_codes(components, 2, by)[0].tolist()} == {1, 3}
    assert {*top_codes(components, 2, by)[1].tolist()} == {0, 3}


@pytest.mark.parametrize("by", ["probability", "relevance", "frex"])
def test_orders_do_not_depend_on_how_topics_and_words_are_numbered(
    components: np.ndarray, by: str
) -> None:
    rng = np.random.default_rng(1)
    topics, words = rng.permutation(4), rng.permutation(30)
    moved = word_values(components[topics][:, words], by)
    np.testing.assert_allclose(moved, word_values(components, by)[topics][:, words])


def test_distinctive_words_are_shared_less() -> None:
    common = np.r_[0.15, 0.15, np.zeros(10)]
    components = [
        common + 0.14 * np.roll(np.r_[np.ones(5), np.zeros(7)], 2 + 5 * k) for k in (0, 1)
    ]
    assert diversity(components, 2) == 0.5
    assert diversity(components, 2, by="relevance") > 0.5


def test_what_is_wrong_is_named(components: np.ndarray) -> None:
    with pytest.raises(ValueError, match="probability, relevance, frex, not 'lift'"):
        word_values(components, "lift")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"prevalence has the shape \(3,\), but there are 4"):
        top_codes(components, 3, "relevance", np.ones(3) / 3)

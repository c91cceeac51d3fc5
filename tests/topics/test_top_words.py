"""Top words and their order, diversity and exclusivity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cohmm.topics.top_words import diversity, exclusivity, top_codes, top_words, word_values

TIED = arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 12)),
    elements=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


@given(TIED, st.data())
def test_top_words_are_those_of_a_stable_sort(components: np.ndarray, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, components.shape[1]))
    expected = [
        sorted(range(len(row)), key=lambda word, row=row: (-row[word], word))[:n]
        for row in components.tolist()
    ]
    assert top_codes(components, n).tolist() == expected


def test_top_words_by_name() -> None:
    assert top_words([[0.1, 0.2, 0.7]], ("a", "b", "c"), 2) == [["c", "b"]]
    with pytest.raises(ValueError, match="2 words for 3 columns"):
        top_words([[0.1, 0.2, 0.7]], ("a", "b"), 2)


def test_diversity_from_all_alike_to_all_different() -> None:
    alike = np.tile([0.4, 0.3, 0.2, 0.1], (5, 1))
    assert diversity(alike, top=2) == pytest.approx(1 / 5)
    assert diversity(np.eye(4) * 0.7 + 0.1, top=1) == 1.0


def test_exclusivity_from_all_alike_to_all_different() -> None:
    np.testing.assert_allclose(exclusivity(np.tile([0.4, 0.3, 0.3], (5, 1)), top=2), 1 / 5)
    np.testing.assert_allclose(exclusivity(np.eye(3), top=1), 1.0)
    # word 0: .6 of .8, word 1: .4 of 1.2
    assert exclusivity([[0.6, 0.4], [0.2, 0.8]], top=2)[0] == pytest.approx((0.75 + 1 / 3) / 2)


def test_topics_may_be_permuted_and_words_relabelled() -> None:
    rng = np.random.default_rng(0)
    components = rng.dirichlet(np.ones(40), size=6)
    topics, words = rng.permutation(6), rng.permutation(40)
    other = components[topics][:, words]
    assert diversity(other, top=10) == diversity(components, top=10)
    np.testing.assert_allclose(exclusivity(other), exclusivity(components)[topics])


@pytest.mark.parametrize("n", [0, 4, 1.5, True])
def test_a_wrong_number_of_words(n: object) -> None:
    with pytest.raises(ValueError, match=f"from 1 to 3.*not {n!r}"):
        top_codes([[0.1, 0.2, 0.7]], n)  # type: ignore[arg-type]


def test_components_that_are_none() -> None:
    with pytest.raises(ValueError, match="topic 1, word 2 has nan"):
        diversity([[0.1, 0.2, 0.7], [0, 1, np.nan]], top=1)
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        diversity([0.1, 0.2, 0.7], top=1)


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

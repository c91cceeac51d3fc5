"""Top words, diversity and exclusivity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cohmm.topics.describe import diversity, exclusivity, top_codes, top_words

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

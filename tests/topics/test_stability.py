"""Are topics the same in every run?"""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HTMM
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.topics.compare import compare, mean_rows
from cohmm.topics.stability import matched_variation, mean_variation, stability, variation_between

WORDS = [f"w{n}" for n in range(12)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_match_is_the_best_of_all(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.dirichlet(np.ones(6), size=(2, k))
    best = min(np.abs(left[list(order)] - right).sum() / 2 / k for order in permutations(range(k)))
    assert matched_variation(left, right).mean() == pytest.approx(best)
    assert mean_variation([left, right]) == pytest.approx(best)
    assert mean_variation([right, left]) == pytest.approx(best)


def test_the_order_of_topics_does_not_count() -> None:
    topics = np.random.default_rng(0).dirichlet(np.full(12, 0.3), size=4)
    found = stability(topics, [topics[[2, 0, 3, 1]], topics[::-1]], WORDS)
    assert found.total_variation == 0
    assert (found.topic_variation == 0).all()
    assert (found.shared_words == 1).all()
    assert found.returns.tolist() == [2] * 4
    assert found.lost == []
    assert "do not come back: none" in str(found)


def test_a_topic_that_does_not_come_back_is_named() -> None:
    topics = np.kron(np.eye(3), [0.4, 0.3, 0.2, 0.1])  # four words each
    other = topics.copy()
    other[1] = np.full(12, 1 / 12)
    found = stability(topics, [other, other, topics], WORDS, top=4)
    assert found.lost == [1]
    assert found.returns.tolist() == [3, 1, 3]
    assert found.topic_variation == pytest.approx([0, 2 / 3 * 2 / 3, 0])
    assert found.shared_words[1] == pytest.approx(
        (1 + 2 * len({0, 1, 2, 3} & {4, 5, 6, 7}) / 4) / 3
    )
    assert "do not come back: 1 (w4, w5, w6)" in str(found)
    assert str(found).splitlines()[2].startswith("    1 ")  # the least stable first
    assert repr(found).startswith("Stability(3 seeds: total variation 0.148, ")
    table = found.to_frame()
    assert table["returns"].tolist() == [3, 1, 3]
    assert table["words"][1] == "w4 w5 w6 w7"


def test_bad_input() -> None:
    topics = np.eye(2)
    with pytest.raises(ValueError, match="two fits or more, not 1"):
        stability(topics, [topics], "ab")
    with pytest.raises(ValueError, match=r"fit 1 has topics of the shape \(1, 2\)"):
        stability(topics, [topics, topics[:1]], "ab")
    assert np.isnan(mean_variation([topics]))


def test_an_estimator_is_learned_again_from_other_seeds() -> None:
    sample = sample_htmm(150, n_components=3, n_words=90, random_state=0)
    model = HTMM(3, random_state=5).fit(sample.documents)
    before = model.components_.copy()
    found = model.stability(n=2)
    others = [HTMM(3, random_state=seed).fit(sample.documents).components_ for seed in (6, 7)]
    expected = stability(model.components_, others, model.vocabulary_)
    assert found.total_variation == expected.total_variation
    assert (found.topic_variation == expected.topic_variation).all()
    assert (model.components_ == before).all()
    assert found.total_variation < 0.2
    with pytest.raises(ValueError, match="n must be a whole number from 2, not 1"):
        model.stability(n=1)


def fit_of(components: np.ndarray, words: str) -> TopicFit:
    k = len(components)
    return TopicFit(components, np.full(k, 1 / k), np.ones(k), tuple(words), name="by hand")


def test_fits_of_other_words_and_of_other_numbers_of_topics() -> None:
    one = fit_of(np.array([[0.5, 0.5, 0], [0, 0, 1.0]]), "abc")
    turned = fit_of(np.array([[1.0, 0, 0], [0, 0.5, 0.5]]), "cba")
    assert variation_between([one, turned]) == 0
    fewer = fit_of(np.array([[0.5, 0.5]]), "ab")
    assert variation_between([one, fewer]) == variation_between([fewer, one]) == 0.5
    assert variation_between([one, turned, fewer]) == pytest.approx(1 / 3)


def test_models_are_compared_by_their_stability_where_there_are_seeds() -> None:
    sample = sample_htmm(80, n_components=2, n_words=60, length=30, random_state=0)
    runs = list(compare(sample.documents, ["htmm"], [2], seeds=(0, 1)))
    (row,) = mean_rows(runs)
    fits = [one.topics for one in runs if one.topics is not None]
    assert row["stability"] == variation_between(fits)
    assert 0 < row["stability"] < 0.3
    assert "stability" not in mean_rows(runs[:1])[0]

"""A tree of topics: merges that cost least, and cuts that are models like any other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage

from cohmm import HTMM
from cohmm.datasets.synthetic_topics import sample_htmm
from cohmm.model.topic_model import TopicModel
from cohmm.topics.tree import TopicTree, topic_tree


@pytest.fixture(scope="module")
def topics() -> HTMM:
    sample = sample_htmm(150, n_components=6, n_words=80, random_state=0)
    return HTMM(6, random_state=0).fit(sample.documents)


def divergence(p: np.ndarray, q: np.ndarray) -> float:
    there = p > 0
    return float((p[there] * np.log(p[there] / q[there])).sum())


def slow_tree(components: np.ndarray, prevalence: np.ndarray) -> list[tuple[int, int, float]]:
    """Every pair looked at anew in every step, by the definition of its cost."""
    laws = {
        k: (law, share) for k, (law, share) in enumerate(zip(components, prevalence, strict=True))
    }
    steps = []
    for node in range(len(components), 2 * len(components) - 1):
        best = None
        for i in laws:
            for j in (j for j in laws if j > i):
                (p, a), (q, b) = laws[i], laws[j]
                both = (a * p + b * q) / (a + b)
                cost = a * divergence(p, both) + b * divergence(q, both)
                if best is None or cost < best[2]:
                    best = (i, j, cost)
        assert best is not None
        i, j, cost = best
        (p, a), (q, b) = laws.pop(i), laws.pop(j)
        laws[node] = ((a * p + b * q) / (a + b), a + b)
        steps.append((i, j, cost))
    return steps


def test_merges_are_those_that_cost_least(topics: HTMM) -> None:
    tree = topics.tree()
    steps = slow_tree(topics.components_, topics.topic_prevalence_)
    assert tree.merges.tolist() == [[i, j] for i, j, _ in steps]
    np.testing.assert_allclose(tree.costs, [cost for _, _, cost in steps], atol=1e-12)


def test_a_cut_is_the_model_that_is_merged_by_hand(topics: HTMM) -> None:
    tree = topics.tree()
    for k in range(1, 7):
        groups = [group for group in tree.groups(k) if len(group) > 1]
        by_hand = topics.merge(groups) if groups else topics
        cut = tree.cut(k)
        assert cut.n_components == k
        np.testing.assert_array_equal(cut.components_, by_hand.components_)
        assert cut.perplexity(topics.documents_) == by_hand.perplexity(topics.documents_)


def test_the_groups_of_a_cut_are_the_numbers_of_its_topics(topics: HTMM) -> None:
    tree = topics.tree()
    cut, prevalence = tree.cut(3), topics.topic_prevalence_
    expected = [prevalence[group].sum() for group in tree.groups(3)]
    np.testing.assert_allclose(cut.topic_prevalence_, expected)


def test_topics_with_the_same_words_merge_first_and_cost_nothing() -> None:
    law = [0.5, 0.3, 0.2]
    model = TopicModel([law, [0, 0.1, 0.9], law], [0.2, 0.5, 0.3], [1, 1, 1], ("a", "b", "c"))
    tree: TopicTree[object] = topic_tree(model, lambda groups: groups)
    assert tree.merges[0].tolist() == [0, 2]
    assert tree.costs[0] == pytest.approx(0, abs=1e-12)
    assert tree.costs[1] > 0.1


def test_a_topic_without_any_word_of_the_corpus() -> None:
    model = TopicModel([[1, 0], [0, 1], [0.5, 0.5]], [0.6, 0.4, 0], [1, 1, 1], ("a", "b"))
    tree: TopicTree[object] = topic_tree(model, lambda groups: groups)
    assert tree.costs[0] == 0
    assert np.isfinite(tree.costs).all()


def test_scipy_takes_the_linkage(topics: HTMM) -> None:
    assert is_valid_linkage(topics.tree().linkage)


def test_a_tree_of_one_topic(topics: HTMM) -> None:
    one = topics.tree().cut(1)
    tree = one.tree()
    assert len(tree.costs) == 0
    assert tree.cut(1) is one


@pytest.mark.parametrize(("k", "match"), [(0, "k must be"), (7, "k=7: the tree has 6 topics")])
def test_there_is_no_such_cut(topics: HTMM, k: int, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        topics.tree().cut(k)

"""A tree of topics, drawn."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.model.topic_model import TopicModel
from cohmm.plots import plot_topic_tree
from cohmm.topics.tree import TopicTree, topic_tree


def a_tree(k: int, labels: tuple[str | None, ...] = ()) -> TopicTree[object]:
    rng = np.random.default_rng(0)
    words = tuple(f"word{n}" for n in range(30))
    model = TopicModel(
        rng.dirichlet(np.full(30, 0.2), k), np.full(k, 1 / k), np.ones(k), words, labels=labels
    )
    return topic_tree(model, lambda groups: groups)


def test_every_topic_has_a_row_and_every_merge_a_bracket() -> None:
    tree = a_tree(12)
    ax = plot_topic_tree(tree)
    rows = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(int(row.split()[0]) for row in rows) == list(range(12))
    assert [int(row.split()[0]) for row in rows] == tree.leaves(22)
    assert len(ax.collections[0].get_segments()) == 11
    ends = [segment[:, 0].max() for segment in ax.collections[0].get_segments()]
    np.testing.assert_allclose(sorted(ends), tree.linkage[:, 2] * 1000)
    assert len(ax.texts) == 7


def test_labels_take_the_place_of_words() -> None:
    ax = plot_topic_tree(a_tree(3, ("grain $x$", None, "oil")))
    rows = {text.get_text() for text in ax.get_yticklabels()}
    assert {"0  grain $x$", "2  oil"} <= rows
    ax.figure.canvas.draw()


def test_one_topic_alone() -> None:
    assert len(plot_topic_tree(a_tree(1)).get_yticklabels()) == 1


def test_what_is_no_tree() -> None:
    with pytest.raises(ValueError, match=r"a tree is what HTMM\.tree makes, not a list"):
        plot_topic_tree([])  # type: ignore[arg-type]

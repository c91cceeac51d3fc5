"""Which topics merge, and what it costs: a tree."""

from __future__ import annotations

from matplotlib.axes import Axes
from scipy.cluster.hierarchy import dendrogram

from cohmm.plots.canvas import COLOURS, GREY, canvas, plain, word
from cohmm.topics.tree import TopicTree

ROW = 0.16  # inches of a topic
INNER = 8  # merges that are labelled, the most expensive


def plot_topic_tree(tree: TopicTree[object], ax: Axes | None = None) -> Axes:
    """Topics from top to bottom, merges from left to right by what they cost; from `HTMM.tree`.

    Beside each of the last merges stand the words that tell the merged topic from the corpus.

    >>> from cohmm import HTMM
    >>> topics = HTMM(3, random_state=0).fit(["oil gas oil", "wheat corn", "gold ore"] * 9)
    >>> len(plot_topic_tree(topics.tree()).get_yticklabels())
    3
    """
    if not isinstance(tree, TopicTree):
        raise ValueError(f"a tree is what HTMM.tree makes, not a {type(tree).__name__}")
    k = tree.n_components
    names = [
        f"{topic}  " + (word(label) if label else " ".join(map(word, words)))
        for topic, (label, words) in enumerate(zip(tree.labels, tree.words, strict=False))
    ]
    with canvas(ax, height=max(1.2, ROW * k + 0.6)) as ax:
        ax.set_xlabel("cost of the merge, nats per 1,000 words")
        ax.set_ylabel("topic")
        if k == 1:
            ax.set_yticks([5], names[:1])
            return ax
        linkage = tree.linkage
        linkage[:, 2] *= 1000
        drawing = dendrogram(
            linkage,
            orientation="right",
            labels=names,
            ax=ax,
            color_threshold=0,
            above_threshold_color=COLOURS[0],
        )
        plain(ax)
        ax.grid(visible=False, axis="y")
        ax.tick_params(axis="y", labelsize="small", length=0)
        for text in ax.get_yticklabels():
            text.set_parse_math(False)
        _label_merges(ax, tree, drawing["leaves"])
        return ax


def _label_merges(ax: Axes, tree: TopicTree[object], leaves: list[int]) -> None:
    """The words of the last merges, each at the top of its bracket."""
    k = tree.n_components
    place = {leaf: 5.0 + 10.0 * row for row, leaf in enumerate(leaves)}
    heights = tree.linkage[:, 2] * 1000
    for step, (left, right) in enumerate(tree.merges.tolist()):
        place[k + step] = (place[left] + place[right]) / 2
        if k - 1 - INNER <= step < k - 2:  # the root is the corpus
            ax.annotate(
                " ".join(map(word, tree.words[k + step])),
                (heights[step], place[k + step]),
                (2, 1),
                textcoords="offset points",
                fontsize="x-small",
                color=GREY,
                parse_math=False,
            )
    ax.set_xlim(0, heights.max() * 1.05)

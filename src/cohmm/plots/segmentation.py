"""A document as a ribbon of its topics, with its words where they fit."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple
from unicodedata import east_asian_width

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.patches import Patch

from cohmm.diagnose.fit_summary import as_fitted_topics
from cohmm.kernels.types import Floats
from cohmm.model.topic_model import Segmented
from cohmm.plots.canvas import canvas, drawn, plain_legend, word
from cohmm.topics.rich_text import PALETTE
from cohmm.topics.top_words import Order, words_of

MAX_WORDS = 250  # of a document that is written out
LINE = 62  # letters
MAX_LINES = 8  # of a longer one
EM = 0.603  # the width of a letter of a typewriter, as a share of its size
MIN_OPACITY = 0.25  # the opacity of a topic that is not probable at all
OTHERS = "#dddddd"
TOP = 4  # words in the legend


class Box(NamedTuple):
    """Where a word stands."""

    x: float
    line: int
    width: float


def plot_segmentation(
    topics: Any, document: Any, ax: Axes | None = None, *, order: Order = "relevance"
) -> Axes:
    """A document, line by line, every word in the colour of its topic.

    The paler a word, the less probable its topic.  A document of more than 250 words is a
    ribbon alone, one cell per word.  The nine most frequent topics of the document have colours;
    numbers at the left count words.

    Parameters
    ----------
    topics : HTMM
        The model.
    document : str, list of words, or Segmented
        One document, or what ``topics.segment`` says of it.
    ax : Axes, optional
        Where to draw; default: a new figure.
    order : "relevance", "probability" or "frex"
        What makes a word rank high in the legend: see `cohmm.topics.top_words`.

    >>> from cohmm import HTMM
    >>> texts = ["oil gas oil barrel gas oil", "wheat corn grain wheat corn"] * 20
    >>> model = HTMM(2, lags=1, random_state=0).fit(texts)
    >>> ax = plot_segmentation(model, "oil gas wheat corn")
    >>> [text.get_text() for text in ax.texts]
    ['oil', 'gas', 'wheat', 'corn']
    """
    if as_fitted_topics(topics) is None:
        raise ValueError(f"topics must be an HTMM, not a {type(topics).__name__}")
    if not isinstance(document, (str, list, tuple, Segmented)):
        raise ValueError(
            "a document is a string, a list of words or a Segmented, not a "
            f"{type(document).__name__}"
        )
    read = document if isinstance(document, Segmented) else topics.segment([document])[0]
    if not len(read):
        raise ValueError("the document has no word that the model knows")
    k = len(topics.components_)
    if read.topics.max() >= k:
        raise ValueError(f"the document has topic {read.topics.max()}, the model {k} topics")
    written = len(read) <= MAX_WORDS
    words = [word(one) for one in read.words]
    boxes = _boxes([_width(one) + 1 for one in words] if written else [1] * len(words), written)
    colours = _colours(read)
    shades = zip(read.topics.tolist(), read.probabilities, strict=True)
    fills = np.array([_on_paper(colours.get(topic, OTHERS), p) for topic, p in shades])
    lines = boxes[-1].line + 1
    entries = len(colours) + (len(colours) < len(set(read.topics.tolist())))
    with canvas(ax, height=0.15 * lines + 0.15 * entries + 0.35) as ax:
        ax.add_collection(PolyCollection([_corners(box) for box in boxes], facecolors=fills))
        ax.set_xlim(-0.5, max(LINE if written else 0, *(box.x + box.width for box in boxes)) - 0.5)
        ax.set_ylim(lines - 0.4, -0.6)
        firsts = [n for n, box in enumerate(boxes) if box.x == 0]
        ax.set_yticks(range(lines), [str(first) for first in firsts])
        ax.set_xticks([])
        ax.tick_params(axis="y", length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.set_ylabel("word")
        _legend(ax, topics, colours, order, others=entries > len(colours))
        if written:
            _write(ax, words, boxes, fills)
        return ax


def _colours(read: Segmented) -> dict[int, str]:
    """Colours of the most frequent topics, by their numbers."""
    counts = Counter(read.topics.tolist())
    frequent = sorted(counts, key=lambda topic: (-counts[topic], topic))
    return {t: colour.paper for t, colour in zip(frequent, PALETTE[:9], strict=False)}


def _on_paper(colour: str, probability: float) -> Floats:
    opacity = MIN_OPACITY + (1 - MIN_OPACITY) * probability
    return np.asarray(opacity * np.array(to_rgb(colour)) + (1 - opacity))


def _boxes(widths: list[int], written: bool) -> list[Box]:
    """Words set in lines, of letters where they are written, or of cells."""
    if written:
        length = LINE
    else:
        length = -(-len(widths) // min(MAX_LINES, max(1, len(widths) // MAX_WORDS)))
    boxes, x, line = [], 0, 0
    for width in widths:
        if x and x + width > length + written:  # a gap may stand over the edge
            x, line = 0, line + 1
        boxes.append(Box(x, line, width))
        x += width
    return boxes


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _corners(box: Box) -> list[tuple[float, float]]:
    left, right, top, bottom = box.x - 0.5, box.x - 0.5 + box.width, box.line - 0.4, box.line + 0.4
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def _write(ax: Axes, words: list[str], boxes: list[Box], fills: Floats) -> None:
    drawn(ax)  # so that the width is known
    low, high = ax.get_xlim()
    letter = ax.get_window_extent().width * 72 / ax.figure.dpi / (high - low)
    light = fills @ [0.299, 0.587, 0.114] > 0.5
    style: Any = {"family": "monospace", "va": "center_baseline", "parse_math": False}
    for text, box, bright in zip(words, boxes, light, strict=True):
        colour = "black" if bright else "white"
        ax.text(box.x, box.line, text, fontsize=0.96 * letter / EM, color=colour, **style)


def _legend(ax: Axes, topics: Any, colours: dict[int, str], order: Order, others: bool) -> None:
    tops, labels = words_of(topics.fit_, TOP, order), topics.fit_.all_labels
    handles = []
    for topic, colour in sorted(colours.items()):
        name = " ".join(map(word, tops[topic]))
        if (label := labels[topic]) is not None:
            name = f"{word(label)} ({name})"
        handles.append(Patch(color=colour, label=f"{topic}: {name}"))
    if others:
        handles.append(Patch(color=OTHERS, label="other topics"))
    place: Any = {"loc": "upper left", "bbox_to_anchor": (0, 0), "borderaxespad": 0.2}
    plain_legend(ax, handles=handles, handlelength=1, handleheight=1, **place)

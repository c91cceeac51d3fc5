"""Topics on a plane: near where they share words, large where they are frequent."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from cohmm.kernels.types import Floats
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.plots._unwrap import unwrap
from cohmm.plots.canvas import COLOURS, WIDTH, canvas, drawn, word
from cohmm.topics.top_words import Order, names_of

FILLED = 0.10  # the share of the picture that circles take together
MARGIN = 0.22  # of the range, on every side, for labels


def coordinates(components: Any) -> tuple[Floats, Floats]:
    """Topics on a plane, (K, 2), and the share of all squared distances that each axis shows.

    Classical scaling of Hellinger distances, which are those of the square roots of the
    probabilities, up to a factor.

    >>> places, shares = coordinates([[1, 0, 0], [.9, .1, 0], [0, 0, 1]])
    >>> bool(np.linalg.norm(places[0] - places[1]) < np.linalg.norm(places[0] - places[2]))
    True
    """
    roots = np.sqrt(np.asarray(components, np.float64))
    left, singular, _ = np.linalg.svd(roots - roots.mean(axis=0), full_matrices=False)
    places, shares = np.zeros((len(roots), 2)), np.zeros(2)
    n = min(2, len(singular))
    places[:, :n] = left[:, :n] * singular[:n]
    largest = np.abs(places).argmax(axis=0)
    places *= np.where(places[largest, [0, 1]] < 0, -1.0, 1.0)  # a sign is arbitrary: fix it
    total = (singular**2).sum()
    if total > 0:
        shares[:n] = singular[:n] ** 2 / total
    return places / np.sqrt(2), shares


def plot_topic_map(
    topics: Any, ax: Axes | None = None, *, n_words: int = 3, order: Order = "relevance"
) -> Axes:
    """A map of topics: a circle's area is the topic's prevalence, beside it its label.

    That is the label which it was given, or its top words.

    Distances on the map come near the Hellinger distances of the topics, as near as a plane
    allows.  Where labels would cover one another, the more frequent topic keeps its own.

    Parameters
    ----------
    topics : HTMM or TopicFit
        The topics.
    ax : Axes, optional
        Where to draw; default: a new figure.
    n_words : int
        Words of a label.
    order : "relevance", "probability" or "frex"
        What makes a word rank high: see `cohmm.topics.top_words`.

    >>> fit = TopicFit([[.7, .3, 0], [0, .2, .8]], [.6, .4], [1., 1.], ("oil", "gas", "gold"),
    ...                name="by hand")
    >>> plot_topic_map(fit, n_words=1).collections[0].get_offsets().shape
    (2, 2)
    """
    fit = unwrap(topics)
    if not isinstance(fit, TopicFit):
        raise ValueError(f"a map is that of an HTMM or a TopicFit, not of a {type(fit).__name__}")
    labels = [" ".join(map(word, name)) for name in names_of(fit, n_words, order)]
    places, shares = coordinates(fit.components)
    with canvas(ax, height=WIDTH) as ax:
        reach = max(float(np.ptp(places, axis=0).max()), 1e-3) * (0.5 + MARGIN)
        middle = (places.max(axis=0) + places.min(axis=0)) / 2
        ax.set_xlim(middle[0] - reach, middle[0] + reach)
        ax.set_ylim(middle[1] - reach, middle[1] + reach)
        ax.set_box_aspect(1)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel(f"first axis: {shares[0]:.0%} of the squared distances")
        ax.set_ylabel(f"second axis: {shares[1]:.0%} of the squared distances")
        for spine in ax.spines.values():
            spine.set_color("#bbbbbb")
        drawn(ax)  # so that places are known
        frame = ax.get_window_extent()
        points = 72 / ax.figure.dpi
        areas = fit.prevalence * FILLED * frame.width * frame.height * points**2
        x, y = places.T
        ax.scatter(x, y, areas, color=COLOURS[5], alpha=0.55, edgecolor=COLOURS[0], lw=0.7)
        for k in range(len(places)):
            ax.text(x[k], y[k], str(k), ha="center", va="center", fontsize="small")
        _place_labels(ax, places, np.sqrt(areas / np.pi), labels, frame)
        return ax


def _place_labels(ax: Axes, places: Floats, radii: Floats, labels: list[str], frame: Bbox) -> None:
    """Labels beside their circles, as many as find room; the first have the first choice."""
    scale = ax.figure.dpi / 72
    style: Any = {"textcoords": "offset points", "fontsize": "small", "parse_math": False}
    pixels = ax.transData.transform(places)
    taken = [
        Bbox.from_extents(x - r, y - r, x + r, y + r)
        for (x, y), r in zip(pixels, np.maximum(radii, 4) * scale * 0.8, strict=True)
    ]
    for place, radius, label in zip(places, radii, labels, strict=True):
        gap = radius + 1.5
        for offset, across, up in (
            ((0, gap), "center", "bottom"),
            ((0, -gap), "center", "top"),
            ((gap, 0), "left", "center"),
            ((-gap, 0), "right", "center"),
        ):
            text = ax.annotate(label, place, offset, ha=across, va=up, **style)
            box = text.get_window_extent()
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1
            inside = inside and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if inside and not box.count_overlaps(taken):
                taken.append(box)
                break
            text.remove()

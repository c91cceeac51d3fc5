"""Where pictures are drawn, and how all of them look."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from cohmm.kernels.types import Floats

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.image import AxesImage
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] != "matplotlib":
        raise  # matplotlib is there, and broken: what it misses says more
    raise ImportError("pictures need matplotlib: pip install 'cohmm[plots]'") from None

WIDTH = 3.4  # inches: a column of a paper that has two
LETTERS = 24  # of a word, at most
SHORT = 3  # letters of a tick that stands upright, under a cell
NAME = 14  # letters of a name beside a cell, at most
# Of Okabe and Ito, told apart by colour-blind readers as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
INSET = 0.08  # of a cell, on both sides of the room that whiskers have
LEAST = 0.1  # of the shades, below which a whisker would be a dot on the edge of its cell
DOT = 1.5  # points
INTERVALS = "lines: 90 % intervals"
DARK = 0.55  # of the shades, from where on lines are white
GREY = "#595959"
PALE = "#dddddd"
# From white to a dark blue, so that a zero is paper; darker means more to every eye.
SHADES = LinearSegmentedColormap.from_list(
    "cohmm", ["#ffffff", "#c6dbef", "#6baed6", "#2171b5", "#08306b"]
)
STYLE: dict[Any, Any] = {
    "font.size": 8.0,
    "axes.titlesize": 8.0,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.0,
    "ytick.labelsize": 7.0,
    "legend.fontsize": 7.0,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,  # letters stay letters
    "svg.fonttype": "none",
}


@contextmanager
def canvas(ax: Axes | None, height: float) -> Iterator[Axes]:
    """The axes to draw on: those given, or new ones of a column's width and ``height`` inches."""
    if ax is not None:
        if not isinstance(ax, Axes):
            raise ValueError(
                f"ax must be one matplotlib Axes, not a {type(ax).__name__} "
                "(plt.subplots gives several as an array: choose one)"
            )
        yield ax
        return
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(WIDTH, height), layout="constrained")
        # Ticks are made when they are drawn, by the settings of that time.
        ax.tick_params(axis="x", labelsize=STYLE["xtick.labelsize"])
        ax.tick_params(axis="y", labelsize=STYLE["ytick.labelsize"])
        try:
            yield ax
        except BaseException:
            plt.close(figure)
            raise


def plain(ax: Axes) -> None:
    """Two spines and a pale grid."""
    ax.grid(which="major", color=PALE, linewidth=0.7)
    ax.grid(which="minor", color="#eeeeee", linewidth=0.4)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def word(label: Any, most: int = LETTERS) -> str:
    """A label in one short line.

    >>> word("two\\nlines"), word("x" * 30)
    ('two lines', 'xxxxxxxxxxxxxxxxxxxxxxx…')
    """
    text = " ".join(str(label).split()) or repr(label)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def shade_bar(ax: Axes, picture: AxesImage, label: str) -> None:
    """What the shades of a heat map mean."""
    bar = ax.figure.colorbar(picture, ax=ax, label=label, fraction=0.05, pad=0.02, aspect=25)
    bar.outline.set_visible(False)


def darkest(values: Floats, ends: tuple[Floats, Floats] | None) -> float:
    """What the darkest shade means: intervals have room, up to twice the largest value."""
    largest = float(values.max())
    if ends is not None:
        largest = max(largest, min(float(ends[1].max()), 2 * largest))
    return max(largest, 1e-300)


def whiskers(ax: Axes, picture: AxesImage, ends: tuple[Any, Any], y: float = 0.0) -> None:
    """An interval in every cell of a heat map, from ``ends``, low and high, both as its cells.

    A cell is the bar of shades turned on its side: zero is its left edge, the darkest shade its
    right one.  Lines are ``y`` below the middle; an estimate is a dot.  Cells that are nearly zero
    for sure have neither.
    """
    values = np.asarray(picture.get_array())
    low, middle, high = (
        np.clip(np.asarray(picture.norm(table)), 0.0, 1.0) for table in (ends[0], values, ends[1])
    )
    rows, columns = np.nonzero(high > LEAST)
    left, at, right = (
        columns - 0.5 + INSET + (1 - 2 * INSET) * table[rows, columns]
        for table in (low, middle, high)
    )
    colours = np.where(middle[rows, columns] > DARK, "white", "black").tolist()
    ax.hlines(rows + y, left, right, colors=colours, linewidths=0.8)
    ax.scatter(at, rows + y, s=DOT**2, c=colours, linewidths=0, zorder=3)


def state_names(names: Sequence[str], order: Iterable[int]) -> list[str]:
    """What to call states in an order: by name, if there are names, or by number.

    >>> state_names(("sun", "rain"), [1, 0]), state_names((), [1, 0])
    (['rain', 'sun'], ['1', '0'])
    """
    return [word(names[state], NAME) if names else str(state) for state in order]


def name_ticks(ax: Axes, axis: str, labels: Sequence[str], most: int) -> None:
    """A tick a cell; every second, third ... where there are more than ``most``."""
    every = -(-len(labels) // most)
    # A word may hold dollars, which are no formula.
    kind: dict[str, Any] = {"parse_math": False}
    if len(labels) > 10:
        kind["fontsize"] = "x-small"
    if axis == "x" and (len(labels) > 10 or max(map(len, labels), default=0) > SHORT):
        kind["rotation"] = 90
    setter = ax.set_xticks if axis == "x" else ax.set_yticks
    setter(range(0, len(labels), every), list(labels[::every]), **kind)
    ax.tick_params(axis=axis, length=0)  # type: ignore[arg-type]


def drawn(ax: Axes) -> None:
    """Lay the whole figure out, which may have figures within, so that places are known."""
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()

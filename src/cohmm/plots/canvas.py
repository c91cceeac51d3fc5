"""Where pictures are drawn, and how all of them look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] != "matplotlib":
        raise  # matplotlib is there, and broken: what it misses says more
    raise ImportError("pictures need matplotlib: pip install 'cohmm[plots]'") from None

WIDTH = 3.4  # inches: a column of a paper that has two
MAX_LETTERS = 24  # of a word
# Of Okabe and Ito, told apart by colour-blind readers as well.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
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


def word(label: Any, most: int = MAX_LETTERS) -> str:
    """A label in one short line.

    >>> word("two\\nlines"), word("x" * 30)
    ('two lines', 'xxxxxxxxxxxxxxxxxxxxxxx…')
    """
    text = " ".join(str(label).split()) or repr(label)
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def drawn(ax: Axes) -> None:
    """Lay the whole figure out, which may have figures within, so that places are known."""
    figure = ax.figure.canvas.figure
    figure.draw_without_rendering()


def plain_legend(ax: Axes, **options: Any) -> None:
    """A legend without a frame; a word in it may hold dollars, which are no formula."""
    for text in ax.legend(frameon=False, **options).get_texts():
        text.set_parse_math(False)

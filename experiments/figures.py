"""How the figures look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .experiment import Row, power

DPI = 150
GREY = "#595959"
ASIDE = 0.005  # of the width of the axis


class Line(NamedTuple):
    label: str
    colour: str  # of Okabe and Ito, told apart by colour-blind readers as well
    marker: str
    style: str = "-"


def figure(columns: int, rows: int = 1) -> tuple[Figure, Any]:
    """A picture, and its panels: in a row, or in several."""
    picture = Figure(figsize=(5.2 * columns + 0.4, 3.8 * rows + 0.8), layout="constrained")
    return picture, picture.subplots(rows, columns)


def curves(ax: Axes, lines: Sequence[Line], rows: list[Row], what: str) -> None:
    """A curve a method, each a little aside, so that one does not hide another."""
    for number, line in enumerate(lines):
        here = [row for row in rows if row["method"] == line.label]
        curve(ax, line, here, what, aside=number - (len(lines) - 1) / 2)


def curve(ax: Axes, line: Line, rows: list[Row], what: str, aside: float = 0.0) -> None:
    """Means as a line with markers, and bars from the least to the most."""
    if not rows:
        return
    at = sorted({row["T"] for row in rows})
    values = [[row[what] for row in rows if row["T"] == length] for length in at]
    mean = np.array([np.mean(group) for group in values])
    bars = np.abs([[min(group) for group in values], [max(group) for group in values]] - mean)
    step = ASIDE * np.log(at[-1] / at[0])
    ax.errorbar(
        np.array(at) * np.exp(aside * step),
        mean,
        yerr=bars,
        color=line.colour,
        marker=line.marker,
        linestyle=line.style,
        markersize=5,
        linewidth=1.6,
        elinewidth=1.0,
        label=line.label,
    )


def lengths_axis(ax: Axes, rows: list[Row], title: str) -> None:
    """Logarithmic axes, with a mark at every length."""
    lengths = sorted({row["T"] for row in rows})
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(lengths, [power(length) for length in lengths])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("symbols observed, T")
    plain_axis(ax, title)


def decimals(ax: Axes) -> None:
    """Marks at 0.01, 0.02, 0.05, 0.1 and so on, as people write errors."""
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def plain_axis(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=11)
    ax.grid(which="major", color="#dddddd", linewidth=0.7)
    ax.grid(which="minor", color="#eeeeee", linewidth=0.4)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def legend_below(picture: Figure, ax: Axes, columns: int = 4) -> None:
    handles, labels = ax.get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def save(picture: Figure, file: Any) -> None:
    picture.savefig(file, dpi=DPI, format="png", metadata={"Software": None})

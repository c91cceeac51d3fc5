"""How the figures look."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cohmm.plots import error_against_length as plots
from cohmm.plots.canvas import GREY, plain
from cohmm.plots.error_against_length import Line, curve, curves, decimals

from .experiment import Row

__all__ = [
    "GREY",
    "Line",
    "curve",
    "curves",
    "decimals",
    "figure",
    "legend_below",
    "lengths_axis",
    "plain_axis",
    "save",
]

DPI = 150


def figure(columns: int, rows: int = 1) -> tuple[Figure, Any]:
    """A picture, and its panels: in a row, or in several."""
    picture = Figure(figsize=(5.2 * columns + 0.4, 3.8 * rows + 0.8), layout="constrained")
    return picture, picture.subplots(rows, columns)


def lengths_axis(ax: Axes, rows: list[Row], title: str) -> None:
    """Logarithmic axes, with a mark at every length."""
    plots.lengths_axis(ax, rows)
    plain_axis(ax, title)


def plain_axis(ax: Axes, title: str) -> None:
    ax.set_title(title, fontsize=11)
    plain(ax)


def legend_below(picture: Figure, ax: Axes, columns: int = 4) -> None:
    handles, labels = ax.get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def save(picture: Figure, file: Any) -> None:
    picture.savefig(file, dpi=DPI, format="png", metadata={"Software": None})

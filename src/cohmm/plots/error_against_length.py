"""Error against the length of the data, as in the paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from cohmm.plots.canvas import COLOURS, MARKERS, canvas, plain, plain_legend

ASIDE = 0.005  # of the width of the axis
Row = Mapping[str, Any]


class Line(NamedTuple):
    """How a method is drawn."""

    label: str
    """Its name, in the column "method"."""
    colour: str
    marker: str
    style: str = "-"


def plot_error_against_length(
    rows: Any,
    ax: Axes | None = None,
    *,
    error: str = "error",
    lines: Sequence[Line] | None = None,
) -> Axes:
    """Means of an error against T on logarithmic axes, with bars from the least to the most.

    Parameters
    ----------
    rows : list of dict, or a data frame
        A row a run: "T", the error, and "method" where there are several.
    ax : Axes, optional
        Where to draw; default: a new figure.
    error : str
        The column of the error.
    lines : list of Line, optional
        Which methods, and how; default: all, in their order, in colours of our choice.

    >>> rows = [{"T": 1000, "error": .2}, {"T": 1000, "error": .4}, {"T": 10_000, "error": .1}]
    >>> plot_error_against_length(rows).lines[0].get_ydata().round(3)
    array([0.3, 0.1])
    """
    rows = _checked(rows, error)
    if lines is None:
        methods = list(dict.fromkeys(row["method"] for row in rows))
        lines = [_default_line(name, number) for number, name in enumerate(methods)]
    for line in lines:
        if not any(row["method"] == line.label for row in rows):
            raise ValueError(f"no row has the method {line.label!r}, of which there is a line")
    with canvas(ax, height=2.5) as ax:
        curves(ax, lines, rows, error)
        lengths_axis(ax, rows)
        decimals(ax)
        ax.set_ylabel("error" if error == "error" else f"{error} error")
        plain(ax)
        if len(lines) > 1:
            plain_legend(ax)
        return ax


def _default_line(name: str, number: int) -> Line:
    turn, place = divmod(number, len(COLOURS))
    return Line(name, COLOURS[place], MARKERS[place], ("-", "--", "-.")[turn % 3])


def curves(ax: Axes, lines: Sequence[Line], rows: Sequence[Row], what: str) -> None:
    """A curve a method, each a little aside, so that one does not hide another."""
    for number, line in enumerate(lines):
        here = [row for row in rows if row["method"] == line.label]
        curve(ax, line, here, what, aside=number - (len(lines) - 1) / 2)


def curve(ax: Axes, line: Line, rows: Sequence[Row], what: str, aside: float = 0.0) -> None:
    """Means as a line with markers, and bars from the least to the most."""
    if not rows:
        return
    at = sorted({row["T"] for row in rows})
    values = [[row[what] for row in rows if row["T"] == length] for length in at]
    mean = np.array([np.mean(group) for group in values])
    bars = np.abs([[min(group) for group in values], [max(group) for group in values]] - mean)
    step = ASIDE * np.log(at[-1] / at[0])
    look: Any = {"color": line.colour, "marker": line.marker, "linestyle": line.style}
    look |= {"markersize": 5, "linewidth": 1.6, "elinewidth": 1.0, "label": line.label}
    ax.errorbar(np.array(at) * np.exp(aside * step), mean, yerr=bars, **look)


def lengths_axis(ax: Axes, rows: Sequence[Row]) -> None:
    """Logarithmic axes, with a mark at every length."""
    lengths = sorted({row["T"] for row in rows})
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(lengths, [power(length) for length in lengths])
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("symbols observed, T")


def decimals(ax: Axes) -> None:
    """Marks at 0.01, 0.02, 0.05, 0.1 and so on, as people write errors."""
    ax.yaxis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())


def power(value: float) -> str:
    """A length in a few characters.

    >>> power(1000), power(3_162_278), power(20)
    ('1e3', '3.2e6', '20')
    """
    if value < 1000:
        return f"{value:g}"
    digits, exponent = f"{value:.1e}".split("e")
    return f"{digits.removesuffix('.0')}e{int(exponent)}"


def _checked(rows: Any, error: str) -> list[dict[str, Any]]:
    if hasattr(rows, "to_dicts"):  # polars
        rows = rows.to_dicts()
    elif hasattr(rows, "to_dict"):
        rows = rows.to_dict("records")
    if isinstance(rows, (str, Mapping)) or not isinstance(rows, Iterable):
        raise ValueError(f"rows must be a list of dicts or a data frame, not {rows!r}")
    checked = []
    for number, row in enumerate(rows):
        for name in ("T", error):
            if name not in row:
                raise ValueError(f"row {number} has no {name!r}: it has {', '.join(row)}")
            if not isinstance(row[name], Real) or not 0 < row[name] < np.inf:
                raise ValueError(
                    f"{name!r} of row {number} is {row[name]!r}: on a logarithmic axis it must be "
                    "above 0, and finite"
                )
        checked.append({"method": "", **row})
    if not checked:
        raise ValueError("there is no row to draw")
    return checked

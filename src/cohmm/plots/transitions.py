"""Which state follows which."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cohmm.model.seriation import next_state, seriated
from cohmm.plots.canvas import (
    INTERVALS,
    SHADES,
    canvas,
    darkest,
    name_ticks,
    shade_bar,
    state_names,
    whiskers,
)
from cohmm.plots.given import interval_of, transitions_of

MOST_WRITTEN = 10  # states: the numbers of more would not be legible
MOST_BESIDE_NAMES = 7  # where names take room
MOST_WITH_INTERVALS = 6


def plot_transitions(
    model: Any,
    ax: Axes | None = None,
    *,
    leaving: bool = False,
    seriate: bool = True,
    errors: Any = None,
) -> Axes:
    """A heat map of P(next state | state), from row to column.

    Parameters
    ----------
    model : HMM, PairwiseHMM, HTMM, Fit, or array (K, K)
        The transitions.
    ax : Axes, optional
        Where to draw; default: a new figure.
    leaving : bool
        Draw where the chain goes when it leaves a state, with nothing on the diagonal: where
        states persist, the diagonal would outshine all else.
    seriate : bool
        Put states that follow one another next to each other; False: by their numbers.
    errors : StandardErrors or TopicErrors, optional
        What ``model.standard_errors()`` gives: cells have a dot and its 90 % interval, on the
        scale of the shades, from zero at the left edge of the cell; of few states, in digits too.

    >>> ax = plot_transitions([[.9, .1], [.3, .7]])
    >>> ax.images[0].get_array().tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """
    given = transitions_of(model)
    k = len(given.values)
    order = seriated(given.values, given.prevalence) if seriate else list(range(k))
    values = next_state(given.values) if leaving else given.values
    values = values[np.ix_(order, order)]
    between = None
    if errors is not None:
        if leaving:
            raise ValueError("errors are of transitions, not of those when a state is left")
        low, high = interval_of(errors, given.values, ("transmat", "transitions"))
        between = low[np.ix_(order, order)], high[np.ix_(order, order)]
    highest = darkest(values, between)
    with canvas(ax, height=3.3 if given.names else 2.8) as ax:
        picture = ax.imshow(values, cmap=SHADES, vmin=0, vmax=highest, interpolation="nearest")
        for axis in "xy":
            name_ticks(ax, axis, state_names(given.names, order), most=25)
        lift = 0.0 if between is None else 0.1  # an interval stands below
        written = k <= (MOST_BESIDE_NAMES if given.names else MOST_WRITTEN)
        if written:
            for (row, column), value in np.ndenumerate(values):
                if not (leaving and row == column):
                    _write(
                        ax, column, row - lift, _short(float(value)), bool(value > 0.55 * highest)
                    )
        condition = f"{given.kind} is left" if leaving else given.kind
        ax.set_xlabel(f"to {given.kind}")
        ax.set_ylabel(f"from {given.kind}")
        shade_bar(ax, picture, f"P(next {given.kind} | {condition})")
        if between is not None:
            whiskers(ax, picture, between, y=0.38 if written else 0.0)
            ax.set_xlabel(f"to {given.kind}\n{INTERVALS}")
            if written and k <= MOST_WITH_INTERVALS:
                for (row, column), value in np.ndenumerate(values):
                    ends = "-".join(_short(float(end[row, column])) for end in between)
                    _write(ax, column, row + 0.2, ends, bool(value > 0.55 * highest), "xx-small")
        return ax


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _write(ax: Axes, x: float, y: float, text: str, dark: bool, size: str = "small") -> None:
    ax.text(
        x,
        y,
        text,
        ha="center",
        va="center",
        fontsize=size,
        color="white" if dark else "black",
    )

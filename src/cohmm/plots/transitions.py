"""Which state follows which."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cohmm.model.seriation import next_state, seriated
from cohmm.plots.canvas import SHADES, canvas, name_ticks, shade_bar, state_names
from cohmm.plots.given import transitions_of

MOST_WRITTEN = 10  # states: the numbers of more would not be legible
MOST_BESIDE_NAMES = 7  # where names take room


def plot_transitions(
    model: Any, ax: Axes | None = None, *, leaving: bool = False, seriate: bool = True
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

    >>> ax = plot_transitions([[.9, .1], [.3, .7]])
    >>> ax.images[0].get_array().tolist()
    [[0.9, 0.1], [0.3, 0.7]]
    """
    given = transitions_of(model)
    k = len(given.values)
    order = seriated(given.values, given.prevalence) if seriate else list(range(k))
    values = next_state(given.values) if leaving else given.values
    values = values[np.ix_(order, order)]
    highest = max(float(values.max()), 1e-300)
    with canvas(ax, height=3.3 if given.names else 2.8) as ax:
        picture = ax.imshow(values, cmap=SHADES, vmin=0, vmax=highest, interpolation="nearest")
        for axis in "xy":
            name_ticks(ax, axis, state_names(given.names, order), most=25)
        if k <= (MOST_BESIDE_NAMES if given.names else MOST_WRITTEN):
            for (row, column), value in np.ndenumerate(values):
                if not (leaving and row == column):
                    _write(ax, column, row, float(value), dark=bool(value > 0.55 * highest))
        condition = f"{given.kind} is left" if leaving else given.kind
        ax.set_xlabel(f"to {given.kind}")
        ax.set_ylabel(f"from {given.kind}")
        shade_bar(ax, picture, f"P(next {given.kind} | {condition})")
        return ax


def _write(ax: Axes, x: int, y: int, value: float, dark: bool) -> None:
    ax.text(
        x,
        y,
        f"{value:.2f}".removeprefix("0"),
        ha="center",
        va="center",
        fontsize="small",
        color="white" if dark else "black",
    )

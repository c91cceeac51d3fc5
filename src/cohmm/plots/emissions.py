"""Which state emits what."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm

from cohmm.kernels.types import Floats, Ints
from cohmm.plots.canvas import (
    INTERVALS,
    SHADES,
    canvas,
    darkest,
    name_ticks,
    shade_bar,
    state_names,
    whiskers,
    word,
)
from cohmm.plots.given import Emissions, emissions_of, interval_of
from cohmm.topics.top_words import Order, top_codes

ROW = 0.125  # inches


def plot_emissions(
    model: Any, ax: Axes | None = None, *, n_symbols: int = 40, errors: Any = None
) -> Axes:
    """A heat map of P(symbol | state), one row per symbol and one column per state.

    Symbols stand by the state that they are most probable in, so that what is a state's own
    is a block.  Shades follow the square root of the probability, as small ones matter.

    Parameters
    ----------
    model : HMM, PairwiseHMM, HTMM, Fit, TopicFit, or array (K, N)
        The emissions.
    ax : Axes, optional
        Where to draw; default: a new figure.
    n_symbols : int
        How many symbols are drawn at most: the most probable of every state, in turn; of topics,
        the most relevant words (see `cohmm.topics.top_words`).
    errors : StandardErrors or TopicErrors, optional
        What ``model.standard_errors()`` gives: cells have a dot and its 90 % interval, on the
        scale of the shades, from zero at the left edge of the cell.

    >>> ax = plot_emissions([[.5, .5, 0], [.1, 0, .9]])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['0', '1', '2']
    """
    given = emissions_of(model)
    if isinstance(n_symbols, bool) or not isinstance(n_symbols, (int, np.integer)) or n_symbols < 1:
        raise ValueError(f"n_symbols must be a whole number from 1, not {n_symbols!r}")
    symbols = _in_blocks(given.values, _chosen(given, n_symbols))
    values = given.values[:, symbols].T
    between = None
    if errors is not None:
        low, high = interval_of(errors, given.values, ("emissionprob", "components"))
        between = low[:, symbols].T, high[:, symbols].T
    with canvas(ax, height=max(1.6, ROW * len(symbols) + 0.5)) as ax:
        picture = ax.imshow(
            values,
            cmap=SHADES,
            norm=PowerNorm(0.5, vmin=0, vmax=darkest(values, between)),
            aspect="auto",
            interpolation="nearest",
        )
        name_ticks(ax, "x", state_names(given.names, range(values.shape[1])), most=25)
        name_ticks(ax, "y", [word(given.vocabulary[n]) for n in symbols], most=100)
        ax.set_xlabel(given.kind)
        ax.set_ylabel(given.symbol)
        shade_bar(ax, picture, f"P({given.symbol} | {given.kind})")
        if between is not None:
            whiskers(ax, picture, between)
            ax.set_xlabel(f"{given.kind}\n{INTERVALS}")
        return ax


def _chosen(given: Emissions, most: int) -> Ints:
    """At most ``most`` symbols: the first of every state, then the second of every state, ..."""
    if given.values.shape[1] <= most:
        return np.arange(given.values.shape[1])
    by: Order = "relevance" if given.kind == "topic" else "probability"
    ranked = top_codes(given.values, most, by, given.prevalence).T.ravel()
    _, first = np.unique(ranked, return_index=True)
    return np.asarray(ranked[np.sort(first)[:most]])


def _in_blocks(values: Floats, symbols: Ints) -> Ints:
    owner = values[:, symbols].argmax(axis=0)
    return np.asarray(symbols[np.lexsort((-values[owner, symbols], owner))])

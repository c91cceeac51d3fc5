"""Candidates for the number of states, by held-out likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cohmm.diagnose.selection import Selection
from cohmm.plots.canvas import COLOURS, GREY, canvas, plain


def plot_selection(value: Any, ax: Axes | None = None) -> Axes:
    """How far every number of states is behind the best on held-out data, with standard errors.

    The recommended one, filled, is the smallest whose bar reaches zero; a dotted line marks what
    the pairs show.

    Parameters
    ----------
    value : Selection
        What `cohmm.select` returns.
    ax : Axes, optional
        Where to draw; default: a new figure.

    >>> from cohmm.diagnose.selection import Candidate
    >>> rows = (Candidate(2, -1.5, .1, .02, 9., 5, .1), Candidate(3, -1.4, 0., 0., 8., 9, .1))
    >>> ax = plot_selection(Selection(rows, 3, "the best", 2, "state", 100))
    >>> ax.get_legend_handles_labels()[1]
    ['recommended: 3', 'others', 'shown by the pairs: 2']
    """
    if not isinstance(value, Selection):
        raise ValueError(
            f"give a Selection, as cohmm.select returns it, not a {type(value).__name__}"
        )
    k = np.array([one.n_components for one in value.candidates])
    behind = np.array([one.behind for one in value.candidates])
    error = np.array([one.standard_error for one in value.candidates])
    chosen = k == value.recommended
    with canvas(ax, height=2.3) as ax:
        ax.errorbar(k, -behind, error, fmt="none", ecolor=COLOURS[0], capsize=2, linewidth=0.8)
        blue, label = COLOURS[0], f"recommended: {value.recommended}"
        ax.plot(k[chosen], -behind[chosen], "o", color=blue, label=label)
        ax.plot(k[~chosen], -behind[~chosen], "o", color=blue, mfc="white", label="others")
        ax.axhline(0, color=GREY, linewidth=0.6)
        if k.min() <= value.detectable <= k.max():
            label = f"shown by the pairs: {value.detectable}"
            ax.axvline(value.detectable, color=COLOURS[1], ls=":", lw=1, label=label, zorder=0)
        ax.set_xlim(k.min() - 0.6, k.max() + 0.6)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel(f"number of {value.kind}s")
        unit = "word" if value.kind == "topic" else "symbol"
        ax.set_ylabel(f"held-out log-likelihood,\nnats per {unit}, below the best")
        plain(ax)
        ax.legend(frameon=False, loc="best")
        return ax

"""Heat maps: which state emits what, and which state follows which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize, PowerNorm
from matplotlib.image import AxesImage

from cohmm._validation import check_whole
from cohmm.kernels.types import Floats, Ints
from cohmm.model.markov_chain import next_state, seriated
from cohmm.plots._unwrap import Table, emissions_of, transitions_of
from cohmm.plots.canvas import SHADES, canvas, word
from cohmm.topics.top_words import Order, top_codes

ROW = 0.125  # inches
LEVEL = 0.9  # coverage of intervals
MAX_WRITTEN = 10  # states: the numbers of more would not be legible
MAX_BESIDE_NAMES = 7  # where names take room
MAX_WITH_INTERVALS = 6
SHORT = 3  # letters of a tick that stands upright, under a cell
MAX_NAME = 14  # letters of a name beside a cell
INSET = 0.08  # of a cell, on both sides of the room that whiskers have
MIN_SHADE = 0.1  # below which a whisker would be a dot on the edge of its cell
DARK = 0.55  # of the shades, from where on lines and numbers are white
DOT = 1.5  # points
INTERVALS = "lines: 90 % intervals"

Ends = tuple[Floats, Floats]


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
    table = emissions_of(model)
    check_whole(n_symbols=n_symbols)
    kind, symbol = table.kind, "word" if table.kind == "topic" else "symbol"
    symbols = _in_blocks(table.values, _chosen(table, n_symbols))
    values = table.values[:, symbols].T
    ends = _interval_of(errors, table.values, ("emissionprob", "components"))
    if ends is not None:
        ends = ends[0][:, symbols].T, ends[1][:, symbols].T
    with canvas(ax, height=max(1.6, ROW * len(symbols) + 0.5)) as ax:
        norm = PowerNorm(0.5, vmin=0, vmax=_darkest(values, ends))
        picture = ax.imshow(values, SHADES, norm, aspect="auto", interpolation="nearest")
        _name_ticks(ax, "x", state_names(table.names, range(values.shape[1])), most=25)
        _name_ticks(ax, "y", [word(table.vocabulary[n]) for n in symbols], most=100)
        ax.set_xlabel(kind)
        ax.set_ylabel(symbol)
        _shade_bar(ax, picture, f"P({symbol} | {kind})")
        if ends is not None:
            _whiskers(ax, picture, ends)
            ax.set_xlabel(f"{kind}\n{INTERVALS}")
        return ax


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
    table = transitions_of(model)
    k, kind = len(table.values), table.kind
    order = seriated(table.values, table.prevalence) if seriate else list(range(k))  # type: ignore[arg-type]
    cells = np.ix_(order, order)
    values = (next_state(table.values) if leaving else table.values)[cells]
    if errors is not None and leaving:
        raise ValueError("errors are of transitions, not of those when a state is left")
    ends = _interval_of(errors, table.values, ("transmat", "transitions"))
    if ends is not None:
        ends = ends[0][cells], ends[1][cells]
    highest = _darkest(values, ends)
    written = k <= (MAX_BESIDE_NAMES if table.names else MAX_WRITTEN)
    with canvas(ax, height=3.3 if table.names else 2.8) as ax:
        picture = ax.imshow(values, SHADES, Normalize(0, highest), interpolation="nearest")
        for axis in "xy":
            _name_ticks(ax, axis, state_names(table.names, order), most=25)
        ax.set_xlabel(f"to {kind}")
        ax.set_ylabel(f"from {kind}")
        _shade_bar(ax, picture, f"P(next {kind} | {kind}{' is left' if leaving else ''})")
        if written:
            lift = 0.0 if ends is None else 0.1  # an interval stands below
            shown = ~np.eye(k, dtype=bool) | (not leaving)
            _write_cells(ax, picture, [[_short(p) for p in row] for row in values], shown, -lift)
        if ends is not None:
            _whiskers(ax, picture, ends, y=0.38 if written else 0.0)
            ax.set_xlabel(f"to {kind}\n{INTERVALS}")
            if written and k <= MAX_WITH_INTERVALS:
                texts = [
                    [f"{_short(low)}-{_short(high)}" for low, high in zip(*rows, strict=True)]
                    for rows in zip(*ends, strict=True)
                ]
                _write_cells(ax, picture, texts, np.ones((k, k), bool), 0.2, "xx-small")
        return ax


def _short(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _write_cells(
    ax: Axes,
    picture: AxesImage,
    texts: list[list[str]],
    shown: np.ndarray,
    y: float,
    size: str = "small",
) -> None:
    """A text in every cell that is ``shown``, so far below its middle."""
    dark = np.asarray(picture.norm(np.asarray(picture.get_array()))) > DARK
    for row, column in np.argwhere(shown).tolist():
        colour = "white" if dark[row, column] else "black"
        style: Any = {"ha": "center", "va": "center", "fontsize": size, "color": colour}
        ax.text(column, row + y, texts[row][column], **style)


def _interval_of(errors: Any, values: Floats, names: tuple[str, str]) -> Ends | None:
    """From where to where ``values`` may be, with 90 %, by errors of states or of topics.

    ``names`` are those of the table, of an HMM and of topics.
    """
    if errors is None:
        return None
    if not callable(getattr(errors, "interval", None)):
        raise ValueError(
            f"errors must be what model.standard_errors() gives, not a {type(errors).__name__}"
        )
    low, high = (
        next(getattr(end, name) for name in names if hasattr(end, name))
        for end in errors.interval(LEVEL)
    )
    if low.shape != values.shape:
        raise ValueError(
            f"errors are of a table {low.shape}, and the model has {values.shape}: give those of "
            "the same model"
        )
    return low, high


def _chosen(table: Table, most: int) -> Ints:
    """At most ``most`` symbols: the first of every state, then the second of every state, ..."""
    if table.values.shape[1] <= most:
        return np.arange(table.values.shape[1])
    by: Order = "relevance" if table.kind == "topic" else "probability"
    ranked = top_codes(table.values, most, by, table.prevalence).T.ravel()
    _, first = np.unique(ranked, return_index=True)
    return np.asarray(ranked[np.sort(first)[:most]])


def _in_blocks(values: Floats, symbols: Ints) -> Ints:
    owner = values[:, symbols].argmax(axis=0)
    return np.asarray(symbols[np.lexsort((-values[owner, symbols], owner))])


def _shade_bar(ax: Axes, picture: AxesImage, label: str) -> None:
    """What the shades of a heat map mean."""
    bar = ax.figure.colorbar(picture, ax=ax, label=label, fraction=0.05, pad=0.02, aspect=25)
    bar.outline.set_visible(False)


def _darkest(values: Floats, ends: Ends | None) -> float:
    """What the darkest shade means: intervals have room, up to twice the largest value."""
    largest = float(values.max())
    if ends is not None:
        largest = max(largest, min(float(ends[1].max()), 2 * largest))
    return max(largest, 1e-300)


def _whiskers(ax: Axes, picture: AxesImage, ends: Ends, y: float = 0.0) -> None:
    """An interval in every cell of a heat map, from ``ends``, low and high, both as its cells.

    A cell is the bar of shades turned on its side: zero is its left edge, the darkest shade its
    right one.  Lines are ``y`` below the middle; an estimate is a dot.  Cells that are nearly zero
    for sure have neither.
    """
    values = np.asarray(picture.get_array())
    low, middle, high = (
        np.clip(np.asarray(picture.norm(table)), 0.0, 1.0) for table in (ends[0], values, ends[1])
    )
    rows, columns = np.nonzero(high > MIN_SHADE)
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
    return [word(names[state], MAX_NAME) if names else str(state) for state in order]


def _name_ticks(ax: Axes, axis: str, labels: Sequence[str], most: int) -> None:
    """One tick per cell; every second, third ... where there are more than ``most``."""
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

"""Topics over time, or by class: a strip for every topic, with its intervals."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes

from cohmm.kernels.types import Floats
from cohmm.plots.canvas import COLOURS, GREY, PALE, canvas, word
from cohmm.topics.over_time import TopicsOver

MAX_TOPICS = 8  # topics, where none are named
STRIP = 0.42  # inches
FILLED = 0.78  # of a strip's height, by the largest value
MAX_TICKS = 9
LETTERS = 28  # beside one another, under an axis of a column's width
BESIDE: dict[str, Any] = {  # of a text at the right of a strip
    "xycoords": ("axes fraction", "data"),
    "textcoords": "offset points",
    "va": "center",
    "fontsize": "x-small",
    "color": GREY,
    "annotation_clip": False,
}


def plot_topics_over(
    over: TopicsOver,
    ax: Axes | None = None,
    *,
    topics: Iterable[int] | None = None,
    what: Literal["share", "run"] = "share",
) -> Axes:
    """The share of topics over time or by class, a strip each, with bands for the intervals.

    Every strip has a scale of its own, from 0 to its largest value, which is written at the right.
    Periods without documents are gaps.  Strips are in the order in which their topics peak.

    Parameters
    ----------
    over : TopicsOver
        What ``topics.over`` says.
    ax : Axes, optional
        Where to draw; default: a new figure.
    topics : numbers, optional
        Which topics; default: the eight that vary most.
    what : "share" or "run"
        The share of a topic, or the words in a run of it.

    >>> from cohmm import HTMM
    >>> texts = ["oil gas oil barrel gas oil", "wheat corn grain wheat corn"] * 20
    >>> model = HTMM(2, lags=1, random_state=0).fit(texts)
    >>> ax = plot_topics_over(model.over(texts, by=[1987, 1987, 1988, 1989] * 10))
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['1987', '1988', '1989']
    """
    if not isinstance(over, TopicsOver):
        raise ValueError(f"give what topics.over says, not a {type(over).__name__}")
    if what not in ("share", "run"):
        raise ValueError(f"what must be share or run, not {what!r}")
    values = {name: getattr(over, what + name) for name in ("", "_low", "_high")}
    chosen = _checked(topics, over) if topics is not None else _varying(values[""])
    if topics is None:
        chosen.sort(key=lambda k: _peak(values[""][:, k]))
    x = np.arange(len(over.groups))
    with canvas(ax, height=STRIP * len(chosen) + 0.55) as ax:
        for place, k in enumerate(chosen):
            middle, low, high = (array[:, k] for array in values.values())
            top = float(np.nanmax(middle, initial=0.0)) or 1.0
            colour = COLOURS[place % (len(COLOURS) - 1)]
            base = -float(place)

            def lifted(array: Floats, base: float = base, top: float = top) -> Floats:
                return np.asarray(base + FILLED * np.minimum(array / top, 1.2))

            ax.axhline(base, color=PALE, lw=0.6, zorder=0)
            if over.period is None:
                ax.vlines(x, lifted(low), lifted(high), color=colour, lw=2.5, alpha=0.35)
                ax.plot(x, lifted(middle), "o", ms=2.5, color=colour)
            else:
                ax.fill_between(x, lifted(low), lifted(high), color=colour, alpha=0.22, lw=0)
                ax.plot(x, lifted(middle), color=colour)
                alone = _alone(middle)
                ends = lifted(low[alone]), lifted(high[alone])
                ax.vlines(x[alone], *ends, color=colour, alpha=0.35)
                ax.plot(x[alone], lifted(middle[alone]), "o", ms=2.5, color=colour)
            largest = f"{top:.0%}" if what == "share" else f"{top:.0f}"
            text = largest if place else f"max. {largest}"
            ax.annotate(text, (1, base + FILLED), (3, 0), **BESIDE)
        _axes(ax, over, chosen, what)
        return ax


def _axes(ax: Axes, over: TopicsOver, chosen: list[int], what: str) -> None:
    n = len(over.groups)
    labels = [word(group) for group in over.groups]
    longest = max(map(len, labels))
    slanted = longest > 7 or (over.period is None and longest * n > LETTERS)
    most = n if over.period is None else MAX_TICKS if slanted else max(2, LETTERS // longest)
    every = -(-n // most)
    kind: dict[str, Any] = {"parse_math": False}
    if slanted:
        kind |= {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
    ax.set_xticks(range(0, n, every), labels[::every], **kind)
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_yticks(
        [-place + FILLED / 3 for place in range(len(chosen))],
        [word(over.names[k]) for k in chosen],
        parse_math=False,
    )
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-len(chosen) + 0.9, 1.0)
    for side in ("top", "left", "right"):
        ax.spines[side].set_visible(False)
    ax.set_ylabel("topic")
    shown = "share of words" if what == "share" else "words in a run"
    of = "" if over.period is None else f" by {over.period}"
    ax.set_xlabel(f"{shown}{of}, {over.level:.0%} intervals")


def _varying(values: Floats) -> list[int]:
    """The topics with the largest range."""
    with np.errstate(invalid="ignore"):
        reach = np.nan_to_num(np.nanmax(values, axis=0) - np.nanmin(values, axis=0))
    return [int(k) for k in np.argsort(-reach, kind="stable")[:MAX_TOPICS]]


def _peak(values: Floats) -> float:
    """The middle of what a topic has above its least, on the axis of groups."""
    above = np.nan_to_num(values - np.nanmin(values))
    total = above.sum()
    return float(np.arange(len(values)) @ above / total) if total > 0 else 0.0


def _alone(values: Floats) -> Any:
    """Values with a gap on both sides, which no line shows."""
    there = np.concatenate([[False], np.isfinite(values), [False]])
    return np.flatnonzero(there[1:-1] & ~there[:-2] & ~there[2:])


def _checked(topics: Iterable[int], over: TopicsOver) -> list[int]:
    chosen = [int(k) for k in topics]
    if not chosen:
        raise ValueError("there is no topic to draw")
    for k in chosen:
        if not 0 <= k < over.n_components:
            raise ValueError(f"there is no topic {k}: they are from 0 to {over.n_components - 1}")
    return chosen

"""Topics over time, drawn."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib import pyplot as plt

from cohmm.plots import plot_topics_over
from cohmm.topics.over_time import TopicsOver


def an_over(share: np.ndarray, period: str | None = "year") -> TopicsOver:
    g, k = share.shape
    groups = tuple(str(1990 + n) for n in range(g))
    low, high = np.maximum(share - 0.1, 0), np.minimum(share + 0.1, 1)
    counts = np.full(g, 9)
    return TopicsOver(
        groups,
        None if period is None else np.array(groups, "datetime64[s]"),
        period,  # type: ignore[arg-type]
        0.9,
        counts,
        counts,
        share,
        low,
        high,
        10 * share + 1,
        10 * low + 1,
        10 * high + 1,
        tuple(f"topic {n} $x$" for n in range(k)),
    )


SHARE = np.array([[0.1, 0.8, 0.1], [0.3, 0.5, 0.2], [0.8, 0.0, 0.2], [0.7, 0.1, 0.2]])


def heights(ax: plt.Axes, place: int) -> np.ndarray:
    """The line of a strip, from its base."""
    lines = [line for line in ax.lines if len(line.get_xdata()) == len(SHARE)]
    return np.asarray(lines[place].get_ydata()) + place


def test_strips_are_in_the_order_of_their_peaks_each_with_its_own_scale() -> None:
    ax = plot_topics_over(an_over(SHARE))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["topic 1 $x$", "topic 2 $x$", "topic 0 $x$"]
    for place, k in enumerate((1, 2, 0)):
        drawn = heights(ax, place)
        assert drawn / drawn.max() == pytest.approx(SHARE[:, k] / SHARE[:, k].max())
    assert [text.get_text() for text in ax.texts] == ["max. 80%", "20%", "80%"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1990", "1991", "1992", "1993"]
    ax.figure.draw_without_rendering()


def test_bands_are_the_intervals() -> None:
    over = an_over(SHARE)
    ax = plot_topics_over(over, topics=[0])
    (band, *_) = ax.collections
    y = band.get_paths()[0].vertices[:, 1]
    scale = heights(ax, 0).max() / 0.8
    assert y.min() == pytest.approx(0)
    assert y.max() == pytest.approx(0.9 * scale)


def test_a_period_between_gaps_is_a_dot() -> None:
    share = SHARE.copy()
    share[[1, 3]] = np.nan
    ax = plot_topics_over(an_over(share), topics=[0])
    (dots,) = (line for line in ax.lines if line.get_marker() == "o")
    assert np.asarray(dots.get_xdata()).tolist() == [0, 2]


def test_classes_are_dots_with_bars() -> None:
    ax = plot_topics_over(an_over(SHARE, period=None), topics=[2, 0])
    assert [line.get_marker() for line in ax.lines if len(line.get_xdata()) == 4] == ["o", "o"]
    assert len(ax.collections) == 2
    assert "by" not in ax.get_xlabel()


def test_runs_and_axes_of_your_own() -> None:
    _, own = plt.subplots()
    ax = plot_topics_over(an_over(SHARE), own, what="run")
    assert ax is own
    assert ax.texts[0].get_text() == "max. 9"
    assert "words in a run by year" in ax.get_xlabel()


def test_eight_topics_that_vary_most_are_drawn() -> None:
    rng = np.random.default_rng(0)
    share = rng.dirichlet(np.ones(12), size=5)
    share[:, 3] = 0.05
    ax = plot_topics_over(an_over(share))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert len(names) == 8
    assert "topic 3 $x$" not in names


def test_bad_input() -> None:
    over = an_over(SHARE)
    with pytest.raises(ValueError, match="there is no topic 3: they are from 0 to 2"):
        plot_topics_over(over, topics=[3])
    with pytest.raises(ValueError, match="no topic to draw"):
        plot_topics_over(over, topics=[])
    with pytest.raises(ValueError, match=r"give what topics\.over says, not a ndarray"):
        plot_topics_over(SHARE)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="what must be share or run"):
        plot_topics_over(over, what="length")  # type: ignore[arg-type]
    assert not plt.get_fignums()

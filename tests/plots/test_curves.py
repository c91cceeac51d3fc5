"""Spectrum, convergence, error against length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas
import polars
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cohmm import HTMM, PairwiseHMM
from cohmm.learn.learner import Progress
from cohmm.learn.pairs.spectrum import Spectrum
from cohmm.learn.topics.topic_fit import TopicFit
from cohmm.plots import Line, plot_convergence, plot_error_against_length, plot_spectrum


def labelled(ax: Axes) -> dict[str, Line2D]:
    return {str(line.get_label()): line for line in ax.lines}


# -- spectrum -------------------------------------------------------------------------------


def test_dots_are_filled_above_the_floor() -> None:
    values = np.array([1.0, 0.5, 0.3, 0.1, 0.05])
    lines = labelled(plot_spectrum(Spectrum(values, 0.2)))
    above, noise = lines["above the noise: 3"], lines["noise"]
    np.testing.assert_array_equal(above.get_xydata(), [[1, 1], [2, 0.5], [3, 0.3]])
    np.testing.assert_array_equal(noise.get_xydata(), [[4, 0.1], [5, 0.05]])
    assert above.get_markerfacecolor() != "none"
    assert noise.get_markerfacecolor() == "none"
    assert set(lines["noise floor, 0.2"].get_ydata()) == {0.2}
    assert set(lines["K = 3"].get_xdata()) == {3.5}


def test_the_spectrum_of_a_model_is_that_of_its_pairs(model: PairwiseHMM, topics: HTMM) -> None:
    wanted = model.pair_fit_.spectrum
    for given in (model, model.pair_fit_, model.counts_):
        ax = plot_spectrum(given)
        drawn = np.concatenate([line.get_ydata() for line in ax.lines[:2]])
        np.testing.assert_allclose(drawn, wanted.values)
        assert f"K = {3}" in labelled(ax)
    assert "K = 4" in labelled(plot_spectrum(topics))
    assert "K = 7" in labelled(plot_spectrum(topics, n_components=7))


def test_of_many_values_the_first_are_drawn() -> None:
    values = np.linspace(1, 0.01, 200)
    ax = plot_spectrum(Spectrum(values, 0.9))
    assert sum(len(line.get_xdata()) for line in ax.lines[:2]) == 31
    ax = plot_spectrum(Spectrum(values, 0.9), n_components=100)
    assert sum(len(line.get_xdata()) for line in ax.lines[:2]) == 150


def test_all_that_is_drawn_is_in_sight() -> None:
    ax = plot_spectrum(Spectrum(np.array([1.0, 0.5, 0.0]), 1e-3), n_components=9)
    assert ax.get_ylim()[0] < 1e-3 < 1 < ax.get_ylim()[1]
    assert ax.get_xlim()[1] > 9.5


def test_a_spectrum_needs_pairs(topics: HTMM, tmp_path: object) -> None:
    topics.save(f"{tmp_path}/topics")
    with pytest.raises(ValueError, match="needs the pairs"):
        plot_spectrum(HTMM.load(f"{tmp_path}/topics"))
    for k in (0, True, 2.0):
        with pytest.raises(ValueError, match="n_components must be a whole number"):
            plot_spectrum(topics, n_components=k)  # type: ignore[arg-type]


# -- convergence ----------------------------------------------------------------------------


def fit_of(*objectives: float) -> TopicFit:
    steps = tuple(Progress(3 * n + 1, value, value) for n, value in enumerate(objectives))
    return TopicFit([[1.0]], [1.0], [1.0], ("oil",), "by hand", history=steps)


def test_a_line_is_how_far_the_objective_is_above_its_end() -> None:
    ax = plot_convergence(fit_of(5, 3, 2.5, 2))
    np.testing.assert_allclose(ax.lines[0].get_xydata(), [[1, 3], [4, 1], [7, 0.5]])
    assert ax.get_yscale() == "log"
    assert ax.get_legend() is None


def test_several_fits_are_above_the_least_of_all() -> None:
    lines = labelled(plot_convergence({"a": fit_of(5, 2), "b": fit_of(4, 3, 1)}))
    np.testing.assert_allclose(lines["a"].get_ydata(), [4, 1])
    np.testing.assert_allclose(lines["b"].get_ydata(), [3, 2])


def test_models_show_their_last_step(model: PairwiseHMM, topics: HTMM) -> None:
    for fitted in (model, model.fit_, topics, topics.fit_):
        fit = getattr(fitted, "fit_", fitted)
        ax = plot_convergence(fitted)
        gaps = np.array([step.objective for step in fit.history]) - fit.history[-1].objective
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), gaps[gaps > 0])


def test_other_starts_are_dotted(model: PairwiseHMM) -> None:
    end = model.fit_.objective
    fit = replace(model.fit_, starts=(end + 0.5, end, end + 0.25))
    ax = plot_convergence(fit)
    dotted = [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == ":"]
    np.testing.assert_allclose(dotted, [0.25, 0.5])
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["the start that was kept", "where other starts ended"]


def test_no_line_from_one_point() -> None:
    with pytest.raises(ValueError, match="the history has 1 of the two steps"):
        plot_convergence(fit_of(1.0))
    with pytest.raises(ValueError, match="not of a int"):
        plot_convergence({"a": 3})


# -- error against length -------------------------------------------------------------------

ROWS = [
    {"T": length, "method": method, "emission": value * factor}
    for method, value in (("pairs", 0.1), ("NMF", 0.3))
    for length, factor in ((10_000, 0.5), (1000, 1.0), (1000, 2.0))
]


def test_means_with_bars_from_least_to_most() -> None:
    ax = plot_error_against_length(ROWS, error="emission")
    pairs, nmf = ax.containers
    np.testing.assert_allclose(pairs[0].get_ydata(), [0.15, 0.05])
    np.testing.assert_allclose(nmf[0].get_ydata(), [0.45, 0.15])
    np.testing.assert_allclose(pairs[0].get_xdata(), [1000, 10_000], rtol=0.02)
    ends = pairs[2][0].get_segments()
    np.testing.assert_allclose(ends[0][:, 1], [0.1, 0.2])
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1e3", "1e4"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["pairs", "NMF"]
    assert ax.get_ylabel() == "emission error"


def test_a_data_frame_is_as_good() -> None:
    for frame in (pandas.DataFrame(ROWS), polars.DataFrame(ROWS)):
        ax = plot_error_against_length(frame, error="emission")
        np.testing.assert_allclose(ax.containers[0][0].get_ydata(), [0.15, 0.05])


def test_lines_choose_methods_and_looks() -> None:
    ax = plot_error_against_length(
        ROWS, error="emission", lines=[Line("NMF", "#123456", "x", "--")]
    )
    (only,) = ax.containers
    assert only[0].get_color() == "#123456"
    assert only[0].get_marker() == "x"
    assert only[0].get_linestyle() == "--"
    assert ax.get_legend() is None
    with pytest.raises(ValueError, match="no row has the method 'EM'"):
        plot_error_against_length(ROWS, error="emission", lines=[Line("EM", "black", "o")])


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"T": 10}, "row 1 has no 'error': it has T"),
        ({"T": 10, "error": 0.0}, "'error' of row 1 is 0.0"),
        ({"T": 10, "error": None}, "'error' of row 1 is None"),
        ({"T": 10, "error": float("nan")}, "'error' of row 1 is nan"),
        ({"T": -1, "error": 0.1}, "'T' of row 1 is -1"),
    ],
)
def test_rows_that_cannot_be_drawn(row: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plot_error_against_length([{"T": 5, "error": 0.1}, row])

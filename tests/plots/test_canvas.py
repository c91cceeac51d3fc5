"""What holds for every picture."""

from __future__ import annotations

import inspect
import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes

import cohmm.plots
from cohmm import HTMM, PairwiseHMM
from cohmm.diagnose.selection import Candidate, Selection
from cohmm.plots import (
    WIDTH,
    plot_convergence,
    plot_emissions,
    plot_error_against_length,
    plot_scatter,
    plot_segmentation,
    plot_selection,
    plot_spectrum,
    plot_topic_map,
    plot_topic_tree,
    plot_topics_over,
    plot_transitions,
)
from cohmm.plots.canvas import COLOURS, SHADES, word
from tests.plots.conftest import pictures

ROWS = [{"T": 1000, "error": 0.3}, {"T": 2000, "error": 0.1}]
CHOSEN = Selection(
    tuple(Candidate(k, -1.0, 0.1 * (k - 3), 0.01, 1.0, 5, 0.1) for k in (3, 4)),
    *(3, "why", 3, "state", 10),
)
DRAWN = {
    "plot_convergence": lambda m, t, ax: plot_convergence(m, ax),
    "plot_emissions": lambda m, t, ax: plot_emissions(m, ax),
    "plot_error_against_length": lambda m, t, ax: plot_error_against_length(ROWS, ax),
    "plot_scatter": lambda m, t, ax: plot_scatter(m, ax),
    "plot_segmentation": lambda m, t, ax: plot_segmentation(t, t.documents_.words(0), ax),
    "plot_selection": lambda m, t, ax: plot_selection(CHOSEN, ax),
    "plot_spectrum": lambda m, t, ax: plot_spectrum(m, ax),
    "plot_topic_map": lambda m, t, ax: plot_topic_map(t, ax),
    "plot_topic_tree": lambda m, t, ax: plot_topic_tree(t.tree(), ax),
    "plot_topics_over": lambda m, t, ax: plot_topics_over(t.over(by=[1990, 1991] * 100), ax),
    "plot_transitions": lambda m, t, ax: plot_transitions(m, ax),
}


def test_every_picture_is_tested_here() -> None:
    assert sorted(DRAWN) == sorted(pictures())


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_picture_of_its_own_is_a_column_wide(name: str, model: PairwiseHMM, topics: HTMM) -> None:
    ax = DRAWN[name](model, topics, None)
    assert isinstance(ax, Axes)
    assert ax.figure.get_size_inches()[0] == WIDTH
    assert plt.get_fignums() == [ax.figure.number]
    another = DRAWN[name](model, topics, None)
    assert another.figure is not ax.figure


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_a_picture_on_given_axes_is_there(
    name: str, model: PairwiseHMM, topics: HTMM, ax: Axes
) -> None:
    size = tuple(ax.figure.get_size_inches())
    assert DRAWN[name](model, topics, ax) is ax
    assert ax.has_data()
    assert tuple(ax.figure.get_size_inches()) == size
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", sorted(set(DRAWN) - {"plot_scatter", "plot_segmentation"}))
def test_axes_are_labelled(name: str, model: PairwiseHMM, topics: HTMM) -> None:
    ax = DRAWN[name](model, topics, None)
    assert ax.get_xlabel()
    assert ax.get_ylabel()


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_what_is_no_axes_is_refused(name: str, model: PairwiseHMM, topics: HTMM) -> None:
    with pytest.raises(ValueError, match="ax must be one matplotlib Axes, not a ndarray"):
        DRAWN[name](model, topics, np.array([None, None]))


@pytest.mark.parametrize("name", pictures())
def test_ax_is_optional_and_can_be_given_by_name(name: str) -> None:
    assert inspect.signature(getattr(cohmm.plots, name)).parameters["ax"].default is None


@pytest.mark.parametrize(
    ("plot", "given"),
    [
        (plot_emissions, "model"),
        (plot_emissions, [[0.5, 0.6]]),
        (plot_emissions, [[0.5, np.nan]]),
        (plot_emissions, [0.5, 0.5]),
        (plot_emissions, np.empty((0, 3))),
        (plot_transitions, [[0.5, 0.5]]),
        (plot_transitions, object()),
        (plot_spectrum, np.eye(3)),
        (plot_convergence, [1, 2]),
        (plot_convergence, {}),
        (plot_error_against_length, []),
        (plot_error_against_length, "rows"),
        (plot_topic_map, np.eye(3)),
        (plot_scatter, np.eye(4)),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_leaves_no_figure(plot: object, given: object) -> None:
    with pytest.raises(ValueError):
        plot(given)  # type: ignore[operator]
    assert not plt.get_fignums()


def test_models_that_are_not_fitted_are_refused() -> None:
    for plot in (plot_emissions, plot_transitions, plot_spectrum, plot_convergence, plot_scatter):
        with pytest.raises(ValueError, match="not fitted"):
            plot(PairwiseHMM(3))
    for plot in (plot_emissions, plot_transitions, plot_spectrum, plot_convergence, plot_topic_map):
        with pytest.raises(ValueError, match="not fitted"):
            plot(HTMM(3))


def test_a_figure_whose_drawing_fails_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(Axes, "imshow", fails)
    with pytest.raises(RuntimeError):
        plot_emissions(np.eye(3))
    assert not plt.get_fignums()


def test_darker_is_more_to_every_eye() -> None:
    grey = SHADES(np.linspace(0, 1, 100))[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(grey) < 0).all()
    assert grey[0] == pytest.approx(1)
    assert len(set(COLOURS)) == len(COLOURS)


def test_a_word_is_one_short_line() -> None:
    assert word("oil") == "oil"
    assert word(3) == "3"
    assert word("a\n\tb") == "a b"
    assert len(word("x" * 500)) == 24
    assert word("  ") == "'  '"


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_cohmm_imports_no_matplotlib() -> None:
    code = "import sys, cohmm; cohmm.HTMM, cohmm.PairwiseHMM; print('matplotlib' in sys.modules)"
    assert run(code).stdout.strip() == "False"


def test_without_matplotlib_the_error_says_what_to_install() -> None:
    found = run("import sys; sys.modules['matplotlib'] = None; import cohmm.plots")
    last = found.stderr.strip().splitlines()[-1]
    assert last == "ImportError: pictures need matplotlib: pip install 'cohmm[plots]'"

"""Emissions and transitions."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes

from cohmm import HMM, HTMM, PairwiseHMM
from cohmm.plots import plot_emissions, plot_transitions
from tests.strategies import random_model


def ticks(ax: Axes, axis: str) -> list[str]:
    labels = ax.get_xticklabels() if axis == "x" else ax.get_yticklabels()
    return [label.get_text() for label in labels]


def drawn(ax: Axes) -> np.ndarray:
    return np.asarray(ax.images[0].get_array())


@settings(max_examples=12)
@given(st.integers(1, 6), st.integers(1, 30), st.integers(0, 100))
def test_a_cell_is_the_probability_of_its_symbol_and_state(k: int, n: int, seed: int) -> None:
    model = random_model(k, n, seed=seed)
    ax = plot_emissions(model)
    symbols = [int(label) for label in ticks(ax, "y")]
    assert sorted(symbols) == list(range(n))
    np.testing.assert_array_equal(drawn(ax), model.emissionprob[:, symbols].T)
    assert ticks(ax, "x") == [str(state) for state in range(k)]
    plt.close(ax.figure)


def test_symbols_stand_by_the_state_they_are_most_probable_in() -> None:
    ax = plot_emissions([[0.1, 0.5, 0.0, 0.4], [0.6, 0.1, 0.3, 0.0]])
    assert ticks(ax, "y") == ["1", "3", "0", "2"]


def test_of_many_symbols_the_most_probable_of_every_state_are_drawn() -> None:
    emission = np.full((2, 50), 0.5 / 50)
    emission[0, 7] += 0.3
    emission[0, 8] += 0.2
    emission[1, 3] += 0.5
    ax = plot_emissions(emission, n_symbols=3)
    assert ticks(ax, "y") == ["7", "8", "3"]
    assert drawn(ax).shape == (3, 2)
    assert plot_emissions(emission, n_symbols=50).images[0].get_array().shape == (50, 2)
    assert plot_emissions(emission).images[0].get_array().shape == (40, 2)


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "many"])
def test_a_number_of_symbols_that_is_none(n: object) -> None:
    with pytest.raises(ValueError, match="n_symbols must be a whole number from 1"):
        plot_emissions(np.eye(3), n_symbols=n)  # type: ignore[arg-type]


def test_labels_are_those_of_the_vocabulary_and_never_a_formula() -> None:
    words = ["$x_$", "a\nb", "w" * 40]
    model = HMM([1.0], [[1.0]], [[0.5, 0.3, 0.2]], words)
    ax = plot_emissions(model)
    assert ticks(ax, "y") == ["$x_$", "a b", "w" * 23 + "…"]
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())


def test_models_of_every_kind(model: PairwiseHMM, topics: HTMM) -> None:
    values = drawn(plot_emissions(model.emissionprob_))
    for same in (model, model.model_, model.fit_):
        np.testing.assert_array_equal(drawn(plot_emissions(same)), values)
    values = drawn(plot_transitions(model.transmat_, seriate=False))
    for same in (model, model.model_, model.fit_):
        np.testing.assert_array_equal(drawn(plot_transitions(same, seriate=False)), values)
    ax = plot_emissions(topics)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("topic", "word")
    np.testing.assert_array_equal(drawn(plot_emissions(topics.fit_)), drawn(ax))
    ax = plot_transitions(topics, seriate=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("to topic", "from topic")
    np.testing.assert_array_equal(drawn(ax), topics.topic_transitions_)


@pytest.mark.parametrize("k", [1, 2, 5, 12, 40])
def test_a_cell_is_the_probability_of_its_transition(k: int) -> None:
    model = random_model(k, k, seed=k)
    ax = plot_transitions(model)
    if k <= 25:
        order = [int(label) for label in ticks(ax, "x")]
        assert order == [int(label) for label in ticks(ax, "y")]
        assert sorted(order) == list(range(k))
        np.testing.assert_array_equal(drawn(ax), model.transmat[np.ix_(order, order)])
    else:  # every second is named
        assert len(ticks(ax, "x")) == 20
    assert len(ax.texts) == (k * k if k <= 10 else 0)
    plain = plot_transitions(model, seriate=False)
    np.testing.assert_array_equal(drawn(plain), model.transmat)


def test_states_that_follow_one_another_are_neighbours() -> None:
    a = np.array([[0.9, 0, 0.1, 0], [0, 0.9, 0, 0.1], [0.1, 0, 0.9, 0], [0, 0.1, 0, 0.9]])
    assert ticks(plot_transitions(a), "x") in (["0", "2", "3", "1"], ["0", "2", "1", "3"])
    assert ticks(plot_transitions(a, seriate=False), "x") == ["0", "1", "2", "3"]


def test_leaving_shows_where_the_chain_goes_from_a_state() -> None:
    a = np.array([[0.8, 0.15, 0.05], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    ax = plot_transitions(a, leaving=True, seriate=False)
    np.testing.assert_allclose(drawn(ax), [[0, 0.75, 0.25], [1, 0, 0], [0, 0, 0]])
    assert len(ax.texts) == 6
    whole = plot_transitions(np.eye(2), leaving=True)  # no state is ever left
    assert not drawn(whole).any()


def test_intervals_stand_in_their_cells(model: PairwiseHMM) -> None:
    """A cell is the bar of shades turned on its side."""
    errors = model.standard_errors()
    low, high = errors.interval(0.9)
    ax = plot_transitions(model, errors=errors, seriate=False)
    lines, dots = ax.collections
    norm = ax.images[0].norm
    cells = [tuple(cell) for cell in np.argwhere(np.asarray(norm(high.transmat)) > 0.1)]
    segments = lines.get_segments()  # type: ignore[attr-defined]
    assert len(segments) == len(cells) == len(dots.get_offsets()) >= 3
    for (row, column), segment, dot in zip(cells, segments, dots.get_offsets(), strict=True):
        ends = (low.transmat, model.transmat_, high.transmat)
        begin, at, end = (column - 0.5 + 0.08 + 0.84 * float(norm(t[row, column])) for t in ends)
        np.testing.assert_allclose(segment[:, 0], [begin, end], atol=1e-9)
        assert dot[0] == pytest.approx(at)
        assert row < dot[1] < row + 0.5
    written = [text.get_text() for text in ax.texts]
    assert len(written) == 18  # each of the nine has its interval below
    assert f"{low.transmat[0, 0]:.2f}-{high.transmat[0, 0]:.2f}".replace("0.", ".") in written
    assert "90 % intervals" in ax.get_xlabel()


def test_intervals_of_emissions_follow_their_symbols(model: PairwiseHMM, topics: HTMM) -> None:
    errors = model.standard_errors()
    low, high = errors.interval(0.9)
    ax = plot_emissions(model, errors=errors)
    symbols = [int(label) for label in ticks(ax, "y")]
    shown = np.asarray(ax.images[0].norm(high.emissionprob[:, symbols].T)) > 0.1
    (segments,) = (c.get_segments() for c in ax.collections if hasattr(c, "get_segments"))
    rows, columns = np.nonzero(shown)
    left = np.asarray(ax.images[0].norm(low.emissionprob[:, symbols].T))[rows, columns]
    np.testing.assert_allclose(
        [segment[0] for segment in segments],
        np.column_stack([columns - 0.5 + 0.08 + 0.84 * left, rows]),
        atol=1e-9,
    )
    own = topics.standard_errors()
    assert plot_emissions(topics, errors=own, n_symbols=10).collections
    assert plot_transitions(topics, errors=own).collections


def test_errors_that_are_not_of_the_model(model: PairwiseHMM) -> None:
    errors = model.standard_errors()
    with pytest.raises(ValueError, match=r"errors are of a table \(3, 12\), and the model has"):
        plot_emissions(np.eye(3), errors=errors)
    with pytest.raises(ValueError, match=r"what model.standard_errors\(\) gives, not a float"):
        plot_transitions(model, errors=0.1)
    with pytest.raises(ValueError, match="not of those when a state is left"):
        plot_transitions(model, errors=errors, leaving=True)

"""The geometry of sufficient scatter, against the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import Circle, Polygon
from scipy.optimize import linprog

from cohmm import HMM, HTMM, PairwiseHMM
from cohmm.plots import plot_scatter
from cohmm.plots.scatter import CORNERS, Scatter, scatter_of

S = 2**0.5
# The paper's figure: angle and distance from the middle, corners at 2.
INSIDE = [(50, 1), (80, 1.2), (120, 0.9), (180, 1), (200, 1.2), (-99, 0.7), (-30, 1.2), (0, 0.6)]
ON_SIDES = [(75, S), (105, S), (195, S), (225, S), (-45, S), (-15, S)]
AT_CORNERS = [(90, 2), (210, 2), (-30, 2)]


def emissions(polar: list[tuple[float, float]]) -> np.ndarray:
    """Emissions (3, N) whose rows of M, scaled, stand at these places."""
    angle, distance = np.deg2rad([a for a, _ in polar]), np.array([r for _, r in polar]) / 2
    places = np.stack([distance * np.cos(angle), distance * np.sin(angle), np.ones(len(polar))])
    rows = np.linalg.solve(np.vstack([CORNERS.T, np.ones(3)]), places).clip(0).T
    found = linprog(np.zeros(len(rows)), A_eq=rows.T, b_eq=np.ones(3), bounds=(1e-4, None))
    m = found.x[:, None] * rows
    return (m / m.sum(axis=0)).T


def scattered_by_definition(m: np.ndarray) -> bool:
    """Every x with Mx >= 0 and 1'x = 1 has |x| <= 1: on the vertices of that polygon."""
    rows = m[m.sum(axis=1) > 0]
    for i in range(len(rows)):
        for j in range(i):
            equations = np.array([rows[i], rows[j], np.ones(3)])
            if abs(np.linalg.det(equations)) < 1e-14:
                continue
            x = np.linalg.solve(equations, [0, 0, 1])
            if (rows @ x >= -1e-12).all() and np.linalg.norm(x) > 1 + 1e-7:
                return False
    # The polygon may have no end: then 1'x = 0 has a direction that Mx >= 0 allows.
    for sign in np.vstack([np.eye(3), -np.eye(3)]):
        free = linprog(
            -sign, A_ub=-rows, b_ub=np.zeros(len(rows)), A_eq=[[1, 1, 1]], b_eq=[0], bounds=(-1, 1)
        )
        if -free.fun > 1e-7:
            return False
    return True


def test_the_three_pictures_of_the_paper() -> None:
    separable = scatter_of(emissions(AT_CORNERS + INSIDE))
    assert (separable.separable, separable.scattered) == (True, True)
    middle = scatter_of(emissions(ON_SIDES + INSIDE))
    assert (middle.separable, middle.scattered) == (False, True)
    assert middle.reach == pytest.approx(1, abs=1e-6)
    neither = scatter_of(emissions(INSIDE))
    assert (neither.separable, neither.scattered) == (False, False)
    assert 0.5 < neither.reach < 1


def test_touching_the_circle_away_from_the_sides_is_not_enough() -> None:
    # A hexagon with sides tangent to the circle between those of the triangle as well.
    ends = [(angle, 2 / 3**0.5) for angle in (0, 60, 120, 180, 240, 300)]
    found = scatter_of(emissions(ends))
    assert found.reach == pytest.approx(1)
    assert not found.scattered
    assert "touches" in plot_scatter(emissions(ends)).get_title()


@given(st.integers(3, 9), st.integers(0, 500), st.floats(0.2, 0.8))
def test_the_verdict_is_that_of_the_definition(n: int, seed: int, zeros: float) -> None:
    rng = np.random.default_rng(seed)
    m = rng.dirichlet(np.ones(n), size=3).T
    m[rng.random(m.shape) < zeros] = 0
    if not m.any(axis=0).all():
        return
    m /= m.sum(axis=0)
    found = scatter_of(m.T)
    if abs(found.reach - 1) < 1e-9 and not found.scattered:
        return  # it touches inside: condition (ii), which the oracle does not look at
    assert found.scattered == scattered_by_definition(m)


def test_the_dual_is_polar_to_the_hull() -> None:
    found = scatter_of(emissions(ON_SIDES))
    assert found.dual is not None
    products = found.dual @ found.hull.T
    assert (products > -0.5 - 1e-9).all()
    np.testing.assert_allclose(products.min(axis=1), -0.5)
    assert np.linalg.norm(found.dual, axis=1).max() == pytest.approx(1)


@pytest.mark.parametrize(
    "rows",
    [
        np.full((3, 5), 0.2),  # one point
        [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0.5, 0.5]],  # on a line
        [[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]],
    ],
)
def test_points_without_an_area(rows: object) -> None:
    found = scatter_of(rows)
    assert not found.scattered
    assert found.dual is None
    assert "none of the circle" in plot_scatter(rows).get_title()


def test_what_is_drawn(model: PairwiseHMM) -> None:
    ax = plot_scatter(model)
    found: Scatter = scatter_of(model)
    patches = {patch.get_label(): patch for patch in ax.patches}
    hull, inner, outer = (patches[n] for n in ("hull of the rows", "inner circle", "outer circle"))
    assert isinstance(hull, Polygon)
    assert isinstance(inner, Circle)
    assert isinstance(outer, Circle)
    np.testing.assert_array_equal(hull.get_xy()[:-1], found.hull)
    assert outer.radius == 2 * inner.radius
    m = model.emissionprob_.T
    np.testing.assert_allclose(ax.lines[0].get_xydata(), m / m.sum(axis=1, keepdims=True) @ CORNERS)
    assert [text.get_text() for text in ax.texts] == ["state 0", "state 1", "state 2"]
    assert ax.get_aspect() == 1


def test_symbols_that_no_state_emits_are_left_out() -> None:
    assert len(scatter_of([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]).points) == 3


@pytest.mark.parametrize("k", [1, 2, 4])
def test_only_three_states_are_a_triangle(k: int) -> None:
    with pytest.raises(ValueError, match=f"picture of three states: this model has {k}"):
        plot_scatter(HMM(np.full(k, 1 / k), np.full((k, k), 1 / k), np.full((k, 5), 0.2)))


def test_topics_are_called_topics(topics: HTMM) -> None:
    with pytest.raises(ValueError, match="this model has 4"):
        plot_scatter(topics)

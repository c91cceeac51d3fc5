"""The geometry of sufficient scatter, for three states: the paper's figure.

On the plane where the three coordinates sum to one, non-negative points are a triangle, and
the paper's cones are circles about its middle: C through the corners, its dual C* inside, touching
the sides.  The rows of M, scaled to sum to one, are points in the triangle.  M is sufficiently
scattered if their hull holds the inner circle, and touches it only where the sides do; then no
other M and Theta of the same volume explain the pairs.  For three states this can be decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon
from scipy.spatial import ConvexHull, QhullError

from cohmm.kernels.types import Floats
from cohmm.plots._unwrap import emissions_of
from cohmm.plots.canvas import COLOURS, GREY, canvas

TOLERANCE = 1e-9
ANGLES = np.deg2rad([90, 210, 330])
CORNERS = np.column_stack([np.cos(ANGLES), np.sin(ANGLES)])  # of states 0, 1, 2
RADIUS = 0.5  # of the inner circle, where that of the outer one is 1


@dataclass(frozen=True, eq=False)
class Scatter:
    """Points in the triangle, and what their hull says.

    Parameters
    ----------
    points : array, (n, 2)
        The rows of M, on the plane.
    hull : array, (m, 2)
        The corners of their hull, anticlockwise.
    reach : float
        How far out the hull holds a circle about the middle, as a share of the inner circle's
        radius; below 0 where the middle itself is outside.
    scattered : bool
        Whether M is sufficiently scattered.
    separable : bool
        Whether, beyond that, every state has a symbol of its own.
    """

    points: Floats
    hull: Floats
    reach: float
    scattered: bool
    separable: bool

    @property
    def dual(self) -> Floats | None:
        """The corners of the dual cone on the plane, or None where it has no end."""
        if self.reach <= TOLERANCE:
            return None
        normals, distances = _sides(self.hull)
        # A point x of the dual has x . y >= -1/2 for all y of the hull; corners lie on sides.
        return np.asarray(-RADIUS * normals / distances[:, None])


def scatter_of(emissions: Any) -> Scatter:
    """The geometry of emissions (3, N).

    >>> scatter_of(np.eye(3)).separable
    True
    >>> scatter_of([[.5, .5, 0, 0], [0, .5, .5, 0], [.25, .25, .25, .25]]).scattered
    False
    """
    values = emissions_of(emissions).values
    if len(values) != 3:
        raise ValueError(
            f"the triangle is the picture of three states: this model has {len(values)}"
        )
    rows = values.T[values.any(axis=0)]
    points = rows / rows.sum(axis=1, keepdims=True) @ CORNERS
    try:
        apart = np.unique(points.round(12), axis=0)  # twins would have a side in any direction
        hull = apart[ConvexHull(apart).vertices]
    except (QhullError, ValueError):  # all on a line, or fewer than three
        along = np.linalg.svd(points - points.mean(axis=0))[2][0]
        ends = (points @ along).argsort()[[0, -1]]
        return Scatter(points, points[ends], -np.inf, scattered=False, separable=False)
    normals, distances = _sides(hull)
    reach = float(distances.min() / RADIUS)
    # A side may touch the circle only where the triangle's own sides do.
    on_triangle = (normals @ -CORNERS.T).max(axis=1) > 1 - TOLERANCE
    strict = distances > RADIUS + TOLERANCE
    touching = np.abs(distances - RADIUS) <= TOLERANCE
    near = np.linalg.norm(points[:, None] - CORNERS, axis=2).min(axis=0)
    return Scatter(
        points,
        hull,
        reach,
        scattered=bool((strict | (touching & on_triangle)).all()),
        separable=bool((near <= TOLERANCE).all()),
    )


def plot_scatter(model: Any, ax: Axes | None = None) -> Axes:
    """Whether the emissions of three states are sufficiently scattered, as in the paper.

    Dots are the rows of M, shaded is their hull, which must hold the inner circle; dashed are
    the outer circle and the dual of the hull, which must lie in it.  Emissions that were
    smoothed have no zero, so that their hull never quite reaches the sides: the title says how
    far it reaches.

    Parameters
    ----------
    model : HMM, PairwiseHMM, HTMM, Fit, TopicFit, or array (3, N)
        The emissions of three states.
    ax : Axes, optional
        Where to draw; default: a new figure.

    >>> plot_scatter(np.eye(3)).get_title()
    'separable'
    """
    kind = emissions_of(model).kind
    scatter = scatter_of(model)
    with canvas(ax, height=3.1) as ax:
        solid: Any = {"fill": False, "linewidth": 1.2}
        dashed: Any = {"fill": False, "linewidth": 0.8, "linestyle": "--"}
        yellow: Any = {"facecolor": "#f0e442", "alpha": 0.6}
        ax.add_patch(Polygon(scatter.hull, label="hull of the rows", **yellow))
        ax.add_patch(Polygon(CORNERS, label="triangle", **solid))
        ax.add_patch(Circle((0, 0), RADIUS, label="inner circle", **solid))
        ax.add_patch(Circle((0, 0), 1, label="outer circle", **dashed))
        if scatter.dual is not None:
            ax.add_patch(Polygon(scatter.dual, edgecolor=GREY, label="dual", **dashed))
        ax.plot(*scatter.points.T, "o", color=COLOURS[0], markersize=3, label="rows of M")
        sides = (("center", "bottom"), ("right", "top"), ("left", "top"))
        for state, ((x, y), (across, up)) in enumerate(zip(1.06 * CORNERS, sides, strict=True)):
            ax.text(x, y, f"{kind} {state}", ha=across, va=up)
        ax.set_xlim(-1.25, 1.25)
        ax.set_ylim(-1.05, 1.25)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.set_title(_verdict(scatter))
        return ax


def _sides(hull: Floats) -> tuple[Floats, Floats]:
    """The outward normals of the sides, (m, 2), and how far they are from the middle, (m,)."""
    along = np.roll(hull, -1, axis=0) - hull
    normals = np.column_stack([along[:, 1], -along[:, 0]])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return normals, (normals * hull).sum(axis=1)


def _verdict(scatter: Scatter) -> str:
    if scatter.separable:
        return "separable"
    if scatter.scattered:
        return "sufficiently scattered"
    if scatter.reach > 1 - TOLERANCE:
        return "not sufficiently scattered\n(touches the circle inside)"
    if scatter.reach <= 0:
        return "not sufficiently scattered\n(none of the circle)"
    return f"not sufficiently scattered\n({scatter.reach:.2f} of the circle's radius)"

"""Proposition 2: the ball that emissions must hold, as a share of the simplex.

Emissions are sufficiently scattered only if the cone of their rows holds the cone
C* = {x : |x| <= 1'x / sqrt(K - 1)}.  Where the simplex cuts it, C* is a ball that touches all
facets.  Its share of the simplex falls faster than exponentially in K.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from .experiment import Experiment, Plan, Row, Step, Table
from .figures import GREY, figure, plain_axis, save

LARGEST = 100
DRAWN = range(2, 11)  # beyond, too few points fall into the ball to count them
BLUE, ORANGE = "#0072B2", "#D55E00"


def log10_ratio(k: int) -> float:
    """log10 of equation (4): ball over simplex, for K >= 2."""
    ratio = (
        -0.5 * math.log(math.pi * k)
        + (k - 1) / 2 * math.log(4 * math.pi / (k * (k - 1)))
        + math.lgamma(k / 2)
    )
    return ratio / math.log(10)


def formula() -> list[Row]:
    return [{"K": k, "log10_ratio": log10_ratio(k)} for k in range(2, LARGEST + 1)]


def monte_carlo(k: int, draws: int, seed: int) -> list[Row]:
    """Points that are uniform on the simplex: how many are in the ball."""
    rng = np.random.default_rng(seed)
    inside = 0
    for start in range(0, draws, 100_000):
        points = rng.dirichlet(np.ones(k), size=min(100_000, draws - start))
        # For K = 2 the ball is the whole simplex, whose ends have |x| = 1 to rounding.
        inside += int(((points**2).sum(axis=1) <= (1 + 1e-12) / (k - 1)).sum())
    return [{"K": k, "log10_ratio": log10_ratio(k), "draws": draws, "inside": inside}]


def steps(plan: Plan) -> list[Step]:
    draws = 100_000 if plan.quick else 4_000_000
    drawn = [
        Step(
            "volume-ratio",
            {"K": k, "draws": draws, "seed": plan.seed},
            partial(monte_carlo, k, draws, plan.seed),
            f"K={k}, drawing points",
        )
        for k in DRAWN
    ]
    return [Step("volume-ratio", {"largest": LARGEST}, formula, "the formula"), *drawn]


def summary(rows: list[Row]) -> list[Row]:
    """The formula, and the share of the points with its standard error where any were drawn."""
    found = {row["K"]: row for row in rows}  # those with points come last
    return [
        {"K": k, "ratio": 10 ** row["log10_ratio"], "log10_ratio": row["log10_ratio"]}
        | (sampled(row) if "draws" in row else {})
        for k, row in sorted(found.items())
    ]


def sampled(row: Row) -> Row:
    part = row["inside"] / row["draws"]
    return {
        "monte_carlo": part,
        "standard_error": math.sqrt(part * (1 - part) / row["draws"]),
        "draws": row["draws"],
    }


def tables(found: list[Row]) -> list[Table]:
    shown = [row for row in found if "draws" in row or row["K"] in (20, 50, 100)]
    return [
        Table(
            "Volume of the ball over that of the simplex",
            ["K", "formula", "points in the ball", "log10"],
            [
                [
                    str(row["K"]),
                    f"{row['ratio']:.3g}",
                    f"{row['monte_carlo']:.3g} ± {row['standard_error']:.1g}"
                    if "draws" in row
                    else "",
                    f"{row['log10_ratio']:.2f}",
                ]
                for row in shown
            ],
        )
    ]


def draw(rows: list[Row], file: Any) -> None:
    found = summary(rows)
    picture, (whole, start) = figure(2)
    whole.plot([row["K"] for row in found], [row["log10_ratio"] for row in found], color=BLUE)
    whole.set_ylabel("log10 of the ratio")
    plain_axis(whole, "formula of Proposition 2")
    whole.axvline(20, color=GREY, linewidth=0.8, linestyle=":")
    at = next(row for row in found if row["K"] == 20)
    whole.annotate(f"K=20: {at['ratio']:.1g}", (22, at["log10_ratio"] + 3), color=GREY)
    drawn = [row for row in found if row.get("monte_carlo", 0) > 0]
    start.plot(
        [row["K"] for row in drawn],
        [row["ratio"] for row in drawn],
        color=BLUE,
        label="formula",
    )
    start.errorbar(
        [row["K"] for row in drawn],
        [row["monte_carlo"] for row in drawn],
        yerr=[2 * row["standard_error"] for row in drawn],
        color=ORANGE,
        marker="o",
        linestyle="none",
        capsize=3,
        label="points drawn on the simplex, two standard errors",
    )
    start.set_yscale("log")
    start.set_ylabel("ratio")
    plain_axis(start, "checked by drawing points")
    start.legend(frameon=False)
    picture.suptitle("The ball that emissions must hold, as a share of the simplex")
    for ax in (whole, start):
        ax.set_xlabel("states, K")
    save(picture, file)


EXPERIMENT = Experiment(
    name="volume-ratio",
    title="Proposition 2: the volume that scatter asks for, against K",
    steps=steps,
    summary=summary,
    tables=tables,
    draw=draw,
)

"""The supplement's figures of the time that learning takes, from the runs of error-*.

CPU seconds, all threads together.  Counting is apart: it is done once, in one pass, and may
be shared by all methods; Baum-Welch has none, and reads the symbols again and again.
"""

from __future__ import annotations

from typing import Any

from . import error_large, error_small
from .experiment import Experiment, Plan, Row, Step, Table, grid, short_time
from .figures import GREY, Line, curves, figure, legend_below, lengths_axis, save
from .methods import SMALL_METHODS
from .recovery import summary

COUNTING = (
    Line("counting pairs", GREY, ".", ":"),
    Line("counting triples", GREY, "x", "--"),
)


def time_steps(plan: Plan) -> list[Step]:
    return error_small.error_steps(plan) + error_large.error_steps(plan)


def sizes(rows: list[Row]) -> list[tuple[int, int]]:
    return list(dict.fromkeys((row["N"], row["K"]) for row in rows))


def tables(found: list[Row]) -> list[Table]:
    return [
        grid(
            f"CPU seconds, N={n}, K={k}",
            with_counting([row for row in found if (row["N"], row["K"]) == (n, k)]),
            "method",
            "T",
            lambda row: short_time(row["seconds"]),
        )
        for n, k in sizes(found)
    ]


def with_counting(rows: list[Row]) -> list[Row]:
    """Rows with two more methods, which count; any method's rows know their times."""
    first = [row for row in rows if row["method"] == rows[0]["method"]]
    return rows + [
        row | {"method": f"counting {what}s", "seconds": row[f"{what}_seconds"]}
        for what in ("pair", "triple")
        for row in first
    ]


def draw(rows: list[Row], file: Any) -> None:
    picture, axes = figure(2)
    lines = (*(method.line for method in SMALL_METHODS), *COUNTING)
    for ax, size in zip(axes, sizes(rows), strict=True):
        here = with_counting([row for row in rows if (row["N"], row["K"]) == size])
        curves(ax, lines, here, "seconds")
        lengths_axis(ax, here, "N={}, K={}".format(*size))
        ax.set_ylabel("CPU seconds")
    picture.suptitle("Time against length; mean, and from least to most; dashed: as in the paper")
    legend_below(picture, axes[0])
    save(picture, file)


EXPERIMENT = Experiment(
    name="time",
    title="CPU seconds against T, from the runs of the two above",
    steps=time_steps,
    summary=summary,
    tables=tables,
    draw=draw,
)

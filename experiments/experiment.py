"""What an experiment is: steps that give rows, and what is made of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cohmm.plots.error_against_length import power

Row = dict[str, Any]


class Plan(NamedTuple):
    """What the user asked for."""

    quick: bool = False
    instances: int | None = None  # None: as many as the experiment has by itself
    seed: int = 0


@dataclass(frozen=True)
class Step:
    """A part of an experiment whose result is kept.

    ``parameters`` say all that the result depends on: equal parameters, equal rows.
    """

    family: str  # steps of one family and equal parameters are one step
    parameters: dict[str, Any]
    work: Callable[[], list[Row]]
    label: str  # in a line about its progress
    cost: float = 1.0  # a guess of its seconds, for the time left


class Table(NamedTuple):
    """Means, for the screen and the pages."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        lines = [
            f"**{self.title}**",
            "",
            "| " + " | ".join(self.columns) + " |",
            "|---|" + "---:|" * (len(self.columns) - 1),
            *("| " + " | ".join(row) + " |" for row in self.rows),
        ]
        return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    steps: Callable[[Plan], list[Step]]
    summary: Callable[[list[Row]], list[Row]]  # means over the instances
    tables: Callable[[list[Row]], list[Table]]  # of the summary
    draw: Callable[[list[Row], Any], None]  # rows to a PNG file, or its path
    on_data: bool = False  # it reads a corpus; not among "all"
    missing: Callable[[Plan], str | None] = lambda plan: None  # data that is not there
    extras: Callable[[list[Row], Path], list[str]] = lambda rows, folder: []  # more files
    shown: Callable[[list[Row]], list[Any]] = lambda rows: []  # for a terminal, behind the tables


def means(rows: Iterable[Row], by: Iterable[str], of: Iterable[str]) -> list[Row]:
    """Means of the columns ``of`` over rows that agree in ``by``, in the order they came.

    >>> means([{"T": 1, "error": 2.0}, {"T": 1, "error": 4.0}], ["T"], ["error"])
    [{'T': 1, 'error': 3.0, 'instances': 2}]
    """
    by, of = list(by), list(of)
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(row)
    return [
        dict(zip(by, key, strict=True))
        | {name: sum(row[name] for row in group) / len(group) for name in of}
        | {"instances": len(group)}
        for key, group in groups.items()
    ]


def grid(
    title: str, summary: list[Row], row: str, column: str, cell: Callable[[Row], str]
) -> Table:
    """A table with the values of ``row`` down and those of ``column`` across."""
    down = list(dict.fromkeys(entry[row] for entry in summary))
    across = sorted({entry[column] for entry in summary})
    cells = {(entry[row], entry[column]): cell(entry) for entry in summary}
    return Table(
        title,
        [f"{row} / {column}", *(power(value) for value in across)],
        [[str(name), *(cells.get((name, value), "") for value in across)] for name in down],
    )


def share(value: float, digits: int = 3) -> str:
    """An error between 0 and 1, without the leading zero."""
    return f"{value:.{digits}f}".removeprefix("0")


def short_time(value: float) -> str:
    """A time in four characters.

    >>> short_time(0.0001), short_time(0.234), short_time(2.34), short_time(234)
    ('<.01', '.23', '2.3', '234')
    """
    if value < 0.01:
        return "<.01"
    return share(value, 2) if value < 0.995 else f"{value:.{int(value < 9.95)}f}"

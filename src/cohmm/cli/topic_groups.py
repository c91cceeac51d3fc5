"""``--by`` and ``--period``: topics over time, or by class, from a column beside the documents."""

from __future__ import annotations

import warnings
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli.program import say_later
from cohmm.cli.session import read_once, screen

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.estimators.htmm import HTMM
    from cohmm.topics.over_time import TopicsOver

MOST_TOPICS = 8  # columns of a table
COLUMN = 7  # characters that one takes
HEAD = 36  # that the first three take

ByOption = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMN",
        help="A column of dates or classes: the share of every topic in each, with intervals.",
        show_default=False,
    ),
]
PeriodOption = Annotated[
    str | None,
    typer.Option(
        "--period",
        metavar="PERIOD",
        help="How long periods of --by are: hour, day, week, month, quarter, year, decade or "
        "century; class: every value by itself. Default: by the span of the dates.",
        show_default=False,
    ),
]


def check_by(by: str | None, period: str | None, inputs: list[str], elsewhere: bool) -> None:
    """Whether ``--by`` can be read, before any work is done."""
    from cohmm.topics.periods import check_period

    if period is not None and period != "class":
        check_period(period)
    if by is None:
        if period is not None:
            raise ValueError("--period says how long periods are: give their dates by --by")
        return
    if elsewhere:
        raise ValueError("--by is for documents in memory, not with --memory or --workers")
    if once := read_once(inputs):
        raise ValueError(f"--by reads its column by itself, so give a file, not {once}")


def values_of(inputs: list[str], by: str, documents: Documents, period: Any) -> list[Any]:
    """The column of dates or classes, of all inputs, in which every document has its own."""
    from cohmm.data.readers.document_files import values_at
    from cohmm.topics.over_time import groups_of

    values = list(chain.from_iterable(values_at(path, by) for path in inputs))
    try:
        groups_of(values, documents, period)
    except ValueError as error:
        raise ValueError(_as_options(str(error))) from None
    return values


def grouped(model: HTMM, documents: Documents, values: list[Any], period: Any) -> TopicsOver:
    """Topics over the column, with a word about what has no interval."""
    from cohmm.data.text import TextWarning

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", TextWarning)
        over = model.over(documents, by=values, period=period)
    for warning in heard:
        say_later(str(warning.message))
    return over


def _as_options(message: str) -> str:
    return message.replace("period='class'", "--period class").replace("period=", "--period ")


def over_summary(over: TopicsOver) -> dict[str, Any]:
    """For machines; what there is not is null."""
    names = ("share", "share_low", "share_high", "run", "run_low", "run_high")
    return {
        "groups": list(over.groups),
        "period": over.period,
        "level": over.level,
        "documents": over.documents.tolist(),
        "words": over.words.tolist(),
        **{name: _lists(getattr(over, name)) for name in names},
    }


def _lists(values: Any) -> list[list[float | None]]:
    return [[None if cell != cell else cell for cell in row] for row in values.tolist()]


def show_over(over: TopicsOver) -> None:
    """One row per group: the shares of the topics that vary most."""
    import numpy as np
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    console = screen()
    room = max(1, min(MOST_TOPICS, (console.width - HEAD) // COLUMN))
    reach = np.nan_to_num(np.nanmax(over.share, axis=0) - np.nanmin(over.share, axis=0))
    chosen = sorted(np.argsort(-reach, kind="stable")[:room].tolist())
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column(over.period or "class", no_wrap=True)
    for name in ("documents", "words"):
        table.add_column(name, justify="right", no_wrap=True)
    for k in chosen:
        table.add_column(f"[{k}]".replace("[", r"\["), justify="right", no_wrap=True)
    for g, group in enumerate(over.groups):
        shares = [_percent(over.share[g, k]) for k in chosen]
        table.add_row(escape(group), f"{over.documents[g]:,}", f"{over.words[g]:,}", *shares)
    console.print(table)
    some = "" if len(chosen) == over.n_components else ", of the topics that vary most"
    typer.echo(f"share of the words{some}; --json and --report have {over.level:.0%} intervals")


def _percent(share: float) -> str:
    return "" if share != share else f"{share:.1%}"

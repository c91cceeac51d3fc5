"""One progress display for all long work, and notices that wait until all went well."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple

from cohmm.cli.app import say_later

MAX_NOTICES = 5


Update = Callable[..., None]
"""Moves a bar on: ``update(advance)``, or ``update(completed=, total=, description=, note=)``."""


@contextmanager
def progress_bar(
    what: str, total: int | None = None, *, in_bytes: bool = False
) -> Iterator[Update]:
    """A bar with the amount, the rate and the time left, if standard error is a terminal."""
    if not sys.stderr.isatty():
        yield lambda *_, **__: None
        return
    from rich import progress as rich
    from rich.console import Console

    columns = (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.TaskProgressColumn(show_speed=True),
        *((rich.DownloadColumn(), rich.TransferSpeedColumn()) if in_bytes else ()),
        *(() if in_bytes else (rich.MofNCompleteColumn(),)),
        rich.TimeRemainingColumn(),
        rich.TextColumn("{task.fields[note]}"),
    )
    with rich.Progress(*columns, console=Console(stderr=True), transient=True) as display:
        task = display.add_task(what, total=total, note="")
        yield lambda advance=None, **fields: display.update(task, advance=advance, **fields)


class Watch(NamedTuple):
    """Callbacks of whatever reads files: the bytes that were read, and what was skipped."""

    progress: Any
    notice: Any


@contextmanager
def reading(inputs: Sequence[str], what: str) -> Iterator[Watch]:
    """A bar of the bytes read; notices come when all went well."""
    from cohmm.data.read_sequences import n_bytes

    notices: list[str] = []
    total = n_bytes(inputs) if sys.stderr.isatty() else None
    with progress_bar(what, total, in_bytes=True) as update:
        yield Watch(update, notices.append)
    say_some(notices)


@contextmanager
def learning() -> Iterator[Any]:
    """A callback of learners, which shows the objective and the passes of every stage."""
    with progress_bar("learning") as update:
        yield lambda step: update(
            description=step.stage or "learning",
            completed=step.n_iter,
            total=step.max_iter,
            note=f"objective {step.objective:.7f}",
        )


@contextmanager
def working(threads: int | None = None) -> Iterator[None]:
    """Use so many threads; warnings about the data and the fit are a line each, at the end."""
    from cohmm.data.vocabulary import TextWarning
    from cohmm.kernels.threads import threads as limited
    from cohmm.learn.learner import EvidenceWarning

    with (
        nullcontext() if threads is None else limited(threads),
        warnings.catch_warnings(record=True) as caught,
    ):
        for kind in (EvidenceWarning, TextWarning):
            warnings.simplefilter("always", kind)
        yield
    say_some(list(dict.fromkeys(str(warning.message) for warning in caught)))


def say_some(texts: list[str]) -> None:
    """One line each of the first few, and how many more there are."""
    for text in texts[:MAX_NOTICES]:
        say_later(text)
    if len(texts) > MAX_NOTICES:
        say_later(f"... and {len(texts) - MAX_NOTICES:,} more such notices")

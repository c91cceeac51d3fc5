"""What surrounds the work of a command: threads, progress, notices, output."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cohmm.atomic_write import check_different, check_path, is_special, replacing
from cohmm.cli.program import say_later

if TYPE_CHECKING:
    from rich.console import Console

MOST_NOTICES = 5
NARROWEST = 80


def screen(*, highlight: bool = False) -> Console:
    """Where tables are printed: wide enough that no number is cut, whatever the terminal."""
    from rich.console import Console

    console = Console(highlight=highlight)
    console.width = max(console.width, NARROWEST)
    return console


@contextmanager
def working(threads: int | None = None) -> Iterator[None]:
    """Use so many threads."""
    from cohmm.kernels.threads import threads as using

    with nullcontext() if threads is None else using(threads):
        yield


class Watch(NamedTuple):
    """Who hears of the bytes that were read, and of what was skipped."""

    progress: Callable[[int], None] | None
    notice: Callable[[str], None]


@contextmanager
def reading(inputs: Sequence[str], what: str) -> Iterator[Watch]:
    """A bar of the bytes read, with their rate and the time left, if a terminal looks on.

    Notices come when all went well, so that an error stands alone.
    """
    from cohmm.data.read_sequences import n_bytes

    notices: list[str] = []
    watched = sys.stderr.isatty()
    with _bar(what, n_bytes(inputs), in_bytes=True) if watched else nullcontext() as progress:
        yield Watch(progress, notices.append)
    say_some(notices)


@contextmanager
def parts_bar() -> Iterator[Callable[[int, int], None] | None]:
    """A bar of the partitions that are done in each pass, if a terminal looks on."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("partitions"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeRemainingColumn(),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("partitions", total=None)
        yield lambda done, n: progress.update(task, completed=done, total=n)


@contextmanager
def drawing(n_symbols: int) -> Iterator[Callable[[int], None]]:
    """A bar of the symbols drawn, if a terminal looks on."""
    with _bar("drawing", n_symbols) if sys.stderr.isatty() else nullcontext(_ignore) as progress:
        yield progress


@contextmanager
def notices() -> Iterator[None]:
    """What the learner warns of, one line each, once all went well."""
    from cohmm.data.text import TextWarning
    from cohmm.learn.learner import EvidenceWarning

    with warnings.catch_warnings(record=True) as heard:
        for kind in (EvidenceWarning, TextWarning):
            warnings.simplefilter("always", kind)
        yield
    say_some(list(dict.fromkeys(str(warning.message) for warning in heard)))


def say_some(texts: list[str]) -> None:
    """A line each of the first few, and how many more there are."""
    for text in texts[:MOST_NOTICES]:
        say_later(text)
    if len(texts) > MOST_NOTICES:
        say_later(f"... and {len(texts) - MOST_NOTICES:,} more such notices")


@contextmanager
def learning(max_iter: int) -> Iterator[Callable[[Any], None] | None]:
    """The objective as it falls, with the time that is left at the most, if a terminal looks on."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("learning"),
        parts.BarColumn(),
        parts.TextColumn("pass {task.completed:,} of at most {task.total:,}"),
        parts.TextColumn("objective {task.fields[objective]}"),
        parts.TimeRemainingColumn(),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("learning", total=max_iter, objective="")
        yield lambda step: progress.update(
            task, completed=min(step.n_iter, max_iter), objective=f"{step.objective:.7f}"
        )


@contextmanager
def _bar(
    what: str, total: int | None, *, in_bytes: bool = False
) -> Iterator[Callable[[int], None]]:
    from rich import progress as parts
    from rich.console import Console
    from rich.text import Text

    class Rate(parts.ProgressColumn):
        def render(self, task: parts.Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.DownloadColumn() if in_bytes else parts.TaskProgressColumn(),
        parts.TransferSpeedColumn() if in_bytes else Rate(),
        parts.TimeRemainingColumn(),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda n: progress.advance(task, n)


def _ignore(n: int) -> None:
    pass


def check_output(*paths: Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """Whether files can be written, and none of them over another or over an input.

    This comes first, before anything is read.
    """
    outputs = [path for path in paths if path is not None]
    for path in outputs:
        check_path(path)
    check_different(outputs, [path for path in inputs if path is not None and path != "-"])


def read_once(inputs: Iterable[str]) -> str | None:
    """The first input that cannot be read a second time: standard input, or a pipe."""
    for path in inputs:
        if path == "-":
            return "standard input"
        if not Path(path).is_dir() and is_special(Path(path)):
            return path
    return None


def files_of(inputs: Iterable[str]) -> Iterator[str | Path]:
    """The inputs, with the files of a folder in its place."""
    for path in inputs:
        if Path(path).is_dir() and path:
            from cohmm.data.readers.source import find_sources

            yield from (source.path for source in find_sources(path) if source.path is not None)
        else:
            yield path


@contextmanager
def writing(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes text to standard output, or to a file that appears at the end."""
    with nullcontext(sys.stdout.buffer) if path is None else replacing(path) as file:
        yield lambda text: file.write(text.encode(errors="backslashreplace"))
        file.flush()

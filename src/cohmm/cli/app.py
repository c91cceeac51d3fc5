"""The program around the commands: one way to print a result, one line about what went wrong."""

from __future__ import annotations

import codecs
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, cast

import typer
from typer.core import TyperCommand, TyperGroup

from cohmm.atomic_write import NamedFile

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # as of a program that the system ends because nobody reads on
MAX_LINE = 300  # characters of a line about what went wrong
MIN_WIDTH = 80  # columns of a screen, so that no number is cut

# Typer has its own copy of click in some versions, so the class is taken from where both have it.
UsageError: Any = typer.BadParameter.__bases__[0]

# Words of earlier versions, which options had before they were called as in Python.
RENAMED = {
    "--states": "--n-components",
    "--topics": "--n-components",
    "--starts": "--n-init",
    "--seed": "--random-state",
    "--passes": "--max-iter",
    "--refine-passes": "--refine",
}


OPTIONS = (  # of readers, which their messages recommend
    *("encoding", "column", "stop_words", "min_df", "max_df", "max_features", "token_pattern"),
    *("period", "unseen"),
)


class Command(TyperCommand):
    """A command that also knows the earlier names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse arguments, with earlier names replaced where the command has no such option."""
        known = {name for parameter in self.params for name in parameter.opts}
        end = args.index("--") if "--" in args else len(args)
        for place, argument in enumerate(args[:end]):
            name, equals, value = str(argument).partition("=")
            if name not in known and RENAMED.get(name) in known:
                args[place] = f"{RENAMED[name]}{equals}{value}"
        return super().parse_args(ctx, args)


class Program(TyperGroup):
    """The group of commands; no error that a user can cause ends in a traceback."""

    notices: ClassVar[list[str] | None] = None
    """What a command that is running has to say when all went well."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first argument names; ``count --merge`` is ``merge``."""
        if args[0] == "count" and "--merge" in args:
            args = ["merge", *(argument for argument in args[1:] if argument != "--merge")]
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command and end the process; its result has reached standard output."""
        options["standalone_mode"] = False
        code: Any = BAD_INPUT
        notices: list[str] = []
        Program.notices = notices
        try:
            code = super().main(*args, **options)
            sys.stdout.flush()
            for text in [] if code == INTERRUPTED else notices:
                say(text)
        except UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "cohmm"
            say(f"{error.format_message().rstrip('.')} (see {path} --help)")
        except (BrokenPipeError, SystemExit):  # this is Typer's own answer to a broken pipe
            code = BROKEN_PIPE
        except (ValueError, OSError, ImportError) as error:
            say(in_options(str(error)))
        except OverflowError as error:
            say(f"a number is too large ({error})")
        except MemoryError as error:
            say(f"not enough memory ({error})")
        finally:
            Program.notices = None
        if code == INTERRUPTED:
            say("interrupted")
        _forget_output()
        sys.exit(code if isinstance(code, int) else 0)


# -- standard error ----------------------------------------------------------------------------


def say(text: str) -> None:
    """Print one line to standard error."""
    with suppress(OSError):  # nobody hears it
        print(one_line(f"cohmm: {text}"), file=sys.stderr, flush=True)


def say_later(text: str) -> None:
    """Print one line to standard error when all went well: what goes wrong stands alone."""
    if Program.notices is None:  # no command is running
        say(text)
    else:
        Program.notices.append(text)


def in_options(message: str) -> str:
    """What the library says to do, as it is done on the command line.

    >>> in_options("give encoding='latin-1' or min_df=0.5")
    'give --encoding latin-1 or --min-df 0.5'
    """

    def option(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')} {match[2].strip(chr(39))}"

    return re.sub(rf"\b({'|'.join(OPTIONS)})=('[^']*'|[\w.]*\w)", option, message)


def one_line(text: str) -> str:
    r"""A text without line ends and control characters; of a long one, the beginning and the end.

    >>> one_line("no file\n'\x1b[2J'")
    "no file '\\x1b[2J'"
    >>> len(one_line("a" * 10**6))
    300
    """
    text = _shortened(" ".join(text.split()))
    return _shortened("".join(c if c.isprintable() else ascii(c)[1:-1] for c in text))


def _shortened(text: str) -> str:
    head = 2 * MAX_LINE // 3
    return text if len(text) <= MAX_LINE else f"{text[:head]} ... {text[head + 5 - MAX_LINE :]}"


# -- results -----------------------------------------------------------------------------------


def print_result(
    json: bool, summary: dict[str, Any], lines: Iterable[str], *more: Table | str
) -> None:
    """Print a result: one object for machines, or lines and tables for people."""
    if json:
        typer.echo(json_line(summary))
        return
    for part in (*lines, *more):
        if isinstance(part, str):
            typer.echo(part)
        else:
            screen().print(part)


def screen() -> Console:
    """Where tables are printed: wide enough that no number is cut, whatever the terminal."""
    from rich.console import Console

    console = Console(highlight=False)
    console.width = max(console.width, MIN_WIDTH)
    return console


def table_of(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, left: Sequence[int] = (), **style: Any
) -> Table:
    """A table of texts; columns are of numbers, but for those on the ``left``."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(**{"box": box.SIMPLE_HEAD, **style})
    for place, name in enumerate(columns):
        is_text = place in [n % len(columns) for n in left]
        folds = is_text and place == len(columns) - 1
        table.add_column(
            Text(name),
            justify="left" if is_text else "right",
            no_wrap=not folds,
            min_width=0 if folds else len(name),
        )
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def fitting(words: Iterable[str], width: int, between: str = " ") -> str:
    """As many words as there is room for.

    >>> fitting(["rain", "wind", "storm"], 9)
    'rain wind'
    """
    from rich.cells import cell_len

    text = ""
    for word in words:
        longer = f"{text}{between}{word}" if text else word
        if cell_len(longer) > width:
            break
        text = longer
    return text


def plural(n: int, what: str, ending: str = "s") -> str:
    """A number of things.

    >>> plural(1, "state"), plural(1200, "pass", "es")
    ('1 state', '1,200 passes')
    """
    return f"{n:,} {what}{'' if n == 1 else ending}"


def json_line(value: Any) -> str:
    """One line of strict JSON, in which numbers that are not finite are null.

    >>> json_line({"mean": float("nan"), "each": (1, -float("inf"))})
    '{"mean": null, "each": [1, null]}'
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not isfinite(value) else value


# -- standard streams --------------------------------------------------------------------------


def prepare_streams() -> None:
    """Standard streams that are there, and that take every character; warnings as one line."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file that is opened would get its number
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        say("standard output is closed (/dev/null takes what nobody wants to read)")
        sys.exit(BAD_INPUT)
    stdout = cast(io.TextIOWrapper, sys.stdout)
    # A terminal has its own encoding; ASCII is what LC_ALL=C says, where nothing was chosen.
    own = stdout.isatty() and codecs.lookup(stdout.encoding).name != "ascii"
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(NamedFile(stdout.fileno(), "to standard output", closefd=False)),
        encoding=stdout.encoding if own else "utf-8",
        errors="backslashreplace",
        line_buffering=stdout.line_buffering or stdout.write_through,  # a terminal; python -u
    )
    warnings.showwarning = lambda message, *_, **__: say_later(str(message))


def _forget_output() -> None:
    """What cannot be written now must not be tried again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

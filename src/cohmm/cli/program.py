"""What all commands share: one clear line about what went wrong, and an exit code."""

from __future__ import annotations

import codecs
import io
import os
import sys
import warnings
from contextlib import suppress
from typing import Any, ClassVar, cast

import typer
from typer.core import TyperGroup

from cohmm.atomic_write import NamedFile

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 141  # as of a program that the system ends because nobody reads on
LONGEST = 300  # characters of a line about what went wrong

# Typer has its own copy of click in some versions, so the class is taken from where both have it.
UsageError: Any = typer.BadParameter.__bases__[0]


class Program(TyperGroup):
    """The group of commands; no error that a user can cause ends in a traceback."""

    notices: ClassVar[list[str] | None] = None
    """What a command that is running has to say when all went well."""

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
            say(str(error))
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


def say(text: str) -> None:
    """One line on standard error."""
    with suppress(OSError):  # nobody hears it
        print(one_line(f"cohmm: {text}"), file=sys.stderr, flush=True)


def say_later(text: str) -> None:
    """One line on standard error, when all went well: what goes wrong stands alone."""
    if Program.notices is None:  # no command is running
        say(text)
    else:
        Program.notices.append(text)


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
    head = 2 * LONGEST // 3
    return text if len(text) <= LONGEST else f"{text[:head]} ... {text[head + 5 - LONGEST :]}"


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
    given = cast(io.TextIOWrapper, sys.stdout)
    # A terminal has its own encoding; ASCII is what LC_ALL=C says, where nothing was chosen.
    own = given.isatty() and codecs.lookup(given.encoding).name != "ascii"
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(NamedFile(given.fileno(), "to standard output", closefd=False)),
        encoding=given.encoding if own else "utf-8",
        errors="backslashreplace",
        line_buffering=given.line_buffering or given.write_through,  # a terminal; python -u
    )
    warnings.showwarning = lambda message, *_, **__: say_later(str(message))


def _forget_output() -> None:
    """What cannot be written now must not be tried again when the interpreter ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

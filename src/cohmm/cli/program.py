"""What all commands share: one clear line about what went wrong, and an exit code."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

import typer
from typer.core import TyperGroup

BAD_INPUT = 2
INTERRUPTED = 130

# Typer has its own copy of click in some versions, so the class is taken from where both have it.
UsageError: Any = typer.BadParameter.__bases__[0]


class Program(TyperGroup):
    """The group of commands; no error that a user can cause ends in a traceback."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command and end the process."""
        options["standalone_mode"] = False
        try:
            code = super().main(*args, **options)
        except UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "cohmm"
            say(f"{error.format_message().rstrip('.')} (see {path} --help)")
            code = BAD_INPUT
        except SystemExit:  # Typer's own answer to a broken pipe, where help is printed
            code = _tell_of_broken_pipe()
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        """Run a command; its result has reached standard output, or the failure is told."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise typer.Exit(_tell_of_broken_pipe()) from None
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except (ValueError, OSError, ImportError) as error:
            say(str(error))
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError as error:
            say(f"not enough memory ({error})")
            raise typer.Exit(BAD_INPUT) from None
        return result


def say(text: str) -> None:
    """One line on standard error."""
    print(f"cohmm: {' '.join(text.split())}", file=sys.stderr, flush=True)


def _tell_of_broken_pipe() -> int:
    # What is left in the buffer must not be written when the interpreter ends.
    with suppress(OSError):  # not a real file, as in tests
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    say("whoever read the output stopped before its end")
    return BAD_INPUT

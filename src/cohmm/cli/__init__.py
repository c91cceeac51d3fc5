"""The command line: ``cohmm demo``, ``count``, ``fit``, ``reproduce`` and others.

Commands import what they work with only when they run, so that help comes at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

from cohmm.cli.app import Command, Program, prepare_streams
from cohmm.cli.compare import compare
from cohmm.cli.count import count, merge
from cohmm.cli.decode import decode
from cohmm.cli.demo import demo
from cohmm.cli.diagnose import diagnose
from cohmm.cli.fit import fit
from cohmm.cli.options import option
from cohmm.cli.report import report
from cohmm.cli.reproduce import reproduce
from cohmm.cli.sample import sample
from cohmm.cli.score import score
from cohmm.cli.search import search
from cohmm.cli.select import select
from cohmm.cli.topics import topics

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Program, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
)
PANELS = {
    "Start here": (demo,),
    "Hidden Markov models": (count, merge, fit, score, decode, sample),
    "Topics": (topics, search, compare),
    "Any model": (diagnose, select, report, reproduce),
}
for panel, commands in PANELS.items():
    for command in commands:
        app.command(cls=Command, rich_help_panel=panel)(command)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, option("Print the version.", None, "--version")] = False,
) -> None:
    """Hidden Markov models from counts of which symbol follows which."""
    if version:
        from cohmm.version import __version__

        typer.echo(f"cohmm {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """What the command ``cohmm`` runs."""
    prepare_streams()
    app(prog_name="cohmm")

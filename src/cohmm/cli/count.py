"""``cohmm count``: from files to pair counts."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.session import check_output, reading, working

if TYPE_CHECKING:
    from cohmm.data.files import Layout
    from cohmm.evidence.totals import Counted


@options.with_layout
def count(
    inputs: options.Inputs,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The file to write the pair counts to.", show_default=False
        ),
    ],
    lags: Annotated[str, typer.Option(help="Distances at which to count, such as 1,2,3.")] = "1",
    triples: Annotated[
        Path | None,
        typer.Option(help="Count triples as well, and write them here.", show_default=False),
    ] = None,
    integers: Annotated[
        bool, typer.Option("--integers", help="Symbols are whole numbers from 0, not labels.")
    ] = False,
    *,
    layout: Layout,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Count which symbol follows which, in one pass over files.

    Counts of several runs add up: Cooccurrence.load("a.cohmm") + Cooccurrence.load("b.cohmm").

    **Examples**

        cohmm count words.txt -o words.cohmm --lags 1,2,3

        cohmm count clicks.csv --column page --group user -o clicks.cohmm

        zcat *.log.gz | cohmm count - --integers -o calls.cohmm
    """
    check_output(output, triples)
    with working(threads):
        from cohmm.evidence.file_counts import count_files

        with reading(inputs, "counting") as watch:
            counted = count_files(
                inputs,
                layout,
                lags=numbers(lags),
                triples=triples is not None,
                integers=integers,
                progress=watch.progress,
                notice=watch.notice,
            )
        counted.pairs.save(output)
        if counted.triples is not None and triples is not None:
            counted.triples.save(triples)
    summary = _summary(counted)
    typer.echo(json_.dumps(summary) if json else f"{output}: {_in_words(summary)}")


def numbers(text: str) -> tuple[int, ...]:
    """Lags, as they are written on the command line."""
    return options.whole_numbers("--lags", text, "1,2,3")


def _summary(counted: Counted) -> dict[str, Any]:
    pairs, triples = counted.pairs, counted.triples
    return {
        "sequences": counted.n_sequences,
        "observed": int(pairs.symbol_counts.sum()),
        "symbols": pairs.n_symbols,
        "pairs": {str(lag): int(pairs.n_pairs(lag)) for lag in pairs.lags},
        **({} if triples is None else {"triples": triples.n_triples}),
    }


def _in_words(summary: dict[str, Any]) -> str:
    pairs = ", ".join(f"{n:,} at lag {lag}" for lag, n in summary["pairs"].items())
    triples = f"; triples: {summary['triples']:,}" if "triples" in summary else ""
    return (
        f"{summary['observed']:,} observations, {summary['symbols']:,} symbols, "
        f"{summary['sequences']:,} sequences; pairs: {pairs}{triples}"
    )

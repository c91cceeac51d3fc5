"""``cohmm count``: from files to pair counts."""

from __future__ import annotations

import json as json_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.atomic_write import is_special
from cohmm.cli import options
from cohmm.cli.cluster import cluster, partitions, symbols_of
from cohmm.cli.session import check_output, files_of, reading, say_some, working

if TYPE_CHECKING:
    from cohmm.data.parts import Parts
    from cohmm.data.read_sequences import Layout
    from cohmm.evidence.count_files import Counted, Options


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
    min_count: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Keep symbols that occur so often at least; others are missing observations.",
            show_default=False,
        ),
    ] = None,
    max_vocabulary: Annotated[
        int | None,
        typer.Option(min=1, help="Keep so many symbols, the most frequent.", show_default=False),
    ] = None,
    skip_bad: Annotated[
        bool,
        typer.Option("--skip-bad", help="Leave out files that cannot be read to their end."),
    ] = False,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Remember finished files beside the output, and go on where such a run ended.",
        ),
    ] = False,
    merge: Annotated[
        bool, typer.Option("--merge", help="The inputs are saved counts: write their sum.")
    ] = False,
    *,
    layout: Layout,
    memory: options.MemoryOption = None,
    workers: options.WorkersOption = None,
    scheduler: options.SchedulerOption = None,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Count which symbol follows which, in one pass over files.

    Counts of several runs add up: cohmm count --merge, or + in Python.

    **Examples**

        cohmm count words.txt -o words.cohmm --lags 1,2,3

        cohmm count clicks.csv --column page --group user -o clicks.cohmm

        zcat *.log.gz | cohmm count - --integers -o calls.cohmm

        cohmm count logs/ --memory 2GB --resume --skip-bad -o logs.cohmm

        cohmm count logs/*.parquet --column page --workers 8 -o logs.cohmm

        cohmm count --merge monday.cohmm tuesday.cohmm -o both.cohmm
    """
    check_output(output, triples, inputs=files_of(inputs))
    if resume and is_special(output):
        raise ValueError(f"--resume remembers files beside the output: {output} is not a file")
    _check_together(merge, resume=resume, triples=triples is not None, skip_bad=skip_bad)
    if workers is not None or scheduler is not None:
        _check_alone(
            merge=merge,
            resume=resume,
            skip_bad=skip_bad,
            memory=memory is not None,
            min_count=min_count is not None,
            max_vocabulary=max_vocabulary is not None,
        )
        with working(threads), cluster(workers, scheduler) as client:
            data = partitions(inputs, layout, client)
            summary = _on_workers(
                symbols_of(data, integers),
                numbers(lags),
                layout.characters,
                output,
                triples,
            )
        typer.echo(json_.dumps(summary) if json else f"{output}: {_in_words(summary)}")
        return
    with working(threads):
        from cohmm.data.readers.source import find_sources
        from cohmm.evidence.count_files import Options, count_sources
        from cohmm.evidence.saved_counts import count_resumably, forget

        asked: dict[str, Any] = {
            "min_count": min_count,
            "max_vocabulary": max_vocabulary,
            "memory": memory,
            "folder": None if is_special(output) else output.resolve().parent,
        }
        if merge:
            notices: list[str] = []
            summary = _merge(inputs, output, Options(notice=notices.append, **asked))
            say_some(notices)
        else:
            remembered = output.with_name(f"{output.name}.partial")
            with reading(inputs, "counting") as watch:
                how = Options(
                    layout,
                    numbers(lags),
                    triples=triples is not None,
                    integers=integers,
                    skip_bad=skip_bad,
                    progress=watch.progress,
                    notice=watch.notice,
                    **asked,
                )
                sources = find_sources(inputs, layout.format)
                if resume:
                    sums = count_resumably(sources, how, remembered)
                else:
                    sums = count_sources(sources, how)
            sums.pairs.save(output)
            if sums.triples is not None and triples is not None:
                sums.triples.save(triples)
            if resume:
                forget(remembered)
            summary = {"sequences": sums.n_sequences, **_summary(sums)}
    typer.echo(json_.dumps(summary) if json else f"{output}: {_in_words(summary)}")


def numbers(text: str) -> tuple[int, ...]:
    """Lags, as they are written on the command line."""
    return options.whole_numbers("--lags", text, "1,2,3")


def _check_together(merge: bool, **others: bool) -> None:
    for name, given in others.items():
        if merge and given:
            option = name.replace("_", "-")
            raise ValueError(f"--merge adds saved counts: --{option} has no meaning with it")


def _check_alone(**others: bool) -> None:
    for name, given in others.items():
        if given:
            option = name.replace("_", "-")
            raise ValueError(f"--{option} is for one process: leave out --workers or --scheduler")


def _on_workers(
    data: Parts, lags: tuple[int, ...], characters: bool, output: Path, triples: Path | None
) -> dict[str, Any]:
    """Count on a cluster, and write what it counted."""
    from cohmm.evidence.counting import count_pairs
    from cohmm.evidence.windows import count_triples

    pairs = count_pairs(data, lags=lags, characters=characters)
    threes = None if triples is None else count_triples(data, characters=characters)
    pairs.save(output)
    if threes is not None and triples is not None:
        threes.save(triples)
    return {
        "sequences": int(pairs.start_counts.sum()),
        "observed": int(pairs.symbol_counts.sum()),
        "symbols": pairs.n_symbols,
        "pairs": {str(lag): int(pairs.n_pairs(lag)) for lag in pairs.lags},
        **({} if threes is None else {"triples": int(threes.n_triples)}),
    }


def _merge(inputs: list[str], output: Path, how: Options) -> dict[str, Any]:
    """Write the sum of saved counts, of pairs or of triples."""
    from cohmm import storage
    from cohmm.evidence.saved_counts import merge_pairs, merge_triples

    if all(storage.kind(path) == "triples" for path in inputs):
        triples, n_triples = merge_triples(inputs, how)
        triples.save(output)
        return {"symbols": triples.n_symbols, "triples": n_triples}
    sums = merge_pairs(inputs, how)
    sums.pairs.save(output)
    return _summary(sums)


def _summary(sums: Counted) -> dict[str, Any]:
    return {
        "observed": int(sums.pairs.symbol_counts.sum()),
        "symbols": sums.pairs.n_symbols,
        "pairs": {str(lag): n for lag, n in sums.n_pairs.items()},
        **({} if sums.n_triples is None else {"triples": sums.n_triples}),
    }


def _in_words(summary: dict[str, Any]) -> str:
    parts = [
        f"{summary[key]:,} {word}"
        for key, word in (
            ("observed", "observations"),
            ("symbols", "symbols"),
            ("sequences", "sequences"),
        )
        if key in summary
    ]
    text = ", ".join(parts)
    if "pairs" in summary:
        pairs = ", ".join(f"{n:,} at lag {lag}" for lag, n in summary["pairs"].items())
        text += f"; pairs: {pairs}"
    return text + (f"; triples: {summary['triples']:,}" if "triples" in summary else "")

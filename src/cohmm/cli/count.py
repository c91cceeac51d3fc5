"""``cohmm count``: from files to pair counts; ``cohmm merge``: their sum."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohmm.atomic_write import is_special
from cohmm.cli import options
from cohmm.cli.app import print_result
from cohmm.cli.files import check_output, cluster, files_of, partitions
from cohmm.cli.progress import reading, say_some, working

if TYPE_CHECKING:
    from cohmm.distributed import Partitions
    from cohmm.evidence.count_files import Counted


@options.with_options
def count(
    inputs: list[str],
    output: Path,
    lags: str = "1",
    triples: Path | None = None,
    json: bool = False,
    *,
    layout: Any,
    integers: bool = False,
    min_count: int | None = None,
    max_vocabulary: int | None = None,
    skip_bad: bool = False,
    resume: bool = False,
    memory: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    threads: int | None = None,
) -> None:
    """Count which symbol follows which, in one pass over files.

    Counts of several runs add up: cohmm merge, or + in Python.

    **Examples**

        cohmm count words.txt -o words.cohmm --lags 1,2,3

        cohmm count clicks.csv --column page --group user -o clicks.cohmm

        zcat *.log.gz | cohmm count - --integers -o calls.cohmm

        cohmm count logs/ --memory 2GB --resume --skip-bad -o logs.cohmm

        cohmm count logs/*.parquet --column page --workers 8 -o logs.cohmm
    """
    check_output(output, triples, inputs=files_of(inputs))
    if resume and is_special(output):
        raise ValueError(f"--resume remembers files beside the output: {output} is not a file")
    distances = options.whole_numbers("--lags", lags, "1,2,3")
    limits: dict[str, Any] = {
        "min_count": min_count,
        "max_vocabulary": max_vocabulary,
        "memory": memory,
        "skip_bad": skip_bad,
    }
    for name, value in (limits | {"resume": resume}).items():
        if value and (workers is not None or scheduler is not None):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for one process: leave out --workers or --scheduler")
    with working(threads), cluster(workers, scheduler) as client:
        from cohmm.data.read_sequences import Layout
        from cohmm.data.readers.source import find_sources
        from cohmm.evidence import saved_counts
        from cohmm.evidence.count_files import Options, count_sources

        remembered = output.with_name(f"{output.name}.partial")
        if client is not None:
            data = partitions(inputs, layout, integers, client)
            counted = _on_workers(data, distances, layout["characters"], triples is not None)
        else:
            with reading(inputs, "counting") as watch:
                how = Options(
                    Layout(**layout),
                    distances,
                    triples=triples is not None,
                    integers=integers,
                    folder=_folder(output),
                    **limits,
                    **watch._asdict(),
                )
                sources = find_sources(inputs, layout["format"])
                counted = (
                    saved_counts.count_resumably(sources, how, remembered)
                    if resume
                    else count_sources(sources, how)
                )
        counted.pairs.save(output)
        if triples is not None and counted.triples is not None:
            counted.triples.save(triples)
        if resume:
            saved_counts.forget(remembered)
    _print(json, output, {"sequences": counted.n_sequences, **_summary(counted)})


def _on_workers(
    data: Partitions, lags: tuple[int, ...], characters: bool, triples: bool
) -> Counted:
    from cohmm.evidence.count_files import Counted
    from cohmm.evidence.counting import count_pairs
    from cohmm.evidence.windows import count_triples

    pairs = count_pairs(data, lags=lags, characters=characters)
    threes = count_triples(data, characters=characters) if triples else None
    n_pairs = {lag: int(pairs.n_pairs(lag)) for lag in pairs.lags}
    n_triples = None if threes is None else int(threes.n_triples)
    return Counted(pairs, threes, int(pairs.start_counts.sum()), n_pairs, n_triples)


@options.with_options
def merge(
    inputs: list[str],
    output: Path,
    json: bool = False,
    *,
    min_count: int | None = None,
    max_vocabulary: int | None = None,
    memory: str | None = None,
    threads: int | None = None,
) -> None:
    """Add counts that cohmm count wrote: of pairs, or of triples.

    **Examples**

        cohmm merge monday.cohmm tuesday.cohmm -o both.cohmm

        cohmm merge shards/*.cohmm --max-vocabulary 50000 --memory 4GB -o all.cohmm
    """
    check_output(output, inputs=inputs)
    notices: list[str] = []
    with working(threads):
        from cohmm import storage
        from cohmm.evidence.count_files import Options
        from cohmm.evidence.saved_counts import merge_pairs, merge_triples

        how = Options(
            min_count=min_count,
            max_vocabulary=max_vocabulary,
            memory=memory,
            folder=_folder(output),
            notice=notices.append,
        )
        if all(storage.kind(path) == "triples" for path in inputs):
            triples, n = merge_triples(inputs, how)
            triples.save(output)
            summary: dict[str, Any] = {"symbols": triples.n_symbols, "triples": n}
        else:
            counted = merge_pairs(inputs, how)
            counted.pairs.save(output)
            summary = _summary(counted)
    say_some(notices)
    _print(json, output, summary)


def _folder(output: Path) -> Path | None:
    """Where scratch files go: beside the output."""
    return None if is_special(output) else output.resolve().parent


def _summary(counted: Counted) -> dict[str, Any]:
    """For machines."""
    return {
        "observed": int(counted.pairs.symbol_counts.sum()),
        "symbols": counted.pairs.n_symbols,
        "pairs": {str(lag): n for lag, n in counted.n_pairs.items()},
        **({} if counted.n_triples is None else {"triples": counted.n_triples}),
    }


def _print(json: bool, output: Path, summary: dict[str, Any]) -> None:
    words = {"observed": "observations", "symbols": "symbols", "sequences": "sequences"}
    text = ", ".join(f"{summary[name]:,} {word}" for name, word in words.items() if name in summary)
    if "pairs" in summary:
        lags = ", ".join(f"{n:,} at lag {lag}" for lag, n in summary["pairs"].items())
        text += f"; pairs: {lags}"
    if "triples" in summary:
        text += f"; triples: {summary['triples']:,}"
    print_result(json, summary, [f"{output}: {text}"])

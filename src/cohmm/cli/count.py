"""``cohmm count``: from files to pair counts; ``cohmm merge``: their sum."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cohmm.atomic_write import is_special
from cohmm.cli import options
from cohmm.cli.app import print_result
from cohmm.cli.files import check_output, cluster, files_of, partitions
from cohmm.cli.progress import reading, say_some, working


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
    }
    for name, value in (limits | {"skip_bad": skip_bad, "resume": resume}).items():
        if value and (workers is not None or scheduler is not None):
            option = f"--{name.replace('_', '-')}"
            raise ValueError(f"{option} is for one process: leave out --workers or --scheduler")
    with working(threads), cluster(workers, scheduler) as client:
        if client is not None:
            from cohmm.evidence.counting import count_pairs
            from cohmm.evidence.triples import count_triples

            data = partitions(inputs, layout, integers, client)
            options_of_both = {"characters": layout["characters"]}
            pairs: Any = count_pairs(data, lags=distances, **options_of_both)
            threes: Any = triples and count_triples(data, **options_of_both)
            n_sequences = int(pairs.start_counts.sum())
        else:
            from cohmm.data.readers.layout import Layout
            from cohmm.data.readers.source import find_sources
            from cohmm.evidence.file_pass import count_sources, plan
            from cohmm.evidence.partial import count_resumably

            with reading(inputs, "counting") as watch:
                how = plan(
                    Layout(**layout),
                    distances,
                    triples=triples is not None,
                    integers=integers,
                    skip_bad=skip_bad,
                    folder=_folder(output),
                    **limits,
                    **watch._asdict(),
                )
                sources = find_sources(inputs, layout["format"])
                pairs, threes, n_sequences = (
                    count_resumably(sources, how, _remembered(output))
                    if resume
                    else count_sources(sources, how)
                )
        pairs.save(output)
        if triples is not None:
            threes.save(triples)
        if resume:
            from cohmm.evidence import partial

            partial.forget(_remembered(output))
    _print(json, output, pairs, threes, n_sequences)


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
        from cohmm.evidence.file_pass import plan
        from cohmm.evidence.saved_counts import merge_saved, merge_triples

        how = plan(
            min_count=min_count,
            max_vocabulary=max_vocabulary,
            memory=memory,
            folder=_folder(output),
            notice=notices.append,
        )
        if all(storage.kind(path) == "triples" for path in inputs):
            pairs, triples = None, merge_triples(inputs, how)
            triples.save(output)
        else:
            pairs, triples = merge_saved(inputs, how).pairs, None
            pairs.save(output)
    say_some(notices)
    _print(json, output, pairs, triples)


def _folder(output: Path) -> Path | None:
    """Where temporary files go: beside the output."""
    return None if is_special(output) else output.resolve().parent


def _remembered(output: Path) -> Path:
    """The folder of files that are finished."""
    return output.with_name(f"{output.name}.partial")


def _print(
    json: bool, output: Path, pairs: Any, triples: Any = None, n_sequences: int | None = None
) -> None:
    """What was counted, or added; ``pairs`` are counts, or sums that are not a value yet."""
    summary: dict[str, Any] = {} if n_sequences is None else {"sequences": n_sequences}
    if pairs is not None:
        n_pairs = pairs.n_pairs
        if callable(n_pairs):
            n_pairs = {lag: int(pairs.n_pairs(lag)) for lag in pairs.lags}
        summary |= {
            "observed": int(pairs.symbol_counts.sum()),
            "symbols": len(pairs.symbol_counts),
            "pairs": {str(lag): n for lag, n in n_pairs.items()},
        }
    if triples is not None:
        summary |= {"symbols": triples.n_symbols, "triples": int(triples.n_triples)}
    words = {"observed": "observations", "symbols": "symbols", "sequences": "sequences"}
    parts = [
        ", ".join(f"{summary[name]:,} {word}" for name, word in words.items() if name in summary)
    ]
    if "pairs" in summary:
        lags = ", ".join(f"{n:,} at lag {lag}" for lag, n in summary["pairs"].items())
        parts.append(f"pairs: {lags}")
    if "triples" in summary:
        parts.append(f"triples: {summary['triples']:,}")
    print_result(json, summary, [f"{output}: {'; '.join(parts)}"])

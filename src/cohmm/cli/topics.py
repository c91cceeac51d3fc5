"""``cohmm topics``: from documents to topics in which word order counts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from cohmm.cli import options
from cohmm.cli.cluster import cluster
from cohmm.cli.model_files import json_line
from cohmm.cli.report import texts_again, told, typed
from cohmm.cli.seed_file import seed_words_in
from cohmm.cli.session import check_output, learning, notices, screen, working
from cohmm.cli.text_elsewhere import check_shares, far, texts_elsewhere, write_shares
from cohmm.cli.text_input import Words, corpus, stop_words_file, text_files_of
from cohmm.cli.topic_groups import (
    ByOption,
    PeriodOption,
    check_by,
    grouped,
    over_summary,
    show_over,
    values_of,
)

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.data.partitioned import Partitioned
    from cohmm.estimators.htmm import HTMM
    from cohmm.topics.overview import Overview

MOST_TOPICS_SHOWN = 20
TOP_WORDS = 10  # for machines
MOST_WORDS = 12  # in a line
LABEL = 20  # characters of a label
TAKEN = 32  # columns of the screen that the rest of a line takes


class ChainKind(StrEnum):
    """How documents are read."""

    sticky = "sticky"
    full = "full"
    independent = "independent"


def topics(
    inputs: options.TextInputs,
    n_topics: Annotated[
        str,
        typer.Option("--topics", "-k", help="How many; auto: as many as the pairs can show."),
    ] = "20",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Write the model to this file; HTMM.load reads it.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report",
            help="Write a report to this file: one page of HTML, which needs nothing else.",
            show_default=False,
        ),
    ] = None,
    lags: Annotated[
        str,
        typer.Option(
            help="Distances at which pairs of words are counted: 1-5, or 1,2,3; auto: near ones, "
            "and far ones as far as they still show topics."
        ),
    ] = "auto",
    chain: Annotated[
        ChainKind,
        typer.Option(
            help="How the model reads documents: topics that last, as Gruber has it; any "
            "transitions, as the paper has it; or bags of words."
        ),
    ] = ChainKind.sticky,
    passes: Annotated[int, typer.Option(min=1, help="Passes over the pairs, at most.")] = 40,
    refine_passes: Annotated[
        int, typer.Option(min=0, help="Passes over the documents after them.")
    ] = 1,
    starts: Annotated[
        int,
        typer.Option(min=1, help="Starts, of which the best by its first passes is learned from."),
    ] = 1,
    seed_words: Annotated[
        Path | None,
        typer.Option(
            help='A file with a topic per line, such as "grain: wheat maize": topics that start '
            "from these words, and keep that label.",
            show_default=False,
        ),
    ] = None,
    stop_words: options.StopWordsOption = "none",
    min_df: options.MinDfOption = "1",
    max_df: options.MaxDfOption = "1.0",
    max_features: options.MaxFeaturesOption = None,
    token_pattern: options.TokenPatternOption = options.TOKEN_PATTERN,
    column: options.TextColumnOption = None,
    encoding: options.EncodingOption = "utf-8",
    top_words: Annotated[
        int | None,
        typer.Option(
            min=1, help="Show so many words of a topic. Default: a line.", show_default=False
        ),
    ] = None,
    words_by: options.WordsByOption = options.WordOrder.relevance,
    save_counts: Annotated[
        bool,
        typer.Option(
            "--save-counts",
            help="Keep the pair counts in the model's file, so that it can learn on: "
            "HTMM.load(file).partial_fit(documents).",
        ),
    ] = False,
    shares: Annotated[
        Path | None,
        typer.Option(
            help="Write the share of every topic in every document here, as Parquet.",
            show_default=False,
        ),
    ] = None,
    by: ByOption = None,
    period: PeriodOption = None,
    seed: options.SeedOption = 0,
    memory: options.MemoryOption = None,
    workers: options.WorkersOption = None,
    scheduler: options.SchedulerOption = None,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Learn topics from documents, and show them.

    Every word of a document has a topic, and those of neighbours depend on one another.  A mean
    run is of so many words: how long a topic lasts, as the model reads the documents (of a
    large corpus, some of them).

    **Examples**

        cohmm topics news.txt -k 20 --stop-words english --min-df 5 -o news.cohmm

        cohmm topics articles/ -k auto --report articles.html

        cohmm topics posts.parquet --column body -k 50 --top-words 20 --json

        cohmm topics posts.csv --column body --by date --period month --report posts.html

        cohmm topics dump.txt -k 100 --min-df 20 --memory 4GB -o dump.cohmm --shares shares.parquet

        cohmm topics dump/*.txt -k 100 --min-df 20 --workers 8 -o dump.cohmm
    """
    read = [*text_files_of(inputs), seed_words, stop_words_file(stop_words)]
    check_output(output, report, shares, inputs=read)
    if save_counts and output is None:
        raise ValueError("--save-counts keeps counts in the model's file: give --output")
    check_shares(shares)
    words = Words.of(stop_words, min_df, max_df, max_features, token_pattern)
    k, distances = size(n_topics), lags_of(lags)
    given = None if seed_words is None else seed_words_in(seed_words)
    with working(threads), cluster(workers, scheduler) as client:
        from cohmm.topics.overview import MAX_DECODED, Overview

        check_by(by, period, inputs, client is not None or memory is not None)
        if report is not None:
            from cohmm.report.render import check_path

            check_path(report)
        data = None
        if client is not None or memory is not None:
            data = texts_elsewhere(inputs, column, encoding, client, memory)
        documents = corpus(inputs, words, column, encoding) if data is None else far(data, words)
        values = None
        if by is not None:
            values = values_of(inputs, by, cast("Documents", documents), period)
        began = time.perf_counter()
        parameters = {
            "lags": distances,
            "chain": chain.value,
            "refine": refine_passes,
            "max_iter": passes,
            "n_init": starts,
            "seed_words": given,
            "random_state": seed,
        }
        model = learned(documents, k, parameters | words._asdict())
        seconds = time.perf_counter() - began
        overview = Overview.of(model.fit_.as_chain(model.chain), documents)
        over = None
        if values is not None:
            over = grouped(model, cast("Documents", documents), values, period)
        if output is not None:
            model.save(output, counts=save_counts)
        if shares is not None:
            write_shares(model, data or cast("Documents", documents), shares)
        if report is not None:
            model.report(
                report,
                documents if data is None else documents.select(documents.some(MAX_DECODED)),
                title=None if output is None else output.stem,
                texts=texts_again(inputs, column, encoding) if data is None else None,
                command=typed(),
                overview=overview,
                over=over,
            )
            told(report)
    if json:
        found = summary(model, overview, seconds, top_words or TOP_WORDS, words_by)
        typer.echo(json_line(found if over is None else found | {"over": over_summary(over)}))
    else:
        show(model, overview, seconds, output, top_words, words_by)
        if over is not None:
            show_over(over)


def size(text: str) -> Any:
    """A number of topics, or "auto"."""
    if text == "auto":
        return text
    if not options.WHOLE.fullmatch(text):
        raise ValueError(f"--topics must be a whole number from 1, or auto, not {text!r}")
    return int(text)


def lags_of(text: str) -> tuple[int, ...] | Literal["auto"]:
    """Distances, as they are written on the command line.

    >>> lags_of("1-3,7")
    (1, 2, 3, 7)
    """
    if text == "auto":
        return "auto"
    lags: set[int] = set()
    for part in text.split(","):
        matched = re.fullmatch(r"(\d{1,9})(?:-(\d{1,4}))?", part.strip())
        first, last = (int(n) for n in matched.groups(matched[1])) if matched else (0, 0)
        if not 1 <= first <= last:
            raise ValueError(
                f"--lags are whole numbers from 1, such as 1-5 or 1,2,3, or auto, not {text!r}"
            )
        lags |= set(range(first, last + 1))
    return tuple(sorted(lags))


def learned(documents: Documents | Partitioned, k: Any, parameters: dict[str, Any]) -> HTMM:
    """``HTMM(k, **parameters).fit``, with progress."""
    from cohmm.estimators.htmm import HTMM

    model = HTMM(k, **parameters)
    with notices(), learning(model.max_iter) as progress:
        return model.fit(documents, callback=None if progress is None else _over_pairs(progress))


def _over_pairs(tell: Callable[[Any], None]) -> Callable[[Any], None]:
    """Tells of passes over pairs alone: those over documents are few, and count from 1 again."""
    last = 0

    def heard(step: Any) -> None:
        nonlocal last
        if step.n_iter > last:
            last = step.n_iter
            tell(step)

    return heard


def summary(
    model: HTMM, overview: Overview, seconds: float, n_words: int, order: options.WordOrder
) -> dict[str, Any]:
    """For machines."""
    from cohmm.topics.overview import EPS

    fit, documents, by_topic = model.fit_, model.documents_, overview.coherence
    return {
        "topics": fit.n_components,
        "documents": len(documents),
        "empty": _n_empty(documents),
        "words": documents.n_words,
        "vocabulary": documents.n_symbols,
        "lags": list(model.counts_.lags),
        "chain": str(model.chain),
        "passes": fit.n_iter,
        "converged": fit.converged,
        "refine_passes": len(fit.passes),
        "starts": list(fit.starts),
        "switch": fit.switch,
        "seconds": seconds,
        "coherence": None
        if by_topic is None
        else {
            "measure": "paper",
            "top": overview.top,
            "eps": EPS,
            "mean": float(by_topic.mean()),
            "each": by_topic.tolist(),
        },
        "prevalence": fit.prevalence.tolist(),
        "contrast": [None if value != value else value for value in overview.contrast.tolist()],
        "mean_run": overview.runs.mean,
        "mean_runs": overview.runs.means.tolist(),
        "labels": list(model.labels_),
        "words_by": order.value,
        "top_words": model.top_words(min(n_words, documents.n_symbols), order.value),
    }


def _n_empty(documents: Documents | Partitioned) -> int:
    return int((documents.lengths == 0).sum())


def show(
    model: HTMM,
    overview: Overview,
    seconds: float,
    output: Path | None,
    n_words: int | None,
    order: options.WordOrder,
) -> None:
    """One screen: how it went, and one row per topic."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    fit, documents = model.fit_, model.documents_
    typer.echo("\n".join(_head(model, overview, seconds, output)))
    console = screen()
    table = Table(box=box.SIMPLE_HEAD)
    for name in ("topic", "share", "mean run"):
        table.add_column(name, justify="right", no_wrap=True, min_width=len(name))
    labels = [begin(label or "", LABEL) for label in model.labels_]
    room = console.width - TAKEN
    if any(labels):
        table.add_column("label", no_wrap=True)
        room -= max(map(len, labels), default=0) + 3
    table.add_column(order.heading)
    top = model.top_words(min(n_words or MOST_WORDS, documents.n_symbols), order.value)
    for k in range(min(fit.n_components, MOST_TOPICS_SHOWN)):
        share, run = f"{fit.prevalence[k]:.1%}", f"{overview.runs.means[k]:.1f}"
        text = " ".join(top[k]) if n_words is not None else _line(top[k], room)
        table.add_row(
            str(k), share, run, *([escape(labels[k])] if any(labels) else []), escape(text)
        )
    console.print(table)
    if fit.n_components > MOST_TOPICS_SHOWN:
        typer.echo(f"... and {fit.n_components - MOST_TOPICS_SHOWN} more topics")


def begin(text: str, most: int) -> str:
    """A text, or its begin where it has more characters than ``most``.

    >>> begin("agriculture", 6)
    'agric…'
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _line(words: list[str], room: int) -> str:
    """As many words as there is room for, and at least one."""
    text = words[0]
    for word in words[1:]:
        if len(text) + 1 + len(word) > room:
            break
        text += f" {word}"
    return text


def _head(model: HTMM, overview: Overview, seconds: float, output: Path | None) -> list[str]:
    from cohmm.topics.overview import EPS

    fit, documents, by_topic = model.fit_, model.documents_, overview.coherence
    n_empty = _n_empty(documents)
    empty = f", {n_empty:,} of them empty" if n_empty else ""
    name = "" if output is None else f"{output}: "
    lines = [
        f"{name}{fit.n_components} topics of {len(documents):,} documents{empty}; "
        f"{documents.n_words:,} words, {documents.n_symbols:,} distinct",
        f"{seconds:.1f} s: {fit.n_iter} passes over pairs at lags "
        f"{', '.join(map(str, model.counts_.lags))}; {len(fit.passes)} over the documents",
    ]
    if by_topic is not None:
        lines.append(
            f"coherence {by_topic.mean():.1f} (the paper's: top {overview.top} words, eps {EPS})"
        )
    lines.append(f"a topic lasts {overview.runs.mean:.1f} words on average")
    return lines

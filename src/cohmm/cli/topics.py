"""``cohmm topics``: from documents to topics in which word order counts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cohmm.cli import files, options
from cohmm.cli.app import fitting, print_result, say, screen, table_of
from cohmm.cli.output import format_of, writing_tables
from cohmm.cli.progress import learning, working
from cohmm.cli.report import check_by, say_written, values_of

if TYPE_CHECKING:
    from rich.table import Table

    from cohmm.estimators.htmm import HTMM
    from cohmm.topics.over_time import TopicsOver
    from cohmm.topics.overview import Overview

TOP_WORDS = 10  # for machines
MAX_WORDS = 12  # in a line
MAX_LABEL = 20  # characters
OTHER_COLUMNS = 32  # characters of a line that are not words or a label
OVER_TOPICS, OVER_COLUMN, OVER_HEAD = 8, 7, 36  # columns of --by, and their characters
SHARES_AT_A_TIME = 2**14  # documents


@options.with_options
def topics(
    inputs: list[str],
    n_components: str = "20",
    output: Path | None = None,
    report: Path | None = None,
    shares: Path | None = None,
    top_words: int | None = None,
    words_by: Literal["relevance", "probability", "frex"] = "relevance",
    random_state: int | None = 0,
    json: bool = False,
    *,
    words: Any,
    by: str | None = None,
    period: Any = None,
    lags: str = "auto",
    chain: Literal["sticky", "full", "independent"] = "sticky",
    max_iter: int = 1000,
    refine: str = "auto",
    n_init: int = 1,
    seed_words: Path | None = None,
    save_counts: bool = False,
    memory: str | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    threads: int | None = None,
) -> None:
    """Learn topics from documents, and show them.

    Every word of a document has a topic, and those of neighbours depend on one another.  A mean
    run is of so many words: how long a topic lasts, as the model reads the documents (of a
    large corpus, some of them).  Topics that say little are named: encoded, numbers, one
    document, function words.

    **Examples**

        cohmm topics news.txt -k 20 --stop-words english --min-df 5 -o news.cohmm

        cohmm topics articles/ -k auto --report articles.html

        cohmm topics posts.parquet --column body -k 50 --top-words 20 --json

        cohmm topics posts.csv --column body --by date --period month --report posts.html

        cohmm topics dump.txt -k 100 --min-df 20 --memory 4GB -o dump.cohmm --shares shares.parquet

        cohmm topics dump/*.txt -k 100 --min-df 20 --workers 8 -o dump.cohmm
    """
    stop_words = options.words_file(words["stop_words"])
    read = [*files.files_of(inputs, texts=True), seed_words, stop_words]
    files.check_output(output, report, shares, inputs=read)
    if save_counts and output is None:
        raise ValueError("--save-counts keeps counts in the model's file: give --output")
    if shares is not None and format_of(shares) != "parquet":
        raise ValueError(f"--shares {shares}: it is Parquet, so let its name end in .parquet")
    words = options.read_options(words)
    place = {name: words.pop(name) for name in ("column", "encoding")}
    estimator = {
        "n_components": options.n_components_of(n_components),
        "lags": options.lags_or_auto(lags),
        "chain": chain,
        "max_iter": max_iter,
        "refine": options.passes_of(refine),
        "n_init": n_init,
        "seed_words": options.seed_words_in(seed_words),
        "random_state": random_state,
    }
    with working(threads), files.cluster(workers, scheduler) as client:
        from cohmm.data.read_documents import read_documents
        from cohmm.estimators.htmm import HTMM
        from cohmm.topics.overview import MAX_DECODED, Overview

        far = client is not None or memory is not None
        check_by(by, period, inputs, far)
        data: Any = (
            files.text_partitions(inputs, **place, client=client, memory=memory) if far else None
        )
        documents = (
            read_documents(data, **words) if far else files.documents_of(inputs, **place, **words)
        )
        values = values_of(inputs, by, documents, period)
        began = time.perf_counter()
        with learning() as callback:
            model = HTMM(**estimator, **words).fit(documents, callback=callback)
        seconds = time.perf_counter() - began
        overview = Overview.of(model.fit_.as_chain(model.chain), documents)
        over = None if values is None else model.over(documents, by=values, period=period)
        if output is not None:
            model.save(output, counts=save_counts)
        if shares is not None:
            tables, schema = _shares(model, documents if data is None else data)
            n = 0
            with writing_tables(shares, schema) as write:
                for table in tables:
                    write(table)
                    n += len(table)
            say(f"{shares}: shares of {n:,} documents")
        if report is not None:
            model.report(
                report,
                documents.select(documents.some(MAX_DECODED)) if far else documents,
                title=None if output is None else output.stem,
                texts=None if far else files.texts_again(inputs, **place),
                overview=overview,
                over=over,
            )
            say_written(report)
    print_result(
        json,
        _summary(model, overview, seconds, top_words or TOP_WORDS, words_by)
        | ({} if over is None else {"over": _over_summary(over)}),
        _lines(model, overview, seconds, output),
        _table(model, overview, top_words, words_by),
        *([] if over is None else _over_table(over)),
    )


def _shares(model: HTMM, data: Any) -> tuple[Iterator[Any], Any]:
    """Tables of the number of every document and its shares of the topics, and their schema."""
    import numpy as np
    import pyarrow as pa

    from cohmm.distributed import Partitions
    from cohmm.topics.export import SHARES, row_shares, shares_table

    def in_memory() -> Iterator[Any]:
        for first in range(0, len(data), SHARES_AT_A_TIME):
            some = np.arange(first, min(first + SHARES_AT_A_TIME, len(data)))
            yield shares_table(model.transform(data.select(some)))

    def numbered(tables: Iterator[Any]) -> Iterator[Any]:
        n = 0
        for table in tables:
            yield table.add_column(0, "document", pa.array(np.arange(n, n + len(table))))
            n += len(table)

    tables = in_memory()
    if isinstance(data, Partitions):
        tables = data.tables(partial(row_shares, model._model(), model._reading()), SHARES)
    return numbered(tables), SHARES.insert(0, pa.field("document", pa.int64()))


def _summary(
    model: HTMM, overview: Overview, seconds: float, n_words: int, order: Any
) -> dict[str, Any]:
    """For machines."""
    from cohmm.topics.overview import EPS

    fit, documents = model.fit_, model.documents_
    return {
        "topics": fit.n_components,
        "documents": len(documents),
        "empty": documents.n_empty,
        "words": documents.n_words,
        "vocabulary": documents.n_symbols,
        "lags": model.counts_.lags,
        "chain": str(model.chain),
        "passes": fit.n_iter,
        "converged": fit.converged,
        "refine_passes": fit.n_document_passes,
        "choices": None if fit.choices is None else vars(fit.choices),
        "starts": fit.starts,
        "switch": fit.switch,
        "seconds": seconds,
        "coherence": None
        if overview.why
        else {
            "measure": "paper",
            "top": overview.top,
            "eps": EPS,
            "mean": overview.coherence.mean(),
            "each": overview.coherence,
        },
        "prevalence": fit.prevalence,
        "contrast": overview.contrast,
        "mean_run": overview.runs.mean,
        "mean_runs": overview.runs.means,
        "junk": overview.junk.columns(),
        "labels": model.labels_,
        "words_by": order,
        "top_words": model.top_words(min(n_words, documents.n_symbols), order),
    }


def _lines(model: HTMM, overview: Overview, seconds: float, output: Path | None) -> list[str]:
    """How it went."""
    from cohmm.topics.overview import EPS

    fit, documents = model.fit_, model.documents_
    empty = f", {documents.n_empty:,} of them empty" if documents.n_empty else ""
    name = "" if output is None else f"{output}: "
    lines = [
        f"{name}{fit.n_components} topics of {len(documents):,} documents{empty}; "
        f"{documents.n_words:,} words, {documents.n_symbols:,} distinct",
        f"{seconds:.1f} s: {fit.n_iter} passes over pairs at lags "
        f"{', '.join(map(str, model.counts_.lags))}; {fit.n_document_passes} over the documents",
    ]
    if not overview.why:
        lines.append(
            f"coherence {overview.coherence.mean():.1f} "
            f"(the paper's: top {overview.top} words, eps {EPS})"
        )
    lines.append(f"a topic lasts {overview.runs.mean:.1f} words on average")
    if junk := overview.junk.topics:
        listed = ", ".join(f"{k} ({verdict})" for k, verdict in junk.items())
        lines.append(f"{len(junk)} of {fit.n_components} topics say little: {listed}")
    return lines


def _table(model: HTMM, overview: Overview, n_words: int | None, order: Any) -> Table:
    """One row per topic; so many words, or a line of them, and its kind of junk if any has one."""
    labels = [shortened(label or "", MAX_LABEL) for label in model.labels_]
    label_width = max(map(len, labels), default=0)
    verdicts = list(overview.junk.verdicts)
    junk_width = max(map(len, verdicts))
    room = screen().width - OTHER_COLUMNS - sum(w + 3 for w in (label_width, junk_width) if w)
    top = model.top_words(min(n_words or MAX_WORDS, model.documents_.n_symbols), order)
    kind = "probable" if order == "probability" else "distinctive"
    more = {"label": labels} if label_width else {}
    more |= {"junk": verdicts} if junk_width else {}
    columns = ["topic", "share", "mean run", *more, f"most {kind} words"]
    rows = []
    for k in range(len(top)):
        text = " ".join(top[k]) if n_words is not None else fitting(top[k], room) or top[k][0]
        row = [str(k), f"{model.fit_.prevalence[k]:.1%}", f"{overview.runs.means[k]:.1f}"]
        rows.append([*row, *(column[k] for column in more.values()), text])
    return table_of(columns, rows, left=range(3, len(columns)))


def shortened(text: str, length: int) -> str:
    """A text, or its beginning where it has more characters.

    >>> shortened("agriculture", 6)
    'agric…'
    """
    return text if len(text) <= length else text[: length - 1] + "…"


def _over_summary(over: TopicsOver) -> dict[str, Any]:
    """For machines; what there is not is null."""
    names = ("groups", "period", "level", "documents", "words")
    intervals = ("share", "share_low", "share_high", "run", "run_low", "run_high")
    return {name: getattr(over, name) for name in (*names, *intervals)}


def _over_table(over: TopicsOver) -> list[Any]:
    """One row per group: the shares of the topics that vary most."""
    import numpy as np

    room = max(1, min(OVER_TOPICS, (screen().width - OVER_HEAD) // OVER_COLUMN))
    spread = np.nan_to_num(np.nanmax(over.share, axis=0) - np.nanmin(over.share, axis=0))
    chosen = sorted(np.argsort(-spread, kind="stable")[:room].tolist())
    columns = [over.period or "class", "documents", "words", *(f"[{k}]" for k in chosen)]
    rows = []
    for g, group in enumerate(over.groups):
        shares = ["" if np.isnan(x) else f"{x:.1%}" for x in over.share[g, chosen]]
        rows.append([group, f"{over.documents[g]:,}", f"{over.words[g]:,}", *shares])
    some = "" if len(chosen) == over.n_components else ", of the topics that vary most"
    end = f"share of the words{some}; --json and --report have {over.level:.0%} intervals"
    return [table_of(columns, rows, left=[0]), end]

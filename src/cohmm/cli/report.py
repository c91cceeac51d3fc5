"""``cohmm report``: what a model has learned, in one HTML file."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cohmm.cli import options
from cohmm.cli.model_files import batches_for
from cohmm.cli.program import say
from cohmm.cli.session import check_output, read_once, reading, working
from cohmm.cli.text_input import text_files_of
from cohmm.cli.topic_groups import ByOption, PeriodOption, check_by, grouped, values_of

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.data.read_sequences import Layout
    from cohmm.data.readers.document_files import Trace
    from cohmm.estimators.htmm import HTMM
    from cohmm.model.hmm import HMM


@options.with_layout
def report(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A topic model or an HMM, as save writes it.", show_default=False
        ),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT]...",
            help="What it is shown on: documents for topics, sequences for an HMM, as the other "
            "commands read them. Without any, the report is about the model alone.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")] = Path(
        "report.html"
    ),
    title: Annotated[
        str | None, typer.Option("--title", help="The heading of the page.", show_default=False)
    ] = None,
    documents: Annotated[
        int, typer.Option("--documents", min=0, help="Show so many documents, drawn at random.")
    ] = 400,
    labels: options.LabelsOption = None,
    unseen: Annotated[
        options.Unseen | None,
        typer.Option(
            "--unseen",
            help="What a symbol is that an HMM does not know. Default: an error.",
            show_default=False,
        ),
    ] = None,
    by: ByOption = None,
    period: PeriodOption = None,
    *,
    layout: Layout,
    encoding: options.EncodingOption = "utf-8",
    threads: options.ThreadsOption = None,
) -> None:
    """Write a report about a model: one HTML file that needs nothing else.

    It shows topics or states, which follows which, running text with the topic of every word in
    colour, and what the order of words changes. It opens in any browser, without a network.

    **Examples**

        cohmm report news.cohmm news.txt -o news.html

        cohmm report weather.cohmm days.parquet --column words --title "Days in May"

        cohmm report news.cohmm news.txt --labels labels.json -o news.html

        cohmm report posts.cohmm posts.csv --column body --by date --period month
    """
    paths = inputs or []
    check_output(output, inputs=[model, *text_files_of(paths), labels])
    with working(threads):
        from cohmm.model.hmm import HMM
        from cohmm.report import report_hmm, report_topics

        read = _load(model)
        named = _labels(read, labels)
        name = title or model.stem
        if isinstance(read, HMM):
            if encoding != "utf-8":
                raise ValueError(f"--encoding is for documents, and {model} is an HMM")
            if by is not None or period is not None:
                raise ValueError(f"--by and --period are for topics, and {model} is an HMM")
            unknown = unseen or options.Unseen.error
            with reading(paths, "reading") if paths else nullcontext() as watch:
                report_hmm(
                    read,
                    batches_for(read, paths, layout, unknown, watch) if watch else None,
                    output,
                    title=name,
                    n_sequences=documents,
                    command=typed(),
                    labels=named,
                )
        else:
            column = layout.column
            _refuse(model, **vars(replace(layout, column=None)), unseen=unseen)
            check_by(by, period, paths, False)
            if by is not None and not paths:
                raise ValueError("--by is a column beside documents: give the file that has them")
            given = _documents(read, paths, column, encoding) if paths else None
            over = None
            if by is not None and given is not None:
                over = grouped(read, given, values_of(paths, by, given, period), period)
            report_topics(
                read,
                given,
                output,
                title=name,
                n_documents=documents,
                texts=texts_again(paths, column, encoding),
                command=typed(),
                labels=named,
                over=over,
            )
    told(output)


def typed() -> str:
    """The command line, to be shown in a report."""
    return shlex.join(["cohmm", *sys.argv[1:]])


def told(path: Path) -> None:
    """Say which report was written."""
    say(f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB")


def texts_again(inputs: list[str], column: str | None, encoding: str) -> Iterator[str] | None:
    """The texts of documents that were read before; standard input cannot be read again."""
    return None if not inputs or read_once(inputs) else _texts(inputs, column, encoding)


def _load(path: Path) -> HMM | HTMM:
    from cohmm.learn.topics.topic_fit import KIND
    from cohmm.model.hmm import HMM
    from cohmm.storage import StorageError, kind

    held = kind(path)
    if held == KIND:
        from cohmm.estimators.htmm import HTMM

        return HTMM.load(path)
    if held == "HMM":
        return HMM.load(path)
    raise StorageError(f"{path} holds a {held}: a report is about a {KIND} or an HMM")


def _labels(model: HMM | HTMM, path: Path | None) -> dict[int, str]:
    """Those of a file, which is read before any work is done."""
    from cohmm.model.hmm import HMM
    from cohmm.report.labels import checked_labels
    from cohmm.report.prepare import model_key

    emission = model.emissionprob if isinstance(model, HMM) else model.components_
    return checked_labels(path, len(emission), model_key(emission))


def _refuse(model: Path, **given: object) -> None:
    for name, value in given.items():
        if value:
            raise ValueError(
                f"--{name.replace('_', '-')} is for sequences, and {model} is a topic model"
            )


def _documents(model: HTMM, inputs: list[str], column: str | None, encoding: str) -> Documents:
    """The documents of all inputs, in the words of the model, with their names."""
    from cohmm.data.readers.document_files import Trace
    from cohmm.data.text import TextWarning

    trace = Trace()
    with reading(inputs, "reading"), warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # the report counts empty documents
        encoded = model.encode(_texts(inputs, column, encoding, trace))
    return replace(encoded, names=trace.names())


def _texts(
    inputs: list[str], column: str | None, encoding: str, trace: Trace | None = None
) -> Iterator[str]:
    from cohmm.data.readers.document_files import Trace, documents_at

    trace = trace or Trace()
    return chain.from_iterable(documents_at(path, encoding, column, trace) for path in inputs)

"""``cohmm report``: what a model has learned, in one HTML file."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cohmm.cli import files, options
from cohmm.cli.app import say
from cohmm.cli.progress import Watch, reading, working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cohmm.data.documents import Documents
    from cohmm.data.sequences import Sequences
    from cohmm.estimators.htmm import HTMM
    from cohmm.model.hmm import HMM


@options.with_options
def report(
    model: Path,
    inputs: list[str] | None = None,
    output: Path = Path("report.html"),
    title: str | None = None,
    documents: int = 400,
    labels: Path | None = None,
    *,
    layout: Any,
    encoding: str = "utf-8",
    unseen: Literal["error", "missing"] = "error",
    by: str | None = None,
    period: Any = None,
    threads: int | None = None,
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
    files.check_output(output, inputs=[model, *files.files_of(paths, texts=True), labels])
    with working(threads):
        from cohmm.model.hmm import HMM
        from cohmm.report import report_hmm, report_topics
        from cohmm.report.labels import checked_labels
        from cohmm.report.prepare import model_key

        loaded = _load(model)
        emission = loaded.emissionprob if isinstance(loaded, HMM) else loaded.components_
        shown: dict[str, Any] = {
            "title": title or model.stem,
            "labels": checked_labels(labels, len(emission), model_key(emission)),
        }
        if isinstance(loaded, HMM):
            if encoding != "utf-8":
                raise ValueError(f"--encoding is for documents, and {model} is an HMM")
            if by is not None or period is not None:
                raise ValueError(f"--by and --period are for topics, and {model} is an HMM")
            with reading(paths, "reading") if paths else nullcontext() as watch:
                data = _sequences(model, paths, layout, unseen, watch) if watch else None
                report_hmm(loaded, data, output, n_sequences=documents, **shown)
        else:
            column = layout["column"]
            for name, value in (layout | {"column": None, "unseen": unseen != "error"}).items():
                if value:
                    option = f"--{name.replace('_', '-')}"
                    raise ValueError(f"{option} is for sequences, and {model} is a topic model")
            check_by(by, period, paths)
            if by is not None and not paths:
                raise ValueError("--by is a column beside documents: give the file that has them")
            texts = _documents(loaded, paths, column, encoding) if paths else None
            values = values_of(paths, by, texts, period)
            over = None if values is None else loaded.over(texts, by=values, period=period)
            report_topics(
                loaded,
                texts,
                output,
                n_documents=documents,
                texts=files.texts_again(paths, column, encoding),
                over=over,
                **shown,
            )
    say_written(output)


def say_written(path: Path) -> None:
    """Say which report was written."""
    say(f"wrote {path}, {path.stat().st_size / 1e6:.1f} MB")


def check_by(
    by: str | None, period: str | None, inputs: list[str], elsewhere: bool = False
) -> None:
    """Check that ``--by`` can be read, before any work is done."""
    from cohmm.topics.periods import check_period

    if period is not None and period != "class":
        check_period(period)
    if by is None:
        if period is not None:
            raise ValueError("--period says how long periods are: give their dates by --by")
        return
    if elsewhere:
        raise ValueError("--by is for documents in memory, not with --memory or --workers")
    if once := files.read_once(inputs):
        raise ValueError(f"--by reads its column by itself, so give a file, not {once}")


def values_of(
    inputs: list[str], by: str | None, documents: Documents | None, period: Any
) -> list[Any] | None:
    """The column of dates or classes that ``--by`` names, one value per document."""
    from cohmm.data.read_documents import values_at
    from cohmm.topics.over_time import groups_of

    if by is None or documents is None:
        return None
    values = list(chain.from_iterable(values_at(path, by) for path in inputs))
    groups_of(values, documents, period)  # an error comes before anything is learned
    return values


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


def _sequences(
    model: Path, inputs: list[str], layout: dict[str, Any], unseen: str, watch: Watch
) -> Iterator[Sequences]:
    """The sequences of all inputs in the symbols of the model, as they stream by."""
    answers = files.answers_of(model, unseen)
    for batch in files.batches_for(answers, inputs, layout, watch):
        yield answers.encoded(batch).data


def _documents(model: HTMM, inputs: list[str], column: str | None, encoding: str) -> Documents:
    """The documents of all inputs, in the words of the model, with their names."""
    from cohmm.data.read_documents import TextWarning, Trace

    trace = Trace()
    with reading(inputs, "reading"), warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # the report counts empty documents
        encoded = model.encode(files.texts_of(inputs, column, encoding, trace))
    return files.named(encoded, trace)

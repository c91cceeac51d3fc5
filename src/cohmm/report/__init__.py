"""The report: one HTML file that shows what a model has learned, and opens anywhere.

Material -> prepare_report -> Report (plain values) -> render_page -> one file
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cohmm.report.labels import Labels
from cohmm.report.prepare import N_TEXTS, prepare_report
from cohmm.report.render import check_path, write

if TYPE_CHECKING:
    from cohmm.learn.fitted import FittedHMM, FittedTopics
    from cohmm.model.hmm import HMM
    from cohmm.topics.over_time import TopicsOver
    from cohmm.topics.overview import Overview

__all__ = ["report_hmm", "report_topics"]


def report_topics(
    model: FittedTopics,
    documents: Any,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n_documents: int = N_TEXTS,
    texts: Iterable[str] | None = None,
    command: str | None = None,
    labels: Labels | None = None,
    overview: Overview | None = None,
    over: TopicsOver | None = None,
) -> None:
    """Write a report about a fitted `HTMM` to ``path``, whole or not at all.

    Parameters
    ----------
    model : HTMM
        Fitted, or loaded.
    documents : strings, lists of words, a path, Documents, or None
        What it is shown on, as for ``fit``; None: the report is about the model alone.
        Strings and files are shown as they were written, other documents by their words.
    path : path
        The file, which usually ends in ``.html``.
    title : str, optional
        The heading of the page.
    n_documents : int
        How many documents the page has, drawn at random; all are counted in its summary.
    texts : strings, optional
        What `Documents` were cut from, one per document, to show it as it was written.
    command : str, optional
        What was typed, to be shown in the summary.
    labels : path or mapping, optional
        Labels by number, {3: "the sea"}, or a file of them, as a page saves it; they replace those
        of the model.
    overview : Overview, optional
        What was measured on these documents, where that has been done already.
    over : TopicsOver, optional
        Topics over time, or by class, as ``model.over`` has them: a section of the page.
    """
    from cohmm.report.from_topics import topic_material

    check_path(path)
    write(
        prepare_report(
            topic_material(
                model,
                documents,
                title=title,
                n_texts=n_documents,
                texts=texts,
                command=command,
                labels=labels,
                overview=overview,
                over=over,
            )
        ),
        path,
    )


def report_hmm(
    model: HMM | FittedHMM,
    data: Any,
    path: str | os.PathLike[str],
    *,
    lengths: Any = None,
    title: str | None = None,
    n_sequences: int = N_TEXTS,
    command: str | None = None,
    labels: Labels | None = None,
) -> None:
    """Write a report about a hidden Markov model to ``path``, whole or not at all.

    Parameters
    ----------
    model : HMM or PairwiseHMM
        An estimator also says how it was learned.
    data, lengths
        The sequences that it is shown on, as `Sequences.of` reads them, or None; or an
        iterator of `Sequences`, as `read_files` gives it, of which one is in memory at a time.
    path : path
        The file, which usually ends in ``.html``.
    title : str, optional
        The heading of the page.
    n_sequences : int
        How many sequences the page has, drawn at random; long ones are cut into pieces.
    command : str, optional
        What was typed, to be shown in the summary.
    labels : path or mapping, optional
        Labels by number, {3: "the sea"}, or a file of them, as a page saves it.
    """
    from cohmm.report.from_hmm import hmm_material

    check_path(path)
    write(
        prepare_report(
            hmm_material(
                model,
                data,
                lengths=lengths,
                title=title,
                n_texts=n_sequences,
                command=command,
                labels=labels,
            )
        ),
        path,
    )

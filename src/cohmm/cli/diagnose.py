"""``cohmm diagnose``: whether a fit can be trusted, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.fit import Files, is_counts, load_counts, states_of
from cohmm.cli.model_files import batches_for, json_line
from cohmm.cli.session import notices, read_once, reading, working

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.model.hmm import HMM


@options.with_layout
def diagnose(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="FILE_OR_MODEL",
            help="A model, as fit or topics wrote it; counts, as count wrote them; or data, to "
            "which a model is fitted first.",
            show_default=False,
        ),
    ],
    inputs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[INPUT]...",
            help="The data of a model, for what needs it; counts of it serve for most.",
            show_default=False,
        ),
    ] = None,
    states: Annotated[
        str,
        typer.Option("--states", "-k", help="Of the model that is fitted to data; or auto."),
    ] = "auto",
    unseen: options.UnseenOption = options.Unseen.error,
    integers: Annotated[
        bool, typer.Option("--integers", help="Symbols are whole numbers from 0, not labels.")
    ] = False,
    seed: options.SeedOption = 0,
    *,
    layout: Layout,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Say how far a fit can be trusted, on one screen, and what to do next.

    How many states the data can show, whether pairs determine them (sufficient scatter), which are
    hard to tell apart, and whether a first-order chain of so many states explains the data.

    **Examples**

        cohmm diagnose model.cohmm words.txt

        cohmm diagnose monday.cohmm

        cohmm diagnose clicks.csv --column page --group user -k 8 --json
    """
    paths = inputs or []
    with working(threads), notices():
        found = _diagnosed(subject, paths, states, unseen, integers, seed, layout)
    typer.echo(json_line(found.to_dict()) if json else str(found))


def _diagnosed(
    subject: str,
    paths: list[str],
    states: str,
    unseen: options.Unseen,
    integers: bool,
    seed: int | None,
    layout: Layout,
) -> Any:
    from cohmm import storage
    from cohmm.diagnose.diagnosis import diagnose as diagnosis_of
    from cohmm.learn import pairwise

    if not is_counts(subject):  # data
        data_files = [subject, *paths]
        files = Files(data_files, layout, integers, readable=read_once(data_files) is None)
        fit = pairwise(files, states_of(states), random_state=seed)
        data = files.sequences(fit.counts)
        return diagnosis_of(fit, data, random_state=seed or 0)
    if states != "auto":
        raise ValueError("--states is of a model that is fitted to data: give data, not counts")
    kind = storage.kind(subject)
    if kind == "cooccurrence":
        given = [subject, *paths]
        if not all(map(is_counts, given)):
            raise ValueError(f"{subject} has counts: data goes with a model, not with them")
        return diagnosis_of(load_counts(given, None), random_state=seed or 0)
    if kind != "HMM":
        from cohmm.estimators.htmm import HTMM

        if paths:
            raise ValueError("topics are diagnosed from the counts in their file: give no data")
        return HTMM.load(subject).diagnose(random_state=seed or 0)
    from cohmm.model.hmm import HMM

    model = HMM.load(Path(subject))
    if not paths:
        return diagnosis_of(model, random_state=seed or 0)
    if all(map(is_counts, paths)):
        return diagnosis_of(model, counts=load_counts(paths, None), random_state=seed or 0)
    data = _read(model, paths, layout, unseen)
    return diagnosis_of(model, data, random_state=seed or 0)


def _read(model: HMM, paths: list[str], layout: Layout, unseen: options.Unseen) -> Sequences:
    from cohmm.data.joined_on_disk import joined_on_disk

    with reading(paths, "reading") as watch:
        return joined_on_disk(batches_for(model, paths, layout, unseen, watch))

"""``cohmm select``: how many states, or topics, by held-out data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cohmm.cli import options
from cohmm.cli.count import numbers
from cohmm.cli.fit import Files, is_counts
from cohmm.cli.model_files import json_line
from cohmm.cli.program import say
from cohmm.cli.session import check_output, files_of, notices, read_once, working
from cohmm.cli.text_input import Words, corpus, text_files_of

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.diagnose.selection import Selection


@options.with_layout
def select(
    inputs: options.Inputs,
    states: Annotated[
        str | None,
        typer.Option(
            "--states",
            "-k",
            help="Candidates, such as 2,4,8 or 2-8. Default: as many as the pairs show, and up.",
            show_default=False,
        ),
    ] = None,
    topics: Annotated[
        bool, typer.Option("--topics", help="INPUT is text: choose the number of topics.")
    ] = False,
    lags: Annotated[str, typer.Option(help="Distances at which pairs are counted.")] = "1",
    plot: Annotated[
        Path | None,
        typer.Option("--plot", help="Draw a picture of it to this file.", show_default=False),
    ] = None,
    seed: options.SeedOption = 0,
    integers: Annotated[
        bool, typer.Option("--integers", help="Symbols are whole numbers from 0, not labels.")
    ] = False,
    *,
    layout: Layout,
    stop_words: options.StopWordsOption = "none",
    min_df: options.MinDfOption = "1",
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Compare numbers of states on held-out data, and recommend one.

    A part of the sequences, or blocks of a long one, is held out; the table has its log-likelihood
    per symbol, BIC on parameters that are not zero, and how far the states of two halves differ. Of
    topics: perplexity of held-out documents, NPMI, and how far the topics of two seeds differ.

    **Examples**

        cohmm select words.txt

        cohmm select clicks.csv --column page --group user -k 2-10 --lags 1,2,3

        cohmm select news.txt --topics -k 10,20,40 --stop-words english --min-df 5 --plot k.png
    """
    check_output(plot, inputs=text_files_of(inputs) if topics else files_of(inputs))
    _check_together(topics, lags, integers, stop_words, min_df)
    wanted = None if states is None else _range(states)
    if any(map(is_counts, inputs)):
        raise ValueError("select holds data out: give the data itself, not counts or a model")
    with working(threads), notices():
        found = (
            _of_topics(inputs, layout, wanted, stop_words, min_df, seed or 0)
            if topics
            else _of_states(inputs, layout, wanted, numbers(lags), integers, seed or 0)
        )
        if plot is not None:
            _draw(found, plot)
    typer.echo(json_line(found.to_dict()) if json else str(found))


def _check_together(topics: bool, lags: str, integers: bool, stop_words: str, min_df: str) -> None:
    """Refuse options that the other kind of model has."""
    others = (
        {"--lags": lags != "1", "--integers": integers}
        if topics
        else {"--stop-words": stop_words != "none", "--min-df": min_df != "1"}
    )
    for name, given in others.items():
        if given:
            remedy = "leave it out" if topics else "add --topics, or leave it out"
            raise ValueError(f"{name} is not for {'topics' if topics else 'states'}: {remedy}")


def _of_states(
    inputs: list[str],
    layout: Layout,
    wanted: list[int] | None,
    lags: tuple[int, ...],
    integers: bool,
    seed: int,
) -> Selection:
    from cohmm.diagnose.selection import select as selected

    if once := read_once(inputs):
        raise ValueError(f"select reads the data twice: give files, not {once}")
    files = Files(inputs, layout, integers, readable=True)
    data = files.sequences(files.count((1,)))
    assert data is not None
    return selected(
        data,
        n_components=wanted,
        lags=lags,
        random_state=seed,
        callback=lambda k: say(f"learning {k} state{'' if k == 1 else 's'} ..."),
    )


def _of_topics(
    inputs: list[str],
    layout: Layout,
    wanted: list[int] | None,
    stop_words: str,
    min_df: str,
    seed: int,
) -> Selection:
    from cohmm.diagnose.selection import select_topics

    words = Words.of(stop_words, min_df, "1.0", None, options.TOKEN_PATTERN)
    documents = corpus(inputs, words, layout.column, "utf-8")
    return select_topics(
        documents,
        wanted,
        random_state=seed,
        callback=lambda k: say(f"learning {k} topic{'' if k == 1 else 's'} ..."),
    )


def _range(text: str) -> list[int]:
    """Candidates as they are written: 2,4,8 or 2-8.

    >>> _range("2-4,8")
    [2, 3, 4, 8]
    """
    found: list[int] = []
    for part in text.split(","):
        ends = [end.strip() for end in part.split("-")]
        if len(ends) > 2 or not all(map(options.WHOLE.fullmatch, ends)):
            raise ValueError(
                f"--states must be whole numbers from 1, such as 2,4,8 or 2-8, not {text!r}"
            )
        found += range(int(ends[0]), int(ends[-1]) + 1)
    if not found:
        raise ValueError(f"--states has no number: {text!r}")
    return sorted(set(found))


def _draw(found: Selection, path: Path) -> None:
    from cohmm.plots.selection import plot_selection

    figure = plot_selection(found).figure
    figure.savefig(path)  # type: ignore[union-attr]

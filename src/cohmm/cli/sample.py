"""``cohmm sample``: draw sequences from a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from cohmm.cli import options
from cohmm.cli.model_files import in_pieces, json_line
from cohmm.cli.session import check_output, drawing, working, writing

if TYPE_CHECKING:
    from cohmm.kernels.types import Ints
    from cohmm.model.hmm import HMM


def sample(
    model: options.Model,
    length: Annotated[
        int, typer.Option("--length", "-n", min=1, help="Symbols a sequence.")
    ] = 1000,
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences to draw.")] = 1,
    seed: options.SeedOption = None,
    states: Annotated[bool, typer.Option("--states", help="Add the states, behind a tab.")] = False,
    output: options.OutputOption = None,
    json: options.JsonOption = False,
) -> None:
    """Draw sequences from a model, one line each.

    With --json a line is an object: symbols, and states if asked for.

    **Examples**

        cohmm sample weather.cohmm -n 7 --sequences 52 --seed 0

        cohmm sample weather.cohmm -n 1000000 --states --json -o drawn.jsonl
    """
    check_output(output, inputs=[model])
    with working(), drawing(length * sequences) as progress, writing(output) as write:
        from cohmm.model.hmm import HMM
        from cohmm.model.sampling import generator

        hmm = HMM.load(model)
        labels, numbers = _labels(hmm, json), [str(k) for k in range(hmm.n_components)]
        rng = generator(seed)
        codes = replace(hmm, vocabulary=None)
        for _ in range(sequences):
            drawn, path = codes.sample(length, rng)
            for text in _line(labels, numbers, drawn, path if states else None, json):
                write(text)
            progress(length)


def _line(
    labels: list[str], numbers: list[str], drawn: Ints, path: Ints | None, json: bool
) -> Iterator[str]:
    between, head, behind, end = (
        (", ", '{"symbols": [', '], "states": [', "]}\n") if json else (" ", "", "\t", "\n")
    )
    yield from in_pieces(labels, drawn, between, head, end if path is None else behind)
    if path is not None:
        yield from in_pieces(numbers, path, between, tail=end)


def _labels(hmm: HMM, json: bool) -> list[str]:
    """What is printed for each code."""
    known = range(hmm.n_symbols) if hmm.vocabulary is None else hmm.vocabulary
    if json:
        return [json_line(label) for label in known]
    for label in known:
        if str(label).split() != [str(label)]:
            raise ValueError(
                f"the label {label!r} has a blank, which separates symbols in text: use --json"
            )
    return [str(label) for label in known]

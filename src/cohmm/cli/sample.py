"""``cohmm sample``: draw sequences from a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.model_files import json_line
from cohmm.cli.session import check_output, drawing, working, writing

if TYPE_CHECKING:
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
    """Draw sequences from a model, a line each.

    With --json a line is an object: symbols, and states if asked for.

    **Examples**

        cohmm sample weather.cohmm -n 7 --sequences 52 --seed 0

        cohmm sample weather.cohmm -n 1000000 --states --json -o drawn.jsonl
    """
    check_output(output)
    with working(), drawing(length * sequences) as progress, writing(output) as write:
        from cohmm.model.hmm import HMM
        from cohmm.model.sampling import generator

        hmm = HMM.load(model)
        labels = _labels(hmm, json)
        rng = generator(seed)
        codes = replace(hmm, vocabulary=None)
        for _ in range(sequences):
            drawn, path = codes.sample(length, rng)
            symbols = [labels[code] for code in drawn.tolist()]
            if json:
                line = {"symbols": symbols, **({"states": path.tolist()} if states else {})}
                write(json_line(line) + "\n")
            else:
                behind = "\t" + " ".join(map(str, path.tolist())) if states else ""
                write(" ".join(symbols) + behind + "\n")
            progress(length)


def _labels(hmm: HMM, json: bool) -> list[Any]:
    """What is printed for each code."""
    known = list(range(hmm.n_symbols) if hmm.vocabulary is None else hmm.vocabulary)
    if json:
        return known
    for label in known:
        if str(label).split() != [str(label)]:
            raise ValueError(
                f"the label {label!r} has a blank, which separates symbols in text: use --json"
            )
    return [str(label) for label in known]

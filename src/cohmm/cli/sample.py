"""``cohmm sample``: draw sequences from a model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cohmm.cli import options
from cohmm.cli.app import json_line
from cohmm.cli.files import check_output
from cohmm.cli.output import in_pieces, writing
from cohmm.cli.progress import progress_bar, working

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM


@options.with_options
def sample(
    model: Path,
    length: int = 1000,
    sequences: int = 1,
    random_state: int | None = None,
    states: bool = False,
    output: Path | None = None,
    json: bool = False,
) -> None:
    """Draw sequences from a model, one line each.

    With --json a line is an object: symbols, and states if asked for.

    **Examples**

        cohmm sample weather.cohmm -n 7 --sequences 52 --random-state 0

        cohmm sample weather.cohmm -n 1000000 --states --json -o drawn.jsonl
    """
    check_output(output, inputs=[model])
    with (
        working(),
        progress_bar("drawing", length * sequences) as update,
        writing(output) as write,
    ):
        from cohmm.model.hmm import HMM
        from cohmm.model.sampling import generator

        hmm = HMM.load(model)
        labels, numbers = _labels(hmm, json), [str(k) for k in range(hmm.n_components)]
        rng, codes = generator(random_state), replace(hmm, vocabulary=None)
        between, head, middle, end = (
            (", ", '{"symbols": [', '], "states": [', "]}\n") if json else (" ", "", "\t", "\n")
        )
        for _ in range(sequences):
            symbols, path = codes.sample(length, rng)
            for text in in_pieces(labels, symbols, between, head, middle if states else end):
                write(text)
            if states:
                for text in in_pieces(numbers, path, between, tail=end):
                    write(text)
            update(length)


def _labels(hmm: HMM, json: bool) -> list[str]:
    """What is printed for each code."""
    labels = range(hmm.n_symbols) if hmm.vocabulary is None else hmm.vocabulary
    if json:
        return [json_line(label) for label in labels]
    for label in labels:
        if str(label).split() != [str(label)]:
            raise ValueError(
                f"the label {label!r} has a blank, which separates symbols in text: use --json"
            )
    return [str(label) for label in labels]

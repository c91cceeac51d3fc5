"""``cohmm sample``: draw sequences from a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohmm.cli import options
from cohmm.cli.app import json_line
from cohmm.cli.files import answers_of, check_output
from cohmm.cli.output import in_pieces, writing
from cohmm.cli.progress import progress_bar, working

if TYPE_CHECKING:
    from cohmm.kernels.types import Ints
    from cohmm.model.answers import Answers
    from cohmm.model.hmm import HMM

LENGTH = 1000  # symbols of a sequence that does not end by itself
AT_A_TIME = 10_000  # sequences


@options.with_options
def sample(
    model: Path,
    length: int | None = None,
    sequences: int = 1,
    random_state: int | None = None,
    states: bool = False,
    output: Path | None = None,
    json: bool = False,
) -> None:
    """Draw sequences from a model, one line each; whole ones, if it was fitted with --end.

    With --json a line is an object: symbols, and states if asked for.

    **Examples**

        cohmm sample weather.cohmm -n 7 --sequences 52 --random-state 0

        cohmm sample weather.cohmm -n 1000000 --states --json -o drawn.jsonl
    """
    check_output(output, inputs=[model])
    with (
        working(),
        progress_bar("drawing", sequences) as update,
        writing(output) as write,
    ):
        from cohmm.model.sampling import generator

        answers = answers_of(model)
        if answers.end and length is not None:
            raise ValueError(
                "sequences of this model end by themselves: leave out --length, and say how many "
                "by --sequences"
            )
        hmm, rng = answers.model, generator(random_state)
        labels, numbers = _labels(hmm, json), [str(k) for k in range(hmm.n_components)]
        between, head, middle, end = (
            (", ", '{"symbols": [', '], "states": [', "]}\n") if json else (" ", "", "\t", "\n")
        )
        for symbols, path in _drawn(answers, sequences, length or LENGTH, rng):
            for text in in_pieces(labels, symbols, between, head, middle if states else end):
                write(text)
            if states:
                for text in in_pieces(numbers, path, between, tail=end):
                    write(text)
            update(1)


def _drawn(answers: Answers, n: int, length: int, rng: Any) -> Iterator[tuple[Ints, Ints]]:
    """The codes and the states of every sequence, without the event that it ends."""
    codes = replace(answers.model, vocabulary=None)
    if answers.end_code is None:
        for _ in range(n):
            yield codes.sample(length, rng)
        return
    from cohmm.model.sampling import sample_to_end

    for first in range(0, n, AT_A_TIME):
        many = min(AT_A_TIME, n - first)
        symbols, states, lengths = sample_to_end(codes, answers.end_code, many, rng)
        stop = 0
        for size in lengths.tolist():
            begin, stop = stop, stop + size
            yield symbols[begin:stop], states[begin:stop]


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

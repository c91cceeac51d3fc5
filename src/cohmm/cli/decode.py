"""``cohmm decode``: the states behind the symbols."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.model_files import batches_for, finite, in_pieces, json_line
from cohmm.cli.parquet_output import is_parquet, write_tables
from cohmm.cli.session import check_output, files_of, reading, working, writing

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.model.hmm import HMM


class Algorithm(StrEnum):
    """What is meant by the right states."""

    viterbi = "viterbi"
    map = "map"


@options.with_layout
def decode(
    model: options.Model,
    inputs: options.Inputs,
    output: options.OutputOption = None,
    algorithm: Annotated[
        Algorithm,
        typer.Option(help="The most probable path, or the most probable state at each place."),
    ] = Algorithm.viterbi,
    unseen: options.UnseenOption = options.Unseen.error,
    *,
    layout: Layout,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Print the hidden states of every sequence, one line each.

    With --json a line is an object: log_prob, of the states and the symbols together, and
    states.  An output whose name ends in .parquet has these as columns.

    **Examples**

        cohmm decode weather.cohmm days.txt -o states.txt

        cohmm decode weather.cohmm days.parquet --column words --algorithm map --json

        cohmm decode weather.cohmm years/ -o states.parquet
    """
    check_output(output, inputs=[model, *files_of(inputs)])
    if output is not None and is_parquet(output):
        with working(threads), reading(inputs, "decoding") as watch:
            from cohmm.model.answers import PATHS
            from cohmm.model.hmm import HMM

            hmm = HMM.load(model)
            batches = batches_for(hmm, inputs, layout, unseen, watch)
            write_tables((_table(hmm, batch, algorithm) for batch in batches), PATHS, output)
        return
    with working(threads), reading(inputs, "decoding") as watch, writing(output) as write:
        from cohmm.model.hmm import HMM

        hmm = HMM.load(model)
        for batch in batches_for(hmm, inputs, layout, unseen, watch):
            for text in _lines(hmm, batch, algorithm, json):
                write(text)


def _table(hmm: HMM, batch: Sequences, algorithm: Algorithm) -> Any:
    from cohmm.model.answers import paths_table

    return paths_table(*hmm.decode_each(batch, algorithm=algorithm.value), batch.lengths)


def _lines(hmm: HMM, batch: Sequences, algorithm: Algorithm, json: bool) -> Iterator[str]:
    log_probs, states = hmm.decode_each(batch, algorithm=algorithm.value)
    names = [str(k) for k in range(hmm.n_components)]
    for s, log_prob in enumerate(log_probs.tolist()):
        path = states[batch.offsets[s] : batch.offsets[s + 1]]
        if json:
            head = f'{{"log_prob": {json_line(finite(log_prob))}, "states": ['
            yield from in_pieces(names, path, ", ", head, "]}\n")
        else:
            yield from in_pieces(names, path, " ", tail="\n")

"""``cohmm decode``: the states behind the symbols."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cohmm.cli import files, options
from cohmm.cli.app import json_line
from cohmm.cli.progress import reading, working

if TYPE_CHECKING:
    from cohmm.data.sequences import Sequences
    from cohmm.kernels.types import Floats, Ints


@options.with_options
def decode(
    model: Path,
    inputs: list[str],
    output: Path | None = None,
    algorithm: Literal["viterbi", "map"] = "viterbi",
    json: bool = False,
    *,
    layout: Any,
    unseen: Literal["error", "missing"] = "error",
    threads: int | None = None,
) -> None:
    """Print the hidden states of every sequence, one line each.

    With --json a line is an object: log_prob, of the states and the symbols together, and
    states.  An output whose name ends in .parquet has these as columns.

    **Examples**

        cohmm decode weather.cohmm days.txt -o states.txt

        cohmm decode weather.cohmm days.parquet --column words --algorithm map --json

        cohmm decode weather.cohmm years/ -o states.parquet
    """
    files.check_output(output, inputs=[model, *files.files_of(inputs)])
    with working(threads), reading(inputs, "decoding") as watch:
        from cohmm.model.answers import PATHS, paths_table
        from cohmm.model.hmm import HMM

        hmm = HMM.load(model)
        decoded = (
            (batch, *hmm.decode_each(batch, algorithm=algorithm))
            for batch in files.batches_for(hmm, inputs, layout, unseen, watch)
        )
        if output is not None and files.is_parquet(output):
            tables = (paths_table(p, states, batch.lengths) for batch, p, states in decoded)
            files.write_tables(tables, PATHS, output)
            return
        names = [str(k) for k in range(hmm.n_components)]
        with files.writing(output) as write:
            for batch, log_probs, states in decoded:
                for text in _lines(batch, log_probs, states, names, json):
                    write(text)


def _lines(
    batch: Sequences, log_probs: Floats, states: Ints, names: list[str], json: bool
) -> Iterator[str]:
    for s, log_prob in enumerate(log_probs.tolist()):
        path = states[batch.offsets[s] : batch.offsets[s + 1]]
        if json:
            head = f'{{"log_prob": {json_line(log_prob)}, "states": ['
            yield from files.in_pieces(names, path, ", ", head, "]}\n")
        else:
            yield from files.in_pieces(names, path, " ", tail="\n")

"""``cohmm decode``: the states behind the symbols."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cohmm.cli import options
from cohmm.cli.app import json_line
from cohmm.cli.files import answers_of, batches_for, check_output, files_of
from cohmm.cli.output import Rows, format_of, in_pieces, writing, writing_tables
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
    each_symbol: bool | None = None,
    json: bool = False,
    *,
    layout: Any,
    unseen: Literal["error", "missing", "rare"] | None = None,
    threads: int | None = None,
) -> None:
    """Print the hidden states of every sequence, one line each; of a group, its key comes first.

    With --json a line is an object: log_prob, of the states and the symbols together, and
    states.  An output whose name ends in .csv, .jsonl or .parquet is a table: with --group it has
    a row per symbol (key, row, position, symbol, state), otherwise one per sequence (log_prob,
    states).

    **Examples**

        cohmm decode weather.cohmm days.txt -o states.txt

        cohmm decode weather.cohmm days.parquet --column words --algorithm map --json

        cohmm decode visits.cohmm clicks.csv --column page --group user --order time -o states.csv
    """
    check_output(output, inputs=[model, *files_of(inputs)])
    group, kind = layout["group"], "jsonl" if json else format_of(output)
    if each_symbol is None:
        each_symbol = group is not None and format_of(output) != "text"
    with working(threads), reading(inputs, "decoding") as watch:
        import pyarrow as pa

        from cohmm.model.answers import PATHS, list_array

        answers = answers_of(model, unseen)
        decoded = (
            (batch, *answers.paths_of(answers.encoded(batch), algorithm))
            for batch in batches_for(answers, inputs, layout, watch)
        )
        if each_symbol:
            rows = Rows(answers.symbols, layout, {"state": pa.int32()}, each_symbol)
            with writing_tables(output, rows.schema, kind) as write:
                for batch, _, states in decoded:
                    write(rows.table(batch, states))
        elif kind in ("csv", "parquet"):
            columns = dict(zip(PATHS.names, PATHS.types, strict=True))
            rows = Rows(answers.symbols, layout, columns, each_symbol)
            with writing_tables(output, rows.schema) as write:
                for batch, log_probs, states in decoded:
                    write(rows.table(batch, log_probs, list_array(states, batch.lengths)))
        else:
            names = [str(k) for k in range(answers.model.n_components)]
            with writing(output) as write:
                for batch, log_probs, states in decoded:
                    for text in _lines(batch, log_probs, states, names, group, kind == "jsonl"):
                        write(text)


def _lines(
    batch: Sequences,
    log_probs: Floats,
    states: Ints,
    names: list[str],
    group: str | None,
    json: bool,
) -> Iterator[str]:
    """Of a long sequence a piece at a time."""
    keys = [None] * len(batch) if batch.keys is None else batch.keys.tolist()
    for s, (key, log_prob) in enumerate(zip(keys, log_probs.tolist(), strict=True)):
        path = states[batch.offsets[s] : batch.offsets[s + 1]]
        if json:
            head = json_line(({} if group is None else {group: key}) | {"log_prob": log_prob})
            yield from in_pieces(names, path, ", ", f'{head[:-1]}, "states": [', "]}\n")
        else:
            yield from in_pieces(names, path, " ", "" if key is None else f"{key}\t", "\n")

"""``cohmm score``: how probable data is under a model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from cohmm.cli import options
from cohmm.cli.app import print_result, say
from cohmm.cli.files import answers_of, batches_for, check_output, files_of
from cohmm.cli.output import Rows, format_of, writing_tables
from cohmm.cli.progress import reading, working


@options.with_options
def score(
    model: Path,
    inputs: list[str],
    each: bool = False,
    each_symbol: bool = False,
    output: Path | None = None,
    json: bool = False,
    *,
    layout: Any,
    unseen: Literal["error", "missing", "rare"] | None = None,
    threads: int | None = None,
) -> None:
    """Print the log-likelihood and the perplexity of data under a model.

    Perplexity is exp(-log-likelihood / observed symbols). A sequence that the model cannot
    have produced has a log-likelihood of -inf (in JSON: null).

    With --each there is a line per sequence instead, and with --each-symbol one per symbol: its
    sequence, or the key of its group and the row of the file; its position; itself; and its
    surprise, -log P(symbol | those before it). An output whose name ends in .csv, .jsonl or
    .parquet is a table of these.

    **Examples**

        cohmm score weather.cohmm days.txt

        cohmm score weather.cohmm days.jsonl.gz --column words --unseen missing --json

        cohmm score weather.cohmm days.txt --each | sort -g | head

        cohmm score visits.cohmm clicks.csv --column page --group user --each-symbol -o odd.csv
    """
    check_output(output, inputs=[model, *files_of(inputs)])
    if each and each_symbol:
        raise ValueError("--each is of sequences, --each-symbol of symbols: give one of the two")
    if output is not None and not (each or each_symbol):
        raise ValueError("--output takes what --each or --each-symbol says: give one of them too")
    sequences = observed = impossible = 0
    total, first, values = 0.0, "", []
    in_one_object = each and json and output is None
    with working(threads), reading(inputs, "scoring") as watch:
        import pyarrow as pa

        answers = answers_of(model, unseen)
        answer = {"surprise" if each_symbol else "log_likelihood": pa.float64()}
        rows = Rows(answers.symbols, layout, answer, each_symbol)
        kind = "jsonl" if json and output is None else format_of(output)
        with writing_tables(output, rows.schema, kind) as write:
            for batch in batches_for(answers, inputs, layout, watch):
                encoded = answers.encoded(batch)
                log_likelihoods = answers.scores_of(encoded)
                sequences += len(batch)
                observed += int((batch.symbols >= 0).sum())
                total += float(log_likelihoods.sum())
                zero = log_likelihoods == -math.inf
                if zero.any() and not impossible:
                    first = batch.place_of(int(batch.offsets[zero.argmax()]))
                impossible += int(zero.sum())
                if in_one_object:
                    values += log_likelihoods.tolist()
                elif each:
                    write(rows.table(batch, log_likelihoods))
                elif each_symbol:
                    write(rows.table(batch, answers.surprise_of(encoded)))
    if impossible:
        say(
            f"{impossible:,} of {sequences:,} sequences have probability zero, the first begins at "
            f"{first}"
        )
    if (each or each_symbol) and output is None and not in_one_object:
        return
    per_symbol = total / max(observed, 1)
    perplexity = math.exp(-per_symbol) if per_symbol > -700 else math.inf
    summary = {
        "sequences": sequences,
        "observed": observed,
        "log_likelihood": total,
        "per_symbol": per_symbol,
        "perplexity": perplexity,
        "impossible": impossible,
    }
    lines = [
        f"sequences       {sequences:,}",
        f"observations    {observed:,}",
        f"log-likelihood  {total:.6f}",
        f"per symbol      {per_symbol:.6f}",
        f"perplexity      {perplexity:.6f}",
    ]
    print_result(json, summary | ({"each": values} if in_one_object else {}), lines)

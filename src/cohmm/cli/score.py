"""``cohmm score``: how probable data is under a model."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

from cohmm.cli import options
from cohmm.cli.app import print_result, say
from cohmm.cli.files import batches_for, writing
from cohmm.cli.progress import reading, working


@options.with_options
def score(
    model: Path,
    inputs: list[str],
    each: bool = False,
    json: bool = False,
    *,
    layout: Any,
    unseen: Literal["error", "missing"] = "error",
    threads: int | None = None,
) -> None:
    """Print the log-likelihood and the perplexity of data under a model.

    Perplexity is exp(-log-likelihood / observed symbols). A sequence that the model cannot
    have produced has a log-likelihood of -inf (in JSON: null).

    **Examples**

        cohmm score weather.cohmm days.txt

        cohmm score weather.cohmm days.jsonl.gz --column words --unseen missing --json

        cohmm score weather.cohmm days.txt --each | sort -g | head
    """
    sequences = observed = impossible = 0
    total, first, values = 0.0, "", []
    with working(threads), reading(inputs, "scoring") as watch, writing(None) as write:
        from cohmm.model.hmm import HMM

        hmm = HMM.load(model)
        for batch in batches_for(hmm, inputs, layout, unseen, watch):
            log_likelihoods = hmm.log_likelihoods(batch)
            sequences += len(batch)
            observed += int((batch.symbols >= 0).sum())
            total += float(log_likelihoods.sum())
            zero = log_likelihoods == -math.inf
            if zero.any() and not impossible:
                first = batch.place_of(int(batch.offsets[zero.argmax()]))
            impossible += int(zero.sum())
            if each and json:
                values += log_likelihoods.tolist()
            elif each:
                write("".join(f"{value}\n" for value in log_likelihoods.tolist()))
    if impossible:
        say(
            f"{impossible:,} of {sequences:,} sequences have probability zero, the first begins at "
            f"{first}"
        )
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
    print_result(json, summary | ({"each": values} if each else {}), [] if each else lines)

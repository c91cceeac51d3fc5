"""``cohmm score``: how probable data is under a model."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.model_files import batches_for, finite, json_line
from cohmm.cli.program import say
from cohmm.cli.session import reading, working, writing

if TYPE_CHECKING:
    from cohmm.data.read_sequences import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.kernels.types import Floats


@options.with_layout
def score(
    model: options.Model,
    inputs: options.Inputs,
    each: Annotated[
        bool,
        typer.Option("--each", help="Print the log-likelihood of each sequence."),
    ] = False,
    unseen: options.UnseenOption = options.Unseen.error,
    *,
    layout: Layout,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Print the log-likelihood and the perplexity of data under a model.

    Perplexity is exp(-log-likelihood / observed symbols). A sequence that the model cannot
    have produced has a log-likelihood of -inf (in JSON: null).

    **Examples**

        cohmm score weather.cohmm days.txt

        cohmm score weather.cohmm days.jsonl.gz --column words --unseen missing --json

        cohmm score weather.cohmm days.txt --each | sort -g | head
    """
    tally = Tally()
    with working(threads), reading(inputs, "scoring") as watch, writing(None) as write:
        from cohmm.model.hmm import HMM

        hmm = HMM.load(model)
        for batch in batches_for(hmm, inputs, layout, unseen, watch):
            values = hmm.log_likelihoods(batch)
            tally.add(batch, values)
            if each and json:
                tally.each += values.tolist()
            elif each:
                write("".join(f"{value}\n" for value in values.tolist()))
    if tally.impossible:
        say(
            f"{tally.impossible:,} of {tally.sequences:,} sequences have probability zero, the "
            f"first begins at {tally.first_impossible}"
        )
    if json:
        found = tally.summary()
        if each:
            found["each"] = [finite(value) for value in tally.each]
        typer.echo(json_line(found))
    elif not each:
        typer.echo(tally.in_words())


class Tally:
    """Sums over all batches."""

    def __init__(self) -> None:
        self.sequences = 0
        self.observed = 0
        self.log_likelihood = 0.0
        self.impossible = 0
        self.first_impossible = ""
        self.each: list[float] = []

    def add(self, batch: Sequences, values: Floats) -> None:
        """One more batch, and the log-likelihoods of its sequences."""
        self.sequences += len(batch)
        self.observed += int((batch.symbols >= 0).sum())
        self.log_likelihood += float(values.sum())
        impossible = values == -math.inf
        if impossible.any() and not self.impossible:
            first = int(batch.offsets[impossible.argmax()])
            self.first_impossible = batch.place_of(first)
        self.impossible += int(impossible.sum())

    @property
    def per_symbol(self) -> float:
        """Average log-likelihood of an observed symbol."""
        return self.log_likelihood / max(self.observed, 1)

    @property
    def perplexity(self) -> float:
        """Among how many equally likely symbols the model is, as it were, left to choose."""
        return math.exp(-self.per_symbol) if self.per_symbol > -700 else math.inf

    def summary(self) -> dict[str, Any]:
        """For machines."""
        return {
            "sequences": self.sequences,
            "observed": self.observed,
            "log_likelihood": finite(self.log_likelihood),
            "per_symbol": finite(self.per_symbol),
            "perplexity": finite(self.perplexity),
            "impossible": self.impossible,
        }

    def in_words(self) -> str:
        """For people."""
        return (
            f"sequences       {self.sequences:,}\n"
            f"observations    {self.observed:,}\n"
            f"log-likelihood  {self.log_likelihood:.6f}\n"
            f"per symbol      {self.per_symbol:.6f}\n"
            f"perplexity      {self.perplexity:.6f}"
        )

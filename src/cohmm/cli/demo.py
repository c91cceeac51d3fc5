"""``cohmm demo``: the package at work on a model that is known."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cohmm.cli import options
from cohmm.cli.models import json_line
from cohmm.cli.session import notices, working

if TYPE_CHECKING:
    from cohmm.model.hmm import HMM


LAGS = (1, 2, 3)


class Findings(NamedTuple):
    """How close the answers came, and how many seconds each took."""

    pair_gap: float
    """Total variation between the counted pair law and the true one."""
    perplexity: float
    emission_error: float
    """Mean total variation between the learned emissions and the true ones."""
    transition_error: float
    right: float
    """Share of the states that decoding with the learned model got right."""
    chance: float
    """Share of the commonest state: what the best guess without data gets right."""
    seconds: dict[str, float]


def demo(
    length: Annotated[
        int, typer.Option("--length", "-n", min=1000, help="Symbols to draw.")
    ] = 1_000_000,
    seed: options.SeedOption = 0,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Draw from a known model, count pairs, learn, score, decode, and say how close it came.

    No files are needed or written; it takes seconds, and some more where kernels are compiled.

    **Examples**

        cohmm demo

        cohmm demo -n 10000000 --seed 1 --json
    """
    with working(threads), notices():
        from cohmm.datasets.synthetic import random_hmm

        hmm = random_hmm(n_symbols=100, n_components=20, stay=0.9, random_state=seed)
        found = run(hmm, length, seed)
    if json:
        typer.echo(json_line(found._asdict()))
    else:
        show(hmm, length, found)


def run(hmm: HMM, length: int, seed: int | None = None) -> Findings:
    """Draw ``length`` symbols from a model and compare every answer with the truth."""
    import numpy as np

    from cohmm.evidence.counting import count_pairs
    from cohmm.hmm import PairwiseHMM

    clock = Clock()
    symbols, states = hmm.sample(length, random_state=seed)
    clock.lap("sample")
    pairs = count_pairs(symbols, lags=LAGS, n_symbols=hmm.n_symbols)
    clock.lap("count")
    learned = PairwiseHMM(hmm.n_components, random_state=0).fit_counts(pairs).model_.align_to(hmm)
    clock.lap("learn")
    log_likelihood = learned.log_likelihood(symbols)
    clock.lap("score")
    _, decoded = learned.decode(symbols)
    clock.lap("decode")
    distance = learned.distance(hmm)
    return Findings(
        emission_error=distance.emission,
        transition_error=distance.transition,
        pair_gap=float(np.abs(pairs.probability() - hmm.pair_probability()).sum() / 2),
        perplexity=math.exp(-log_likelihood / length),
        right=float(np.mean(decoded == states)),
        chance=float(np.bincount(states).max() / length),
        seconds=clock.laps,
    )


class Clock:
    """Times of steps that follow one another."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._begun = time.perf_counter()

    def lap(self, name: str) -> None:
        """The step that ends now."""
        now = time.perf_counter()
        self.laps[name] = now - self._begun
        self._begun = now


def show(hmm: HMM, length: int, found: Findings) -> None:
    """Print a table of what came out."""
    from rich.console import Console
    from rich.table import Table

    results = {
        "sample": f"{length:,} symbols",
        "count": f"pair law {found.pair_gap:.2%} off the true one (total variation)",
        "learn": f"emissions {found.emission_error:.2%} off the truth, transitions "
        f"{found.transition_error:.2%}",
        "score": f"perplexity {found.perplexity:.1f} of {hmm.n_symbols}",
        "decode": f"{found.right:.1%} of the states right, by chance {found.chance:.1%}",
    }
    table = Table(title=f"A known model: {hmm.n_components} states, {hmm.n_symbols} symbols")
    table.add_column("step")
    table.add_column("result")
    table.add_column("seconds", justify="right")
    for name, result in results.items():
        table.add_row(name, result, f"{found.seconds[name]:.3f}")
    Console().print(table)

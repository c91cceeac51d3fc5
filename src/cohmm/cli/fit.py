"""``cohmm fit``: from files, or from counts of them, to a model."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cohmm.cli import options
from cohmm.cli.cluster import cluster, partitions, symbols_of
from cohmm.cli.count import numbers
from cohmm.cli.model_files import batches_for, json_line
from cohmm.cli.session import (
    check_output,
    files_of,
    learning,
    notices,
    read_once,
    reading,
    screen,
    working,
)

if TYPE_CHECKING:
    from cohmm.data.partitioned import Partitioned
    from cohmm.data.read_sequences import Layout
    from cohmm.data.sequences import Sequences
    from cohmm.evidence.cooccurrence import Cooccurrence
    from cohmm.learn.pairs.pair_evidence import PairFit
    from cohmm.learn.pairwise import PairwiseFit
    from cohmm.learn.sequences.refine import RefinedFit
    from cohmm.model.hmm import HMM

MOST_STATES_SHOWN = 20
TOP_SYMBOLS = 6
OTHER_COLUMNS = 34  # characters of a row that are not its symbols
NEVER = 1e-9  # a probability to leave a state that is none


class By(StrEnum):
    """Whose likelihood the model is refined by."""

    sequences = "sequences"
    triples = "triples"


@options.with_layout
def fit(
    inputs: options.Inputs,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The file to write the model to.", show_default=False),
    ],
    states: Annotated[
        str, typer.Option("--states", "-k", help="How many; auto: as many as the data can show.")
    ] = "auto",
    lags: Annotated[
        str | None,
        typer.Option(
            help="Distances at which to count, such as 1,2,3; more than one helps where states "
            "persist. Default: 1, or all that the counts have.",
            show_default=False,
        ),
    ] = None,
    penalty: Annotated[
        str | None,
        typer.Option(
            help="Weight of the volume term: a number, or auto for held-out pairs.",
            show_default=False,
        ),
    ] = None,
    starts: Annotated[int, typer.Option(min=1, help="Starts, of which the best is kept.")] = 1,
    max_iter: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Passes over the counts, and over the data, at most.",
            show_default="3000 and 60 to 200",
        ),
    ] = None,
    tol: Annotated[
        float, typer.Option(min=0, help="Stop when a step gains less log-likelihood.")
    ] = 1e-3,
    smoothing: Annotated[
        float, typer.Option(min=0, help="Pseudo-observations of each symbol in each state.")
    ] = 0.1,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Go on to maximum likelihood, reading the data a second time. Default: where "
            "that takes about a minute at most, and the input is not counts.",
            show_default=False,
        ),
    ] = None,
    refine_by: Annotated[
        By | None,
        typer.Option(
            help="Refine, by the likelihood of the sequences or of their triples, whose cost does "
            "not grow with the data. Default: triples from 1e7 symbols on.",
            show_default=False,
        ),
    ] = None,
    sparsity: Annotated[
        str,
        typer.Option(
            help="Weight of a prior for emissions with zeros, for refining; auto: 1 if zeros show."
        ),
    ] = "auto",
    seed: options.SeedOption = 0,
    integers: Annotated[
        bool, typer.Option("--integers", help="Symbols are whole numbers from 0, not labels.")
    ] = False,
    *,
    layout: Layout,
    memory: options.MemoryOption = None,
    workers: options.WorkersOption = None,
    scheduler: options.SchedulerOption = None,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Learn a hidden Markov model from pair counts, and refine it on the data.

    INPUT is data, as for cohmm count, or files that cohmm count wrote, whose counts are added.

    **Examples**

        cohmm fit words.txt -k 20 -o model.cohmm

        cohmm fit monday.cohmm tuesday.cohmm -k auto -o week.cohmm

        cohmm fit clicks.csv --column page --group user -k 8 --lags 1,2,3 -o clicks-model.cohmm

        cohmm fit logs/*.txt -k 12 --workers 8 -o logs.cohmm
    """
    check_output(output, inputs=files_of(inputs))
    wanted = None if lags is None else numbers(lags)
    from_counts = all(is_counts(path) for path in inputs)
    once = read_once(inputs)
    readable = not from_counts and once is None
    if refine_by is not None and refine is False:
        raise ValueError(f"--refine-by {refine_by} and --no-refine: give one of the two")
    if (refine or refine_by is not None) and not readable:
        what = "counts" if from_counts else once
        option = "--refine" if refine_by is None else "--refine-by"
        raise ValueError(f"{option} reads the data a second time: give files of it, not {what}")
    weight = _number_or_auto("--sparsity", sparsity)
    if weight not in (0, "auto") and (refine is False or not readable):
        raise ValueError("--sparsity is for refining: give files of data, without --no-refine")
    with working(threads), cluster(workers, scheduler) as client:
        from cohmm.learn import pairwise

        began = time.perf_counter()
        with notices():
            learned = pairwise(
                load_counts(inputs, wanted)
                if from_counts
                else Files(inputs, layout, integers, readable and refine is not False, memory)
                if client is None
                else on_workers(inputs, layout, integers, client),
                states_of(states),
                lags=wanted,
                penalty=None if penalty is None else _number_or_auto("--penalty", penalty),
                max_iter=max_iter,
                tol=tol,
                n_init=starts,
                smoothing=smoothing,
                refine=refine_by.value if refine_by else "auto" if refine is None else refine,
                sparsity=weight,
                random_state=seed,
                stage=lambda name, passes: learning(passes),
            )
        learned.model.save(output)
        seconds = time.perf_counter() - began
    if json:
        typer.echo(json_line(summary(learned, seconds)))
    else:
        show(learned, output, seconds)


@dataclass(frozen=True)
class Files:
    """Files of sequences, counted as they stream by, and read again to refine: a `Source`."""

    inputs: list[str]
    layout: Layout
    integers: bool
    readable: bool
    """Whether they can, and may, be read again."""
    memory: str | None = None
    """A cap on what counting takes."""

    def count(self, lags: Iterable[int]) -> Cooccurrence:
        """One pass: the pairs."""
        from cohmm.evidence.count_files import count_files

        with reading(self.inputs, "counting") as watch:
            return count_files(
                self.inputs,
                self.layout,
                lags=lags,
                integers=self.integers,
                memory=self.memory,
                progress=watch.progress,
                notice=watch.notice,
            ).pairs

    def sequences(self, counts: Cooccurrence) -> Sequences | None:
        """The data, in the symbols of its counts."""
        from cohmm.data.joined_on_disk import joined_on_disk

        if not self.readable:
            return None
        with reading(self.inputs, "reading again") as watch:
            quiet = watch._replace(notice=lambda text: None)  # it was said when pairs were counted
            batches = batches_for(counts, self.inputs, self.layout, options.Unseen.error, quiet)
            return joined_on_disk(batches)


def on_workers(inputs: list[str], layout: Layout, integers: bool, client: Any) -> Partitioned:
    """The data, encoded by workers and kept there."""
    from cohmm.data.partitioned import as_data

    data = partitions(inputs, layout, client)
    return as_data(symbols_of(data, integers), characters=layout.characters)  # type: ignore[return-value]


def is_counts(path: str) -> bool:
    """Whether a file is one of ours: data that happens to be a zip archive is not read as text."""
    if path == "-" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def load_counts(paths: list[str], lags: tuple[int, ...] | None) -> Cooccurrence:
    """The sum of saved counts, at some of their lags."""
    from dataclasses import replace

    from cohmm.evidence.cooccurrence import Cooccurrence

    counts = Cooccurrence.load(paths[0])
    for path in paths[1:]:
        counts = counts + Cooccurrence.load(path)
    if lags is None:
        return counts
    return replace(counts, counts={lag: counts[lag] for lag in sorted(set(lags))})


def states_of(text: str) -> Any:
    """A number of states as it is written on the command line, or auto."""
    if text == "auto":
        return "auto"
    if not options.WHOLE.fullmatch(text):
        raise ValueError(f"--states must be a whole number from 1, or auto, not {text!r}")
    return int(text)


def _number_or_auto(option: str, text: str) -> Any:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{option} must be a number or auto, not {text!r}") from None


def summary(learned: PairwiseFit, seconds: float) -> dict[str, Any]:
    """For machines."""
    model, pairs, refined, counts = _parts(learned)
    result = {
        "states": model.n_components,
        "symbols": model.n_symbols,
        "pairs": counts.n_pairs(min(counts.lags)),
        "began": learned.began,
        "refined": None,
        "prevalence": model.stationary().tolist(),
        "persistence": model.transmat.diagonal().tolist(),
        "seconds": seconds,
    }
    if pairs is not None:
        result |= {
            "detectable": pairs.spectrum.n_detectable,
            "objective": pairs.objective,
            "divergence": pairs.divergence,
            "penalty": pairs.penalty,
            "lag_weights": {str(lag): weight for lag, weight in pairs.lag_weights.items()},
            "passes": pairs.n_iter,
            "converged": pairs.converged,
            "starts": list(pairs.starts),
        }
    if refined is not None:
        by_triples = refined.evidence == "triples"
        result["refined"] = {
            "evidence": refined.evidence,
            "passes": refined.n_iter,
            "window_passes": refined.window_passes,
            "converged": refined.converged,
            "gained": refined.gained,
            "log_likelihood": None if by_triples else -refined.divergence,
        }
    return result


def _parts(learned: PairwiseFit) -> tuple[HMM, PairFit | None, RefinedFit | None, Cooccurrence]:
    pairs = cast("PairFit | None", learned.pairs)  # nothing is known here but the data
    return learned.model, pairs, learned.refined, learned.counts


def show(learned: PairwiseFit, output: Path, seconds: float) -> None:
    """One screen: how it went, and one row per state."""
    from rich.table import Table

    model, pairs, refined, counts = _parts(learned)
    typer.echo(
        f"{output}: {_many(model.n_components, 'state')}, {_many(model.n_symbols, 'symbol')}, "
        f"{counts.n_pairs(min(counts.lags)):,.0f} pairs, {seconds:.1f} s"
    )
    if pairs is not None:
        typer.echo(
            f"{_many(pairs.n_iter, 'pass', 'es')} over pairs, {_ended(pairs.converged)}; "
            f"divergence {pairs.divergence:.6f} nats per pair\n"
            f"these pairs can show {_many(pairs.spectrum.n_detectable, 'state')}: so many singular "
            f"values exceed {pairs.spectrum.floor:.3g}"
        )
    if learned.began != "pairs":
        typer.echo(f"learned from {learned.began}, which lead further than pairs here")
    if refined is not None:
        what, fits = (
            ("triples", f"divergence {refined.divergence:.6f} nats per triple")
            if refined.evidence == "triples"
            else ("data", f"log-likelihood {-refined.divergence:.6f} nats per symbol")
        )
        typer.echo(
            f"refined in {_many(refined.n_iter, 'pass', 'es')} over the {what}, "
            f"{_ended(refined.converged)}; {fits}, {refined.gained:.2g} gained"
        )
    console, table = screen(highlight=True), Table()
    for name in ("state", "share", "mean run"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("most probable symbols", no_wrap=True)
    share = model.stationary()
    for k in range(min(model.n_components, MOST_STATES_SHOWN)):
        leaves = 1 - model.transmat[k, k]
        run = "for good" if leaves < NEVER else f"{1 / leaves:.1f}"
        table.add_row(
            str(k), f"{share[k]:.1%}", run, top_symbols(model, k, console.width - OTHER_COLUMNS)
        )
    console.print(table)
    if model.n_components > MOST_STATES_SHOWN:
        typer.echo(f"... and {model.n_components - MOST_STATES_SHOWN} more states")


def _many(n: int, what: str, ending: str = "s") -> str:
    return f"{n:,} {what}{'' if n == 1 else ending}"


def _ended(converged: bool) -> str:
    return "converged" if converged else "not converged: the passes ran out"


def top_symbols(model: HMM, k: int, width: int) -> str:
    """The most probable symbols of a state, with their probabilities: as many as there is room."""
    import numpy as np
    from rich.cells import cell_len, set_cell_size
    from rich.markup import escape

    probabilities = model.emissionprob[k]
    labels = model.vocabulary or range(model.n_symbols)
    names = [" ".join(str(label).split()) or repr(label) for label in labels]
    text = ""
    for n in np.argsort(-probabilities, kind="stable")[:TOP_SYMBOLS]:
        one = f"{names[n]} {probabilities[n]:.2f}"
        longer = f"{text}  {one}" if text else one
        if probabilities[n] == 0 or cell_len(longer) > width:
            break
        text = longer
    if not text:  # one that is longer than the line
        n = int(probabilities.argmax())
        text = set_cell_size(names[n], max(width - 6, 1)) + f"… {probabilities[n]:.2f}"
    return escape(text)

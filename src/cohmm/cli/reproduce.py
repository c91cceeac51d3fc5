"""``cohmm reproduce``: the paper's experiments as commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Annotated, Any

import typer

from cohmm.cli import options
from cohmm.cli.model_files import json_line
from cohmm.cli.program import say
from cohmm.cli.session import screen, working

PACKAGE = "cohmm._experiments"


def reproduce(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Experiments, or all that need no data. Without a name they are listed.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: all together in a minute or two.")
    ] = False,
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to write to.")] = Path(
        "cohmm-experiments"
    ),
    instances: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Models of each size. Default: as docs/experiments.md says.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The first instance has this seed.")] = 0,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Do all steps anew, also those that were kept.")
    ] = False,
    threads: options.ThreadsOption = None,
    json: options.JsonOption = False,
) -> None:
    """Run the paper's experiments: NAME.csv, NAME.png and NAME.md for each.

    Steps are kept in the output folder as they are done: an interrupted run goes on where it
    stopped, and a second one takes what is there.  Seconds are of the machine they ran on.

    **Examples**

        cohmm reproduce

        cohmm reproduce error-small --quick

        cohmm reproduce all -o results
    """
    package = experiments()
    if not names:
        show_list(package.EXPERIMENTS, json)
        return
    plan = package.Plan(quick, instances, seed)
    chosen = chosen_from(package.EXPERIMENTS, names)
    check_data(chosen, plan)
    folder = made_folder(output)
    kept = package.Kept(folder, fresh)
    summaries = {}
    with working(threads):
        for experiment in chosen:
            with progress(experiment.name, experiment.steps(plan)) as tell:
                outcome = package.run(experiment, plan, folder, kept=kept, tell=tell)
            summaries[experiment.name] = summary(experiment.name, folder, outcome)
            if not json:
                show(experiment, outcome, folder)
    if kept.stale:
        say(
            f"{kept.stale:,} of the kept steps were done before the code of cohmm was changed "
            "(--fresh: anew)"
        )
    if json:
        typer.echo(json_line(summaries))


def experiments() -> Any:
    """The folder ``experiments`` of the repository, which a wheel holds inside the package."""
    if PACKAGE not in sys.modules and find_spec(PACKAGE) is None:
        home = Path(__file__).parents[3] / "experiments"
        spec = spec_from_file_location(
            PACKAGE, home / "__init__.py", submodule_search_locations=[str(home)]
        )
        if spec is None or spec.loader is None or not home.is_dir():
            raise ValueError(f"there is no folder {home}: install cohmm from a wheel or a clone")
        module = module_from_spec(spec)
        sys.modules[PACKAGE] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[PACKAGE]
            raise
    __import__(PACKAGE)
    return sys.modules[PACKAGE]


def chosen_from(known: dict[str, Any], names: list[str]) -> list[Any]:
    """The experiments of these names, each once, in the order in which they are listed."""
    for name in names:
        if name not in known and name != "all":
            raise ValueError(
                f"there is no experiment {name!r}: choose from {', '.join(known)}, all"
            )
    return [
        experiment
        for name, experiment in known.items()
        if name in names or ("all" in names and not experiment.on_data)
    ]


def check_data(chosen: list[Any], plan: Any) -> None:
    """Whether what the experiments read is there."""
    for experiment in chosen:
        missing = experiment.missing(plan)
        if missing is not None:
            raise ValueError(f"{experiment.name}: {missing}")


def made_folder(path: Path) -> Path:
    """A folder to write to, made where there is none."""
    if path.exists() and not path.is_dir():
        raise ValueError(f"cannot write to {path}: it is not a folder")
    path.mkdir(parents=True, exist_ok=True)
    return path


def show_list(known: dict[str, Any], json: bool) -> None:
    """A line an experiment."""
    if json:
        typer.echo(json_line({name: experiment.title for name, experiment in known.items()}))
        return
    width = max(map(len, known))
    for name, experiment in known.items():
        typer.echo(f"{name:{width}}  {experiment.title}")


def summary(name: str, folder: Path, outcome: Any) -> dict[str, Any]:
    """For machines: where the files are, and the means of the rows."""
    return {
        "csv": str(folder / f"{name}.csv"),
        "figure": str(folder / f"{name}.png"),
        "rows": len(outcome.rows),
        "steps": outcome.steps,
        "reused": outcome.reused,
        "seconds": outcome.seconds,
        "means": outcome.summary,
    }


def show(experiment: Any, outcome: Any, folder: Path) -> None:
    """Tables of the means, and where all of it is."""
    from rich import box
    from rich.table import Table

    console = screen(highlight=True)
    for means in experiment.tables(outcome.summary):
        typer.echo(means.title)
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for place, column in enumerate(means.columns):
            table.add_column(column, justify="right" if place else "left", no_wrap=True)
        for row in means.rows:
            table.add_row(*row)
        console.print(table, "")
    for text in experiment.shown(outcome.rows):
        console.print(text, highlight=False)
    names = ", ".join(
        [f"{experiment.name}.{kind}" for kind in ("csv", "png", "md")] + outcome.extras
    )
    typer.echo(f"{folder}: {names}; {steps_done(outcome)}, {outcome.seconds:.0f} s\n")


def steps_done(outcome: Any) -> str:
    """How many steps there were, and how many of them were there before."""
    if not outcome.reused:
        return f"{outcome.steps} steps"
    return f"{outcome.steps} steps, {outcome.reused} of them done before"


@contextmanager
def progress(name: str, steps: list[Any]) -> Iterator[Callable[[Any], None]]:
    """A bar with the time left, if a terminal looks on; else one line per step."""
    if not sys.stderr.isatty():
        yield lambda done: None if done.reused else say(line_of(name, done))
        return
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        parts.TextColumn("{task.fields[left]}"),
    )
    with parts.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=len(steps), left="")
        left = TimeLeft(steps)

        def tell(done: Any) -> None:
            bar.update(task, completed=done.number, left=left.after(done))

        yield tell


class TimeLeft:
    """Steps differ by orders of magnitude: their guessed costs are weighed by what was measured."""

    def __init__(self, steps: list[Any]) -> None:
        self._costs = [step.cost for step in steps]
        self._cost = self._seconds = 0.0

    def after(self, done: Any) -> str:
        """What remains, in words."""
        if not done.reused:
            self._cost += done.step.cost
            self._seconds += done.seconds
        if not self._cost:
            return ""
        rest = sum(self._costs[done.number :]) * self._seconds / self._cost
        return f"about {time.strftime('%H:%M:%S', time.gmtime(rest))} left"


def line_of(name: str, done: Any) -> str:
    """A step, as a line."""
    return f"{name} {done.number}/{done.of}: {done.step.label}: {done.seconds:.1f} s"

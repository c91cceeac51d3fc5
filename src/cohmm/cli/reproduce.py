"""``cohmm reproduce``: the paper's experiments as commands."""

from __future__ import annotations

import sys
import time
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import typer

from cohmm.cli import options
from cohmm.cli.app import json_line, print_result, say, screen, table_of
from cohmm.cli.progress import progress_bar, working

PACKAGE = "cohmm._experiments"


@options.with_options
def reproduce(
    names: list[str] | None = None,
    quick: bool = False,
    output: Path = Path("cohmm-experiments"),
    instances: int | None = None,
    random_state: int = 0,
    fresh: bool = False,
    json: bool = False,
    threads: int | None = None,
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
    known = package.EXPERIMENTS
    if not names:
        width = max(map(len, known))
        titles = {name: experiment.title for name, experiment in known.items()}
        print_result(json, titles, [f"{name:{width}}  {title}" for name, title in titles.items()])
        return
    plan = package.Plan(quick, instances, random_state)
    chosen = _chosen(known, names)
    for experiment in chosen:
        if (missing := experiment.missing(plan)) is not None:
            raise ValueError(f"{experiment.name}: {missing}")
    if output.exists() and not output.is_dir():
        raise ValueError(f"cannot write to {output}: it is not a folder")
    output.mkdir(parents=True, exist_ok=True)
    kept = package.Kept(output, fresh)
    summaries = {}
    with working(threads):
        for experiment in chosen:
            outcome = _run(package, experiment, plan, output, kept)
            summaries[experiment.name] = {
                "csv": str(output / f"{experiment.name}.csv"),
                "figure": str(output / f"{experiment.name}.png"),
                "rows": len(outcome.rows),
                "steps": outcome.steps,
                "reused": outcome.reused,
                "seconds": outcome.seconds,
                "means": outcome.summary,
            }
            if not json:
                _show(experiment, outcome, output)
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


def _chosen(known: dict[str, Any], names: list[str]) -> list[Any]:
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


def _run(package: Any, experiment: Any, plan: Any, folder: Path, kept: Any) -> Any:
    """Run an experiment: a bar with the time left on a terminal, else one line per step."""
    steps = experiment.steps(plan)
    left = TimeLeft(steps)
    with progress_bar(experiment.name, len(steps)) as update:

        def tell(done: Any) -> None:
            update(completed=done.number, note=left.after(done))
            if not done.reused and not sys.stderr.isatty():
                place = f"{experiment.name} {done.number}/{done.of}"
                say(f"{place}: {done.step.label}: {done.seconds:.1f} s")

        return package.run(experiment, plan, folder, kept=kept, tell=tell)


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


def _show(experiment: Any, outcome: Any, folder: Path) -> None:
    """Tables of the means, and where all of it is."""
    console = screen()
    for means in experiment.tables(outcome.summary):
        typer.echo(means.title)
        table = table_of(means.columns, means.rows, left=[0], show_edge=False, pad_edge=False)
        console.print(table, "")
    for text in experiment.shown(outcome.rows):
        console.print(text)
    files = [f"{experiment.name}.{kind}" for kind in ("csv", "png", "md")] + outcome.extras
    before = f", {outcome.reused} of them done before" if outcome.reused else ""
    typer.echo(
        f"{folder}: {', '.join(files)}; {outcome.steps} steps{before}, {outcome.seconds:.0f} s\n"
    )

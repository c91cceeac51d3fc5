"""Steps that are kept: a second run takes them from a file, an interrupted one goes on."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import cohmm
from cohmm import __version__
from cohmm.storage import replacing

from .experiment import Experiment, Plan, Row, Step

FOLDER = ".steps"


@cache
def code() -> str:
    """What the code of cohmm and of the experiments is, in a few characters."""
    homes = (Path(__file__).parent, Path(cohmm.__file__).parent)
    files = sorted({path for home in homes for path in home.rglob("*.py")})
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


class Kept:
    """Results of steps in a folder, a small file each, by what they depend on.

    Of the code they depend on its version alone, as not every change to it is one to them;
    `stale` counts those that other code has made.
    """

    def __init__(self, folder: Path, fresh: bool = False) -> None:
        self.folder = folder / FOLDER
        self.folder.mkdir(parents=True, exist_ok=True)
        self._fresh = fresh
        self._made: set[Path] = set()  # in this run: also a fresh one takes these
        self._stale: set[Path] = set()

    def get(self, step: Step) -> list[Row] | None:
        """The rows of a step, if it was done before by this version of cohmm."""
        path = self._path(step)
        if self._fresh and path not in self._made:
            return None
        try:
            found = json.loads(path.read_text())
            rows: list[Row] | None = found["rows"] if found["step"] == _identity(step) else None
            if rows is not None and found["code"] != code():
                self._stale.add(path)
            return rows
        except (OSError, ValueError, KeyError, TypeError):
            return None  # not there, or damaged: it is done again

    def put(self, step: Step, rows: list[Row]) -> list[Row]:
        """Keep the rows of a step; returns them as `get` will."""
        kept = {"step": _identity(step), "code": code(), "rows": rows}
        text = json.dumps(kept, allow_nan=False, indent=1)
        path = self._path(step)
        with replacing(path) as file:
            file.write(text.encode())
        self._made.add(path)
        return json.loads(text)["rows"]

    @property
    def stale(self) -> int:
        """How many of the steps that were taken other code has done."""
        return len(self._stale)

    def _path(self, step: Step) -> Path:
        text = json.dumps(_identity(step), sort_keys=True)
        key = hashlib.sha256(text.encode()).hexdigest()[:16]
        return self.folder / f"{step.family}-{key}.json"


def _identity(step: Step) -> dict[str, Any]:
    return {"family": step.family, "parameters": step.parameters, "version": __version__}


class Done(NamedTuple):
    """A step that is done."""

    step: Step
    number: int
    of: int
    reused: bool
    seconds: float


class Outcome(NamedTuple):
    """What came of an experiment."""

    rows: list[Row]
    summary: list[Row]
    steps: int
    reused: int
    seconds: float
    extras: list[str]  # names of further files


def run(
    experiment: Experiment,
    plan: Plan,
    folder: Path,
    *,
    kept: Kept,
    tell: Callable[[Done], None] = lambda done: None,
) -> Outcome:
    """Do the steps of an experiment, and write its rows, its table and its figure.

    ``NAME.csv``, ``NAME.md`` and ``NAME.png`` appear in ``folder``, each whole or not at all.
    """
    began = time.perf_counter()
    steps = experiment.steps(plan)
    rows: list[Row] = []
    reused = 0
    for number, step in enumerate(steps, 1):
        start = time.perf_counter()
        found = kept.get(step)
        reused += found is not None
        rows += kept.put(step, step.work()) if found is None else found
        seconds = time.perf_counter() - start
        tell(Done(step, number, len(steps), found is not None, seconds))
    summary = experiment.summary(rows)
    tables = experiment.tables(summary)
    _write(folder / f"{experiment.name}.csv", as_csv(rows))
    _write(folder / f"{experiment.name}.md", "\n".join(table.markdown() for table in tables))
    with replacing(folder / f"{experiment.name}.png") as file:
        experiment.draw(rows, file)
    extras = experiment.extras(rows, folder)
    seconds = time.perf_counter() - began
    return Outcome(rows, summary, len(steps), reused, seconds, extras)


def as_csv(rows: list[Row]) -> str:
    """Rows as CSV, with all the columns that any of them has."""
    text = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())

"""``cohmm reproduce``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
from matplotlib.image import imread

from cohmm.cli.app import one_line
from cohmm.cli.reproduce import TimeLeft, experiments

NAMES = list(experiments().EXPERIMENTS)
RECOVERY = {"N", "K", "method", "instance", "T", "emission", "transition", "seconds"}
COLUMNS = {
    "error-large": RECOVERY,
    "error-small": RECOVERY,
    "time": RECOVERY | {"pair_seconds", "triple_seconds"},
    "volume-ratio": {"K", "log10_ratio", "draws", "inside"},
    "pairs-vs-triples": {"N", "K", "T", "instance", "pair_kl", "triple_kl", "pair_tv", "triple_tv"},
    "overcomplete": {"route", "N", "K", "nonzeros", "T", "emission", "transition", "seconds"},
}
ON_DATA = ["reuters"]


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def test_all_quick(run, folder):
    """One run for all that is to be seen in it."""
    command = ("reproduce", "all", "--quick", "--instances", "1", "-o", "results")
    found = json.loads(run(*command, "--json").stdout)
    output = folder / "results"
    assert [*COLUMNS, *ON_DATA] == NAMES
    assert list(found) == list(COLUMNS)
    for name, result in found.items():
        assert result["csv"] == f"results/{name}.csv"
        rows = rows_of(output / f"{name}.csv")
        assert len(rows) == result["rows"] > 0
        assert COLUMNS[name] <= set(rows[0])
        assert (output / f"{name}.md").read_text().startswith("**")
        check_figure(output / f"{name}.png")
    assert found["time"]["reused"] == found["time"]["steps"] > 0
    assert sum(found[name]["reused"] for name in COLUMNS if name != "time") == 0
    check_errors(rows_of(output / "error-large.csv"), ["NMF", "CPD, one pencil"])
    check_errors(rows_of(output / "error-small.csv"), ["CPD, one pencil"])
    for row in rows_of(output / "overcomplete.csv"):
        assert int(row["K"]) > int(row["N"])
        if row["K"] != "36":  # N^2, the bound itself, where the law may say too little
            assert max(float(row["emission"]), float(row["transition"])) < 0.05

    before = (output / "error-small.csv").read_text()
    again = run("reproduce", "error-small", "--quick", "--instances", "1", "-o", "results")
    assert again.stderr == ""
    assert "of them done before" in again.stdout
    assert "Error of emission, N=16, K=4" in again.stdout
    assert max(map(len, again.stdout.splitlines()[:-2])) <= 80
    assert (output / "error-small.csv").read_text() == before


def test_missing_data_is_told_before_anything_is_written(run, folder, monkeypatch):
    monkeypatch.delenv("COHMM_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    package = experiments()
    missing = package.EXPERIMENTS["reuters"].missing(package.Plan(True, None, 0))
    assert "COHMM_DATA" in missing
    told = one_line(f"cohmm: reuters: {missing}").removeprefix("cohmm: ")
    run("reproduce", "reuters", "--quick", "-o", "none", fails=told)
    assert not (folder / "none").exists()


def check_figure(path):
    """There is ink on it, and paper."""
    picture = imread(path)
    assert min(picture.shape[:2]) > 500
    assert 0.02 < np.mean(picture[..., :3].min(axis=2) < 0.9) < 0.5


def check_errors(rows, rivals):
    """The method's fall with T, and in the end are below those of rivals."""
    longest = max(int(row["T"]) for row in rows)
    for what in ("emission", "transition"):
        error = {(row["method"], int(row["T"])): float(row[what]) for row in rows}
        ours = {t: value for (method, t), value in error.items() if "the method" in method}
        assert ours[longest] < min(0.2, ours[min(ours)] / 2)
        for rival in rivals:
            assert ours[longest] < error[rival, longest]


def test_without_a_name_the_experiments_are_listed(run, folder):
    before = sorted(folder.iterdir())
    lines = run("reproduce").stdout.splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    assert all(len(line) <= 80 for line in lines)
    assert list(json.loads(run("reproduce", "--json").stdout)) == NAMES
    assert sorted(folder.iterdir()) == before


def test_the_same_seed_gives_the_same_rows_and_another_others(run, folder):
    def drawn(seed: str, where: str) -> str:
        run("reproduce", "volume-ratio", "--quick", "--seed", seed, "-o", where)
        return Path(where, "volume-ratio.csv").read_text()

    assert drawn("1", "a") == drawn("1", "b") != drawn("2", "a")


def test_fresh_does_the_steps_anew(run, folder):
    command = ("reproduce", "volume-ratio", "--quick")
    assert "done before" not in run(*command).stdout
    assert "done before" in run(*command).stdout
    assert "done before" not in run(*command, "--fresh").stdout
    assert (folder / "cohmm-experiments" / "volume-ratio.png").is_file()


def test_bad_input_is_one_line(run, folder):
    names = ", ".join([*NAMES, "all"])
    run(
        "reproduce",
        "error-big",
        fails=f"there is no experiment 'error-big': choose from {names}",
    )
    run(
        *("reproduce", "volume-ratio", "-o", "d.txt"),
        fails="cannot write to d.txt: it is not a folder",
    )
    assert not (folder / "cohmm-experiments").exists()


def test_time_left_follows_the_costs():
    class Step:
        def __init__(self, cost: float) -> None:
            self.cost = cost

    class Done:
        def __init__(self, step: Step, number: int, reused: bool, seconds: float) -> None:
            self.step, self.number, self.reused, self.seconds = step, number, reused, seconds

    steps = [Step(1.0), Step(1.0), Step(100.0)]
    left = TimeLeft(steps)
    assert left.after(Done(steps[0], 1, True, 0.01)) == ""
    assert left.after(Done(steps[1], 2, False, 2.0)) == "about 00:03:20 left"
    assert left.after(Done(steps[2], 3, False, 200.0)) == "about 00:00:00 left"

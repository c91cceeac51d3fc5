"""Commands on a cluster, and past memory: the files that they write are those of one process."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cohmm import HMM, HTMM, Cooccurrence
from cohmm.cli import app, files
from tests.distributed.data_at_hand import sequences, texts

pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def run(app: Any, arguments: list[str]) -> Any:
    return CliRunner().invoke(app, arguments, prog_name="cohmm")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a running cluster."""
    from distributed import LocalCluster

    with (
        warnings.catch_warnings(),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture
def data(tmp_path: Path) -> list[str]:
    paths = []
    for part in range(2):
        path = tmp_path / f"{part}.txt"
        size = -(-len(sequences()) // 2)
        some = sequences()[part * size : (part + 1) * size]
        path.write_text("".join(" ".join(row) + "\n" for row in some))
        paths.append(str(path))
    return paths


def ok(*arguments: str) -> str:
    result = run(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_counts_on_a_running_cluster(scheduler: str, data: list[str], tmp_path: Path) -> None:
    far, here = str(tmp_path / "far.cohmm"), str(tmp_path / "here.cohmm")
    said = [
        json.loads(ok("count", *data, "--lags", "1,2", "--json", "-o", path, *more))
        for path, more in ((far, ("--scheduler", scheduler)), (here, ()))
    ]
    assert said[0] == said[1]
    assert Cooccurrence.load(far) == Cooccurrence.load(here)


def test_whole_numbers_too(scheduler: str, tmp_path: Path) -> None:
    path, output = tmp_path / "x.txt", str(tmp_path / "x.cohmm")
    path.write_text("0 1 2\n2 10 1\n")
    ok("count", str(path), "--integers", "--scheduler", scheduler, "-o", output)
    assert Cooccurrence.load(output).n_symbols == 11
    path.write_text("0 1 2\n2 a 1\n")
    result = run(app, ["count", str(path), "--integers", "--scheduler", scheduler, "-o", output])
    assert result.exit_code == 2
    assert "row 1 has a symbol that is no whole number" in result.stderr


NUMBERS = [[7, 10, 7], [8, 7, 8, 10], [10, 10]]


@pytest.mark.parametrize("kind", ["lists.parquet", "lists.jsonl", "lists.csv", "rows.csv"])
@pytest.mark.parametrize("integers", [False, True])
def test_numbers_are_labels_unless_asked_for_as_in_one_process(
    scheduler: str, tmp_path: Path, kind: str, integers: bool
) -> None:
    path = tmp_path / kind
    more = ["--column", "page"]
    if kind == "lists.parquet":
        pq.write_table(pa.table({"page": NUMBERS}), path)
    elif kind == "lists.jsonl":
        path.write_text("".join(json.dumps({"page": row}) + "\n" for row in NUMBERS))
    elif kind == "lists.csv":
        path.write_text("page\n" + "".join(" ".join(map(str, row)) + "\n" for row in NUMBERS))
    else:
        rows = [(u, t, y) for u, row in enumerate(NUMBERS) for t, y in enumerate(row)]
        rows.sort(key=lambda row: (-row[1], row[0]))
        path.write_text("user,time,page\n" + "".join(f"{u},{t},{y}\n" for u, t, y in rows))
        more += ["--group", "user", "--order", "time"]
    if integers:
        more.append("--integers")
    far, here = str(tmp_path / "far.cohmm"), str(tmp_path / "here.cohmm")
    ok("count", str(path), *more, "-o", here)
    ok("count", str(path), *more, "-o", far, "--scheduler", scheduler)
    assert Cooccurrence.load(far) == Cooccurrence.load(here)


def test_a_model_on_a_running_cluster(scheduler: str, data: list[str], tmp_path: Path) -> None:
    far, here = str(tmp_path / "far.cohmm"), str(tmp_path / "here.cohmm")
    ok("fit", *data, "-k", "3", "-o", here)
    ok("fit", *data, "-k", "3", "-o", far, "--scheduler", scheduler)
    np.testing.assert_allclose(
        HMM.load(far).emissionprob, HMM.load(here).emissionprob, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("way", ["memory", "scheduler"])
def test_topics_and_shares(scheduler: str, tmp_path: Path, way: str) -> None:
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(texts()[:-1]) + "\n")
    common = ["topics", str(path), "-k", "3", "--json"]
    models, shares = [], []
    for name, more in (
        ("here", []),
        ("far", [f"--{way}", "2GB" if way == "memory" else scheduler]),
    ):
        model, table = str(tmp_path / f"{name}.cohmm"), tmp_path / f"{name}.parquet"
        said = json.loads(ok(*common, "-o", model, "--shares", str(table), *more))
        assert said["documents"] == 250
        models.append(HTMM.load(model))
        shares.append(pq.read_table(table))
    np.testing.assert_allclose(*(model.components_ for model in models), rtol=0, atol=1e-9)
    assert shares[0]["document"].to_pylist() == list(range(250))
    np.testing.assert_allclose(
        *(np.array(table["shares"].to_pylist()) for table in shares), rtol=0, atol=1e-9
    )


def test_a_report_of_documents_elsewhere(tmp_path: Path) -> None:
    path, report = tmp_path / "texts.txt", tmp_path / "r.html"
    path.write_text("\n".join(texts()[:-1]) + "\n")
    ok("topics", str(path), "-k", "3", "--memory", "4GB", "--report", str(report))
    assert "</html>" in report.read_text()


def test_states_as_parquet(data: list[str], tmp_path: Path) -> None:
    model, states = str(tmp_path / "m.cohmm"), tmp_path / "states.parquet"
    ok("fit", *data, "-k", "3", "--no-refine", "-o", model)
    ok("decode", model, *data, "-o", str(states))
    lines = ok("decode", model, *data).splitlines()
    found = pq.read_table(states)
    assert [" ".join(map(str, row)) for row in found["states"].to_pylist()] == lines
    assert found.schema.names == ["log_prob", "states"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["count", "x.txt", "--workers", "1", "--scheduler", "tcp://x:1"], "give one of the two"),
        (["count", "x.txt", "--workers", "1", "--memory", "4GB"], "--memory is for one process"),
        (["count", "x.txt", "--scheduler", "tcp://127.0.0.1:9"], "no scheduler answers there"),
        (["count", "x.txt", "--scheduler", "nonsense"], "no scheduler answers there"),
        (["count", "-", "--workers", "1"], "standard input is in this process alone"),
        (["topics", "x.txt", "-k", "2", "--memory", "much"], "memory must be a number of bytes"),
        (["topics", "x.txt", "-k", "2", "--shares", "s.csv"], "let its name end in .parquet"),
        (["topics", ".", "-k", "2", "--memory", "4GB"], "a document per line or row, not"),
        (["topics", "x.txt", "-k", "2", "--memory", "4GB", "--encoding", "latin-1"], "UTF-8"),
    ],
)
def test_what_is_wrong_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "SCHEDULER_TIMEOUT", "1s")
    Path("x.txt").write_text("a b a\n")
    if command[0] == "count":
        command += ["-o", "x.cohmm"]
    result = run(app, command)
    assert result.exit_code == 2, result.output
    assert message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert len(result.stderr) <= 300

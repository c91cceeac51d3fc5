"""``--by`` and ``--period`` of ``cohmm topics`` and ``cohmm report``."""

from __future__ import annotations

import datetime as dt
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest

from cohmm import HTMM
from tests.cli.test_report import data_of

TEXTS = ["oil gas oil barrel gas oil", "wheat corn grain wheat corn", "oil gas oil barrel"] * 12
DAYS = [dt.date(1987, 2, 23) + dt.timedelta(days=n // 2) for n in range(36)]
DESKS = ["energy", "farms", "energy"] * 12


@pytest.fixture
def tables(folder):
    """The same table as CSV, JSON Lines and Parquet."""
    table = pa.table({"body": TEXTS, "day": pa.array(DAYS), "desk": DESKS})
    pq.write_table(table, folder / "news.parquet")
    pa_csv.write_csv(table, folder / "news.csv")
    rows = [dict(row, day=str(row["day"])) for row in table.to_pylist()]
    (folder / "news.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def learn(run, *args):
    return run("topics", *args, "--column", "body", "-k", "2", "--lags", "1")


def test_every_format_gives_what_the_library_gives(run, tables):
    expected = HTMM(2, lags=1, random_state=0).fit(TEXTS).over(TEXTS, by=DAYS, period="week")
    for name in ("news.csv", "news.jsonl", "news.parquet"):
        printed = learn(run, name, "--by", "day", "--period", "week", "--json").stdout
        over = json.loads(printed)["over"]
        assert over["groups"] == list(expected.groups) == ["1987-02-23", "1987-03-02", "1987-03-09"]
        assert over["documents"] == expected.documents.tolist() == [14, 14, 8]
        assert np.allclose(over["share"], expected.share)
        assert np.allclose(over["share_high"], expected.share_high)
        assert (over["period"], over["level"]) == ("week", 0.9)


def test_the_screen_has_one_row_per_class(run, tables):
    printed = learn(run, "news.csv", "--by", "desk").stdout.splitlines()
    (head,) = (line.split() for line in printed if line.split()[:2] == ["class", "documents"])
    assert head == ["class", "documents", "words", "[0]", "[1]"]
    rows = {
        line.split()[0]: line.split()[1:] for line in printed if "energy" in line or "farms" in line
    }
    assert rows["energy"][:2] == ["24", "120"]
    assert rows["farms"][:2] == ["12", "60"]
    assert max(float(cell.rstrip("%")) for cell in rows["farms"][2:]) > 90
    assert max(map(len, printed)) <= 80


def test_a_report_has_a_section(run, tables):
    learn(run, "news.csv", "--by", "day", "-o", "n.cohmm", "--report", "a.html")
    run("report", "n.cohmm", "news.csv", "--column", "body", "--by", "day", "-o", "b.html")
    for name in ("a.html", "b.html"):
        over = data_of(tables / name)["over"]
        assert over["period"] == "day"
        assert len(over["groups"]) == 18
        assert len(over["share"]) == 2
    run("report", "n.cohmm", "news.csv", "--column", "body", "-o", "c.html")
    assert data_of(tables / "c.html")["over"] is None


def test_several_files_and_what_is_alone(run, tables):
    (tables / "more.csv").write_text("body,day,desk\noil wheat,1987-05-01,science\n")
    result = learn(run, "news.csv", "more.csv", "--by", "desk", "--json")
    assert json.loads(result.stdout)["over"]["groups"] == ["energy", "farms", "science"]
    assert json.loads(result.stdout)["over"]["share_low"][2] == [None, None]
    assert "1 of 3 classes have one document, and so no interval: science" in result.stderr


def test_bad_input(run, tables):
    (tables / "bad.csv").write_text("body,day\noil,1987-02-26\ngas,1987-02-27\noil,soon\ngas,\n")
    given = ("bad.csv", "--column", "body", "-k", "1")
    run(
        "topics",
        *given,
        "--by",
        "when",
        fails="bad.csv: there is no column 'when'; there are 'body', 'day'",
    )
    run(
        "topics",
        *given,
        "--by",
        "day",
        fails="document 2 (bad.csv, row 3) has the date 'soon', which cannot be read: dates are "
        "such as '1987-02-26', '26-FEB-1987 15:01:01' or 1987; where values are classes, say "
        "--period class",
    )
    run(
        "topics",
        *given,
        "--by",
        "day",
        "--period",
        "class",
        fails="document 3 (bad.csv, row 4) has no class: give one for every document, or leave it "
        "out",
    )
    run(
        "topics",
        *given,
        "--period",
        "week",
        fails="--period says how long periods are: give their dates by --by",
    )
    run(
        "topics",
        "-",
        "--by",
        "day",
        fails="--by reads its column by itself, so give a file, not standard input",
    )
    run(
        "topics",
        *given,
        "--by",
        "day",
        "--memory",
        "1GB",
        fails="--by is for documents in memory, not with --memory or --workers",
    )
    run(
        "report",
        "m.cohmm",
        "d.txt",
        "--by",
        "day",
        fails="--by and --period are for topics, and m.cohmm is an HMM",
    )
    (tables / "news.txt").write_text("oil gas\n")
    run(
        "topics",
        "news.txt",
        "--by",
        "day",
        fails="news.txt: text has no columns, and so no 'day': give CSV or the like",
    )
    run(
        "topics",
        str(tables),
        "--by",
        "day",
        fails=f"{tables}: a folder has a document a file, and no column 'day'",
    )
    run(
        "topics",
        *given,
        "--by",
        "day",
        "--period",
        "fortnight",
        fails="period must be one of hour, day, week, month, quarter, year, decade, century or "
        "class, not 'fortnight'",
    )

"""Tables that commands write: of the kind that their name says, one row per sequence or symbol."""

import csv
import json
from unittest.mock import ANY

import numpy as np
import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import TEXT

SEQUENCES = [line.split() for line in TEXT.splitlines()]
SYMBOLS = [symbol for sequence in SEQUENCES for symbol in sequence]
WHERE = [(s, t) for s, sequence in enumerate(SEQUENCES) for t in range(len(sequence))]


def read(path):
    """The rows of a table, as dictionaries of texts."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        rows = list(csv.DictReader(path.read_text().splitlines()))
    return [
        {
            name: " ".join(map(str, value)) if isinstance(value, list) else str(value)
            for name, value in row.items()
        }
        for row in rows
    ]


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_the_surprise_of_each_symbol(run, folder, weather, name):
    printed = run("score", "m.cohmm", "d.txt", "--each-symbol", "-o", name).stdout
    assert printed == run("score", "m.cohmm", "d.txt").stdout
    rows = read(folder / name)
    assert list(rows[0]) == ["sequence", "position", "symbol", "surprise"]
    assert [(int(row["sequence"]), int(row["position"])) for row in rows] == WHERE
    assert [row["symbol"] for row in rows] == SYMBOLS
    surprise = np.concatenate([weather.surprise(sequence) for sequence in SEQUENCES])
    np.testing.assert_allclose([float(row["surprise"]) for row in rows], surprise, rtol=1e-12)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
def test_the_states_of_each_sequence_and_of_each_symbol(run, folder, weather, name):
    paths = [weather.decode(sequence) for sequence in SEQUENCES]
    run("decode", "m.cohmm", "d.txt", "-o", name)
    rows = read(folder / name)
    assert list(rows[0]) == ["log_prob", "states"]
    assert [row["states"] for row in rows] == [" ".join(map(str, states)) for _, states in paths]
    np.testing.assert_allclose([float(row["log_prob"]) for row in rows], [p for p, _ in paths])
    run("decode", "m.cohmm", "d.txt", "-o", name, "--each-symbol")
    rows = read(folder / name)
    assert [row["symbol"] for row in rows] == SYMBOLS
    assert [int(row["state"]) for row in rows] == np.concatenate([s for _, s in paths]).tolist()


def test_the_log_likelihood_of_each_sequence_is_a_table_too(run, folder, weather):
    run("score", "m.cohmm", "d.txt", "--each", "-o", "x.csv")
    values = [float(row["log_likelihood"]) for row in read(folder / "x.csv")]
    np.testing.assert_allclose(values, weather.log_likelihoods(SEQUENCES))
    summary = json.loads(run("score", "m.cohmm", "d.txt", "--each", "-o", "x.csv", "--json").stdout)
    assert summary["sequences"] == 3
    assert "each" not in summary


def test_text_has_tabs_and_json_a_line_for_each_symbol(run, folder):
    lines = run("score", "m.cohmm", "d.txt", "--each-symbol").stdout.splitlines()
    assert [line.split("\t")[:3] for line in lines] == [
        [str(s), str(t), symbol] for (s, t), symbol in zip(WHERE, SYMBOLS, strict=True)
    ]
    rows = run("score", "m.cohmm", "d.txt", "--each-symbol", "--json").stdout.splitlines()
    assert [json.loads(row)["symbol"] for row in rows] == SYMBOLS
    run("score", "m.cohmm", "d.txt", "--each-symbol", "-o", "x.txt")
    assert (folder / "x.txt").read_text().splitlines() == lines


def test_what_is_unknown_has_no_symbol_and_no_surprise(run, folder):
    (folder / "e.txt").write_text("walk fly\n")
    run("score", "m.cohmm", "e.txt", "--unseen", "missing", "--each-symbol", "-o", "x.jsonl")
    last = json.loads((folder / "x.jsonl").read_text().splitlines()[-1])
    assert last == {"sequence": 0, "position": 1, "symbol": None, "surprise": 0.0}


def test_numbers_stay_numbers(run, folder):
    (folder / "e.txt").write_text("2 0\n")
    run("decode", "n.cohmm", "e.txt", "--each-symbol", "-o", "x.parquet")
    assert pq.read_table(folder / "x.parquet")["symbol"].to_pylist() == [2, 0]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--each", "--each-symbol"], "--each is of sequences, --each-symbol of symbols"),
        (["-o", "x.csv"], "--output takes what --each or --each-symbol says"),
        (["--each", "-o", "d.txt"], "cannot write d.txt: it is an input"),
    ],
)
def test_options_that_contradict_one_another(run, options, complaint):
    assert complaint in run("score", "m.cohmm", "d.txt", *options, fails=ANY).stderr


def test_nothing_is_left_of_a_table_that_failed(run, folder):
    (folder / "e.txt").write_text(TEXT + "fly\n")
    for name in ("x.csv", "x.parquet"):
        run("score", "m.cohmm", "e.txt", "--each-symbol", "-o", name, fails=ANY)
        assert not (folder / name).exists()

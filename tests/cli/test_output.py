"""Tables that commands write: of the kind that their name says, one row per sequence or symbol."""

import csv
import json
from unittest.mock import ANY

import numpy as np
import pyarrow.parquet as pq
import pytest

from cohmm.data import read_sequences
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


# -- groups keep their keys --------------------------------------------------------------------

CLICKS = "user,time,page\nann,2,clean\nbob,1,shop\nann,1,walk\nbob,3,shop\nbob,2,walk\n"
ROW_OF = {"ann": [3, 1], "bob": [2, 5, 4]}
BY_USER = {"ann": ["walk", "clean"], "bob": ["shop", "walk", "shop"]}
GROUPED = ["clicks.csv", "--column", "page", "--group", "user", "--order", "time"]


@pytest.fixture
def clicks(folder):
    (folder / "clicks.csv").write_text(CLICKS)


@pytest.mark.usefixtures("clicks")
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet"])
@pytest.mark.parametrize("command", ["decode", "score"])
def test_rows_of_groups_have_their_keys(run, folder, weather, command, name):
    each = ["--each-symbol"] if command == "score" else []
    answer = "surprise" if each else "state"
    run(command, "m.cohmm", *GROUPED, *each, "-o", name)
    rows = read(folder / name)
    assert list(rows[0]) == ["user", "row", "position", "symbol", answer]
    expected = []
    for user, pages in BY_USER.items():
        values = weather.surprise(pages) if each else weather.decode(pages)[1]
        for t, (page, value) in enumerate(zip(pages, values.tolist(), strict=True)):
            row = str(ROW_OF[user][t])
            expected.append((user, row, str(t), page, pytest.approx(value)))
    found = [(*list(row.values())[:4], float(row[answer])) for row in rows]
    assert found == expected


@pytest.mark.usefixtures("clicks")
def test_lines_about_groups_begin_with_their_keys(run, folder, weather):
    states = {user: weather.decode(pages) for user, pages in BY_USER.items()}
    lines = run("decode", "m.cohmm", *GROUPED).stdout.splitlines()
    assert lines == [f"{user}\t{' '.join(map(str, path))}" for user, (_, path) in states.items()]
    objects = [
        json.loads(s) for s in run("decode", "m.cohmm", *GROUPED, "--json").stdout.split("\n") if s
    ]
    assert objects == [
        {"user": user, "log_prob": pytest.approx(p), "states": path.tolist()}
        for user, (p, path) in states.items()
    ]
    lines = run("score", "m.cohmm", *GROUPED, "--each").stdout.splitlines()
    assert [line.split("\t")[0] for line in lines] == list(BY_USER)
    run("decode", "m.cohmm", *GROUPED, "--each-sequence", "-o", "x.csv")
    assert [row["user"] for row in read(folder / "x.csv")] == list(BY_USER)


@pytest.mark.usefixtures("clicks")
def test_batches_of_groups_keep_their_keys(run, monkeypatch):
    whole = run("decode", "m.cohmm", *GROUPED).stdout
    original = read_sequences.read_files
    monkeypatch.setattr(
        read_sequences, "read_files", lambda *a, **k: original(*a, **k, batch_size=1)
    )
    assert run("decode", "m.cohmm", *GROUPED).stdout == whole


def test_a_key_with_the_name_of_an_answer_is_refused(run, folder):
    (folder / "s.csv").write_text("state,page\nTX,walk\n")
    run(
        "decode", "m.cohmm", "s.csv", "--column", "page", "--group", "state", "-o", "x.csv",
        fails="the column 'state' has the name of an answer: rename it",
    )  # fmt: skip


# -- symbols that training did not see ---------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    """Data with a symbol that is seen once, as text, and new data with one that is not."""
    rng = np.random.default_rng(0)
    words = [" ".join(rng.choice(["walk", "shop", "clean"], 8)) for _ in range(40)]
    return "\n".join([*words, "walk swim\n"]), "walk fly shop\nclean walk\n"


@pytest.mark.parametrize("chosen", ["rare", "missing"])
def test_a_fitted_model_knows_what_unseen_symbols_are(run, folder, fitted, chosen):
    """The file says it; the command line and Python agree, and an option overrides it."""
    from cohmm import PairwiseHMM

    train, new = fitted
    (folder / "train.txt").write_text(train)
    (folder / "new.txt").write_text(new)
    run("fit", "train.txt", "-k", "2", "-o", "f.cohmm", "--unseen", chosen)
    model = PairwiseHMM.load("f.cohmm")
    assert model.unseen == chosen
    sequences = [line.split() for line in new.splitlines()]
    printed = json.loads(run("score", "f.cohmm", "new.txt", "--json").stdout)
    assert printed["log_likelihood"] == pytest.approx(model.score(sequences))
    run("score", "f.cohmm", "new.txt", "--each-symbol", "-o", "x.jsonl")
    rows = [json.loads(line) for line in (folder / "x.jsonl").read_text().splitlines()]
    found = [row["surprise"] for row in rows]
    assert found == pytest.approx(model.surprise(sequences).tolist())
    assert [row["symbol"] for row in rows] == ["walk", None, "shop", "clean", "walk"]
    assert (found[1] > max(found[0], *found[2:])) == (chosen == "rare")
    decoded = run("decode", "f.cohmm", "new.txt").stdout.split()
    assert list(map(int, decoded)) == model.predict(sequences).tolist()
    other = {"rare": "missing", "missing": "rare"}[chosen]
    overridden = json.loads(run("score", "f.cohmm", "new.txt", "--json", "--unseen", other).stdout)
    model.set_params(unseen=other)
    assert overridden["log_likelihood"] == pytest.approx(model.score(sequences))
    complaint = run("score", "f.cohmm", "new.txt", "--unseen", "error", fails=ANY).stderr
    assert "--unseen rare" in complaint
    assert complaint.index("--unseen rare") < complaint.index("--unseen missing")


def test_a_model_set_by_hand_has_no_counts_for_rare_symbols(run):
    assert (
        "needs counts of symbols"
        in run("score", "m.cohmm", "d.txt", "--unseen", "rare", fails=ANY).stderr
    )

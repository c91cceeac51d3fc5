"""``cohmm count``."""

import json

import pytest

from cohmm import Cooccurrence, Triples, count_pairs, count_triples
from tests.cli.conftest import TEXT

SEQUENCES = [line.split() for line in TEXT.splitlines()]


def test_pairs_and_triples_are_those_of_the_library(run, folder):
    result = run("count", "d.txt", "-o", "c.cohmm", "--lags", "2,1", "--triples", "t.cohmm")
    assert result.stdout == (
        "c.cohmm: 6 observations, 3 symbols, 3 sequences; pairs: 3 at lag 1, 1 at lag 2; "
        "triples: 1\n"
    )
    assert result.stderr == ""
    assert Cooccurrence.load("c.cohmm") == count_pairs(SEQUENCES, lags=(1, 2))
    assert Triples.load("t.cohmm") == count_triples(SEQUENCES)
    assert {path.name for path in folder.iterdir()} == {
        "c.cohmm", "t.cohmm", "m.cohmm", "n.cohmm", "d.txt"
    }  # fmt: skip


def test_json_is_one_object(run):
    result = run("count", "d.txt", "-o", "c.cohmm", "--json")
    assert json.loads(result.stdout) == {
        "sequences": 3,
        "observed": 6,
        "symbols": 3,
        "pairs": {"1": 3},
    }


def test_standard_input_of_whole_numbers(run):
    run("count", "-", "-o", "c.cohmm", "--integers", input="0 2 0\n")
    assert Cooccurrence.load("c.cohmm") == count_pairs([0, 2, 0])


def test_a_format_for_standard_input(run):
    run("count", "-", "--format", "jsonl", "-o", "c.cohmm", input='["a b", "c"]\n')
    assert Cooccurrence.load("c.cohmm").vocabulary == ("a b", "c")


def test_columns_groups_and_order(run, folder):
    (folder / "clicks.csv").write_text("u,t,page\nx,2,b\ny,1,c\nx,1,a\ny,2,d\n")
    run("count", "clicks.csv", "--column", "page", "--group", "u", "--order", "t", "-o", "c.cohmm")
    assert Cooccurrence.load("c.cohmm") == count_pairs([["a", "b"], ["c", "d"]])
    run("count", "clicks.csv", "--column", "page", "--each-row", "symbol", "-o", "c.cohmm")
    assert Cooccurrence.load("c.cohmm") == count_pairs(["b", "c", "a", "d"])


def test_several_inputs_and_threads(run, folder):
    (folder / "e.txt").write_text("walk walk\n")
    run("count", "d.txt", "e.txt", "--threads", "2", "-o", "c.cohmm")
    assert Cooccurrence.load("c.cohmm") == count_pairs([*SEQUENCES, ["walk", "walk"]])


def test_blank_lines_are_told_on_standard_error(run, folder):
    (folder / "e.txt").write_text("a b\n\n\nc\n")
    result = run("count", "e.txt", "-o", "c.cohmm")
    assert result.stderr == "cohmm: e.txt: 2 blank lines were skipped\n"


def test_many_notices_are_cut_short(run, folder):
    (folder / "in").mkdir()
    for i in range(8):
        (folder / "in" / f"{i}.txt").write_text("a b\n\n")
    result = run("count", "in", "-o", "c.cohmm")
    told = [f"cohmm: in/{i}.txt: 1 blank line was skipped" for i in range(5)]
    assert result.stderr.splitlines() == [*told, "cohmm: ... and 3 more such notices"]


NO_COLUMNS = (
    "text has no columns, so column has no meaning; if this is CSV, JSON Lines or Parquet, give "
    "the format"
)


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["no.txt"], "no.txt: there is no such file"),
        (
            ["d.txt", "--lags", "1,x"],
            "--lags must be whole numbers from 1, such as 1,2,3, not '1,x'",
        ),
        (["d.txt", "--lags", "0"], "--lags must be whole numbers from 1, such as 1,2,3, not '0'"),
        (
            ["d.txt", "--lags", "7"],
            "there is no pair at lag 7: none of the 3 sequences has two observations 7 apart",
        ),
        (["d.txt", "--integers"], "d.txt, line 1: symbol 'walk' is not a whole number"),
        (["d.txt", "--column", "x"], f"d.txt: {NO_COLUMNS}"),
        (["d.txt", "--triples", "no/t.cohmm"], "cannot write no/t.cohmm: there is no folder no"),
        (["-"], "there is no data: no symbol in standard input"),
    ],
)
def test_what_goes_wrong_is_one_line_and_nothing_is_written(run, folder, args, complaint):
    before = {path.name for path in folder.iterdir()}
    run("count", *args, "-o", "c.cohmm", fails=complaint)
    assert {path.name for path in folder.iterdir()} == before


def test_an_output_that_cannot_be_written_is_told_before_reading(run):
    run("count", "-", "-o", ".", input="\xff", fails="cannot write .: it is a folder")
    run("count", "-", "-o", "no/c", fails="cannot write no/c: there is no folder no")


def test_the_output_is_required(run):
    run("count", "d.txt", fails="Missing option '--output' / '-o' (see cohmm count --help)")

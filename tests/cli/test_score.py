"""``cohmm score``."""

import json
import math

import pytest

from cohmm import HMM
from tests.cli.conftest import TEXT

SEQUENCES = [line.split() for line in TEXT.splitlines()]


@pytest.fixture
def impossible(folder):
    """A model that never emits its third symbol."""
    HMM([1, 0], [[0.5, 0.5], [0.5, 0.5]], [[0.2, 0.8, 0], [0.8, 0.2, 0]]).save("z.cohmm")
    (folder / "z.txt").write_text("0 1\n1 2\n0 0\n2\n")


def test_the_totals(run, weather):
    expected = weather.log_likelihood(SEQUENCES)
    found = json.loads(run("score", "m.cohmm", "d.txt", "--json").stdout)
    assert found == {
        "sequences": 3,
        "observed": 6,
        "log_likelihood": pytest.approx(expected, rel=1e-12),
        "per_symbol": pytest.approx(expected / 6, rel=1e-12),
        "perplexity": pytest.approx(math.exp(-expected / 6), rel=1e-12),
        "impossible": 0,
    }


def test_the_totals_in_words(run, weather):
    expected = weather.log_likelihood(SEQUENCES)
    assert run("score", "m.cohmm", "d.txt").stdout == (
        "sequences       3\n"
        "observations    6\n"
        f"log-likelihood  {expected:.6f}\n"
        f"per symbol      {expected / 6:.6f}\n"
        f"perplexity      {math.exp(-expected / 6):.6f}\n"
    )


def test_each_sequence_has_a_line(run, weather):
    expected = weather.log_likelihoods(SEQUENCES).tolist()
    result = run("score", "m.cohmm", "d.txt", "--each")
    assert [float(line) for line in result.stdout.splitlines()] == expected
    found = json.loads(run("score", "m.cohmm", "d.txt", "--each", "--json").stdout)
    assert found["each"] == expected


def test_a_model_of_numbers_reads_numbers(run, weather):
    found = run("score", "n.cohmm", "-", "--each", input="0 1 2\n").stdout
    assert float(found) == weather.log_likelihood(SEQUENCES[0])


def test_unseen_symbols(run, weather):
    run(
        "score", "m.cohmm", "-", input="walk shop\nwalk fly\n",
        fails="standard input, line 2: unseen symbol 'fly': the vocabulary has 3 labels, 'walk' "
        "among them; with --unseen rare a fitted model takes it "
        "for a symbol that hardly ever comes, with --unseen missing it is a missing one",
    )  # fmt: skip
    result = run("score", "m.cohmm", "-", "--unseen", "missing", "--json", input="walk fly clean\n")
    found = json.loads(result.stdout)
    assert found["observed"] == 2
    assert found["log_likelihood"] == weather.log_likelihood(["walk", None, "clean"])


@pytest.mark.usefixtures("impossible")
def test_impossible_sequences_are_counted_and_the_first_is_named(run):
    result = run("score", "z.cohmm", "z.txt", "--json", "--each")
    assert result.stderr == (
        "cohmm: 2 of 4 sequences have probability zero, the first begins at z.txt, line 2, "
        "position 0\n"
    )
    found = json.loads(result.stdout)
    assert found["impossible"] == 2
    assert found["log_likelihood"] is found["perplexity"] is None
    assert found["each"][1] is found["each"][3] is None
    assert found["each"][0] == pytest.approx(math.log(0.2 * 0.5))
    assert "log-likelihood  -inf\n" in run("score", "z.cohmm", "z.txt").stdout


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["no.cohmm", "d.txt"], "there is no file no.cohmm"),
        (["d.txt", "d.txt"], "d.txt is not a cohmm file"),
        ([".", "d.txt"], ". is a folder, not a file"),
        (["m.cohmm", "no.txt"], "no.txt: there is no such file"),
        (["n.cohmm", "d.txt"], "d.txt, line 1: symbol 'walk' is not a whole number"),
    ],
)
def test_what_goes_wrong_is_one_line(run, args, complaint):
    run("score", *args, fails=complaint)


def test_counts_are_no_model(run):
    run("count", "d.txt", "-o", "c.cohmm")
    result = run("score", "c.cohmm", "d.txt", fails="c.cohmm holds a cooccurrence, not a HMM")
    assert result.stdout == ""

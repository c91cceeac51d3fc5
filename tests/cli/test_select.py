"""``cohmm select``."""

import json
from pathlib import Path

import pytest

from cohmm.datasets.synthetic import separable_hmm

pytest.importorskip("matplotlib")


@pytest.fixture
def numbers(folder):
    truth = separable_hmm(6, 2, stay=0.6, random_state=1)
    symbols = truth.sample(2_000, random_state=0)[0]
    (folder / "numbers.txt").write_text(" ".join(map(str, symbols)) + "\n")
    return folder


def test_states(run, numbers):
    result = run("select", "numbers.txt", "-k", "1-2", "--json", "--plot", "k.png")
    found = json.loads(result.stdout)
    assert found["recommended"] == 2
    assert found["blocks"] is True
    assert [one["n_components"] for one in found["candidates"]] == [1, 2]
    assert found["candidates"][0]["npmi"] is None
    assert Path("k.png").stat().st_size > 1000
    assert "learning 2 states ..." in result.stderr
    printed = run("select", "numbers.txt", "-k", "2").stdout
    assert printed.splitlines()[-1] == "recommended: 2, the only candidate"


def test_topics(run, folder):
    (folder / "texts.txt").write_text("corn wheat corn maize\nbank yen bank rate\n" * 20)
    found = json.loads(run("select", "texts.txt", "--topics", "-k", "1,2", "--json").stdout)
    assert found["kind"] == "topic"
    assert found["recommended"] == 2


def test_bad_input(run, numbers):
    run(
        "select",
        "numbers.txt",
        "-k",
        "2-x",
        fails="--n-components must be whole numbers from 1, such as 2,4,8 or 2-8, not '2-x'",
    )
    run(
        "select", "d.txt", "--topics", "--lags", "2", fails="--lags is not for topics: leave it out"
    )
    run(
        "select",
        "d.txt",
        "--min-df",
        "5",
        fails="--min-df is not for states: add --topics, or leave it out",
    )
    run("select", "numbers.txt", "-k", "5-2", fails="--n-components has no number: '5-2'")
    run(
        "select",
        "m.cohmm",
        fails="select holds data out: give the data itself, not counts or a model",
    )
    run(
        "select",
        "d.txt",
        fails="6 symbols are too few to hold some out: at least 200 are needed",
    )

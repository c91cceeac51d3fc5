"""``cohmm select``."""

import json
from pathlib import Path

import pytest

from cohmm.data.read_documents import read_documents
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


def test_topics_take_the_options_of_topics(run, folder):
    """Words are those of cohmm topics with the same options."""
    (folder / "texts.txt").write_text("Corn the wheat zq1\nBank the yen rate\n" * 20)
    words = ("--stop-words", "english", "--min-df", "2", "--max-df", "0.9", "--max-features", "4")
    given = ("texts.txt", *words, "--token-pattern", "[a-zA-Z]{2,}", "-k", "2", "--json")
    seen = []
    original = read_documents

    def watched(*args, **options):
        documents = original(*args, **options)
        seen.append(documents.vocabulary)
        return documents

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cohmm.data.read_documents.read_documents", watched)
        run("select", "--topics", *given)
        run("topics", *given)
    assert seen[0] == seen[-1]
    assert len(seen[0]) == 4
    for option, value in (("--max-df", "0.5"), ("--token-pattern", "x"), ("--max-features", "3")):
        why = f"{option} is not for states: add --topics, or leave it out"
        run("select", "texts.txt", option, value, fails=why)


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

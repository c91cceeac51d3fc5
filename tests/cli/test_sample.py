"""``cohmm sample``."""

import json

import numpy as np

from cohmm import HMM


def test_as_many_sequences_and_symbols_as_asked_for(run):
    result = run("sample", "m.cohmm", "-n", "7", "--sequences", "3", "--seed", "1")
    lines = [line.split(" ") for line in result.stdout.splitlines()]
    assert [len(line) for line in lines] == [7, 7, 7]
    assert {label for line in lines for label in line} == {"walk", "shop", "clean"}


def test_the_seed_decides(run):
    first = run("sample", "m.cohmm", "-n", "50", "--seed", "1").stdout
    assert run("sample", "m.cohmm", "-n", "50", "--seed", "1").stdout == first
    assert run("sample", "m.cohmm", "-n", "50", "--seed", "2").stdout != first
    assert (
        run("sample", "m.cohmm", "-n", "50").stdout != run("sample", "m.cohmm", "-n", "50").stdout
    )


def test_it_is_what_the_library_draws(run, weather):
    symbols, states = weather.sample(20, random_state=5)
    text = run("sample", "m.cohmm", "-n", "20", "--seed", "5", "--states").stdout
    assert text == " ".join(symbols) + "\t" + " ".join(map(str, states)) + "\n"
    found = json.loads(run("sample", "m.cohmm", "-n", "20", "--seed", "5", "--json").stdout)
    assert found == {"symbols": symbols.tolist()}
    result = run("sample", "m.cohmm", "-n", "20", "--seed", "5", "--json", "--states")
    assert json.loads(result.stdout) == {"symbols": symbols.tolist(), "states": states.tolist()}


def test_numbers_stay_numbers_in_json(run):
    found = json.loads(run("sample", "n.cohmm", "-n", "30", "--json").stdout)
    assert set(found["symbols"]) <= {0, 1, 2}


def test_what_is_drawn_can_be_read(run, folder, weather):
    run("sample", "m.cohmm", "-n", "20000", "--seed", "0", "-o", "drawn.txt")
    found = json.loads(run("score", "m.cohmm", "drawn.txt", "--json").stdout)
    symbols = (folder / "drawn.txt").read_text().split()
    assert found["log_likelihood"] == weather.log_likelihood(symbols)
    shares = [symbols.count(label) / 20000 for label in weather.vocabulary]
    expected = weather.stationary() @ weather.emissionprob
    np.testing.assert_allclose(shares, expected, atol=0.02)


def test_labels_with_blanks_need_json(run):
    HMM([1.0], [[1.0]], [[1.0]], vocabulary=["New York"]).save("b.cohmm")
    run(
        "sample", "b.cohmm", "-n", "2",
        fails="the label 'New York' has a blank, which separates symbols in text: use --json",
    )  # fmt: skip
    found = json.loads(run("sample", "b.cohmm", "-n", "2", "--json").stdout)
    assert found == {"symbols": ["New York"] * 2}

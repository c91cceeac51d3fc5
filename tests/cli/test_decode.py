"""``cohmm decode``."""

import json
import tracemalloc

import numpy as np
import pytest

from cohmm import HMM
from cohmm.cli import output
from cohmm.data import read_sequences
from tests.cli.conftest import TEXT

SAMPLE = ["sample", "m.cohmm", "-n", "6", "--sequences", "3", "--seed", "0"]
SEQUENCES = [line.split() for line in TEXT.splitlines()]


def test_a_line_of_states_for_every_sequence(run, weather):
    expected = [weather.decode(sequence)[1].tolist() for sequence in SEQUENCES]
    result = run("decode", "m.cohmm", "d.txt")
    assert [[int(s) for s in line.split()] for line in result.stdout.splitlines()] == expected


@pytest.mark.parametrize("algorithm", ["viterbi", "map"])
def test_json_lines_with_log_probabilities(run, weather, algorithm):
    result = run("decode", "m.cohmm", "d.txt", "--json", "--algorithm", algorithm)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    for line, sequence in zip(found, SEQUENCES, strict=True):
        log_prob, states = weather.decode(sequence, algorithm=algorithm)
        assert line == {"log_prob": pytest.approx(log_prob), "states": states.tolist()}


def test_the_two_algorithms_differ_where_they_should(run, folder):
    """The likeliest states, place by place, make a path that is impossible."""
    HMM(
        [0.4, 0.3, 0.3],
        [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]],
        [[1.0], [1.0], [1.0]],
    ).save("p.cohmm")
    (folder / "p.txt").write_text("0 0\n")
    best = json.loads(run("decode", "p.cohmm", "p.txt", "--json").stdout)
    each = json.loads(run("decode", "p.cohmm", "p.txt", "--json", "--algorithm", "map").stdout)
    assert best["states"] in ([1, 0], [2, 0])
    assert each == {"log_prob": None, "states": [0, 0]}


def test_batches_make_no_difference(run, monkeypatch):
    whole = run("decode", "m.cohmm", "d.txt").stdout
    read = read_sequences.read_files
    monkeypatch.setattr(read_sequences, "read_files", lambda *a, **k: read(*a, **k, batch_size=1))
    assert run("decode", "m.cohmm", "d.txt").stdout == whole


@pytest.mark.parametrize("json_option", [[], ["--json"]])
@pytest.mark.parametrize("command", [["decode", "m.cohmm", "d.txt"], SAMPLE, [*SAMPLE, "--states"]])
def test_long_sequences_are_written_piece_by_piece(run, monkeypatch, command, json_option):
    whole = run(*command, *json_option).stdout
    for size in (1, 2, 3, 7):
        monkeypatch.setattr(output, "SYMBOLS_AT_A_TIME", size)
        assert run(*command, *json_option).stdout == whole


def test_output_takes_no_memory_that_grows_with_a_sequence(monkeypatch):
    states = np.zeros(10**6, np.int32)
    tracemalloc.start()
    n = sum(len(text) for text in output.in_pieces(["0"], states, " ", tail="\n"))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert n == 2 * 10**6
    assert peak < 2e6


def test_a_file_instead_of_the_screen(run, folder):
    printed = run("decode", "m.cohmm", "d.txt").stdout
    assert run("decode", "m.cohmm", "d.txt", "-o", "states.txt").stdout == ""
    assert (folder / "states.txt").read_text() == printed


def test_nothing_is_left_of_an_output_that_failed(run, folder):
    (folder / "states.txt").write_text("before")
    (folder / "e.txt").write_text(TEXT + "fly\n")
    before = {path.name for path in folder.iterdir()}
    run(
        "decode", "m.cohmm", "e.txt", "-o", "states.txt",
        fails="e.txt, line 4: unseen symbol 'fly': the vocabulary has 3 labels, 'walk' among "
        "them; with --unseen rare a fitted model takes it "
        "for a symbol that hardly ever comes, with --unseen missing it is a missing one",
    )  # fmt: skip
    assert (folder / "states.txt").read_text() == "before"
    assert {path.name for path in folder.iterdir()} == before


def test_an_impossible_observation_is_named_with_its_place(run, folder):
    HMM([1.0], [[1.0]], [[0.5, 0.5, 0.0]]).save("z.cohmm")
    (folder / "z.txt").write_text("0 1\n\n1 0 2\n")
    run(
        "decode", "z.cohmm", "z.txt",
        fails="symbol 2 at z.txt, line 3, position 2 has probability zero, given what comes "
        "before it: the model cannot have produced this sequence",
    )  # fmt: skip


def test_unseen_symbols_as_missing_observations(run, weather):
    _, states = weather.decode(["walk", None, "clean"])
    result = run("decode", "m.cohmm", "-", "--unseen", "missing", input="walk fly clean\n")
    assert result.stdout == " ".join(map(str, states)) + "\n"

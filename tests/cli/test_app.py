"""What all commands share: help, errors, exit codes; and runs of the real program."""

import os
import pty
import subprocess
import sys
import warnings
import zipfile
from importlib import import_module
from inspect import signature
from pathlib import Path
from unittest.mock import ANY

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import cohmm
from cohmm import (
    HMM,
    HTMM,
    EvidenceWarning,
    PairwiseHMM,
    count_pairs,
    read_documents,
    read_sequences,
)
from cohmm.cli import app
from cohmm.cli.app import MAX_LINE, one_line, say
from cohmm.cli.options import GROUPS, OPTIONS
from cohmm.cli.progress import working
from tests.cli.conftest import PROGRAM, TEXT, real

SCORE = import_module("cohmm.cli.score")
COMMANDS = ("demo", "count", "score", "decode", "sample")


def parameters(command):
    """The options and arguments of a command, by their Python names."""
    return {parameter.name: parameter for parameter in get_command(app).commands[command].params}


def test_every_word_is_used_and_explained():
    """No option without help, and no help without an option."""
    used = set()
    for command in get_command(app).commands:
        for name, parameter in parameters(command).items():
            assert name == "help" or parameter.help, (command, name)
            both = f"{command} {name}"
            used.add(both if both in OPTIONS else name)
    assert used - {"help"} == set(OPTIONS)


def test_options_are_called_as_in_python():
    """What the estimator has under another name would be another option."""
    learner = {"n_components", "lags", "penalty", "n_init", "max_iter", "tol", "smoothing"}
    learner |= {"refine", "sparsity", "random_state"}
    assert learner <= set(parameters("fit")) & set(PairwiseHMM().get_params())
    topics = {"n_components", "lags", "chain", "max_iter", "refine", "n_init", "seed_words"}
    words = set(GROUPS["words"]) - {"column", "encoding"}
    assert topics | words <= set(parameters("topics")) & set(HTMM().get_params())
    assert set(GROUPS["layout"]) <= set(signature(read_sequences).parameters)
    assert set(GROUPS["words"]) <= set(signature(read_documents).parameters)


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("fit d.txt -o x", "--seed=1 --starts 2 --states 1", "--random-state 1 --n-init 2 -k 1"),
        ("sample m.cohmm -o x", "--seed 3 --states", "--random-state 3 --states"),
    ],
)
def test_earlier_names_of_options_are_known(run, folder, command, old, new):
    written = []
    for options in (old, new):
        run(*command.split(), *options.split())
        written.append((folder / "x").read_bytes())
    assert written[0] == written[1]


def test_earlier_names_of_options_of_topics_are_known(run, folder):
    (folder / "t.txt").write_text("gas oil gas\noil gas oil\n" * 9)
    run("topics", "t.txt", "--topics=1", "--passes", "3", "--refine-passes", "0", "-o", "x")
    found = HTMM.load("x").get_params()
    assert (found["n_components"], found["max_iter"], found["refine"]) == (1, 3, 0)


def test_the_version(run):
    assert run("--version").stdout == f"cohmm {cohmm.__version__}\n"


def test_help_names_every_command(run):
    for args in ((), ("--help",)):
        output = run(*args).stdout
        for command in COMMANDS:
            assert f" {command} " in output


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_examples(run, command):
    output = run(command, "--help").stdout
    assert "Examples" in output
    assert f"  cohmm {command}" in output


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        (["cuont"], "No such command 'cuont'. Did you mean 'count'? (see cohmm --help)"),
        (["--bogus"], "No such option: --bogus (see cohmm --help)"),
        (["score"], "Missing argument 'MODEL' (see cohmm score --help)"),
        (["score", "--bogus"], "No such option: --bogus (see cohmm score --help)"),
    ],
)
def test_wrong_usage_is_one_line(run, args, complaint):
    run(*args, fails=complaint)


@pytest.mark.parametrize("args", [("--threads", "0"), ("--unseen", "x"), ("--format", "xls")])
def test_wrong_values_of_options_are_one_line(folder, args):
    result = CliRunner().invoke(app, ["score", "m.cohmm", "d.txt", *args], prog_name="cohmm")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"cohmm: Invalid value for '{args[0]}'")
    assert result.stderr.endswith("(see cohmm score --help)\n")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (ValueError("two\n  lines"), 2, "two lines"),
        (OSError(28, "No space left on device"), 2, "[Errno 28] No space left on device"),
        (MemoryError("9 TB"), 2, "not enough memory (9 TB)"),
        (OverflowError("int too big"), 2, "a number is too large (int too big)"),
        (ValueError("a\x1b[2J\udcff\x00"), 2, r"a\x1b[2J\udcff\x00"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(folder, monkeypatch, error, code, line):
    def fail(*args):
        raise error

    monkeypatch.setattr(SCORE, "working", fail)
    result = CliRunner().invoke(app, ["score", "m.cohmm", "d.txt"], prog_name="cohmm")
    assert (result.exit_code, result.stderr) == (code, f"cohmm: {line}\n")


def test_mistakes_of_ours_are_not_hidden(folder, monkeypatch):
    def fail(*args):
        raise TypeError("a bug")

    monkeypatch.setattr(SCORE, "working", fail)
    result = CliRunner().invoke(app, ["score", "m.cohmm", "d.txt"], prog_name="cohmm")
    assert isinstance(result.exception, TypeError)


def test_say_is_one_line(capsys):
    say("a\nb   c")
    assert capsys.readouterr().err == "cohmm: a b c\n"


def test_a_long_message_keeps_its_beginning_and_its_end(run):
    path = "no" * 5000
    run("score", "m.cohmm", path, fails=ANY)
    name = f"{'a' * 26_000}.txt: line 3 is not UTF-8 text"
    line = one_line(f"cohmm: {name}")
    assert len(line) == MAX_LINE == 300
    assert line.startswith("cohmm: aaa")
    assert " ... " in line
    assert line.endswith("a.txt: line 3 is not UTF-8 text")


def test_notices_are_few(capsys):
    with working():
        for n in range(3000):
            warnings.warn(f"warning {n % 7}", EvidenceWarning, stacklevel=1)
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["cohmm: warning 0", "cohmm: warning 1"]
    assert lines[5:] == ["cohmm: ... and 2 more such notices"]


@pytest.mark.parametrize("command", ["count", "fit", "topics", "compare"])
@pytest.mark.parametrize("number", ["9" * 23, "9" * 5000, "²", "1-" + "9" * 12, "0", "-1", ""])
def test_numbers_that_are_none_or_too_large(run, command, number):
    option = "--n-components" if command == "compare" else "--lags"
    output = ("--csv" if command == "compare" else "-o", "x")
    result = run(command, "d.txt", *output, option, number, fails=ANY)
    assert f"{option} " in result.stderr
    assert "whole numbers from 1" in result.stderr


@pytest.mark.parametrize("command", ["fit", "topics"])
def test_sizes_that_are_none(run, command):
    for size in ("²", "9" * 5000, "0", "some"):
        result = run(command, "d.txt", "-o", "x", "-k", size, fails=ANY)
        assert "must be a whole number from 1, or auto" in result.stderr


@pytest.mark.parametrize("command", ["score", "decode", "report"])
def test_labels_that_files_do_not_tell_apart(run, folder, weather, command):
    labels = [1, "1", "a"]
    HMM(weather.startprob, weather.transmat, weather.emissionprob, labels).save("v.cohmm")
    (folder / "v.txt").write_text("1 a\n")
    told = "the vocabulary has 1 as a number and as a string: files do not tell the two apart"
    run(command, "v.cohmm", "v.txt", fails=told)


@pytest.mark.parametrize("encoding", ["rot13", "hex", "klingon", "\udcff", "utf-8\0"])
def test_encodings_that_are_none_of_text(run, encoding):
    result = run("topics", "d.txt", "--encoding", encoding, fails=ANY)
    assert "there is no encoding" in result.stderr


def test_a_counts_file_whose_member_is_not_an_array(run, folder):
    count_pairs([0, 1, 0]).save("c.cohmm")
    with zipfile.ZipFile("c.cohmm") as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile("c.cohmm", "w") as archive:
        for name, data in (parts | {"start_counts.npy": b"hello"}).items():
            archive.writestr(name, data)
    result = run("fit", "c.cohmm", "-o", "x", fails=ANY)
    assert "c.cohmm is not a cohmm file, or is damaged (its array 'start_counts'" in result.stderr


HEAVY = ("numpy", "scipy", "sklearn", "pandas", "pyarrow", "rich.progress")
HMM_COMMANDS = """
from typer.testing import CliRunner
from cohmm.cli import app
for command in (
    "fit data.txt -k 2 -o model", "score model data.txt", "decode model data.txt", "report model",
    "diagnose model data.txt", "select data.txt -k 1-3",
):
    done = CliRunner().invoke(app, command.split())
    assert done.exit_code == 0, done.output
"""


def imported_by(code: str) -> set[str]:
    """Names of the modules that a process of its own has imported in the end."""
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize("name", ["cohmm", "cohmm.cli"])
def test_nothing_heavy_is_imported_until_it_is_used(name):
    assert not imported_by(f"import {name}") & set(HEAVY)


def test_commands_about_hmms_run_without_scikit_learn(folder):
    folder.joinpath("data.txt").write_text("a b c c b a a b\n" * 500)
    modules = imported_by(HMM_COMMANDS)
    assert "cohmm.report" in modules
    assert not modules & {"sklearn", "pandas", "scipy.stats"}


# -- the real program ------------------------------------------------------------------------


def test_nothing_is_kept_at_home(folder):
    """As in a container with a read-only package and no home: nothing is compiled, or cached."""
    home = folder / "home"
    home.mkdir(mode=0o555)
    for place in (home, home / "that" / "is" / "not" / "there"):
        env = {**os.environ, "HOME": str(place), "XDG_CACHE_HOME": str(place)}
        for args in (
            ("count", "d.txt", "-o", "c.cohmm", "--threads", "2"),
            ("fit", "d.txt", "-k", "1", "-o", "f.cohmm"),
            ("decode", "m.cohmm", "d.txt"),
            ("score", "m.cohmm", "d.txt"),
        ):
            done = real(*args, env={**env, "PYTHONDONTWRITEBYTECODE": "1"})
            assert (done.returncode, done.stderr) == (0, "")
    assert not list(home.iterdir())


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_stops_early(folder, unbuffered):
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    process = subprocess.Popen(
        [*PROGRAM, "sample", "n.cohmm", "-n", "2000000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env,
    )  # fmt: skip
    assert len(process.stdout.read(10)) == 10
    process.stdout.close()
    error = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(60) == 141
    assert error == ""


def test_help_that_nobody_reads(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "--help"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_words_are_whole_where_no_terminal_shows_them(folder, encoding):
    """A file or a pipe gets UTF-8, whatever the locale says."""
    (folder / "w.txt").write_text("łódź café\ncafé łódź łódź\n" * 9, encoding="utf-8")
    env = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(
        [*PROGRAM, "fit", "w.txt", "-k", "1", "-o", "w.cohmm"], capture_output=True, env=env
    )
    assert done.returncode == 0, done.stderr
    output = done.stdout.decode("utf-8")
    assert "łódź" in output
    assert "café" in output


def on_a_terminal(*args):
    """What a command prints to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(PROGRAM[0], [*PROGRAM, *args])
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        output += piece
    os.close(terminal)
    assert os.waitpid(pid, 0)[1] == 0
    return output.decode()


def test_progress_is_shown_on_a_terminal_alone(folder):
    Path("big.txt").write_text(TEXT * 150_000)
    output = on_a_terminal("count", "big.txt", "-o", "c.cohmm")
    assert "counting" in output
    assert "MB" in output
    assert "MB/s" in output
    output = on_a_terminal("sample", "m.cohmm", "-n", "100", "--sequences", "50", "-o", "s.txt")
    assert "drawing" in output
    assert "100%" in output
    assert real("count", "big.txt", "-o", "c.cohmm").stderr == ""


# -- what goes wrong stands alone -------------------------------------------------------------


def test_notices_come_with_success_alone(run, folder):
    (folder / "blank.txt").write_text("walk shop\n\nshop walk\n")
    told = "cohmm: blank.txt: 1 blank line was skipped\n"
    assert run("count", "blank.txt", "-o", "c.cohmm").stderr == told
    result = run("fit", "blank.txt", "-k", "1", "-o", "f.cohmm")
    assert told in result.stderr


def test_an_error_after_a_notice_stands_alone(run, folder):
    """The documents are read, and what is wrong shows later."""
    (folder / "e.txt").write_text("gas oil\n\noil gas\n")
    assert "1 of 3 documents have no word" in run("topics", "e.txt", "-k", "1").stderr
    run("topics", "e.txt", "-k", "1", "--lags", "9", fails=ANY)


def test_an_error_after_a_warning_stands_alone(folder):
    code = """
import warnings
from importlib import import_module
from inspect import signature
from cohmm.cli import main

def fail(*args):
    warnings.warn("look out")
    raise ValueError("it went wrong")

import_module("cohmm.cli.score").working = fail
main()
"""
    command = [sys.executable, "-c", code, "score", "m.cohmm", "d.txt"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "cohmm: it went wrong\n")

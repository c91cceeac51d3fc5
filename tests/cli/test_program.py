"""What all commands share: help, errors, exit codes; and runs of the real program."""

import os
import pty
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cohmm
from cohmm.cli import app, program
from tests.cli.conftest import COMPILING, TEXT

PROGRAM = [sys.executable, "-c", "from cohmm.cli import main; main()"]
SCORE = import_module("cohmm.cli.score")
COMMANDS = ("demo", "count", "score", "decode", "sample")
STOPPED = "cohmm: whoever read the output stopped before its end\n"


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
    program.say("a\nb   c")
    assert capsys.readouterr().err == "cohmm: a b c\n"


def test_the_commands_import_nothing_heavy_until_they_run():
    """With an empty cohmm/__init__.py, whose own imports are another matter."""
    code = f"""
import sys, types
package = types.ModuleType("cohmm")
package.__path__ = [{os.path.dirname(cohmm.__file__)!r}]
sys.modules["cohmm"] = package
import cohmm.cli
print(sorted({{"numpy", "numba", "scipy", "pyarrow", "rich.progress"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


# -- the real program ------------------------------------------------------------------------


def real(*args, **options):
    return subprocess.run([*PROGRAM, *args], capture_output=True, text=True, timeout=300, **options)


def test_compiling_is_told_once_and_never_again(folder):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    args = ("count", "-", "-o", "c.cohmm", "--threads", "2")
    first = real(*args, input=TEXT, env=env)
    assert first.returncode == 0
    assert first.stderr == COMPILING
    second = real(*args, input=TEXT, env=env)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout == first.stdout


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
    assert process.wait(60) == 2
    assert error.replace(COMPILING, "") == STOPPED


def test_help_that_nobody_reads(folder):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "--help"], stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, STOPPED)


def test_an_interrupt_leaves_no_file(folder):
    process = subprocess.Popen(
        [*PROGRAM, "decode", "m.cohmm", "-", "-o", "states.txt"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not list(folder.glob(".states.txt.*")):  # it has begun
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (130, b"cohmm: interrupted\n")
    assert not list(folder.glob("*states*"))


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

"""Interrupts, streams that are closed, full or of another kind, and locales: the real program."""

import os
import re
import shlex
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from cohmm import HMM
from tests.cli.conftest import PROGRAM, real

CLOSED = "cohmm: standard output is closed (/dev/null takes what nobody wants to read)\n"
FULL = "cohmm: cannot write to standard output: No space left on device\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_file(folder, number):
    process = subprocess.Popen(
        [*PROGRAM, "decode", "m.cohmm", "-", "-o", "states.txt"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not list(folder.glob(".cohmm-*")):  # it has begun
        assert process.poll() is None
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, error) == (128 + number, b"cohmm: interrupted\n")
    assert not list(folder.glob(".cohmm-*"))
    assert not list(folder.glob("*states*"))


@pytest.mark.parametrize("module", ["typer", "numpy", "pyarrow"])
def test_an_interrupt_while_modules_are_imported(folder, module):
    (folder / "early").mkdir()
    (folder / "early" / f"{module}.py").write_text(
        "import os, signal; os.kill(os.getpid(), signal.SIGINT)"
    )
    path = os.pathsep.join([str(folder / "early"), *sys.path])
    done = real("score", "m.cohmm", "d.txt", env={**os.environ, "PYTHONPATH": path})
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "cohmm: interrupted\n")


def test_an_interrupt_that_the_shell_holds_off_is_none(folder):
    """As for jobs in the background of a script."""
    (folder / "typer.py").write_text(
        "import os, signal, sys\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.path.remove(os.getcwd())\n"
        "del sys.modules['typer']\n"
        "import typer\n"
        "sys.modules['typer'] = typer\n"
    )
    script = f"trap '' INT; exec {shlex.join([*PROGRAM, '--version'])}"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), *sys.path])}
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (0, "")


def shell(line, **options):
    """A command line of the shell, with its way to close streams."""
    text = line.replace("cohmm", shlex.join(PROGRAM), 1)
    return subprocess.run(["sh", "-c", text], capture_output=True, text=True, **options)


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("cohmm count - -o c.cohmm <&-", "cohmm: standard input is closed\n"),
        ("cohmm topics - <&-", "cohmm: standard input is closed\n"),
        ("cohmm score m.cohmm d.txt >&-", CLOSED),
        ("cohmm fit d.txt -o f.cohmm >&-", CLOSED),
        ("cohmm score m.cohmm nowhere.txt 2>&-", ""),
        ("cohmm score m.cohmm d.txt <&- >&- 2>&-", ""),
        ("cohmm --help >/dev/full", FULL),
        ("cohmm score m.cohmm d.txt >/dev/full", FULL),
        ("cohmm sample m.cohmm -n 100000 >/dev/full", FULL),
        ("cohmm sample m.cohmm -o /dev/full", FULL.replace("to standard output", "/dev/full")),
    ],
)
def test_streams_that_are_closed_or_full(folder, line, error):
    before = {path.name for path in folder.iterdir()}
    done = shell(line)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == error
    assert {path.name for path in folder.iterdir()} == before


def test_a_closed_stream_does_not_end_in_a_file(folder):
    """The number of standard error is free, and the next file to be opened would get it."""
    done = shell("cohmm sample m.cohmm -n 5 --seed 0 -o s.txt 2>&-")
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(r"(\w+ ){4}\w+\n", (folder / "s.txt").read_text())


@pytest.mark.parametrize("locale", [{"PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "ascii"}, {}])
@pytest.mark.parametrize("json", [[], ["--json"]])
def test_no_locale_makes_a_command_fail_when_all_is_done(folder, locale, json):
    (folder / "u.txt").write_text("straße 世界 😀\n世界 straße\n" * 30, "utf-8")
    env = {**os.environ, "LC_ALL": "C", **locale}
    args = ["topics", "u.txt", "-k", "2", "-o", "t.cohmm", "--token-pattern", r"\S+", *json]
    done = subprocess.run([*PROGRAM, *args], capture_output=True, env=env)
    assert done.returncode == 0, done.stderr
    assert "straße" in done.stdout.decode()
    assert "😀" in done.stdout.decode()
    assert (folder / "t.cohmm").exists()


def test_names_and_titles_of_any_bytes(folder):
    data, page = os.fsencode("d\udcff.txt"), b"r\xfe.html"
    os.rename("d.txt", data)
    args = ["report", "m.cohmm", data, "-o", page, "--title", b"Caf\xe9 \xff"]
    done = subprocess.run([*PROGRAM, *args], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith(rb"cohmm: wrote r\udcfe.html")
    assert '"title":"Caf\ufffd \ufffd"' in Path(os.fsdecode(page)).read_text("utf-8")
    done = subprocess.run([*PROGRAM, "fit", data, "-k", "2", "-o", b"m\xff"], capture_output=True)
    assert done.returncode == 0, done.stderr
    assert rb"m\udcff: 2 states" in done.stdout
    assert HMM.load("m\udcff").n_components == 2


def test_a_file_name_that_is_not_there_is_told_in_any_bytes(folder):
    done = subprocess.run([*PROGRAM, "score", b"m\xff\x1b.cohmm", "d.txt"], capture_output=True)
    assert (done.returncode, done.stderr) == (
        2,
        rb"cohmm: there is no file m\udcff\x1b.cohmm" + b"\n",
    )


def test_output_through_devices_pipes_and_links(folder):
    expected = real("decode", "m.cohmm", "d.txt").stdout
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, text=True)
    (folder / "there.txt").write_text("old")
    (folder / "there.txt").chmod(0o600)
    (folder / "link.txt").symlink_to("there.txt")
    for name in ("pipe", "link.txt", os.devnull):
        assert real("decode", "m.cohmm", "d.txt", "-o", name).returncode == 0
    assert reader.communicate(timeout=60)[0] == expected
    assert stat.S_ISFIFO(os.stat("pipe").st_mode)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    assert os.readlink("link.txt") == "there.txt"
    assert (folder / "there.txt").read_text() == expected
    assert stat.S_IMODE(os.stat("there.txt").st_mode) == 0o600
    assert real("decode", "m.cohmm", "d.txt", "-o", "/dev/stdout").stdout == expected


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_interpreter_ends_changes_nothing(folder, number):
    """It comes when modules are taken down, and the last handlers of Python are gone."""
    code = f"""
import os, sys
import cohmm.__main__ as program
class Late:
    def __del__(self, kill=os.kill, me=os.getpid()):
        kill(me, {int(number)})
program.late = Late()
sys.argv = ["cohmm", "--version"]
program.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("cohmm ")

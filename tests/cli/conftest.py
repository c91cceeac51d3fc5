"""A model in a folder of its own, and a way to run commands there."""

import subprocess
import sys
from typing import NamedTuple
from unittest.mock import ANY

import pytest
from typer.testing import CliRunner

from cohmm import HMM
from cohmm.cli import app
from cohmm.cli.app import MAX_LINE

PROGRAM = [sys.executable, "-m", "cohmm"]
TEXT = "walk shop clean\nclean walk\nshop\n"


def real(*args, **options):
    """Run the program itself."""
    return subprocess.run([*PROGRAM, *args], capture_output=True, text=True, timeout=300, **options)


class Outcome(NamedTuple):
    stdout: str
    stderr: str


@pytest.fixture
def weather():
    return HMM(
        [0.6, 0.4],
        [[0.7, 0.3], [0.4, 0.6]],
        [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]],
        vocabulary=["walk", "shop", "clean"],
    )


@pytest.fixture
def folder(tmp_path, monkeypatch, weather):
    """The working folder: a model, the same with numbers for symbols, and some data."""
    monkeypatch.chdir(tmp_path)
    weather.save("m.cohmm")
    HMM(weather.startprob, weather.transmat, weather.emissionprob).save("n.cohmm")
    (tmp_path / "d.txt").write_text(TEXT)
    return tmp_path


@pytest.fixture
def run(folder):
    """Run a command that succeeds, or one that must not: ``fails`` is what it says, or ANY."""

    def call(*args, input=None, fails=None):
        result = CliRunner().invoke(app, args, input=input, prog_name="cohmm")
        stderr = result.stderr
        if fails is None:
            assert result.exit_code == 0, stderr
        else:
            assert result.exit_code == 2
            assert result.exception is None or isinstance(result.exception, SystemExit)
            assert fails is ANY or stderr == f"cohmm: {fails}\n"
            assert stderr.startswith("cohmm: ")
            assert stderr.count("\n") == 1
            assert len(stderr) <= MAX_LINE + 1
            assert result.stdout == ""
        return Outcome(result.stdout, stderr)

    return call

"""The line that is logged while kernels are compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cohmm.kernels.compile_notice import PATIENCE, CompileNotice


def compiled(module: str) -> Any:
    function = SimpleNamespace(__module__=module)
    dispatcher = SimpleNamespace(py_func=function, stats=SimpleNamespace(cache_path="/kept/here"))
    return SimpleNamespace(data={"dispatcher": dispatcher})


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_it_says_so_once_when_it_takes_long(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    notice = CompileNotice(clock)
    ours, numbas = compiled("cohmm.kernels.chain"), compiled("numba.np.arrayobj")
    for said in (0, 0, 0, 1, 1):
        notice.on_start(ours)
        notice.on_start(numbas)
        clock.now += 0.3 * PATIENCE
        notice.on_end(numbas)
        assert len(caplog.records) == said
        notice.on_end(ours)
        clock.now += 10 * PATIENCE  # between kernels nothing is compiled
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("cohmm", "WARNING")
    assert "compiling kernels" in record.getMessage()
    assert "/kept/here" in record.getMessage()


def test_kernels_of_others_and_short_ones_are_nothing_to_speak_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    notice = CompileNotice(clock)
    for module, seconds in (("theirs.kernels", 10 * PATIENCE), ("cohmm.kernels.chain", 0.9)):
        notice.on_start(compiled(module))
        clock.now += seconds
        notice.on_end(compiled(module))
    assert not caplog.records


def test_the_command_line_says_it_itself(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    notice = CompileNotice(clock)
    notice.say_nothing()
    notice.on_start(compiled("cohmm.kernels.chain"))
    clock.now += 10 * PATIENCE
    notice.on_end(compiled("cohmm.kernels.chain"))
    assert not caplog.records


def test_a_user_sees_it(tmp_path: Path) -> None:
    # Nothing set up, an empty cache, no patience: the line is on the standard error, once.
    code = (
        "import cohmm.kernels.compile_notice as notice\n"
        "notice.PATIENCE = 0.0\n"
        "from cohmm import count_pairs\n"
        "count_pairs([0, 1, 0])\ncount_pairs([0, 1, 1])\n"
    )
    for times in (1, 0):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stderr.count("compiling kernels for this machine") == times
        assert not done.stdout

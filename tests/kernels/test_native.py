"""The native module: what it takes, which level it uses, and what it says where it cannot."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cohmm.kernels import level, native

SETTING = "COHMM_LEVEL"
LEVEL = "from cohmm.kernels import level; print(level)"
COMMAND = "from cohmm.cli import main; main()"


def python(code: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != SETTING}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=kept | settings, capture_output=True, text=True)


# -- levels -----------------------------------------------------------------------------------


@pytest.mark.skipif(level == 0, reason="this is no x86-64")
def test_a_lower_level_can_be_chosen() -> None:
    best = int(python(LEVEL).stdout)
    for lower in range(2, best + 1):
        assert python(LEVEL, **{SETTING: str(lower)}).stdout == f"{lower}\n"


@pytest.mark.parametrize("wrong", ["5", "avx2"])
def test_a_level_that_is_not_there_is_named_in_a_line(wrong: str, tmp_path: Path) -> None:
    done = python(COMMAND, "demo", "--output", str(tmp_path / "demo"), **{SETTING: wrong})
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"cohmm: {SETTING} is '{wrong}': ")
    assert line.endswith(", or unset")


def test_a_core_that_was_built_for_another_python_is_named_in_a_line() -> None:
    hidden = "import sys; sys.modules['cohmm._native'] = None\n"
    done = python(hidden + LEVEL)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        f"ImportError: the native core of cohmm is not built for {sys.executable}: install"
    )


@pytest.mark.skipif(SETTING in os.environ, reason="this is one of those runs")
@pytest.mark.parametrize("lower", range(2, level))
def test_kernels_pass_their_tests_at_lower_levels(lower: int) -> None:
    """But for this file, and for kernels that are compiled once."""
    folder = Path(__file__).parent
    once = ("counts", "document_words", "log_domain", "native", "text", "threads")
    ignored = [f"--ignore={folder / f'test_{name}.py'}" for name in once]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-x",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
    ]
    done = subprocess.run(
        [*command, *ignored, str(folder)],
        cwd=folder.parent.parent,
        env={**os.environ, SETTING: str(lower), "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]


# -- arrays -----------------------------------------------------------------------------------

SYMBOLS, OFFSETS = np.array([0, 1], np.int32), np.array([0, 2])


def test_arrays_that_are_only_read_may_be_read_only() -> None:
    symbols, offsets, frequencies = SYMBOLS.copy(), OFFSETS.copy(), np.zeros(2, np.int64)
    for array in (symbols, offsets):
        array.flags.writeable = False
    native.count_documents(symbols, offsets, frequencies, np.full(2, -1))
    assert frequencies.tolist() == [1, 1]


@pytest.mark.parametrize(
    "frequencies",
    [
        np.zeros(2),
        np.zeros(2, np.int32),
        np.zeros((2, 1), np.int64),
        np.zeros(4, np.int64)[::2],
        np.broadcast_to(np.int64(0), 2),
        [0, 0],
        None,
    ],
    ids=["type", "width", "axes", "strides", "read-only", "list", "none"],
)
def test_arrays_of_another_kind_are_refused_and_not_copied(frequencies: object) -> None:
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.count_documents(SYMBOLS, OFFSETS, frequencies, np.full(2, -1))  # type: ignore[arg-type]

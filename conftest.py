"""What holds in all tests, of modules and their docstrings alike: any order, any terminal.

Doctests of decorated functions are found as well, which the standard finder passes over.
"""

from __future__ import annotations

import doctest
import inspect
import os
from typing import Any

import pytest

COLOURS = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "PY_COLORS", "COLORTERM")
TERMINAL = {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", "MPLBACKEND": "Agg"}


def pytest_sessionstart() -> None:
    """Commands print as to a terminal of no special kind; pytest itself has seen the real one."""
    for name in (*COLOURS, "TTY_COMPATIBLE", "TTY_INTERACTIVE", "TERMINAL_WIDTH", "GITHUB_ACTIONS"):
        os.environ.pop(name, None)
    os.environ.update(TERMINAL)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The order can be had again, also where no header is printed."""
    seed = terminalreporter.config.getoption("randomly_seed", None)
    if seed is not None:
        terminalreporter.write_line(f"random order: pytest --randomly-seed={seed}")


_from_module = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _unwrapped_from_module(self: doctest.DocTestFinder, module: Any, function: Any) -> bool:
    return bool(_from_module(self, module, inspect.unwrap(function)))


doctest.DocTestFinder._from_module = _unwrapped_from_module  # type: ignore[attr-defined]

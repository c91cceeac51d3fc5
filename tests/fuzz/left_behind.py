"""What a process is left with: whatever a library changes, it has to put back."""

from __future__ import annotations

import locale
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

KEPT = "cohmm"  # how the threads that are kept for the next call are called


def state_of_process() -> dict[str, Any]:
    """All that calls in threads could leave behind."""
    return {
        "threads of BLAS": [pool["num_threads"] for pool in threadpool_info()],
        "filters of warnings": list(warnings.filters),
        "how warnings are shown": warnings.showwarning,
        "threads": sorted(
            thread.name for thread in threading.enumerate() if not thread.name.startswith(KEPT)
        ),
        "environment": dict(os.environ),
        "handlers": {number: signal.getsignal(number) for number in signal.valid_signals()},
        "folder": os.getcwd(),
        "temporary files": sorted(os.listdir(tempfile.gettempdir())),
        "open files": len(os.listdir("/proc/self/fd")) if sys.platform == "linux" else 0,
        "floating-point errors": np.geterr(),
        "random numbers": (random.getstate(), np.random.get_state()[1].tolist()),  # noqa: NPY002
        "streams": (sys.stdin, sys.stdout, sys.stderr),
        "limit of recursion": sys.getrecursionlimit(),
        "locale": locale.setlocale(locale.LC_ALL),
    }


def at_once(jobs: list[Callable[[], Any]], folder: Path) -> list[Any]:
    """What each job gives, or the `ValueError` that it raises, all in threads of their own.

    The process must be as it was before.
    """
    together = threading.Barrier(len(jobs))

    def outcome(job: Callable[[], Any]) -> Any:
        together.wait()
        try:
            return job()
        except ValueError as error:
            return str(error)

    temporary = tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        with threadpool_limits(2, "blas"):
            before = state_of_process()
            with ThreadPoolExecutor(len(jobs)) as pool:
                outcomes = list(pool.map(outcome, jobs))
            after = state_of_process()
    finally:
        tempfile.tempdir = temporary
    for what, was in before.items():
        assert after[what] == was, (what, was, after[what])
    return outcomes

"""One line that says what happens while kernels are compiled, which no one has to wait for twice.

Compiled kernels are kept on disk.  In a new environment there are none yet, and the first call
takes some seconds longer: when that comes to more than `PATIENCE`, the logger "cohmm" says so,
once.  It is a warning, so that it is seen where nothing was set up; ``logging.getLogger("cohmm")``
has the usual ways to do without.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

PATIENCE = 2.0  # seconds
MESSAGE = (
    "compiling kernels for this machine, some seconds more; they are kept in %s, "
    "so that it is only the first time"
)
logger = logging.getLogger("cohmm")


class CompileNotice(event.Listener):  # type: ignore[misc]
    """Adds up the time in which kernels of this package are compiled.

    Parameters
    ----------
    clock : function
        Seconds since some time.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter):
        self._clock = clock
        self._depth = 0
        self._began = 0.0
        self._spent = 0.0
        self._place = ""
        self._said = False

    def say_nothing(self) -> None:
        """From now on: the command line says it itself."""
        self._said = True

    def on_start(self, happening: Any) -> None:
        """A function is about to be compiled: a kernel, or what one calls."""
        dispatcher = happening.data["dispatcher"]
        if self._depth == 0:
            if not dispatcher.py_func.__module__.startswith("cohmm."):
                return
            self._began, self._place = self._clock(), dispatcher.stats.cache_path
        self._depth += 1
        self._speak(self._clock())

    def on_end(self, happening: Any) -> None:
        """It was compiled."""
        if self._depth == 0:
            return
        self._depth -= 1
        now = self._clock()
        self._speak(now)
        if self._depth == 0:
            self._spent += now - self._began

    def _speak(self, now: float) -> None:
        if not self._said and self._spent + now - self._began > PATIENCE:
            self._said = True
            logger.warning(MESSAGE, self._place)


notice = CompileNotice()
event.register("numba:compile", notice)

"""Warnings that point at the user's line, and that one thread can do without.

`warnings.catch_warnings` changes the filters of the whole process: where blocks of two threads
overlap, the last to leave restores what the other had set.  So it is not used in the library.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

PASSED_OVER = ("cohmm", "contextlib", "sklearn")  # packages on the way to the user's line

_silenced: ContextVar[tuple[tuple[type[Warning], str], ...]] = ContextVar("silenced", default=())


@contextmanager
def silenced(category: type[Warning] = Warning, beginning: str = "") -> Iterator[None]:
    """In this thread, and in what it starts, `warn` says nothing of this kind.

    >>> with silenced(UserWarning):
    ...     warn("nobody needs to know", UserWarning)
    """
    token = _silenced.set((*_silenced.get(), (category, beginning)))
    try:
        yield
    finally:
        _silenced.reset(token)


def warn(message: str, category: type[Warning]) -> None:
    """A warning that points at the user's line, however deep in the package it arises."""
    for kind, beginning in _silenced.get():
        if issubclass(category, kind) and message.startswith(beginning):
            return
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in PASSED_OVER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]

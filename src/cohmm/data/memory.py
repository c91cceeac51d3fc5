"""Amounts of memory: how they are written, and how much this process has."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from cohmm.data.values import shown

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("kmgt", 1)}
WRITTEN = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{0,9})?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
LIBRARIES = 300 * 10**6  # bytes of Python, NumPy, pyarrow and compiled kernels, once all are loaded


class MemoryCapError(ValueError):
    """What must be held is larger than the memory that it may take."""


def as_bytes(memory: int | str | None) -> int | None:
    """A number of bytes, as such or as it is written; None stays None.

    >>> as_bytes("1.5 GB"), as_bytes("64MiB"), as_bytes(1000)
    (1500000000, 67108864, 1000)
    """
    if memory is None:
        return None
    number: Any = memory
    if isinstance(memory, str):
        match = WRITTEN.fullmatch(memory)
        unit = None if match is None else UNITS.get(match[2].lower())
        number = None if match is None or unit is None else int(float(match[1]) * unit)
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"memory must be a number of bytes, such as '2GB', not {shown(memory)}")
    return number


def in_words(size: float) -> str:
    """Bytes, as they are read best.

    >>> in_words(2.5e9), in_words(12_345_678), in_words(99)
    ('2.50 GB', '12 MB', '99 bytes')
    """
    if size >= 10**9:
        return f"{size / 1e9:.2f} GB"
    return f"{size / 1e6:,.0f} MB" if size >= 10**6 else f"{size:,.0f} bytes"


def resident() -> int:
    """How many bytes of memory this process has now; the most it had, where that is all one knows.

    Pages of files that are mapped are not among them: the system takes them back as it likes.
    """
    try:
        parts = Path("/proc/self/statm").read_text().split()
        return (int(parts[1]) - int(parts[2])) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        pass
    try:
        import resource
    except ImportError:
        return LIBRARIES
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit

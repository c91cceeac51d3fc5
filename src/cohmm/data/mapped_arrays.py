"""Arrays in a file that is mapped into memory: larger than it, and gone with the process.

The file has no name, so it vanishes however the process ends; pages that are not in use cost no
memory.  It is in the folder for temporary files, which the environment variable TMPDIR names.
"""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import IO, Any, NamedTuple

import numpy as np

from cohmm.data.values import Value, frozen

ALIGNED = 64  # bytes: every array begins at a multiple
SMALL = 2**20  # bytes: what is smaller stays in memory


class Slot(NamedTuple):
    """Where an array is, until the file is mapped."""

    place: int
    dtype: Any
    length: int


class ArrayFile:
    """A file that arrays are written to, one after the other, before it is mapped as a whole."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._size = 0

    def add(self, blocks: Iterable[np.ndarray], dtype: Any) -> Slot:
        """One array, of all blocks; where it will be."""
        place = self._size
        for block in blocks:
            self._size += self._file.write(np.ascontiguousarray(block, dtype).data.cast("B"))
        size = self._size - place
        self._size += self._file.write(bytes(-self._size % ALIGNED))
        return Slot(place, dtype, size // np.dtype(dtype).itemsize)

    def mapped(self) -> Any:
        """What has been written, as bytes; nothing can be added any more."""
        self._file.flush()
        return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) if self._size else b""


def array_at(slot: Slot, data: Any) -> np.ndarray:
    """The array of a slot, read-only."""
    return frozen(np.frombuffer(data, slot.dtype, slot.length, slot.place))  # type: ignore[no-any-return]


@contextmanager
def array_file() -> Iterator[ArrayFile]:
    """A new one; what the disk refuses is told."""
    try:
        with tempfile.TemporaryFile() as file:
            yield ArrayFile(file)
    except OSError as error:
        raise ValueError(
            f"{tempfile.gettempdir()}: what is kept of the data cannot be written: "
            f"{error.strerror or error}; the environment variable TMPDIR names another folder"
        ) from None


def mapped(blocks: Iterable[np.ndarray], dtype: Any) -> np.ndarray:
    """One array, read-only, of all blocks, one after the other.

    >>> mapped([np.arange(3), np.arange(2)], np.int32)
    array([0, 1, 2, 0, 1], dtype=int32)
    """
    with array_file() as file:
        slot = file.add(blocks, dtype)
        return array_at(slot, file.mapped())


def on_disk(value: Any) -> Any:
    """The same value, its large arrays in files; what is none of ours stays as it is."""
    if not isinstance(value, Value):
        return value
    contents = (getattr(value, field.name) for field in fields(value))
    return type(value)._trusted(*map(_on_disk, contents))


def _on_disk(content: Any) -> Any:
    if isinstance(content, np.ndarray) and content.ndim == 1 and content.nbytes > SMALL:
        return mapped([content], content.dtype)
    return content

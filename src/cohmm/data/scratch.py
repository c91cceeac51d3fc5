"""Arrays in scratch files: they grow at their ends, and may be larger than memory.

A scratch file has no name, so it vanishes however the process ends; pages of it that are not in
use cost no memory.
"""

from __future__ import annotations

import io
import mmap
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import IO, Any

import numpy as np

from cohmm._validation import Value
from cohmm.atomic_write import StorageError

SMALL = 2**20  # bytes: what is smaller stays in memory

Folder = str | os.PathLike[str] | None


class ScratchArray:
    """An array that grows at its end: in memory, or beyond ``in_memory`` bytes in a file.

    >>> numbers = ScratchArray(np.int32)
    >>> numbers.append(np.arange(5))
    >>> len(numbers), numbers[1:3].tolist(), int(numbers.mapped().sum())
    (5, [1, 2], 10)
    """

    def __init__(self, dtype: Any, in_memory: int = 0, folder: Folder = None) -> None:
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self._length = 0
        self._room = in_memory
        self._file: IO[bytes] = io.BytesIO() if in_memory else self._opened()

    def __del__(self) -> None:
        if hasattr(self, "_file") and self.on_disk:
            self._file.close()

    def __len__(self) -> int:
        return self._length

    @property
    def on_disk(self) -> bool:
        """Whether it is in a file."""
        return not isinstance(self._file, io.BytesIO)

    def append(self, values: np.ndarray) -> None:
        """Write at the end."""
        self._length += len(values)
        if isinstance(self._file, io.BytesIO) and self._length * self.dtype.itemsize > self._room:
            held, self._file = self._file, self._opened()
            self._write(held.getbuffer())
        self._write(np.ascontiguousarray(values, self.dtype).data.cast("B"))

    def __getitem__(self, part: slice) -> np.ndarray:
        first, last, _ = part.indices(self._length)
        values = np.empty(max(last - first, 0), self.dtype)
        data = values.data.cast("B")
        self._file.seek(first * self.dtype.itemsize)
        while len(data):
            n = self._file.readinto(data)  # type: ignore[attr-defined]
            if not n:
                raise StorageError(f"a scratch file in {self._folder} was cut short")
            data = data[n:]
        self._file.seek(0, os.SEEK_END)
        return values

    def mapped(self) -> np.ndarray:
        """All of it, mapped into memory, where it may be written to; nothing may be added then."""
        if not self._length:
            return np.empty(0, self.dtype)
        if isinstance(self._file, io.BytesIO):
            return np.frombuffer(self._file.getbuffer(), self.dtype)
        return np.ndarray(self._length, self.dtype, mmap.mmap(self._file.fileno(), 0))

    def _opened(self) -> IO[bytes]:
        with writing(self._folder):
            return tempfile.TemporaryFile(dir=self._folder, buffering=0)

    def _write(self, data: memoryview) -> None:
        with writing(self._folder):
            while len(data):
                data = data[self._file.write(data) :]


def on_disk(value: Any) -> Any:
    """One of our values with its large arrays in scratch files; anything else as it is."""
    if not isinstance(value, Value):
        return value

    def moved(content: Any) -> Any:
        if not isinstance(content, np.ndarray) or content.ndim > 1 or content.nbytes <= SMALL:
            return content
        store = ScratchArray(content.dtype)
        store.append(content)
        return store.mapped()

    return type(value)._trusted(*(moved(getattr(value, field.name)) for field in fields(value)))


@contextmanager
def writing(folder: str) -> Iterator[None]:
    """What the system refuses becomes an error that names the folder and a remedy."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"a scratch file cannot be written to the folder {folder}: {error.strerror or error}; "
            "the environment variable TMPDIR names another folder"
        ) from None

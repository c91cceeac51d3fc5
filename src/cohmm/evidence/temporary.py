"""Arrays in temporary files, which vanish with the process however it ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from cohmm.atomic_write import StorageError


class DiskArray:
    """An array that grows at its end, in a file without a name; slices of it are read.

    >>> numbers = DiskArray(None, np.int32)
    >>> numbers.append(np.arange(5))
    >>> len(numbers), numbers[1:3].tolist()
    (5, [1, 2])
    """

    def __init__(self, folder: str | os.PathLike[str] | None, dtype: Any) -> None:
        self._folder = tempfile.gettempdir() if folder is None else os.fspath(folder)
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self._length = 0
        with telling(self._folder):
            file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - it is kept
        self._file: IO[bytes] = file

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def __len__(self) -> int:
        return self._length

    def append(self, values: np.ndarray) -> None:
        """Write at the end."""
        data = np.ascontiguousarray(values, self.dtype).data.cast("B")
        with telling(self._folder):
            while len(data):
                data = data[self._file.write(data) :]
        self._length += len(values)

    def joined(self) -> DiskArray:
        """It is one array already."""
        return self

    def __getitem__(self, part: slice) -> np.ndarray:
        first, last, _ = part.indices(self._length)
        values = np.empty(max(last - first, 0), self.dtype)
        data = values.data.cast("B")
        self._file.seek(first * self.dtype.itemsize)
        while len(data):
            n = self._file.readinto(data)  # type: ignore[attr-defined]
            if not n:
                raise StorageError(f"a temporary file in {self._folder} was cut short")
            data = data[n:]
        self._file.seek(0, os.SEEK_END)
        return values


@contextmanager
def telling(folder: str) -> Iterator[None]:
    """What the system refuses is told with the folder, and with what to do."""
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"cannot write temporary counts to the folder {folder}: {error.strerror or error}; "
            "they need up to 5 bytes per pair"
        ) from None

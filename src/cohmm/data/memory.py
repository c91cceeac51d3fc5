"""Memory: amounts of it, a cap for this process, and scratch files for what has no room.

A scratch file has no name, so it vanishes however the process ends; pages of it that are not in
use cost no memory.
"""

from __future__ import annotations

import io
import mmap
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from cohmm._validation import Value, shown
from cohmm.atomic_write import StorageError

Folder = str | os.PathLike[str] | None

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
UNITS |= {f"{unit}i": 1024**power for power, unit in enumerate("kmgt", 1)}
WRITTEN = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]{0,9})?)\s*([kmgt]?i?)b?\s*", re.IGNORECASE)
MIN_ROOM = 96 * 2**20  # bytes beyond those of Python and its libraries: less is not worth trying
BATCH_BYTES = 28  # per symbol of a batch: its code and that of the next batch, its sort key, its
# part of sequences and counts
CHUNK_BYTES = 64  # per symbol that is being read and encoded
LABEL_BYTES = 400  # per label: two dictionaries, and what sorts and writes it at the end
SYMBOL_BYTES = 80  # per symbol that is a number: counts, and the widths of rows that are merged
LARGEST_BATCH = 2**26  # symbols; sorting more at a time is no faster
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


@dataclass(frozen=True)
class Budget:
    """A cap on the memory of this process, and the folder for what has no room below it.

    Of what is left beside Python and its libraries, a third is for a batch of symbols that is
    counted, an eighth for what is read, and the rest for sums of counts; or, when all is read,
    for merging them.
    """

    cap: int | None = None
    room: int | None = None
    folder: Folder = None

    @classmethod
    def of(cls, memory: int | str | None, folder: Folder = None) -> Budget:
        """Share out ``memory``, None for no cap."""
        cap = as_bytes(memory)
        if cap is None:
            return cls(None, None, folder)
        taken = max(resident(), LIBRARIES)
        if cap - taken < MIN_ROOM:
            raise MemoryCapError(
                f"a cap of {in_words(cap)} is too small: Python and its libraries alone have "
                f"{in_words(taken)}; give {in_words(taken + MIN_ROOM)} at least"
            )
        return cls(cap, cap - taken, folder)

    def batch(self, size: int) -> int:
        """How many symbols are counted at a time: ``size``, where there is no cap."""
        if self.room is None:
            return size
        return min(self.room // 3 // BATCH_BYTES, LARGEST_BATCH)

    def chunk(self, size: int) -> int:
        """How many symbols are read at a time: at most ``size``."""
        return size if self.room is None else min(size, self.room // 8 // CHUNK_BYTES)

    def held(self, n_lags: int) -> int | None:
        """Bytes for the sparse sums of a lag; as many are used while they are added."""
        return None if self.room is None else self.room // 16 // n_lags

    @property
    def merging(self) -> int | None:
        """Bytes to merge in, when all is read."""
        return None if self.room is None else self.room // 3

    def fits(self, size: int) -> bool:
        """Whether a result of so many bytes may stay in memory."""
        return self.room is None or size <= self.room // 3

    def beside(self, n_symbols: int, labelled: bool) -> Budget:
        """What is left beside a vocabulary, which must be held."""
        if self.cap is None or self.room is None:
            return self
        size = n_symbols * (LABEL_BYTES if labelled else SYMBOL_BYTES)
        if self.room - size < MIN_ROOM // 3:
            least = self.cap - self.room + size + MIN_ROOM // 3
            raise MemoryCapError(
                f"a cap of {in_words(self.cap)} is too small for {n_symbols:,} "
                f"{'labels' if labelled else 'symbols'}, which take about {in_words(size)} beside "
                f"Python and its libraries; give {in_words(1.01 * least)} at least"
            )
        return replace(self, room=self.room - size)

    def check(self, what: str) -> None:
        """Whether the cap still holds; ``what`` has to be held in memory."""
        if self.cap is not None and (taken := resident()) > self.cap:
            raise MemoryCapError(
                f"a cap of {in_words(self.cap)} is too small for {what}: this process has "
                f"{in_words(taken)}; give more"
            )


NO_CAP = Budget()


# -- scratch files -----------------------------------------------------------------------------

SMALL = 2**20  # bytes: what is smaller stays in memory


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

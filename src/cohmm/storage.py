"""The one file format: named arrays and a header, no pickle.

A file is an uncompressed zip of ``.npy`` arrays, as `numpy.savez` writes it, one of
which, ``header``, holds a JSON text: what kind of value this is, the version of the
format, and whatever is not an array.  The zip's checksums find damage.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from cohmm.atomic_write import StorageError as StorageError
from cohmm.atomic_write import replacing as replacing

FORMAT = 1
_ZIP = b"PK\x03\x04"
PIECE = 2**24  # bytes of a mapped array that are written at a time


def save(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a value to ``path``, whole or not at all."""
    with replacing(path) as file:
        write(file, kind, header, arrays)


def write(
    file: IO[bytes],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a value to an open file."""
    text = json.dumps({"cohmm": kind, "format": FORMAT, **header}, ensure_ascii=False)
    # A lone surrogate becomes what JSON writes for it.
    first = np.frombuffer(text.encode(errors="backslashreplace"), np.uint8)
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in {"header": first, **arrays}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                _write_array(member, np.asanyarray(array))


def _write_array(member: IO[bytes], array: np.ndarray) -> None:
    """As `numpy.lib.format.write_array`; pages that are mapped from a file are let go again.

    So what is larger than memory can be written.
    """
    mapped: Any = array
    while isinstance(mapped, np.ndarray):
        mapped = mapped.base
    pages = isinstance(mapped, mmap.mmap) and hasattr(mapped, "madvise")
    if not pages or not array.flags.c_contiguous:
        np.lib.format.write_array(member, array, allow_pickle=False)
        return
    header = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(member, header)
    data, begin = array.reshape(-1).data.cast("B"), _address(array) - _address(mapped)
    for first in range(0, len(data), PIECE):
        member.write(data[first : first + PIECE])
        page = (begin + first) // mmap.PAGESIZE * mmap.PAGESIZE
        mapped.madvise(mmap.MADV_DONTNEED, page, min(PIECE, len(mapped) - page))


def _address(buffer: Any) -> int:
    return int(np.frombuffer(buffer, np.uint8).ctypes.data)


def kind(path: str | os.PathLike[str]) -> str:
    """What `save` was told that the value at ``path`` is; its arrays are not read."""
    with _opened(path) as archive:
        return str(_checked_header(path, archive)["cohmm"])


def load(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a value of ``kind`` that `save` wrote to ``path``."""
    with _opened(path) as archive:
        header = _checked_header(path, archive)
        if header["cohmm"] != kind:
            raise StorageError(f"{path} holds a {header['cohmm']}, not a {kind}")
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        return header, {name: _array(archive, name) for name in names if name != "header"}


class Members:
    """The arrays of a saved value, read one by one or piece by piece."""

    def __init__(self, header: dict[str, Any], archive: zipfile.ZipFile) -> None:
        self.header = header
        self._archive = archive

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._archive.namelist()

    def kind_of(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """The shape and the type of an array."""
        with self._archive.open(f"{name}.npy") as file:
            return _shape_and_type(file)

    def array(self, name: str) -> np.ndarray:
        """All of an array."""
        return _array(self._archive, name)

    def chunks(self, name: str, size: int) -> Iterator[np.ndarray]:
        """An array, ``size`` rows at a time."""
        with self._archive.open(f"{name}.npy") as file:
            (length, *others), dtype = _shape_and_type(file)
            while length:
                data = file.read(min(size, length) * math.prod(others) * dtype.itemsize)
                chunk = np.frombuffer(data, dtype).reshape(-1, *others)
                if not len(chunk):
                    raise ValueError(f"its array {name!r} is cut short")
                length -= len(chunk)
                yield chunk
            if file.read(1):  # at the end, the checksum is compared
                raise ValueError(f"its array {name!r} is longer than it says")


@contextmanager
def members(path: str | os.PathLike[str], kind: str) -> Iterator[Members]:
    """The arrays of a value of ``kind``, while the file is open."""
    with _opened(path) as archive:
        header = _checked_header(path, archive)
        if header["cohmm"] != kind:
            raise StorageError(f"{path} holds a {header['cohmm']}, not a {kind}")
        yield Members(header, archive)


def _checked_header(path: str | os.PathLike[str], archive: zipfile.ZipFile) -> dict[str, Any]:
    known = "header.npy" in archive.namelist()
    header = json.loads(_array(archive, "header").tobytes().decode()) if known else None
    if not isinstance(header, dict) or "cohmm" not in header:
        raise StorageError(f"{path} is not a cohmm file")
    if header.get("format") != FORMAT:
        raise StorageError(
            f"{path} is of format {header.get('format')!r}; this version of cohmm "
            f"reads format {FORMAT}"
        )
    return header


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[zipfile.ZipFile]:
    """The members of a file, whose damage is told wherever it is met."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                raise StorageError(f"{path} is not a cohmm file")
            with zipfile.ZipFile(file) as archive:
                _check_sizes(archive, os.fstat(file.fileno()).st_size)
                yield archive
    except (StorageError, MemoryError):
        raise
    except FileNotFoundError:
        raise StorageError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise StorageError(f"{path} is a folder, not a file") from None
    except PermissionError:
        raise StorageError(f"{path} may not be read") from None
    except Exception as error:  # a damaged zip raises whatever its damaged bytes lead to
        raise StorageError(f"{path} is not a cohmm file, or is damaged ({error})") from None


def _check_sizes(archive: zipfile.ZipFile, size: int) -> None:
    """Whether all members together have at most the ``size`` of the file, before one is read.

    `save` compresses nothing, so that no small file can ask for much memory.
    """
    seen: set[str] = set()
    for member in archive.infolist():
        name = member.filename
        if member.compress_type != zipfile.ZIP_STORED:
            raise ValueError(f"its member {name!r} is compressed")
        if not name.endswith(".npy"):
            raise ValueError(f"its member {name!r} is not an array")
        if name in seen:
            raise ValueError(f"its member {name!r} is there twice")
        seen.add(name)
        size -= member.file_size
        if size < 0:
            raise ValueError(f"its member {name!r} is larger than the file, or shared with others")


def _array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """An array, for which there is no memory asked before its header agrees with its size."""
    member = archive.getinfo(f"{name}.npy")
    try:
        with archive.open(member) as file:
            shape, dtype = _shape_and_type(file)
            if math.prod(shape) * dtype.itemsize != member.file_size - file.tell():
                raise ValueError(f"{dtype} {shape} is not {member.file_size:,} bytes")
        with archive.open(member) as file:
            return np.lib.format.read_array(file, allow_pickle=False)
    except MemoryError:
        raise
    except Exception as error:
        raise ValueError(f"its array {name!r}: {error}") from None


def _shape_and_type(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """What the first bytes of a member say of the array behind them."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.kind not in "biuf":
        raise ValueError(f"{dtype} is not a type of numbers")
    return shape, dtype


def reading(path: str | os.PathLike[str], build: Callable[[], Any]) -> Any:
    """``build()``, whose complaints about the contents name the file."""
    try:
        return build()
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError) as error:
        raise StorageError(f"{path} is damaged: {error}") from None


def plain(name: str, value: Any) -> Any:
    """A parameter of an estimator as JSON can hold it."""
    if callable(value):
        raise ValueError(
            f"{name}={value!r} is a function, which a file cannot hold: set_params({name}=None) "
            "first" + (", or give it by name, 'module:function'" if name == "analyzer" else "")
        )
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return None  # it has been drawn from
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(key): plain(name, item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(name, item) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise ValueError(f"{name}={value!r} is a {type(value).__name__}, which a file cannot hold")

"""The one file format: named arrays and a header, no pickle.

A file is an uncompressed zip of ``.npy`` arrays, as `numpy.savez` writes it, one of
which, ``header``, holds a JSON text: what kind of value this is, the version of the
format, and whatever is not an array.  The zip's checksums find damage.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from cohmm.output import StorageError as StorageError
from cohmm.output import replacing as replacing

FORMAT = 1
_ZIP = b"PK\x03\x04"


def save(
    path: str | os.PathLike[str],
    kind: str,
    header: Mapping[str, Any],
    arrays: Mapping[str, np.ndarray],
) -> None:
    """Write a value to ``path``, whole or not at all."""
    text = json.dumps({"cohmm": kind, "format": FORMAT, **header}, ensure_ascii=False)
    with replacing(path) as file:
        np.savez(
            file,
            allow_pickle=False,
            # A lone surrogate becomes what JSON writes for it.
            header=np.frombuffer(text.encode(errors="backslashreplace"), np.uint8),
            **dict(arrays),
        )


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

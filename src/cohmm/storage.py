"""The one file format: named arrays and a header, no pickle.

A file is an uncompressed zip of ``.npy`` arrays, as `numpy.savez` writes it, one of
which, ``header``, holds a JSON text: what kind of value this is, the version of the
format, and whatever is not an array.  The zip's checksums find damage.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

FORMAT = 1
_ZIP = b"PK\x03\x04"


class StorageError(ValueError):
    """A file that is not what it should be."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, that takes the place of ``path`` only when all is written."""
    path = Path(path)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        try:
            temporary.replace(path)
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)


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
            header=np.frombuffer(text.encode(), np.uint8),
            **dict(arrays),
        )


def _checked_header(path: str | os.PathLike[str], archive: Any, kind: str) -> dict[str, Any]:
    header = json.loads(archive["header"].tobytes().decode()) if "header" in archive else None
    if not isinstance(header, dict) or "cohmm" not in header:
        raise StorageError(f"{path} is not a cohmm file")
    if header.get("format") != FORMAT:
        raise StorageError(
            f"{path} is of format {header.get('format')!r}; this version of cohmm "
            f"reads format {FORMAT}"
        )
    if header["cohmm"] != kind:
        raise StorageError(f"{path} holds a {header['cohmm']}, not a {kind}")
    return header


def load(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The header and the arrays of a value of ``kind`` that `save` wrote to ``path``."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                raise StorageError(f"{path} is not a cohmm file")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                return _checked_header(path, archive, kind), {
                    name: archive[name] for name in archive.files if name != "header"
                }
    except StorageError:
        raise
    except FileNotFoundError:
        raise StorageError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise StorageError(f"{path} is a folder, not a file") from None
    except PermissionError:
        raise StorageError(f"{path} may not be read") from None
    except Exception as error:  # a damaged zip raises whatever its damaged bytes lead to
        raise StorageError(f"{path} is not a cohmm file, or is damaged ({error})") from None


def reading(path: str | os.PathLike[str], build: Callable[[], Any]) -> Any:
    """``build()``, whose complaints about the contents name the file."""
    try:
        return build()
    except StorageError:
        raise
    except (KeyError, ValueError, TypeError) as error:
        raise StorageError(f"{path} is damaged: {error}") from None

"""The one file format: named arrays and a header, no pickle.

A file is an uncompressed zip of ``.npy`` arrays, as `numpy.savez` writes it, one of
which, ``header``, holds a JSON text: what kind of value this is, the version of the
format, and whatever is not an array.  The zip's checksums find damage.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
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
    # The name comes first, so that an interrupt at any time finds something to remove.
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}"
    try:
        with ExitStack() as opened:
            with _telling(path):
                file = opened.enter_context(open(temporary, "xb"))
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _telling(path):
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _telling(path: Path) -> Iterator[None]:
    """What the system refuses is told by the name that was asked for."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror}") from None


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
        return header, {name: archive[name] for name in archive.files if name != "header"}


def _checked_header(path: str | os.PathLike[str], archive: Any) -> dict[str, Any]:
    header = json.loads(archive["header"].tobytes().decode()) if "header" in archive else None
    if not isinstance(header, dict) or "cohmm" not in header:
        raise StorageError(f"{path} is not a cohmm file")
    if header.get("format") != FORMAT:
        raise StorageError(
            f"{path} is of format {header.get('format')!r}; this version of cohmm "
            f"reads format {FORMAT}"
        )
    return header


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The arrays of a file, whose damage is told wherever it is met."""
    try:
        with open(path, "rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                raise StorageError(f"{path} is not a cohmm file")
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                yield archive
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

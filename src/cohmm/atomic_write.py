"""The one way in which cohmm writes: a file is complete, or as it was before.

What is written goes to a temporary file beside the target, and takes its place at the end.  The
temporary file is locked as long as it is written, so that the next run can tell those which a
killed process left behind from those in use, and removes them.
"""

from __future__ import annotations

import io
import os
import platform
import re
import secrets
import stat
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

POSIX = os.name == "posix"
if POSIX:
    import fcntl

TEMPORARY = re.compile(r"\.cohmm-([0-9a-f]{8})-\d+-[0-9a-f]{8}\.tmp")  # machine, process, chance
FOREIGN = 24 * 3600  # seconds: locks of another machine may not be seen here, so age must tell
_being_written: set[Path] = set()


class StorageError(ValueError):
    """A file that is not what it should be, or that cannot be written."""


def check_path(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written here, before there is any work to lose."""
    path = Path(path)
    with telling(path):
        if path.is_dir():
            raise StorageError(f"cannot write {path}: it is a folder")
        target = Path(os.path.realpath(path))
        if target.is_symlink():
            raise StorageError(f"cannot write {path}: it is a link that leads back to itself")
        if not target.parent.is_dir():
            missing = target.parent if path.is_symlink() else path.parent
            raise StorageError(f"cannot write {path}: there is no folder {missing}")
        if is_special(path):
            return
    if not os.access(target.parent, os.W_OK | os.X_OK):
        why = "is on a read-only disk" if _is_read_only(target.parent) else "may not be written to"
        raise StorageError(f"cannot write {path}: the folder {path.parent} {why}")
    if target.exists() and not os.access(target, os.W_OK):
        raise StorageError(f"cannot write {path}: this file may not be written to")


def check_different(outputs: Sequence[Path], inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
    """Check that no output takes the place of another, or of an input.

    A device such as ``/dev/null`` or a terminal takes what several write, and a socket may be
    both standard input and standard output.
    """
    read = [Path(path) for path in inputs]
    for n, path in enumerate(outputs):
        if path.is_char_device():
            continue
        for other in outputs[:n]:
            if _are_same(path, other):
                raise StorageError(
                    f"cannot write {path}: {other} is another output, and the same file"
                )
        there = path.exists() and not path.is_socket()
        if there and any(_are_same(path, other) for other in read):
            raise StorageError(f"cannot write {path}: it is an input; give another output file")


def _are_same(path: Path, other: Path) -> bool:
    if os.path.realpath(path) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return path.samefile(other)
    return False


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to, that takes the place of ``path`` only when all is written.

    Links are followed, and an existing file's mode and, where that is permitted, owner are kept.
    What is not a regular file, such as a device or a pipe, is written to as it is.
    """
    check_path(path)
    path = Path(path)
    if is_special(path):
        with telling(path):
            own = own_descriptor(path)  # goes on where the shell's ``>>`` is
            raw = NamedFile(os.open(path, os.O_WRONLY) if own is None else os.dup(own), str(path))
        with _Stream(raw) as stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    remove_abandoned(target.parent)
    # The name comes first, so that an interrupt at any time finds something to remove.
    temporary = temporary_in(target.parent)
    _being_written.add(temporary)
    try:
        with telling(path):
            raw = NamedFile(_created(temporary, 0o666 if before is None else 0o600), str(path))
        try:
            yield (file := io.BufferedWriter(raw))
            file.flush()
            with telling(path):
                _keep_mode(raw.fileno(), before)
                os.fsync(raw.fileno())
                if not POSIX:
                    raw.close()
                temporary.replace(target)  # while it is locked
        finally:
            raw.close()
    finally:
        with suppress(OSError):  # the first error is the one to report
            temporary.unlink()
        _being_written.discard(temporary)


def abandon() -> None:
    """Remove what is being written, as the process ends at once."""
    for temporary in list(_being_written):
        with suppress(OSError):
            temporary.unlink()


class NamedFile(io.FileIO):
    """An open file whose errors name the path that the user knows."""

    def __init__(self, descriptor: int, name: str, closefd: bool = True) -> None:
        super().__init__(descriptor, "wb", closefd)
        self.name = name

    def write(self, data: Any) -> int:
        """As much as the system takes."""
        with telling(self.name):
            return super().write(data)


class _Stream(io.BufferedWriter):
    """A device or a pipe: nothing in it is written twice, and its place is what was written.

    A device may say that it can seek, and then be at 0 whatever was written.
    """

    _n_bytes = 0

    def write(self, data: Any) -> int:
        """All of it, or an error."""
        n = super().write(data)
        self._n_bytes += n
        return n

    def seekable(self) -> bool:
        """There is no way back."""
        return False

    def seek(self, offset: int, whence: int = 0) -> int:
        """There is no way back."""
        raise io.UnsupportedOperation("seek")

    def tell(self) -> int:
        """How many bytes were written."""
        return self._n_bytes


@contextmanager
def telling(path: object) -> Iterator[None]:
    """Errors of the system name the path that was asked for."""
    try:
        yield
    except BrokenPipeError:  # whoever reads has seen enough: that is no failure
        raise
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from None


def own_descriptor(path: Path) -> int | None:
    """The number of the open file that a path such as ``/dev/stdout`` or ``/dev/fd/3`` means."""
    own = ("/dev/fd", f"/proc/{os.getpid()}/fd")
    for _ in range(40):  # as many links as Linux follows
        if path.name.isdecimal() and os.path.realpath(path.parent) in own:
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


def is_special(path: Path) -> bool:
    """Whether it is there, and must not be replaced: a device, a pipe, what the shell opened."""
    return own_descriptor(path) is not None or (path.exists() and not path.is_file())


def temporary_in(folder: Path) -> Path:
    """A name that is short however long the target's is, and that `remove_abandoned` knows."""
    return folder / f".cohmm-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}.tmp"


def remove_abandoned(folder: Path) -> None:
    """Remove temporary files of processes that are gone: their locks went with them."""
    if not POSIX:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            ours = TEMPORARY.fullmatch(entry.name)
            if ours is None or not entry.is_file(follow_symlinks=False):
                continue
            with suppress(OSError), open(entry.path, "r+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if ours[1] == _machine() or time.time() - entry.stat().st_mtime > FOREIGN:
                    os.unlink(entry.path)


def _created(path: Path, mode: int) -> int:
    """A new file that is locked, where the file system knows locks."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        if POSIX:
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # taken for abandoned and removed, before it was locked


def _keep_mode(descriptor: int, before: os.stat_result | None) -> None:
    if before is None or not POSIX:
        return
    with suppress(OSError):  # the owner is kept by root alone
        os.fchown(descriptor, before.st_uid, before.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _machine() -> str:
    return f"{zlib.crc32(os.fsencode(platform.node())):08x}"


def _is_read_only(folder: Path) -> bool:
    return POSIX and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)

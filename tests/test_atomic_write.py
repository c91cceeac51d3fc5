"""Files that are written: whole or as before, in their place, and named in what goes wrong."""

import errno
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from cohmm import atomic_write
from cohmm.atomic_write import StorageError, check_path, remove_abandoned, replacing, temporary_in

pytestmark = pytest.mark.skipif(os.name != "posix", reason="devices, links and modes of POSIX")


def write(path, data=b"new"):
    with replacing(path) as file:
        file.write(data)


def names(folder):
    return sorted(child.name for child in folder.iterdir())


# -- what is written to -----------------------------------------------------------------------


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"x" * 200_000)
    reader.join(60)
    assert heard == [b"x" * 200_000]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_a_device_is_written_to_and_stays_one(tmp_path):
    before = os.stat(os.devnull)
    write(os.devnull)
    after = os.stat(os.devnull)
    assert stat.S_ISCHR(after.st_mode)
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    (tmp_path / "link").symlink_to(os.devnull)
    write(tmp_path / "link")
    assert os.readlink(tmp_path / "link") == os.devnull


@pytest.mark.parametrize("target", ["there", "not yet there"])
def test_a_link_stays_and_leads_to_what_was_written(tmp_path, target):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "there").write_bytes(b"old")
    (tmp_path / "link").symlink_to(Path("below", target))
    (tmp_path / "second").symlink_to("link")
    write(tmp_path / "second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert (tmp_path / "below" / target).read_bytes() == b"new"
    assert names(tmp_path) == ["below", "link", "second"]
    assert names(tmp_path / "below") == sorted({"there", target})


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_of_a_file_is_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    with replacing(path) as file:
        file.write(b"new")
        (temporary,) = (child for child in tmp_path.iterdir() if child != path)
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600  # others never see more
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_of_a_file_is_kept(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@pytest.mark.parametrize("append", [True, False])
def test_what_the_shell_opened_is_written_where_it_stands(tmp_path, append):
    """``cohmm decode ... -o /dev/stdout >> file`` keeps what the file has."""
    path = tmp_path / "file"
    path.write_bytes(b"old ")
    code = (
        "from cohmm.atomic_write import replacing\n"
        "with replacing('/dev/stdout') as file: file.write(b'new')\n"
        "print(' end')"
    )
    with path.open("ab" if append else "wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert path.read_bytes() == (b"old " if append else b"") + b"new end\n"
    assert names(tmp_path) == ["file"]


# -- names, and what goes wrong ---------------------------------------------------------------


def test_names_as_long_as_the_system_takes(tmp_path):
    for n in (252, 255):
        write(tmp_path / ("n" * n))
    with pytest.raises(StorageError, match="File name too long"):
        write(tmp_path / ("n" * 256))
    assert {len(name) for name in names(tmp_path)} == {252, 255}


def test_a_name_of_any_bytes(tmp_path):
    path = tmp_path / os.fsdecode(b"\xff\xfe")
    write(path)
    assert path.read_bytes() == b"new"


@contextmanager
def at_most(n_bytes):
    """Files cannot grow beyond this: what a full disk is to whoever writes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("size", [1001, 100_000])  # met by the last flush, or by a write
def test_what_is_full_is_named_by_the_users_name(tmp_path, size):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    with at_most(1000), pytest.raises(StorageError) as caught:
        write(path, b"x" * size)
    assert str(caught.value) == f"cannot write {path}: File too large"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_a_full_device_is_named(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    with pytest.raises(StorageError, match="cannot write /dev/full: No space left on device"):
        write("/dev/full")


@pytest.mark.parametrize("step", ["open", "fsync", "replace"])
def test_every_failure_names_the_file_and_leaves_nothing(tmp_path, monkeypatch, step):
    """Also where the temporary file cannot be removed: that is not what went wrong first."""
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def fail(*args, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), "some temporary name")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(StorageError) as caught:
        write(path)
    assert str(caught.value) == f"cannot write {path}: Read-only file system"
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["file"]


def test_errors_of_the_body_are_its_own(tmp_path):
    path = tmp_path / "file"

    def fail():
        with replacing(path) as file:
            file.write(b"half")
            raise OSError("of the input")

    with pytest.raises(OSError, match="of the input") as caught:
        fail()
    assert not isinstance(caught.value, StorageError)
    assert names(tmp_path) == []


@pytest.mark.parametrize("path", ["folder", ".", "", "no/file", "file/below", "nowhere"])
def test_places_that_cannot_be_written_are_known_before(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "nowhere").symlink_to("no/where")
    for refuse in (check_path, write):
        with pytest.raises(StorageError, match=f"cannot write {re.escape(path)}"):
            refuse(path)
    assert names(tmp_path) == ["file", "folder", "nowhere"]


@pytest.mark.parametrize(("read_only", "why"), [(True, "on a read-only disk"), (False, "may not")])
def test_folders_that_may_not_be_written_to(tmp_path, monkeypatch, read_only, why):
    monkeypatch.setattr(os, "access", lambda *args: False)
    monkeypatch.setattr(atomic_write, "_is_read_only", lambda folder: read_only)
    with pytest.raises(StorageError, match=rf"cannot write .*file: the folder .* {why}"):
        check_path(tmp_path / "file")


def test_a_file_that_may_not_be_written_to_is_left(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda name, mode: Path(name) != path)
    with pytest.raises(StorageError, match="this file may not be written to"):
        write(path)


# -- what killed processes left behind --------------------------------------------------------

WRITER = """
import sys, time
from cohmm.atomic_write import replacing
with replacing(sys.argv[1]) as file:
    file.write(b"half")
    print("begun", flush=True)
    time.sleep(600)
"""


def writer(path):
    """A process that has begun to write, and its temporary file."""
    before = set(path.parent.iterdir())
    process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begun\n"
    process.stdout.close()
    (temporary,) = set(path.parent.iterdir()) - before
    return process, temporary


def test_the_next_run_removes_what_a_killed_one_left_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    alive, kept = writer(path)
    try:
        dead, left = writer(path)
        dead.kill()
        dead.wait()
        assert left.exists()
        others = (".cohmm-notes.tmp", ".file.1a2b3c4d", "cohmm-12345678-1-12345678.tmp")
        for name in others:
            (tmp_path / name).write_bytes(b"")
        link = temporary_in(tmp_path)
        link.symlink_to("file")
        write(path)
        assert names(tmp_path) == sorted([*others, "file", kept.name, link.name])
    finally:
        alive.kill()
        alive.wait()
    remove_abandoned(tmp_path)
    assert kept.name not in names(tmp_path)


def test_files_of_another_machine_are_left_for_a_day(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(atomic_write.platform, "node", lambda: "elsewhere")
        foreign = temporary_in(tmp_path)
    foreign.touch()
    remove_abandoned(tmp_path)
    assert foreign.exists()
    long_ago = time.time() - atomic_write.FOREIGN - 1
    os.utime(foreign, (long_ago, long_ago))
    remove_abandoned(tmp_path)
    assert not foreign.exists()


def test_a_file_taken_for_abandoned_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    lock, removed = atomic_write.fcntl.flock, []

    def late(file, how):
        if not removed:  # another process was faster
            removed.extend(tmp_path.iterdir())
            removed[0].unlink()
        return lock(file, how)

    monkeypatch.setattr(atomic_write.fcntl, "flock", late)
    write(tmp_path / "file")
    assert len(removed) == 1
    assert names(tmp_path) == ["file"]


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    def none(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(atomic_write.fcntl, "flock", none)
    left = temporary_in(tmp_path)
    left.touch()
    write(tmp_path / "file")
    assert names(tmp_path) == [left.name, "file"]  # it could be anybody's


def test_many_writers_of_one_path(tmp_path):
    path = tmp_path / "file"
    contents = [bytes([n]) * 300_000 for n in range(8)]
    writers = [threading.Thread(target=write, args=(path, data)) for data in contents]
    for one in writers:
        one.start()
    while any(one.is_alive() for one in writers):
        assert not path.exists() or path.read_bytes() in contents
    assert path.read_bytes() in contents
    assert names(tmp_path) == ["file"]

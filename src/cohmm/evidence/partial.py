"""Counts of many files that survive an interruption: each finished file is remembered.

A folder beside the output holds ``plan.json``, which says what is counted, and for each finished
file its counts and a note, which is written last.  All of them appear whole or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from cohmm.atomic_write import POSIX, StorageError, replacing, telling
from cohmm.data.readers.source import Source
from cohmm.data.values import shown
from cohmm.data.vocabulary import Vocabulary, in_order
from cohmm.evidence.file_pass import Pass, Sums, check_some, count_one, finished, sums_of
from cohmm.evidence.saved_counts import add_saved, add_saved_triples, described
from cohmm.evidence.selection import Frequent

if POSIX:
    import fcntl

PLAN = "plan.json"


def count_resumably(sources: Sequence[Source], how: Pass, folder: Path) -> Sums:
    """Count all sources, but not again what ``folder`` says was finished; `forget` it later."""
    for source in sources:
        how.layout.check(source)
        if source.path is None:
            raise ValueError("standard input cannot be read again: resuming is for files")
    if how.layout.is_grouped:
        raise ValueError(
            "with group or order a sequence may go on in another file: files cannot be finished "
            "one by one, nor resumed"
        )
    with _locked(folder):
        files = _as_planned(sources, how, folder)
        bad: list[str] = []
        for number, source in enumerate(sources):
            note = folder / f"{number:06}.json"
            if note.exists():
                _repeat(note, source, how)
                continue
            _count_into(note, source, how, bad)
            if _identity(source) != files[number]:
                note.unlink(missing_ok=True)
                raise source.error("it changed while it was counted")
        notes = sorted(note for note in folder.glob("[0-9]*.json"))
        check_some(any(_read(note)["counts"] for note in notes), sources, bad)
        return _merged(notes, how)


def forget(folder: Path) -> None:
    """Remove what was remembered, when the result is written.

    Notes go first and the plan last: a folder of which a kill leaves half is one of a run that
    has finished fewer files.
    """
    files = [path for pattern in ("[0-9]*.json", "[0-9]*", PLAN) for path in folder.glob(pattern)]
    with suppress(OSError):
        for path in files:
            path.unlink(missing_ok=True)
        shutil.rmtree(folder)


def _count_into(note: Path, source: Source, how: Pass, bad: list[str]) -> None:
    """Count one file, and remember it; one that is bad is not."""
    notices: list[str] = []
    n_bad = len(bad)

    def notice(text: str) -> None:
        notices.append(text)
        how.notice(text)

    alone = replace(how, notice=notice, frequent=Frequent())
    coder = how.coder()
    tally = count_one(source, coder, alone, bad)
    if len(bad) > n_bad:
        return
    has_counts = tally is not None and bool(tally.symbol_counts.any())
    if tally is not None and has_counts:
        sums = sums_of(tally, coder.vocabulary, alone)
        sums.pairs.save(_counts(note))
        if sums.triples is not None:
            sums.triples.save(note.with_suffix(".triples"))
    n_sequences = 0 if tally is None else tally.n_sequences
    _write(note, {"sequences": n_sequences, "counts": has_counts, "notices": notices})


def _merged(notes: Sequence[Path], how: Pass) -> Sums:
    tally = how.tally()
    tally.n_sequences = sum(_read(note)["sequences"] for note in notes)
    paths = [_counts(note) for note in notes if _read(note)["counts"]]
    vocabulary, n = _united(paths)
    for path in paths:
        add_saved(path, tally, n, vocabulary, how.budget)
        if tally.triples is not None:
            add_saved_triples(path.with_suffix(".triples"), tally.triples, vocabulary)
    return finished(tally, vocabulary, how)


def _united(paths: Sequence[Path]) -> tuple[Vocabulary | None, int]:
    labels: set[Any] = set()
    n, labelled = 0, False
    for path in paths:
        found = described(path)
        n, labelled = max(n, found.n_symbols), found.vocabulary is not None
        labels.update(found.vocabulary or ())
    return (in_order(labels), len(labels)) if labelled else (None, n)


def _as_planned(sources: Sequence[Source], how: Pass, folder: Path) -> list[Any]:
    """The files, if they and the options are those of the run that made the folder."""
    options = {
        **{name: value for name, value in asdict(how.layout).items() if value},
        "lags": list(how.lags),
        "triples": how.triples,
        "integers": how.integers,
    }
    files = [_identity(source) for source in sources]
    plan = folder / PLAN
    if not plan.exists():
        if any(folder.glob("[0-9]*.*")):
            raise StorageError(f"{folder} has counts, but no {PLAN}: remove the folder")
        _write(plan, {"cohmm": "partial counts", "format": 1, "options": options, "files": files})
        return files
    before = _read(plan)
    _compare(folder, before.get("options"), options, before.get("files"), files)
    return files


def _compare(folder: Path, options: Any, now: Any, files: Any, given: list[Any]) -> None:
    remedy = f"go on with what was counted then, or remove {folder}"
    if options != now:
        names = sorted({*options, *now}) if isinstance(options, dict) else []
        name = next((name for name in names if options.get(name) != now.get(name)), "options")
        was, is_now = (side.get(name) for side in (options, now)) if names else (options, now)
        raise ValueError(
            f"{folder} was begun with {name}={shown(was)}, not {shown(is_now)}: {remedy}"
        )
    if files == given:
        return
    known = {path: (size, time) for path, size, time in files}
    for path, size, time in given:
        if path not in known:
            raise ValueError(f"{folder} was begun without the file {path}: {remedy}")
        if known.pop(path) != (size, time):
            raise ValueError(f"{path} is not the file it was when {folder} was begun: {remedy}")
    if known:
        raise ValueError(f"{folder} was begun with the file {next(iter(known))}: {remedy}")
    raise ValueError(f"{folder} was begun with the same files in another order: {remedy}")


def _identity(source: Source) -> list[Any]:
    path = Path(source.path or "").resolve()
    try:
        status = path.stat()
    except OSError as error:
        raise source.error(f"it cannot be read: {error.strerror}") from None
    return [str(path), status.st_size, status.st_mtime_ns]


def _repeat(note: Path, source: Source, how: Pass) -> None:
    """What was said of a file when it was counted."""
    for text in _read(note)["notices"]:
        how.notice(text)
    if how.progress is not None:
        how.progress(source.n_bytes or 0)


def _counts(note: Path) -> Path:
    return note.with_suffix(".cohmm")


def _write(path: Path, value: Any) -> None:
    with replacing(path) as file:
        file.write(json.dumps(value).encode())


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise StorageError(f"{path} is damaged ({error}): remove the folder") from None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The folder, for one run at a time."""
    with telling(folder):
        folder.mkdir(exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o666)
    try:
        if POSIX:
            with suppress(OSError):  # a file system may know no locks
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise StorageError(f"{folder} is in use by another run") from None
        yield
    finally:
        os.close(descriptor)

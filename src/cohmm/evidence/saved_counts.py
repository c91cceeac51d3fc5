"""Saved counts: their sums, and counts of many files that survive an interruption.

Saved counts are read piece by piece, so they need not fit into memory.

To resume, a folder beside the output holds ``plan.json``, which says what is counted, and for each
finished file its counts and a note, which is written last.  All of them appear whole or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm._validation import as_n_symbols, shown
from cohmm.atomic_write import POSIX, StorageError, replacing, telling
from cohmm.data.memory import MemoryCapError, in_words
from cohmm.data.readers.source import Source
from cohmm.data.vocabulary import Vocabulary, codes_in, in_order, labels_for
from cohmm.evidence.cooccurrence import Cooccurrence, as_counts, check_total, checked_lag
from cohmm.evidence.count_files import (
    Counted,
    Options,
    Tally,
    check_some,
    count_one,
    sum_triples,
    triple_keys,
)
from cohmm.evidence.counting import as_lags
from cohmm.evidence.external_sum import ExternalSum, KeyCounts, PackedRows
from cohmm.evidence.prune import Selection
from cohmm.evidence.windows import Triples, check_size
from cohmm.kernels.types import Ints

if POSIX:
    import fcntl

CHUNK = 2**20  # entries that are read at a time
PLAN = "plan.json"

AnyPath = str | os.PathLike[str]


class Description(NamedTuple):
    """What a file of counts says of itself."""

    lags: tuple[int, ...]
    n_symbols: int
    vocabulary: Vocabulary | None
    is_whole: bool
    """Whether all counts are whole numbers."""


def merge_pairs(paths: Sequence[AnyPath], how: Options) -> Counted:
    """The sum of saved pair counts, as ``+`` gives it: labels are united."""
    files = [describe(path) for path in paths]
    first = files[0]
    for path, file in zip(paths, files, strict=True):
        if file.lags != first.lags:
            raise ValueError(f"{path} has counts of lags {file.lags}, {paths[0]} of {first.lags}")
        if (file.vocabulary is None) != (first.vocabulary is None):
            raise ValueError(
                f"{path} and {paths[0]}: counts of labels and counts of numbers do not add up"
            )
    if not all(file.is_whole for file in files):
        if how.pruning:
            raise ValueError(f"{how.pruning}: only whole counts can be pruned")
        pairs: Cooccurrence = _sum_in_memory(Cooccurrence, paths, how)
        return Counted(pairs, None, 0, {lag: int(pairs.n_pairs(lag)) for lag in pairs.lags}, None)
    vocabulary, n = _united(files)
    tally = Tally(replace(how, lags=first.lags, triples=False))
    for path in paths:
        add_saved_pairs(path, tally, n, vocabulary, how)
    return tally.sums(vocabulary, how, keep_order=True)


def merge_triples(paths: Sequence[AnyPath], how: Options) -> tuple[Triples, int]:
    """The sum of saved triple counts, as ``+`` gives it, and how many triples that are."""
    if how.pruning:
        raise ValueError(f"{how.pruning}: triples alone do not tell how often symbols occur")
    files = [_describe_triples(path) for path in paths]
    if len({file.vocabulary is None for file in files}) > 1:
        raise ValueError("counts of labels and counts of numbers do not add up")
    vocabulary, n = _united(files)
    if not all(file.is_whole for file in files):
        triples: Triples = _sum_in_memory(Triples, paths, how)
        return triples, int(triples.n_triples)
    check_size(n, 3)
    total = ExternalSum(KeyCounts, how.budget.held(1), how.budget.folder)
    for path in paths:
        add_saved_triples(path, total, vocabulary)
    return sum_triples(total, Selection.all(n, vocabulary), how.budget)


def _united(files: Sequence[Description]) -> tuple[Vocabulary | None, int]:
    """The labels of all files, in the order of the first where it has them all; and how many."""
    vocabulary = files[0].vocabulary
    if vocabulary is None:
        return None, max(file.n_symbols for file in files)
    labels = {label for file in files for label in file.vocabulary or ()}
    vocabulary = vocabulary if len(labels) == len(vocabulary) else in_order(labels)
    return vocabulary, len(vocabulary)


def _sum_in_memory(kind: Any, paths: Sequence[AnyPath], how: Options) -> Any:
    """Counts that are no whole numbers."""
    try:
        size = 3 * sum(os.path.getsize(path) for path in paths)
    except OSError as error:
        raise StorageError(f"{error.filename} cannot be read: {error.strerror}") from None
    cap, room = how.budget.cap, how.budget.room
    if cap is not None and room is not None and size > room:
        raise MemoryCapError(
            f"a cap of {in_words(cap)} is too small for counts that are no whole numbers, which "
            f"are added in memory: {in_words(size)} are needed beside Python and its libraries"
        )
    return sum((kind.load(path) for path in paths[1:]), kind.load(paths[0]))


def describe(path: AnyPath) -> Description:
    """What a file of pair counts says of itself; counts are not read."""
    with storage.members(path, "cooccurrence") as saved:
        lags = tuple(map(checked_lag, saved.header["lags"]))
        (n,), _ = saved.kind_of("symbol_counts")
        names = ["symbol_counts", "start_counts"]
        names += [f"{lag}.counts" if f"{lag}.counts" in saved else f"{lag}.data" for lag in lags]
        whole = all(saved.kind_of(name)[1].kind in "iu" for name in names)
        return Description(lags, n, labels_for(n, saved.header["vocabulary"]), whole)


def _describe_triples(path: AnyPath) -> Description:
    with storage.members(path, "triples") as saved:
        n = as_n_symbols(saved.header["n_symbols"])
        whole = saved.kind_of("counts")[1].kind in "iu"
        return Description((), n, labels_for(n, saved.header["vocabulary"]), whole)


def add_saved_pairs(
    path: AnyPath, tally: Tally, n: int, vocabulary: Vocabulary | None, how: Options
) -> None:
    """Add the pair counts of a file, among ``n`` symbols or those of a ``vocabulary``."""
    with storage.members(path, "cooccurrence") as saved:
        symbols, starts = (
            as_counts(name, saved.array(name)) for name in ("symbol_counts", "start_counts")
        )
        labels = labels_for(len(symbols), saved.header["vocabulary"])
        places = np.arange(len(symbols))
        if vocabulary is not None and labels is not None:
            places = codes_in(labels, vocabulary)
        tally.add_counts(*(_placed(values, places, n) for values in (symbols, starts)))
        for lag, total in tally.pairs.items():
            name = f"the counts of lag {lag}"
            for rows, columns, counts in _entries(saved, lag, len(places), how):
                where = (places[rows], places[columns])
                check_total(name, total.n_pairs + float(counts.sum()), np.dtype("i8"))
                matrix = sparse.csr_array((as_counts(name, counts), where), shape=(n, n))
                matrix.eliminate_zeros()
                total.sparse.add(PackedRows.of(matrix))


def _placed(values: Ints, places: Ints, n: int) -> Ints:
    out = np.zeros(n, np.int64)
    out[places] = values
    return out


def _entries(
    saved: storage.Members, lag: int, n: int, how: Options
) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Rows, columns and counts of a lag, some at a time."""
    if f"{lag}.counts" in saved:
        table = as_counts(f"the counts of lag {lag}", saved.array(f"{lag}.counts"), 2)
        if table.shape != (n, n):
            raise ValueError(f"its table of lag {lag} has the shape {table.shape}, not {(n, n)}")
        rows, columns = np.nonzero(table)
        yield rows, columns, table[rows, columns]
        return
    ends = saved.array(f"{lag}.indptr").astype(np.int64)
    (size,), _ = saved.kind_of(f"{lag}.data")
    if len(ends) != n + 1 or ends[0] != 0 or ends[-1] != size or (np.diff(ends) < 0).any():
        raise ValueError(f"its rows of lag {lag} do not fit its {size:,} counts")
    place, chunk = 0, how.budget.chunk(CHUNK)
    for counts, columns in zip(
        saved.chunks(f"{lag}.data", chunk), saved.chunks(f"{lag}.indices", chunk), strict=True
    ):
        if len(counts) != len(columns) or columns.min() < 0 or columns.max() >= n:
            raise ValueError(f"its columns of lag {lag} are not those of {n:,} symbols")
        rows = np.searchsorted(ends, np.arange(place, place + len(counts)), side="right") - 1
        yield rows, columns, counts
        place += len(counts)


def add_saved_triples(
    path: AnyPath, total: ExternalSum[KeyCounts], vocabulary: Vocabulary | None
) -> None:
    """Add the triple counts of a file, piece by piece, in the codes of a ``vocabulary``."""
    file = _describe_triples(path)
    places = np.arange(file.n_symbols)
    if vocabulary is not None and file.vocabulary is not None:
        places = codes_in(file.vocabulary, vocabulary)
    with storage.members(path, "triples") as saved:
        for rows, counts in zip(
            saved.chunks("triples", CHUNK), saved.chunks("counts", CHUNK), strict=True
        ):
            if rows.shape != (len(counts), 3) or rows.min() < 0 or rows.max() >= len(places):
                raise ValueError(f"its triples are not those of {len(places):,} symbols")
            amounts = as_counts("the counts of triples", counts)
            total.add(KeyCounts.of(triple_keys(places[rows]), amounts))


# -- resuming ---------------------------------------------------------------------------------


def count_resumably(sources: Sequence[Source], how: Options, folder: Path) -> Counted:
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


def _count_into(note: Path, source: Source, how: Options, bad: list[str]) -> None:
    """Count one file, and remember it; one that is bad is not."""
    notices: list[str] = []
    n_bad = len(bad)

    def notice(text: str) -> None:
        notices.append(text)
        how.notice(text)

    alone = replace(how, notice=notice, min_count=None, max_vocabulary=None)
    coder = how.coder()
    tally = count_one(source, coder, alone, bad)
    if len(bad) > n_bad:
        return
    has_counts = tally is not None and bool(tally.symbol_counts.any())
    if tally is not None and has_counts:
        counted = tally.sums(coder.vocabulary, alone)
        counted.pairs.save(_counts(note))
        if counted.triples is not None:
            counted.triples.save(note.with_suffix(".triples"))
    n_sequences = 0 if tally is None else tally.n_sequences
    _write(note, {"sequences": n_sequences, "counts": has_counts, "notices": notices})


def _merged(notes: Sequence[Path], how: Options) -> Counted:
    tally = Tally(how)
    tally.n_sequences = sum(_read(note)["sequences"] for note in notes)
    paths = [_counts(note) for note in notes if _read(note)["counts"]]
    vocabulary, n = _united([describe(path) for path in paths])
    for path in paths:
        add_saved_pairs(path, tally, n, vocabulary, how)
        if tally.triples is not None:
            add_saved_triples(path.with_suffix(".triples"), tally.triples, vocabulary)
    return tally.result(vocabulary, how)


def _as_planned(sources: Sequence[Source], how: Options, folder: Path) -> list[Any]:
    """The files, if they and the options are those of the run that made the folder."""
    options = {
        **{name: value for name, value in asdict(how.layout).items() if value},
        "lags": as_lags(how.lags),
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


def _compare(folder: Path, options: Any, now: Any, files: Any, current: list[Any]) -> None:
    remedy = f"go on with what was counted then, or remove {folder}"
    if options != now:
        names = sorted({*options, *now}) if isinstance(options, dict) else []
        name = next((name for name in names if options.get(name) != now.get(name)), "options")
        was, is_now = (side.get(name) for side in (options, now)) if names else (options, now)
        raise ValueError(
            f"{folder} was begun with {name}={shown(was)}, not {shown(is_now)}: {remedy}"
        )
    if files == current:
        return
    known = {path: (size, time) for path, size, time in files}
    for path, size, time in current:
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


def _repeat(note: Path, source: Source, how: Options) -> None:
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

"""Files that commands read, in this process or on workers."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cohmm.atomic_write import check_different, check_path, is_special
from cohmm.cli.progress import Watch, progress_bar, reading

if TYPE_CHECKING:
    from cohmm.data.documents import Documents
    from cohmm.data.read_documents import Trace
    from cohmm.data.read_sequences import FileSequences
    from cohmm.data.sequences import Sequences
    from cohmm.distributed import Partitions
    from cohmm.evidence.cooccurrence import Cooccurrence
    from cohmm.model.answers import Answers

MANY_STOP_WORDS = 0.15  # of all words: so many cover the topics
TEXT_BLOCK = 2**20  # characters between two updates of the progress bar
SCHEDULER_TIMEOUT = "10s"
MIN_BLOCK = 2**20  # bytes of text
WORKER_BLOCK = 2**24  # every worker has one in memory, with its words
BLOCKS_IN_MEMORY = (
    64  # a block of text is this share of the cap: its words take some times its size
)


# -- which files -------------------------------------------------------------------------------


def check_output(*paths: Path | None, inputs: Iterable[str | Path | None] = ()) -> None:
    """Check that files can be written, and none of them over another or over an input.

    This comes first, before anything is read.
    """
    outputs = [path for path in paths if path is not None]
    for path in outputs:
        check_path(path)
    check_different(outputs, [path for path in inputs if path is not None and path != "-"])


def read_once(inputs: Iterable[str]) -> str | None:
    """The first input that cannot be read a second time: standard input, or a pipe."""
    for path in inputs:
        if path == "-":
            return "standard input"
        if not Path(path).is_dir() and is_special(Path(path)):
            return path
    return None


def files_of(inputs: Iterable[str], *, texts: bool = False) -> Iterator[str | Path]:
    """The inputs, with the files of a folder in its place; of documents, its text files."""
    for path in inputs:
        if not path or not Path(path).is_dir():
            yield path
        elif texts:
            from cohmm.data.read_documents import text_files

            yield from text_files(Path(path))
        else:
            from cohmm.data.readers.source import find_sources

            yield from (source.path for source in find_sources(path) if source.path is not None)


def is_ours(path: str) -> bool:
    """Whether a file has a model or counts: data that is a zip archive is not read as text."""
    if path == "-" or not Path(path).is_file():
        return False
    with Path(path).open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def load_counts(paths: Sequence[str], lags: tuple[int, ...] | None = None) -> Cooccurrence:
    """The sum of saved counts, at some of their lags."""
    from cohmm.evidence.cooccurrence import Cooccurrence

    counts: Cooccurrence = sum(map(Cooccurrence.load, paths[1:]), Cooccurrence.load(paths[0]))
    if lags is None:
        return counts
    return replace(counts, counts={lag: counts[lag] for lag in lags})


# -- sequences ---------------------------------------------------------------------------------


def sequences_of(inputs: list[str], **options: Any) -> Sequences:
    """``read_sequences`` with progress."""
    from cohmm.data.read_sequences import read_sequences

    with reading(inputs, "reading") as watch:
        return read_sequences(inputs, **options, **watch._asdict())


def answers_of(path: Path, unseen: Any = None) -> Answers:
    """A model from its file, with the treatment of unseen symbols that it has or is given."""
    from cohmm.model.answers import load_fitted

    answers = load_fitted(path)[0]
    if unseen == "rare" and answers.symbol_counts is None:
        raise ValueError(
            f"--unseen rare needs counts of symbols, which {path} does not have: fit it again, or "
            "say --unseen missing"
        )
    return answers if unseen is None else replace(answers, unseen=unseen)


def batches_for(
    answers: Answers, inputs: list[str], layout: dict[str, Any], watch: Watch
) -> Iterator[FileSequences]:
    """The sequences of the input as they stream by, in the symbols that ``answers`` encodes."""
    from cohmm.data.read_sequences import Layout, read_files

    labels, n = answers.symbols
    return read_files(
        inputs,
        Layout(**layout),
        vocabulary=labels,
        n_symbols=n if labels is None else None,
        unseen=answers.unseen_as,
        **watch._asdict(),
    )


# -- documents ---------------------------------------------------------------------------------


def documents_of(
    inputs: list[str], column: str | None = None, encoding: str = "utf-8", **words: Any
) -> Documents:
    """``read_documents`` of all inputs, with a notice about those that are empty."""
    from cohmm.data.read_documents import Trace, read_documents
    from cohmm.data.vocabulary import EmptyDocumentsWarning

    if inputs.count("-") > 1:
        raise ValueError("standard input can be read only once: give - once")
    trace = Trace()
    with reading(inputs, "reading") as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyDocumentsWarning)  # it is said below, with the place
        texts = texts_of(inputs, column, encoding, trace)
        documents = read_documents(_counted(texts, watch.progress), **words)
        documents = named(documents, trace)
        for text in _notices(documents, words.get("stop_words")):
            watch.notice(text)
    return documents


def named(documents: Documents, trace: Trace) -> Documents:
    """The same documents, with the names of the places that they came from."""
    parts = documents.symbols, documents.offsets, documents.vocabulary
    return type(documents)(*parts, trace.names(), documents.n_unknown)


def texts_of(
    inputs: list[str], column: str | None, encoding: str, trace: Trace | None = None
) -> Iterator[str]:
    """The texts of all inputs."""
    from cohmm.data.read_documents import Trace, documents_at

    trace = trace or Trace()
    return chain.from_iterable(documents_at(path, encoding, column, trace) for path in inputs)


def texts_again(inputs: list[str], column: str | None, encoding: str) -> Iterator[str] | None:
    """The texts of documents that were read before; standard input cannot be read again."""
    return None if not inputs or read_once(inputs) else texts_of(inputs, column, encoding)


def _counted(texts: Iterator[str], update: Callable[[int], None]) -> Iterator[str]:
    """The same texts; their characters are about as many bytes."""
    n = 0
    for text in texts:
        yield text
        n += len(text) + 1
        if n >= TEXT_BLOCK:
            update(n)
            n = 0


def _notices(documents: Documents, stop_words: Any) -> Iterator[str]:
    """What the owner of the documents should know."""
    import numpy as np

    from cohmm.data.vocabulary import as_stop_words

    empty = np.flatnonzero(documents.lengths == 0)
    if len(empty):
        yield (
            f"{len(empty):,} of {len(documents):,} documents have no word that is kept, the first "
            f"of them {documents.name_of(int(empty[0]))}"
        )
    if stop_words is None:
        english = as_stop_words("english")
        common = np.array([word in english for word in documents.vocabulary])
        share = common[documents.symbols].mean()
        if share > MANY_STOP_WORDS:
            yield (
                f"{share:.0%} of all words are such as the, of and to, and will be on top of "
                "topics: --stop-words english leaves them out"
            )


# -- workers -----------------------------------------------------------------------------------


@contextmanager
def cluster(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A client of Dask, if one was asked for; a bar shows the partitions that are done."""
    if workers is None and scheduler is None:
        yield None
        return
    if workers is not None and scheduler is not None:
        raise ValueError("--workers starts a cluster, --scheduler names one: give one of the two")
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        option = "--workers" if scheduler is None else "--scheduler"
        raise ValueError(f"{option} needs Dask: pip install 'cohmm[dask]'") from None
    from cohmm.data.parts import report_progress

    with (
        progress_bar("partitions") as update,
        report_progress(lambda done, n: update(completed=done, total=n)),
    ):
        if scheduler is not None:
            try:
                client = Client(scheduler, timeout=SCHEDULER_TIMEOUT)
            except (OSError, ValueError, ImportError) as error:
                raise ValueError(
                    f"--scheduler {scheduler}: no scheduler answers there "
                    f"({' '.join(str(error).split())[:120]})"
                ) from None
            with client:
                yield client
            return
        with (
            LocalCluster(
                n_workers=workers,
                threads_per_worker=max(1, (os.cpu_count() or 1) // (workers or 1)),
                processes=True,
                dashboard_address=":0",
                silence_logs=logging.CRITICAL,
            ) as local,
            Client(local) as client,
        ):
            yield client


def partitions(
    inputs: list[str], layout: dict[str, Any], integers: bool, client: Any
) -> Partitions:
    """Files of sequences as partitions of a client.

    Symbols are whole numbers, or labels as where one process reads: "7" and 7 are the same.
    """
    from cohmm.distributed import Partitions

    if "-" in inputs:
        raise ValueError("standard input is in this process alone: give files")
    if layout["format"] is not None or layout["each_row"] is not None:
        raise ValueError(
            "--workers and --scheduler read files by their names, and rows as sequences: leave out "
            "--format and --each-row"
        )
    names = ("column", "group", "order")
    data = Partitions.of(inputs, **{name: layout[name] for name in names}, client=client)
    return data.with_rows(_as_integers if integers else _as_labels)


def _as_labels(rows: Any) -> Any:
    import pyarrow as pa

    if not isinstance(rows, (pa.ListArray, pa.LargeListArray)):
        return rows
    if pa.types.is_floating(rows.type.value_type):
        try:
            rows = rows.cast(pa.large_list(pa.int64()))
        except pa.ArrowInvalid as error:
            raise ValueError(f"a symbol is not whole: {error}") from None
    if pa.types.is_integer(rows.type.value_type):
        rows = rows.cast(pa.large_list(pa.large_string()))
    return rows


def _as_integers(rows: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    if isinstance(rows, (pa.ListArray, pa.LargeListArray)) and pa.types.is_integer(
        rows.type.value_type
    ):
        return rows
    sequences = []
    for number, row in enumerate(rows.to_pylist() if hasattr(rows, "to_pylist") else rows):
        words = row.split() if isinstance(row, str) else list(row or ())
        try:
            sequences.append(np.array(words, np.int64) if words else np.empty(0, np.int64))
        except (ValueError, TypeError, OverflowError):
            raise ValueError(f"row {number} has a symbol that is no whole number") from None
    return sequences


def text_partitions(
    inputs: list[str], column: str | None, encoding: str, client: Any, memory: str | None
) -> Partitions:
    """Files with one document per line or row, in blocks that a cap on memory has room for."""
    from cohmm.data.memory import as_bytes
    from cohmm.distributed import Partitions, files

    option = "--memory" if client is None else "--workers and --scheduler"
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        raise ValueError(f"{option} reads UTF-8, not --encoding {encoding}")
    for path in inputs:
        if path == "-" or Path(path).is_dir():
            what = "standard input" if path == "-" else f"{path}, a folder"
            raise ValueError(f"{option} reads files with a document per line or row, not {what}")
    cap = as_bytes(memory)
    block = files.BLOCK if client is None else WORKER_BLOCK
    if cap is not None:
        block = min(block, max(MIN_BLOCK, cap // BLOCKS_IN_MEMORY))
    return Partitions.of(inputs, column=column, client=client, block=block)

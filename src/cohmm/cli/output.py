"""What commands write besides models: text as it streams by, or a table of the kind named."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from cohmm.atomic_write import replacing
from cohmm.cli.app import json_line

if TYPE_CHECKING:
    from cohmm.data.read_sequences import FileSequences
    from cohmm.data.vocabulary import Vocabulary
    from cohmm.kernels.types import Ints

SYMBOLS_AT_A_TIME = 2**14  # that are made text
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
FORMATS[".pq"] = "parquet"

Write = Callable[[Any], object]
"""Writes some text, or a table of pyarrow."""


def format_of(path: Path | None) -> str:
    """What the name of a file says: "csv", "jsonl", "parquet", or "text" for any other."""
    return "text" if path is None else FORMATS.get(path.suffix.lower(), "text")


@contextmanager
def writing(path: Path | None) -> Iterator[Callable[[str], object]]:
    """A function that writes text to standard output, or to a file that appears at the end."""
    with _opened(path) as file:
        yield lambda text: file.write(text.encode(errors="backslashreplace"))


@contextmanager
def writing_tables(path: Path | None, schema: Any, kind: str = "") -> Iterator[Write]:
    """A function that writes tables to a file of the kind that its name says, whole at the end.

    As text, to standard output for instance, cells have tabs between them, and no names above.
    In CSV and in text a list is its items with blanks between them, and null is nothing.
    """
    kind = kind or format_of(path)
    with _opened(path) as file:
        if kind == "parquet":
            from pyarrow.parquet import ParquetWriter

            with ParquetWriter(file, schema) as writer:
                yield writer.write_table
            return
        if kind == "csv":
            file.write(_delimited([schema.names], ","))

        def write(table: Any) -> None:
            for batch in table.to_batches(SYMBOLS_AT_A_TIME):
                if kind == "jsonl":
                    file.write("".join(f"{json_line(row)}\n" for row in batch.to_pylist()).encode())
                    continue
                columns = [map(_cell, column.to_pylist()) for column in batch.columns]
                file.write(_delimited(zip(*columns, strict=True), "," if kind == "csv" else "\t"))

        yield write


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[bytes]]:
    with nullcontext(sys.stdout.buffer) if path is None else replacing(path) as file:
        yield file
        file.flush()


def _delimited(rows: Any, delimiter: str) -> bytes:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue().encode(errors="backslashreplace")


def _cell(value: Any) -> Any:
    return " ".join(map(str, value)) if isinstance(value, list) else value


def in_pieces(
    names: Sequence[str], codes: Ints, between: str, head: str = "", tail: str = ""
) -> Iterator[str]:
    """A name for every code; of a long sequence, some thousands at a time.

    >>> import numpy as np
    >>> "".join(in_pieces(["a", "b"], np.array([0, 1, 1]), ", ", "[", "]"))
    '[a, b, b]'
    """
    size = SYMBOLS_AT_A_TIME
    for begin in range(0, max(len(codes), 1), size):
        text = between.join([names[code] for code in codes[begin : begin + size].tolist()])
        end = tail if begin + size >= len(codes) else ""
        yield f"{between if begin else head}{text}{end}"


class Rows:
    """Tables of answers about sequences that come in batches, with a row per sequence or symbol.

    A row per sequence begins with the key of its group, where there are groups.  A row per symbol
    begins with the key, or the number of the sequence; where rows were grouped or put in order,
    the row of the file; then the position in the sequence, from 0; and the symbol, which is null
    where it is missing or unknown.
    """

    def __init__(
        self,
        symbols: tuple[Vocabulary | None, int],
        layout: dict[str, Any],
        answers: dict[str, Any],
        each_symbol: bool,
    ) -> None:
        import pyarrow as pa

        self._n_sequences, self._each_symbol = 0, each_symbol
        vocabulary, n_symbols = symbols
        labels = range(n_symbols) if vocabulary is None else vocabulary
        are_numbers = all(isinstance(label, int) for label in labels)
        self._symbols = list(labels) if are_numbers else list(map(str, labels))
        group: str | None = layout["group"]
        names: dict[str, Any] = {} if group is None else {group: pa.string()}
        if each_symbol:
            names = names or {"sequence": pa.int64()}
            if group or layout["order"]:
                names["row"] = pa.int64()
            names |= {"position": pa.int64(), "symbol": pa.int64() if are_numbers else pa.string()}
        if clash := names.keys() & answers.keys():
            raise ValueError(f"the column {clash.pop()!r} has the name of an answer: rename it")
        self.schema = pa.schema([*names.items(), *answers.items()])

    @cached_property
    def _labels(self) -> Any:
        """Made where a table is: to make an array, Arrow imports pandas, which takes long."""
        import pyarrow as pa

        return pa.array(self._symbols)

    def table(self, batch: FileSequences, *answers: Any) -> Any:
        """The rows of a batch, with a column of each answer."""
        import numpy as np
        import pyarrow as pa

        columns = [] if batch.keys is None else [batch.keys]
        if self._each_symbol:
            numbers = np.repeat(np.arange(len(batch)), batch.lengths)
            unknown = (batch.symbols < 0) | (batch.symbols >= len(self._labels))
            columns = [
                self._n_sequences + numbers if batch.keys is None else batch.keys[numbers],
                *([] if batch.groups is None else [batch.groups.rows]),
                np.arange(len(numbers)) - batch.offsets[numbers],
                self._labels.take(pa.array(batch.symbols, mask=unknown)),
            ]
            self._n_sequences += len(batch)
        return pa.table([*columns, *answers], schema=self.schema)

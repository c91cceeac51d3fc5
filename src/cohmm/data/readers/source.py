"""Where data comes from, files, folders and standard input, and how it is laid out there."""

from __future__ import annotations

import codecs
import csv
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast, get_args

import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.arrow import chosen_column

Format = Literal["text", "csv", "tsv", "jsonl", "parquet"]
EachRow = Literal["symbol", "sequence"]
Progress = Callable[[int], None]
Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

STANDARD_INPUT = "-"
BUFFER = 2**20
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
DELIMITERS = {"csv": ",", "tsv": "\t"}
NOT_TEXT = {
    b"PK\x03\x04": "a zip archive, as a cohmm model or a Word document is",
    b"%PDF-": "a PDF",
    b"\x1f\x8b": "compressed; let its name end in .gz",
    b"\x28\xb5\x2f\xfd": "compressed; let its name end in .zst",
    b"PAR1": "Parquet; let its name end in .parquet",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
    b"\xd0\xcf\x11\xe0": "an old Office document",
}
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CODECS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


@dataclass(frozen=True)
class Source:
    """One file, or standard input where ``path`` is None."""

    path: Path | None
    format: Format
    codec: str | None = None

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path is None else str(self.path)

    @property
    def n_bytes(self) -> int | None:
        """Its size on disk; None where that is not known."""
        if self.path is None or not self.path.is_file():
            return None
        return self.path.stat().st_size

    @contextmanager
    def binary(self, progress: Progress | None = None) -> Iterator[Any]:
        """The decompressed bytes; ``read(n)`` waits for a slow pipe until it has ``n``."""
        raw = _opened(self.path)
        try:
            counted = _Counted(raw, progress)
            if self.codec is None:
                yield io.BufferedReader(counted, BUFFER)
            else:
                yield pa.CompressedInputStream(pa.PythonFile(counted, mode="r"), self.codec)
        finally:
            if self.path is not None:
                raw.close()

    @contextmanager
    def text(
        self,
        progress: Progress | None = None,
        buffer: int | None = None,
        encoding: str | None = None,
    ) -> Iterator[io.BufferedReader[Any]]:
        """The decompressed bytes as UTF-8, of which it is certain that they are text.

        So many as fit the ``buffer``, or all that there are, can be looked at by ``peek``.
        """
        with self.binary(progress) as stream:
            size = max(buffer or BUFFER, len(BYTE_ORDER_MARK))
            reader = io.BufferedReader(_Text(stream, self, encoding), size)
            if reader.peek(3)[:3] == BYTE_ORDER_MARK:
                reader.read(3)
            yield reader

    def error(self, text: str) -> ValueError:
        """An error that names the file."""
        return ValueError(f"{self.name}: {' '.join(text.split())}")


@dataclass(frozen=True)
class Layout:
    """What to read from a file, and what a row of it is.

    Parameters
    ----------
    format : "text", "csv", "tsv", "jsonl" or "parquet", optional
        Default: what the file's name ends in says, text otherwise.
    column : str, optional
        The column of symbols; default: the only one.
    group : str, optional
        Each row is a symbol, and rows with the same value in this column are a sequence,
        also across files.
    order : str, optional
        The column by which rows are put in order; default: as they stand in the files.
    each_row : "symbol" or "sequence", optional
        Whether a cell is one symbol, and all rows of a file are one sequence; or a cell is a
        sequence: a list, or words between blanks.  Default: a sequence, unless the column
        holds numbers.
    characters : bool
        Every character of a line, or of a cell, is a symbol; line ends are not.
    """

    format: Format | None = None
    column: str | None = None
    group: str | None = None
    order: str | None = None
    each_row: EachRow | None = None
    characters: bool = False

    def __post_init__(self) -> None:
        if self.each_row not in (None, "symbol", "sequence"):
            raise ValueError(f"each_row must be 'symbol' or 'sequence', not {shown(self.each_row)}")
        if self.is_grouped and self.each_row == "sequence":
            raise ValueError("with group or order each row is a symbol, not a sequence")
        if self.characters and (self.is_grouped or self.each_row == "symbol"):
            raise ValueError("characters are those of a sequence: each row cannot be a symbol")

    @property
    def is_grouped(self) -> bool:
        """Whether rows are brought together by a key, or in an order of their own."""
        return self.group is not None or self.order is not None

    @property
    def symbol_rows(self) -> bool | None:
        """Whether a cell is one symbol; None where that is for the data to say."""
        if self.characters:
            return False
        return None if self.each_row is None else self.each_row == "symbol"

    def check(self, source: Source) -> None:
        """Text has no columns to choose from."""
        names = ("column", "group", "order", "each_row")
        columns = [name for name in names if getattr(self, name) is not None]
        if source.format == "text" and columns:
            raise source.error(
                f"text has no columns, so {columns[0]} has no meaning; if this is CSV, JSON Lines "
                "or Parquet, give the format"
            )

    def columns(self, names: Sequence[str], source: Source) -> dict[str, str]:
        """The columns to read out of the ``names`` that there are: "column", "group", "order"."""
        try:
            column = chosen_column(names, self.column, self.group, self.order)
        except ValueError as error:
            raise source.error(str(error)) from None
        by_role = {"column": column, "group": self.group, "order": self.order}
        roles = {role: name for role, name in by_role.items() if name is not None}
        for name in roles.values():
            if list(names).count(name) > 1:
                raise source.error(f"there are {list(names).count(name)} columns {shown(name)}")
        return roles


def place(source: Source, row: int) -> str:
    """The file and line of a row; rows are numbered from 1, below the header in CSV.

    A row of CSV may take several lines, so its line is found by reading the file again;
    standard input cannot be read again, and Parquet has no lines.
    """
    if source.format in ("text", "jsonl"):
        return f"{source.name}, line {row}"
    if source.format == "parquet" or source.n_bytes is None:
        return f"{source.name}, row {row}"
    try:
        return f"{source.name}, line {_line_of(source, row)}"
    except csv.Error:  # a cell is longer than Python reads
        return f"{source.name}, row {row}"


def _line_of(source: Source, row: int) -> int:
    with source.text() as file:
        text = io.TextIOWrapper(file, "utf-8", newline="")
        reader = csv.reader(text, delimiter=DELIMITERS[source.format])
        filled, begins = -1, 1  # the header is no row
        for cells in reader:
            filled += bool(cells)
            if filled == row:
                break
            begins = reader.line_num + 1
    return begins


def find_sources(paths: Paths, format: Format | None = None) -> list[Source]:
    """Every file that ``paths`` mean; a folder means all files in it, in order of their names.

    Hidden files, and those whose name begins with an underscore, are left out of folders.
    """
    if format is not None and format not in get_args(Format):
        raise ValueError(
            f"format must be one of {', '.join(get_args(Format))}, not {shown(format)}"
        )
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not given:
        raise ValueError("there is no input: give a file, a folder, or - for standard input")
    names = [os.fspath(path) for path in given]
    if "" in names:
        raise ValueError("the path is empty: give a file, a folder, or - for standard input")
    if names.count(STANDARD_INPUT) > 1:
        raise ValueError("standard input can be read only once: give - once")
    for name in names:
        if names.count(name) > 1 and Path(name).is_fifo():
            raise ValueError(f"{name}: a pipe can be read only once: give it once")
    return [source for path in given for source in _sources_of(path, format)]


def total_bytes(sources: Iterable[Source]) -> int | None:
    """The size of all sources on disk; None where one of them is not known."""
    sizes = [source.n_bytes for source in sources]
    return None if None in sizes else sum(cast(list[int], sizes))


def _sources_of(given: str | os.PathLike[str], format: Format | None) -> list[Source]:
    if os.fspath(given) == STANDARD_INPUT:
        return [Source(None, format or "text")]
    path = Path(given)
    if not path.is_dir():
        return [_source(path, format)]
    inside = sorted(file for file in path.rglob("*") if file.is_file())
    visible = [
        file for file in inside if not any(n[0] in "._" for n in file.relative_to(path).parts)
    ]
    if not visible:
        raise ValueError(f"{path}: there is no file in this folder")
    return [_source(file, format) for file in visible]


def _source(path: Path, format: Format | None) -> Source:
    if not path.exists():
        raise ValueError(f"{path}: there is no such file")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    codec = CODECS.get(suffixes[-1]) if suffixes else None
    if codec:
        suffixes.pop()
    return Source(path, format or FORMATS.get(suffixes[-1] if suffixes else "", "text"), codec)


def _opened(path: Path | None) -> IO[bytes]:
    if path is None:
        if sys.stdin is None:
            raise ValueError("standard input is closed")
        return sys.stdin.buffer
    try:
        return open(path, "rb", buffering=0)
    except OSError as error:
        raise ValueError(f"{path}: it cannot be read: {error.strerror}") from None


class _Counted(io.RawIOBase):
    """Bytes as they are on disk, with a word to ``progress`` about each lot."""

    def __init__(self, raw: IO[bytes], progress: Progress | None) -> None:
        self._raw = raw
        self._progress = progress

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        if self._progress is not None:
            self._progress(len(data))
        return len(data)


class _Text(io.RawIOBase):
    """Bytes after decompression, as UTF-8, of which it is certain that they are text.

    Without an ``encoding`` they are UTF-8, and nothing else can be asked for.
    """

    def __init__(self, stream: Any, source: Source, encoding: str | None) -> None:
        self._stream, self._source, self._encoding = stream, source, encoding
        self._as_it_is = is_utf_8(encoding or "utf-8")
        self._decoder = codecs.getincrementaldecoder(encoding or "utf-8")()
        self._n_bytes = self._n_lines = 0
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            try:
                data = bytes(self._stream.read(len(buffer)))
            except OSError as error:
                raise self._source.error(f"the file is damaged or cut short ({error})") from None
            text = self._decoded(data)
            self._rest = data if self._as_it_is else text.encode(errors="surrogatepass")
            self._n_bytes += len(data)
            self._n_lines += self._rest.count(b"\n")
            if not data:
                break
        n = min(len(self._rest), len(buffer))
        buffer[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n

    def _decoded(self, data: bytes) -> str:
        encoding, error_of = self._encoding, self._source.error
        if encoding is not None and self._n_bytes == 0:
            _check_beginning(self._source, data, self._as_it_is)
        try:
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            bad, before = error.object[error.start], error.object[: error.start]
            line = self._n_lines + _newlines(before, encoding or "utf-8") + 1
            if encoding is None:
                raise error_of(
                    f"line {line} is not UTF-8 text: it has the byte 0x{bad:02x}"
                ) from None
            place = self._n_bytes + len(data) - len(error.object) + error.start
            raise error_of(
                f"line {line} is not {encoding}: byte {place} of the file is 0x{bad:02x}; "
                f"{another_encoding(encoding)}"
            ) from None
        except UnicodeError as error:  # UTF-16 that does not begin as it should
            raise error_of(f"this is not {encoding}: {error}") from None
        if "\0" in text:
            line = self._n_lines + text[: text.index("\0")].count("\n") + 1
            if encoding is None:
                raise error_of(
                    f"line {line} is not UTF-8 text: it has a NUL byte, as UTF-16 text has"
                )
            raise error_of(f"this is not text: there is a NUL byte in line {line}")
        return text


def _newlines(data: bytes, encoding: str) -> int:
    try:
        return data.decode(encoding, "ignore").count("\n")
    except UnicodeError:  # some encodings know of nothing to ignore
        return data.count(b"\n")


def _check_beginning(source: Source, data: bytes, is_utf_8: bool) -> None:
    for beginning, what in NOT_TEXT.items():
        if data.startswith(beginning):
            raise source.error(f"this is not text: it is {what}")
    if data.startswith(UTF_16) and is_utf_8:
        raise source.error("this is UTF-16 text: give encoding='utf-16'")


def is_utf_8(encoding: str) -> bool:
    """Whether an encoding is UTF-8, by whatever name."""
    return codecs.lookup(encoding).name == "utf-8"


def another_encoding(encoding: str) -> str:
    """What to do about bytes that are not of this encoding."""
    other = "latin-1" if is_utf_8(encoding) else "utf-8"
    return f"give encoding={other!r} if that is what it is"

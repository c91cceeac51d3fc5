"""Text in: strings, lists of words, files and folders, cut into words whose order is kept."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from cohmm._validation import shown, warn
from cohmm.data.arrow import is_text
from cohmm.data.documents import Documents, Names
from cohmm.data.partitioned import Partitioned, encode_documents
from cohmm.data.parts import Parts
from cohmm.data.readers.codes import Cells
from cohmm.data.readers.parquet import read_parquet
from cohmm.data.readers.scan import read_cells
from cohmm.data.readers.source import (
    CODECS,
    STANDARD_INPUT,
    Layout,
    Source,
    another_encoding,
    find_sources,
    is_utf_8,
)
from cohmm.data.tokens import (
    UNKNOWN,
    Analyzer,
    Runs,
    WordCodes,
    as_analyzer,
    is_phrase,
    language_without_blanks,
)
from cohmm.data.vocabulary import (
    EmptyDocumentsWarning,
    Pruning,
    as_stop_words,
    as_vocabulary,
    recode,
)
from cohmm.data.vocabulary import TextWarning as TextWarning
from cohmm.kernels.types import Ints

BATCH = 2**22  # characters at a time
PHRASES = 1000  # from which the language is told
MOST_DOCUMENTS = 2**14  # at a time, so that progress is told of


def read_documents(
    X: Any,
    *,
    analyzer: Analyzer | str | None = None,
    vocabulary: Iterable[str] | None = None,
    lowercase: bool = True,
    stop_words: Any = None,
    min_df: int | float = 1,
    max_df: int | float = 1.0,
    max_features: int | None = None,
    token_pattern: str | None = None,
    encoding: str = "utf-8",
    column: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Documents:
    """Read documents, cut them into words, and give every word a code.

    A word is a run of two or more letters and digits of any language, with combining marks and
    inner apostrophes: see `cohmm.data.tokens`.  Otherwise words and vocabulary are those of
    scikit-learn's ``CountVectorizer`` with the same options, also with its ``token_pattern``.
    Words that are left out (stop words, rare, common or unknown ones) leave no gap: their
    neighbours close ranks.  A document without a word that is kept stays as an empty one.

    Parameters
    ----------
    X : list, iterator, path, Documents
        Strings, or lists of words, one a document.  Or a path (`pathlib.Path`, or the name of
        something that exists): a text file has a document a line; CSV, JSON Lines and Parquet
        have one a row; a folder has one a ``.txt`` file, in the order of their names, those in
        folders inside included; ``"-"`` is standard input.  A list of `pathlib.Path` has one a
        file.  Files may be compressed (``.gz``, ``.zst``).  `Documents` are taken as they are,
        or in terms of ``vocabulary``.
    analyzer : function or "module:function", optional
        From a string to its words; instead of ``lowercase`` and ``token_pattern``.  Languages
        without blanks between words need one.  A name is kept in a model's file.
    vocabulary : list of words, optional
        The words to keep, in the order of their codes; nothing is pruned then, and
        ``min_df``, ``max_df`` and ``max_features`` do not matter.  Default: learned, and in
        alphabetical order.
    lowercase : bool
        Whether strings are turned to lower case; lists of words are left as they are.
    stop_words : name of a language or list of words, optional
        Words to leave out; other languages than ``"english"`` need ``cohmm[languages]``.
    min_df, max_df : int or float
        In how many documents a word must, and may, be: a whole number, or a share of all.
    max_features : int, optional
        Keep so many words, the most frequent; of equally frequent ones the first by alphabet.
    token_pattern : str, optional
        A regular expression that matches the words of a string.
    encoding : str
        Of bytes, and of text files.
    column : str, optional
        The column of CSV, JSON Lines or Parquet; default: the only one.
    progress : function, optional
        Called with the number of documents just read.

    >>> documents = read_documents(["The sun, the rain.", "Rain!"], stop_words="english")
    >>> documents.vocabulary, list(documents)
    (('rain', 'sun'), [['sun', 'rain'], ['rain']])
    >>> read_documents(["More sun in May"], vocabulary=documents.vocabulary).n_unknown
    3
    """
    known = None if vocabulary is None else _known_words(vocabulary)
    pruning = Pruning(as_stop_words(stop_words), min_df, max_df, max_features)
    cut = as_analyzer(analyzer, token_pattern, lowercase)
    try:
        "a".encode(encoding)
    except (LookupError, TypeError, ValueError):
        raise ValueError(
            f"there is no encoding {shown(encoding)}; try 'utf-8' or 'latin-1'"
        ) from None
    if isinstance(X, Parts):
        if column is not None:
            raise ValueError(f"column={shown(column)}: partitions know theirs")
        encode = partial(_encode_part, cut, lowercase, known, pruning.stop_words)
        parts = encode_documents(X, encode, known, pruning)
        _warn_of_empty(parts.n_empty, len(parts), "")
        return parts  # type: ignore[return-value]  # which answers the same questions
    if isinstance(X, Partitioned) and X.kind is Documents:
        if known is not None and known != X.vocabulary:
            raise ValueError("documents in Partitions keep their words: read them again")
        return X  # type: ignore[return-value]
    if isinstance(X, Documents):
        if known is None or known == X.vocabulary:
            return X
        documents = X.in_words(known)
    else:
        trace = Trace()
        given = None if known is None else _codes_of(known, pruning.stop_words)
        codes = WordCodes(cut, lowercase, given)
        _add(_documents(X, encoding, column, trace), codes, progress)
        if not len(codes):
            raise ValueError("there is no document: X is empty")
        if known is None and isinstance(cut, Runs):
            warn_of_missing_blanks(codes)
        documents = _result(codes, known, pruning, trace.names())
    return _with_empty_named(documents)


def pruned(documents: Documents, pruning: Pruning, known: Iterable[str] = ()) -> Documents:
    """Documents in the words that ``pruning`` keeps of theirs, and in ``known`` ones.

    >>> documents = read_documents(["sun rain", "sun wind", "sun rain"])
    >>> list(pruned(documents, Pruning(min_df=2, max_df=2), ["wind"]))
    [['rain'], ['wind'], ['rain']]
    """
    words, known = list(documents.vocabulary), set(known)
    try:
        _, kept = pruning.places(words, documents.symbols, documents.offsets)
    except ValueError:
        if not known:
            raise
        kept = ()
    stay = known.union(kept)
    if stay != set(words):
        documents = documents.in_words(tuple(sorted(stay)), n_unknown=documents.n_unknown)
    return _with_empty_named(documents)


def _with_empty_named(documents: Documents) -> Documents:
    if documents.n_empty:
        first = documents.name_of(int(np.argmin(documents.lengths)))
        _warn_of_empty(documents.n_empty, len(documents), f", the first of them {first}")
    return documents


def warn_of_missing_blanks(codes: WordCodes) -> None:
    """Warn where most words are whole phrases of a language that writes no blanks between words."""
    counts = np.bincount(codes.symbols, minlength=len(codes.words))
    words = [word if isinstance(word, str) else "" for word in codes.words]
    counts = counts * np.fromiter(map(is_phrase, words), bool, len(words))
    if not 2 * counts.sum() > len(codes.symbols):
        return
    phrase = words[int(np.argmax(counts))]
    language, remedy = language_without_blanks("".join(words[:PHRASES]))
    warn(
        f"the text seems to be {language}, which has no blanks between words: {shown(phrase)} is "
        f"read as one word; analyzer= takes a function from a text to its words, such as {remedy}",
        TextWarning,
    )


def raw_documents(
    X: Any, *, encoding: str = "utf-8", column: str | None = None
) -> list[str | list[Any]]:
    """Documents as they are, strings or lists of words, from all that `read_documents` takes.

    >>> raw_documents(["The sun.", ["rain"]])
    ['The sun.', ['rain']]
    """
    if isinstance(X, (Documents, Partitioned, Parts)):
        raise ValueError(f"the raw text is needed, and a {type(X).__name__} has its words alone")
    return list(_documents(X, encoding, column, Trace()))


def _warn_of_empty(n_empty: int, n: int, first: str) -> None:
    if n_empty:
        warn(
            f"{n_empty:,} of {n:,} documents have no word that is kept{first}: they stay as empty "
            "documents",
            EmptyDocumentsWarning,
        )


def _encode_part(
    cut: Any,
    lowercase: bool,
    known: tuple[str, ...] | None,
    stop_words: frozenset[str],
    texts: list[Any],
) -> Documents:
    """The documents of a part, in the words that are known, or in all of their own."""
    given = None if known is None else _codes_of(known, stop_words)
    codes = WordCodes(cut, lowercase, given)
    _add(_documents(texts, "utf-8", None, Trace()), codes, None)
    if known is not None:
        return _known_documents(codes, known, None)
    words = tuple(codes.checked())
    return Documents._trusted(codes.symbols.copy(), codes.offsets.copy(), len(words), words)


def _result(
    codes: WordCodes, known: tuple[str, ...] | None, pruning: Pruning, names: Names
) -> Documents:
    # Names are of use only where every document has one: not where some were strings.
    named = names if len(names) == len(codes) else None
    if known is not None:
        return _known_documents(codes, known, named)
    places, vocabulary = pruning.places(codes.checked(), codes.symbols, codes.offsets)
    return _recoded(codes, places, vocabulary, named, 0)


def _known_documents(codes: WordCodes, known: tuple[str, ...], names: Names | None) -> Documents:
    n_unknown = int(np.count_nonzero(codes.symbols == UNKNOWN))
    places = np.append(np.arange(len(known), dtype=np.int32), np.int32(-1))  # stop words go
    return _recoded(codes, places, known, names, n_unknown)


def _recoded(
    codes: WordCodes,
    places: Ints,
    vocabulary: tuple[str, ...],
    names: Names | None,
    n_unknown: int,
) -> Documents:
    symbols, offsets = recode(codes.symbols, codes.offsets, places)
    return Documents._trusted(symbols, offsets, len(vocabulary), vocabulary, names, n_unknown)


def _add(
    documents: Iterator[str | list[Any]], codes: WordCodes, progress: Callable[[int], None] | None
) -> None:
    for are_texts, some in groupby(documents, key=lambda document: isinstance(document, str)):
        for batch in _batches(some):
            if are_texts:
                codes.add_texts(batch)
            else:
                for tokens in batch:
                    codes.add_tokens(tokens)
            if progress is not None:
                progress(len(batch))


def _batches(documents: Iterable[Any]) -> Iterator[list[Any]]:
    batch, size = [], 0
    for document in documents:
        batch.append(document)
        size += len(document)
        if size >= BATCH or len(batch) == MOST_DOCUMENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _documents(
    X: Any, encoding: str, column: str | None, trace: Trace
) -> Iterator[str | list[Any]]:
    """Every document as a string or a list of words."""
    is_path = isinstance(X, os.PathLike)
    if is_path or (isinstance(X, str) and (X == STANDARD_INPUT or os.path.exists(X))):
        yield from documents_at(os.fspath(X), encoding, column, trace)
        return
    if column is not None:
        raise ValueError(f"column={shown(column)} is for a file: give its path as X")
    for d, document in enumerate(_each(X)):
        if isinstance(document, str):
            yield document
        elif isinstance(document, bytes):
            yield decoded(document, encoding, d)
        elif isinstance(document, os.PathLike):
            yield whole_file(Path(document), encoding, trace)
        elif np.iterable(document) and not isinstance(document, (Mapping, Set)):
            yield document if isinstance(document, list) else list(document)
        else:
            raise ValueError(
                f"document {d} is {document!r:.60}: a document is a string or a list of words "
                "in order"
            )


def _each(X: Any) -> Iterable[Any]:
    """X, if it is something of which each element is a document."""
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"one string is not a list of documents, and no file has the name {X[:60]!r}; "
            "give a list of strings, or the path of a file or folder"
        )
    if sparse.issparse(X):
        raise ValueError("X is a matrix of counts, in which the order of words is lost: give texts")
    if isinstance(X, (Mapping, Set)):
        raise ValueError(f"a {type(X).__name__} has no order: give a list of documents")
    if isinstance(X, pa.Table) or hasattr(type(X), "columns"):
        raise ValueError("X is a table: give the column that has the documents")
    if isinstance(X, (pa.Array, pa.ChunkedArray)):
        return (item.as_py() for item in X)
    if not isinstance(X, Iterable) or (isinstance(X, np.ndarray) and X.ndim != 1):
        raise ValueError(f"X is {X!r:.60}: give a list of documents, or a path")
    return X


def _known_words(vocabulary: Iterable[str]) -> tuple[str, ...]:
    if isinstance(vocabulary, Mapping):  # scikit-learn's: from a word to its code
        if sorted(vocabulary.values()) != list(range(len(vocabulary))):
            raise ValueError(f"the codes of a vocabulary are 0 to {len(vocabulary) - 1}, once each")
        vocabulary = sorted(vocabulary, key=vocabulary.__getitem__)
    elif isinstance(vocabulary, Set):
        vocabulary = sorted(vocabulary)
    words = as_vocabulary(vocabulary)
    for place, word in enumerate(words):
        if not isinstance(word, str):
            raise ValueError(f"the vocabulary has {shown(word)} at {place}: it is a list of words")
    return words  # type: ignore[return-value]


def _codes_of(vocabulary: tuple[str, ...], stop_words: frozenset[str]) -> dict[str, int]:
    """The code of every known word; stop words have one behind the last."""
    codes = {word: code for code, word in enumerate(vocabulary)}
    return codes | dict.fromkeys(stop_words, len(vocabulary))


# -- files of documents -----------------------------------------------------------------------

CELLS = 2**16  # at a time
TEXT = ".txt"
SHOWN = 3


class Trace:
    """Remembers where the documents that were read came from."""

    def __init__(self) -> None:
        self._origins: list[str] = []
        self._which = array("i")
        self._rows = array("q")

    def origin(self, name: str) -> None:
        """The documents noted from now on are from here."""
        self._origins.append(name)

    def note(self, row: int = 0) -> None:
        """A document; ``row`` is its line or row, 0 where it is all there is."""
        self._which.append(len(self._origins) - 1)
        self._rows.append(row)

    def names(self) -> Names:
        """What was noted."""
        return Names(
            tuple(self._origins),
            np.array(self._which, np.int32),
            np.array(self._rows, np.int64),
        )


def documents_at(
    path: str | Path, encoding: str, column: str | None, trace: Trace
) -> Iterator[str]:
    """The documents of a file, of a folder of text files, or of standard input (``"-"``).

    A text file has one document per line, a table one per row, a folder one per file.
    """
    if str(path) not in (STANDARD_INPUT, "") and Path(path).is_dir():
        if column is not None:
            raise ValueError(
                f"{path}: a folder has a document a file, and no column {shown(column)}"
            )
        for file in text_files(Path(path)):
            yield whole_file(file, encoding, trace)
        return
    (source,) = find_sources(path)
    Layout(column=column).check(source)
    if source.format == "text":
        trace.origin(f"{source.name}, line")
        for row, line in enumerate(_lines(source, encoding), 1):
            trace.note(row)
            yield line
        return
    if not is_utf_8(encoding):
        raise source.error(f"CSV, JSON Lines and Parquet are read as UTF-8, not as {encoding}")
    trace.origin(f"{source.name}, {'line' if source.format == 'jsonl' else 'row'}")
    for cells in _column(source, column):
        texts = cells.columns["column"]
        if not is_text(texts.type):
            raise source.error(f"a document is text, and the column has {texts.type}")
        for text, row in zip(texts.to_pylist(), cells.rows.tolist(), strict=True):
            trace.note(row)
            yield text or ""


def values_at(path: str | Path, column: str) -> Iterator[Any]:
    """The values of a column, one per row, as `documents_at` has one document per row.

    Parquet has values of any type; those of CSV and JSON Lines are text.  None: it is missing.
    """
    if Path(path).is_dir():
        raise ValueError(f"{path}: a folder has a document a file, and no column {column!r}")
    (source,) = find_sources(path)
    if source.format == "text":
        raise source.error(f"text has no columns, and so no {column!r}: give CSV or the like")
    for cells in _column(source, column):
        yield from cells.columns["column"].to_pylist()


def _column(source: Source, column: str | None) -> Iterator[Cells]:
    """The cells of a column as they are."""
    layout = Layout(column=column, each_row="symbol")
    if source.format == "parquet":
        return read_parquet(source, layout, CELLS, any_type=True)
    return read_cells(source, layout, CELLS)


def whole_file(path: Path, encoding: str, trace: Trace) -> str:
    """A file that is one document."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: give it alone, or its files, in the list")
    (source,) = find_sources(path)
    trace.origin(source.name)
    trace.note()
    with source.text(encoding=encoding) as file:
        return file.read().decode(errors="surrogatepass")


def text_files(folder: Path) -> list[Path]:
    """The files of a folder that are documents, in order of their names."""
    names = sorted(file for file in folder.rglob("*") if file.is_file())
    texts = [
        file
        for file in names
        if file.suffix.lower() == TEXT
        or (file.suffix.lower() in CODECS and Path(file.stem).suffix.lower() == TEXT)
    ]
    if not texts:
        some = ", ".join(str(file.relative_to(folder)) for file in names[:SHOWN])
        there = f"there are {len(names)} others ({some}): " if names else ""
        raise ValueError(
            f"{folder}: there is no {TEXT} file in this folder; {there}"
            "give a list of paths to read files of other names"
        )
    return texts


def _lines(source: Source, encoding: str) -> Iterator[str]:
    with source.text(encoding=encoding) as file:
        for line in file:
            ended = line[:-1].removesuffix(b"\r") if line.endswith(b"\n") else line
            yield ended.decode(errors="surrogatepass")


def decoded(data: bytes, encoding: str, d: int) -> str:
    """Document ``d``, given as bytes."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise ValueError(
            f"document {d} is not {encoding}: byte {error.start} of it is "
            f"0x{data[error.start]:02x}; {another_encoding(encoding)}"
        ) from None

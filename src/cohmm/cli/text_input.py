"""What commands that read text share: which words there are, and the documents."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cohmm.cli.session import reading

if TYPE_CHECKING:
    from cohmm.data.documents import Documents

MANY = 0.15  # of all words: so many stop words cover the topics
OPTIONS = "encoding|min_df|max_df|max_features|token_pattern|stop_words|column"


class Words(NamedTuple):
    """How text becomes words: what `cohmm.read_documents` calls by the same names."""

    stop_words: Any
    min_df: int | float
    max_df: int | float
    max_features: int | None
    token_pattern: str

    @classmethod
    def of(
        cls,
        stop_words: str,
        min_df: str,
        max_df: str,
        max_features: int | None,
        token_pattern: str,
    ) -> Words:
        """From options as they are written on the command line."""
        return cls(
            stop_words_of(stop_words),
            frequency("--min-df", min_df),
            frequency("--max-df", max_df),
            max_features,
            token_pattern,
        )


def frequency(option: str, text: str) -> int | float:
    """A number of documents, or a share of them."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise ValueError(
            f"{option} must be a number of documents, such as 5, or a share of them, such as 0.01, "
            f"not {text!r}"
        ) from None


def stop_words_file(text: str) -> Path | None:
    """The file of words that ``--stop-words`` names, if it does."""
    return None if text in ("none", "english") else Path(text)


def stop_words_of(text: str) -> Any:
    """None, "english", or the words of a file."""
    path = stop_words_file(text)
    if path is None:
        return None if text == "none" else text
    if not path.is_file():
        raise ValueError(
            f"--stop-words must be english, none, or a file of words; there is no file {text}"
        )
    try:
        words = path.read_bytes().decode("utf-8-sig").lower().split()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 text (byte {error.start})") from None
    if not words:
        raise ValueError(f"{path}: there is no word in it")
    return sorted(set(words))


def text_files_of(inputs: Iterable[str]) -> Iterator[str | Path]:
    """The inputs, with the text files of a folder in its place."""
    for path in inputs:
        if Path(path).is_dir() and path:
            from cohmm.data.readers.document_files import text_files

            yield from text_files(Path(path))
        else:
            yield path


def corpus(inputs: list[str], words: Words, column: str | None, encoding: str) -> Documents:
    """The documents of all inputs, with a word about those that are empty."""
    from dataclasses import replace

    from cohmm.data.readers.document_files import Trace
    from cohmm.data.text import TextWarning, read_documents

    if inputs.count("-") > 1:
        raise ValueError("standard input can be read only once: give - once")
    trace, counter = Trace(), Characters()
    with reading(inputs, "reading") as watch, warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)  # it is said below, with the place
        tell = watch.progress
        try:
            found = read_documents(
                counter.through(_texts(inputs, encoding, column, trace)),
                **words._asdict(),
                progress=None if tell is None else lambda n: tell(counter.new()),
            )
        except ValueError as error:
            raise ValueError(as_options(str(error))) from None
        documents = replace(found, names=trace.names())
        for text in notices(documents, words):
            watch.notice(text)
    return documents


def _texts(inputs: list[str], encoding: str, column: str | None, trace: Any) -> Iterator[str]:
    from cohmm.data.readers.document_files import documents_at

    yield from chain.from_iterable(documents_at(path, encoding, column, trace) for path in inputs)


def as_options(message: str) -> str:
    """What the library says to do, as it is done on the command line."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')} {found[2].strip(chr(39))}"

    return re.sub(rf"\b({OPTIONS})=('[^']*'|[\w.]*\w)", option, message)


class Characters:
    """Counts the characters of documents as they pass by: about as many bytes were read."""

    def __init__(self) -> None:
        self._n = 0

    def through(self, texts: Iterator[str]) -> Iterator[str]:
        """The same documents."""
        for text in texts:
            self._n += len(text) + 1
            yield text

    def new(self) -> int:
        """Those since the last call."""
        n, self._n = self._n, 0
        return n


def notices(documents: Documents, words: Words) -> Iterator[str]:
    """What the owner of the documents should know."""
    import numpy as np

    from cohmm.data.vocabulary import as_stop_words

    empty = np.flatnonzero(documents.lengths == 0)
    if len(empty):
        yield (
            f"{len(empty):,} of {len(documents):,} documents have no word that is kept, the first "
            f"of them {documents.name_of(int(empty[0]))}"
        )
    if words.stop_words is None:
        english = as_stop_words("english")
        common = np.array([word in english for word in documents.vocabulary])
        share = common[documents.symbols].mean()
        if share > MANY:
            yield (
                f"{share:.0%} of all words are such as the, of and to, and will be on top of "
                "topics: --stop-words english leaves them out"
            )

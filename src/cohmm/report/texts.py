"""The texts that documents were cut from, so that a report can show them as they were written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from typing import Any

from cohmm.data.documents import Documents
from cohmm.data.readers.document_files import Trace, documents_at
from cohmm.data.readers.source import STANDARD_INPUT
from cohmm.data.vocabulary import as_stop_words
from cohmm.kernels.types import Ints
from cohmm.learn.fitted import FittedTopics

MOST_CHARACTERS = 200_000  # of a text; a document beyond is shown by its words alone

Spans = tuple[tuple[int, int], ...]


def texts_of(X: Any, wanted: Ints) -> list[str | None]:
    """The texts of the documents ``wanted``, in ascending order; None where there are none.

    Lists of strings have them, and files, which are read once more.
    """
    source: Iterable[Any] = X
    if isinstance(X, Documents) or (isinstance(X, str) and X == STANDARD_INPUT):
        source = ()
    elif isinstance(X, (str, os.PathLike)):
        source = documents_at(os.fspath(X), "utf-8", None, Trace())
    numbers = set(wanted.tolist())
    last = int(wanted.max(initial=-1)) + 1
    found = {d: text for d, text in enumerate(islice(source, last)) if d in numbers}
    texts = (found.get(d) for d in wanted.tolist())
    return [text if isinstance(text, str) else None for text in texts]


class Aligner:
    """Finds the words of documents in their texts.

    >>> from cohmm import HTMM
    >>> model = HTMM(vocabulary=["sun", "rain"])
    >>> Aligner(model, ("sun", "rain")).find("The Sun, then rain.", ["sun", "rain"])
    ('The Sun, then rain.', ((4, 7), (14, 18)))
    """

    def __init__(self, model: FittedTopics, vocabulary: tuple[str, ...]):
        self._pattern = None if callable(model.analyzer) else re.compile(model.token_pattern)
        self._lowercase = model.lowercase
        self._known = frozenset(vocabulary) - as_stop_words(model.stop_words)

    def find(self, text: str | None, words: list[str]) -> tuple[str | None, Spans]:
        """The text, and where its words are; None where they are not found, all in order."""
        if text is None or self._pattern is None or len(text) > MOST_CHARACTERS:
            return None, ()
        read = text.lower() if self._lowercase else text
        group = self._pattern.groups
        spans = tuple(
            match.span(group)
            for match in self._pattern.finditer(read)
            if match[group] in self._known
        )
        if [read[begin:end] for begin, end in spans] != words:
            return None, ()
        # A few letters change their length in lower case: then the text is shown as it was read.
        return (text if len(text) == len(read) else read), spans

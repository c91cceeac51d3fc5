"""From texts and lists of tokens to codes, a batch of documents at a time."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.vocabulary import is_unicode
from cohmm.kernels import native
from cohmm.kernels.types import Ints

TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's
RUN_PATTERN = re.compile(r"(?:\(\?u\))?(\\w|\[[^\\\]^][^\\\]]*\])(?:\+|\{([1-9]),\})")
LAST_CHARACTER = 0x10FFFF
LAST_ASCII = 0x7F
SURROGATES = slice(0xD800, 0xE000)
UNKNOWN = -1

Analyzer = Callable[[str], Iterable[str]]


class Runs(NamedTuple):
    """Words are all runs of ``characters`` that are long enough: there is a kernel for these."""

    characters: str
    least: int


class WordCodes:
    """The codes of all words of documents, one after the other.

    Words get codes in the order in which they appear, or have those of a ``known`` dictionary,
    in which what is not known has the code -1.
    """

    def __init__(
        self, analyzer: Analyzer | Runs, lowercase: bool, known: dict[str, int] | None = None
    ) -> None:
        self._analyzer = analyzer
        self._lowercase = lowercase
        self._known = known
        self._codes: defaultdict[Any, int] = defaultdict()
        self._codes.default_factory = self._codes.__len__
        self._symbols = array("i")
        self._ends = array("q", [0])

    def __len__(self) -> int:
        """How many documents there are so far."""
        return len(self._ends) - 1

    @property
    def words(self) -> list[str]:
        """The words found, by code; they are only known to be strings after `checked`."""
        return list(self._codes)

    @property
    def symbols(self) -> Ints:
        """All codes, (T,), in memory that may be written to."""
        return np.frombuffer(self._symbols, np.int32) if self._symbols else np.empty(0, np.int32)

    @property
    def offsets(self) -> Ints:
        """Where documents begin, and the end."""
        return np.frombuffer(self._ends, np.int64)

    def add_texts(self, texts: Sequence[str]) -> None:
        """Documents that are still to be cut into words."""
        if isinstance(self._analyzer, Runs):
            self._add_runs(texts, *self._analyzer)
            return
        for text in texts:
            tokens = self._analyzer(text)
            if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
                raise ValueError(
                    f"the analyzer gives {tokens!r:.60} for document {len(self)}: "
                    "it must give a list of words"
                )
            self.add_tokens(tokens)

    def add_tokens(self, tokens: Iterable[Any]) -> None:
        """One document, a list of words."""
        tokens = tokens if isinstance(tokens, list) else list(tokens)
        try:
            if self._known is None:
                self._symbols.extend(map(self._codes.__getitem__, tokens))
            else:
                self._symbols.extend(map(self._known.get, tokens, repeat(UNKNOWN)))
        except TypeError as error:  # it has no hash, or cannot be compared
            raise ValueError(
                f"document {len(self)} has a word that is no string: {error}"
            ) from None
        self._ends.append(len(self._symbols))

    def _add_runs(self, texts: Sequence[str], characters: str, least: int) -> None:
        """What ``re.findall`` finds, some times faster."""
        if self._lowercase:
            texts = [text.lower() for text in texts]
        rows = [text.encode(errors="surrogatepass") for text in texts]
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        data = np.frombuffer(b"".join(rows), np.uint8)
        last = LAST_ASCII if data.max(initial=0) <= LAST_ASCII else LAST_CHARACTER
        packed = np.empty(len(data), np.uint8)
        offsets = np.empty((len(data) + len(rows)) // 2 + 2, np.int64)
        borders = np.concatenate([[0], np.cumsum(sizes)])
        in_words = _table(characters, last)
        n = native.split_text(data, borders, in_words, least, packed, offsets, sizes)
        buffers = [None, pa.py_buffer(offsets[: n + 1]), pa.py_buffer(packed[: offsets[n]])]
        words = pa.Array.from_buffers(pa.large_string(), n, buffers).dictionary_encode()
        distinct = words.dictionary.to_pylist()
        if self._known is None:
            coded = map(self._codes.__getitem__, distinct)
        else:
            coded = map(self._known.get, distinct, repeat(UNKNOWN))
        codes = np.fromiter(coded, np.int32, len(distinct))
        self._symbols.frombytes(codes[words.indices.to_numpy()].data.cast("B"))
        self._ends.extend(np.cumsum(sizes) + self._ends[-1])

    def checked(self) -> list[str]:
        """The words found, all of them strings that can be written to a file."""
        for code, word in enumerate(self._codes):
            why = None
            if not isinstance(word, str):
                why = "which is no string: words are"
            elif not is_unicode(word):
                why = "which is not Unicode text"
            if why:
                place = int(np.argmax(self.symbols == code))
                d = int(np.searchsorted(self.offsets, place, side="right")) - 1
                raise ValueError(f"document {d} has the word {shown(word)}, {why}")
        return list(map(str, self._codes))


def as_analyzer(analyzer: Any, token_pattern: str, lowercase: bool) -> Analyzer | Runs:
    """What cuts a text into words."""
    if callable(analyzer):
        if token_pattern != TOKEN_PATTERN:
            raise ValueError("an analyzer finds the words itself: leave out token_pattern")
        return analyzer  # type: ignore[no-any-return]
    if analyzer not in (None, "word"):
        raise ValueError(
            f"analyzer must be a function from a text to its words, not {shown(analyzer)}"
        )
    try:
        pattern = re.compile(token_pattern)
    except (re.error, TypeError) as error:
        raise ValueError(f"token_pattern {shown(token_pattern)} is no pattern: {error}") from None
    if pattern.groups > 1:
        raise ValueError(
            f"token_pattern {shown(token_pattern)} has {pattern.groups} groups: one at most is the "
            "word; write (?:...) for the others"
        )
    runs = _as_runs(token_pattern)
    if runs is not None:
        return runs
    find = pattern.findall
    return (lambda text: find(text.lower())) if lowercase else find


def _as_runs(token_pattern: str) -> Runs | None:
    """What the pattern says, if it is no more than which characters, and how many at least."""
    if token_pattern == TOKEN_PATTERN:  # the borders that it asks for are where runs end
        return Runs(r"\w", 2)
    match = RUN_PATTERN.fullmatch(token_pattern)
    if match is None or _table(match[1], LAST_CHARACTER)[SURROGATES].any():
        return None  # lone surrogates are characters to Python, and not to a file
    return Runs(match[1], int(match[2] or 1))


@cache
def _table(characters: str, last: int) -> Ints:
    """Whether each character up to ``last`` is one of ``characters``, as in a pattern."""
    table = np.zeros(last + 1, np.bool_)
    for run in re.finditer(f"{characters}+", "".join(map(chr, range(last + 1)))):
        table[run.start() : run.end()] = True
    return table

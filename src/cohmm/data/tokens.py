"""From texts and lists of tokens to codes, a batch of documents at a time.

A word is a run of two or more letters, digits and underscores, with the combining marks on them, in
any language.  An apostrophe between two of them belongs to the word ("aujourd'hui", "don't"), but
for what is cut off: a possessive s ("the sun's"), and in front an elided article or pronoun
("l'homme", "qu'il").
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm._validation import shown
from cohmm.data.vocabulary import is_unicode
from cohmm.kernels import native
from cohmm.kernels.types import Ints

SKLEARN_PATTERN = r"(?u)\b\w\w+\b"  # the default of scikit-learn's CountVectorizer
JOINED = "\u02bc"  # a letter to Python: it stands for an apostrophe inside a word
INNER_APOSTROPHE = re.compile(r"'(?<=\w')(?=\w)(?![sS]\b)(?<!(?<![\w'])[cdjlmnstCDJLMNST]')")
ELIDED_QU = re.compile(r"[qQ][uU](?<![\w'][qQ][uU])'(?=\w)")  # one letter is no word anyway
JOINERS = "\u200c\u200d"  # without width: they are inside words of Persian and Indic scripts
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
    of_language: bool = False
    """Whether combining marks and inner apostrophes belong to them."""


WORDS = Runs(r"\w", 2, of_language=True)


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
            self._add_runs(texts, self._analyzer)
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

    def _add_runs(self, texts: Sequence[str], runs: Runs) -> None:
        """What ``re.findall`` finds, some times faster."""
        if self._lowercase:
            texts = [text.lower() for text in texts]
        if runs.of_language:
            texts = [_joined(text) for text in texts]
        rows = [text.encode(errors="surrogatepass") for text in texts]
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        data = np.frombuffer(b"".join(rows), np.uint8)
        last = LAST_ASCII if data.max(initial=0) <= LAST_ASCII else LAST_CHARACTER
        packed = np.empty(len(data), np.uint8)
        offsets = np.empty((len(data) + len(rows)) // 2 + 2, np.int64)
        borders = np.concatenate([[0], np.cumsum(sizes)])
        in_words = _table(runs.characters, last, runs.of_language)
        n = native.split_text(data, borders, in_words, runs.least, packed, offsets, sizes)
        buffers = [None, pa.py_buffer(offsets[: n + 1]), pa.py_buffer(packed[: offsets[n]])]
        words = pa.Array.from_buffers(pa.large_string(), n, buffers).dictionary_encode()
        distinct = words.dictionary.to_pylist()
        if runs.of_language and last == LAST_CHARACTER:
            distinct = [word.replace(JOINED, "'") for word in distinct]
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


def as_analyzer(analyzer: Any, token_pattern: str | None, lowercase: bool) -> Analyzer | Runs:
    """What cuts a text into words."""
    if isinstance(analyzer, str) and analyzer != "word":
        analyzer = named_analyzer(analyzer)
    if callable(analyzer):
        if token_pattern is not None:
            raise ValueError("an analyzer finds the words itself: leave out token_pattern")
        return analyzer  # type: ignore[no-any-return]
    if analyzer not in (None, "word"):
        raise ValueError(
            "analyzer must be a function from a text to its words, or its name "
            f"'module:function', not {shown(analyzer)}"
        )
    if token_pattern is None:
        return WORDS
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


def named_analyzer(name: str) -> Analyzer:
    """The function that ``"module:function"`` names."""
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"analyzer={shown(name)} is not the name of a function, 'module:function': {error}"
        ) from None
    if not callable(found):
        raise ValueError(f"analyzer={shown(name)} is {shown(found)}, which is no function")
    return found  # type: ignore[no-any-return]


def check_trusted(name: str) -> None:
    """Refuse the name of an analyzer in a file, unless this program has imported its module.

    A file must not choose what is imported, nor call what Python itself brings along.
    """
    module = name.partition(":")[0]
    if module not in sys.modules or module.partition(".")[0] in sys.stdlib_module_names:
        raise ValueError(
            f"texts are cut by {shown(name)}, which is imported only if you say so: import "
            f"{module} first, or load(path, analyzer={shown(name)})"
        )


def cut_words(words: Iterable[str], cut: Analyzer | Runs, lowercase: bool) -> list[str]:
    """Words as texts have them once they are cut: those of all of ``words``, in order."""
    codes = WordCodes(cut, lowercase)
    codes.add_texts(list(words))
    return [codes.words[code] for code in codes.symbols]


def word_finder(
    analyzer: Any, token_pattern: str | None
) -> Callable[[str], Iterator[tuple[str, tuple[int, int]]]] | None:
    """What finds words in a text, and their places; None where only an analyzer knows them."""
    if analyzer not in (None, "word"):
        return None
    if token_pattern is None:
        marks = re.escape("".join(map(chr, _marks())))
        pattern = re.compile(rf"[\w{marks}]{{2,}}")
        return lambda text: (
            (match[0].replace(JOINED, "'"), match.span())
            for match in pattern.finditer(_joined(text))
        )
    pattern = re.compile(token_pattern)
    return lambda text: (
        (match[pattern.groups], match.span(pattern.groups)) for match in pattern.finditer(text)
    )


# Scripts without blanks between words: their characters, how many of them together are more than a
# word, the language, and what cuts it.
SCRIPTS = {
    r"\u3040-\u30ff": (8, "Japanese", "the wakati mode of janome or fugashi"),
    r"\u3400-\u9fff\U00020000-\U0003ffff": (5, "Chinese", "jieba.lcut, by name 'jieba:lcut'"),
    r"\u0e00-\u0eff": (15, "Thai or Lao", "pythainlp.word_tokenize, 'pythainlp:word_tokenize'"),
    r"\u1000-\u109f\u1780-\u17ff": (15, "Burmese or Khmer", "khmernltk.word_tokenize"),
}
PHRASE = re.compile("|".join(f"[{script}]{{{n},}}" for script, (n, _, _) in SCRIPTS.items()))
PHRASE_OF_TWO = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{8,}")  # kana and kanji together


def is_phrase(word: str) -> bool:
    """Whether a run of letters is longer than words are in a script without blanks."""
    return not word.isascii() and bool(PHRASE.search(word) or PHRASE_OF_TWO.search(word))


def language_without_blanks(text: str) -> tuple[str, str]:
    """The language of a text without blanks, and what cuts it into words.

    >>> language_without_blanks("\u5317\u4eac\u5927\u5b66")
    ('Chinese', "jieba.lcut, by name 'jieba:lcut'")
    """
    n = {script: len(re.findall(f"[{script}]", text)) for script in SCRIPTS}
    kana, han, *_ = n
    most = kana if 10 * n[kana] > n[han] > 0 else max(SCRIPTS, key=n.__getitem__)
    return SCRIPTS[most][1:]


def _joined(text: str) -> str:
    """The text with a letter in place of every apostrophe that belongs to a word."""
    if "\u2019" in text:
        text = text.replace("\u2019", "'")
    if "u'" in text or "U'" in text:
        text = ELIDED_QU.sub("   ", text)
    return INNER_APOSTROPHE.sub(JOINED, text) if "'" in text else text


@cache
def _marks() -> list[int]:
    """Combining marks and joiners, but for those that choose how a character is drawn."""
    blocks = (range(0x300, 0x3400), range(0xA000, 0xAC00), range(0xFB00, 0xFE00))
    points = [*blocks[0], *blocks[1], *blocks[2], *range(0xFE20, 0xFE30), *range(0x10000, 0x20000)]
    marks = [point for point in points if unicodedata.category(chr(point)) in ("Mn", "Mc")]
    return [*map(ord, JOINERS), *marks]


def _as_runs(token_pattern: str) -> Runs | None:
    """What the pattern says, if it is no more than which characters, and how many at least."""
    if token_pattern == SKLEARN_PATTERN:  # the borders that it asks for are where runs end
        return Runs(r"\w", 2)
    match = RUN_PATTERN.fullmatch(token_pattern)
    if match is None or _table(match[1], LAST_CHARACTER)[SURROGATES].any():
        return None  # lone surrogates are characters to Python, and not to a file
    return Runs(match[1], int(match[2] or 1))


@cache
def _table(characters: str, last: int, with_marks: bool = False) -> Ints:
    """Whether each character up to ``last`` is one of ``characters``, as in a pattern."""
    table = np.zeros(last + 1, np.bool_)
    for run in re.finditer(f"{characters}+", "".join(map(chr, range(last + 1)))):
        table[run.start() : run.end()] = True
    if with_marks and last == LAST_CHARACTER:
        table[_marks()] = True
    return table

"""Labels of symbols: a tuple of them is a vocabulary, and a symbol's code is its place in it.

Which words of documents a vocabulary keeps, and characters as symbols.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from cohmm._validation import as_tuple, check_whole, is_whole, shown, warn
from cohmm.kernels import native
from cohmm.kernels.types import Ints

Vocabulary = tuple[Hashable, ...]

HINT_SAMPLE = 1000  # strings that are looked at to see whether they are texts
HINT_LENGTH = 4  # characters that one of them has at least
HINT_SHARE = 0.6  # of all characters, that a string has on average


class TextWarning(UserWarning):
    """Something about text that its owner should know."""


class EmptyDocumentsWarning(TextWarning):
    """Some documents have no word that is kept."""


def as_vocabulary(labels: Iterable[Any]) -> Vocabulary:
    """``labels`` as a tuple of plain Python values, each of them once.

    They are strings, or whole numbers of 64 bits: what comes back as it is from an array, from
    a column and from a file.
    """
    if isinstance(labels, str):
        raise ValueError(f"a vocabulary is a list of labels, not the string {shown(labels)}")
    plain = tuple(
        label.item() if isinstance(label, np.generic) else label
        for label in as_tuple("a vocabulary", labels)
    )
    if not plain:
        raise ValueError("the vocabulary is empty: it needs a label")
    for place, label in enumerate(plain):
        why = _what_is_wrong(label)
        if why:
            raise ValueError(
                f"labels are strings or whole numbers; the one at {place} is {shown(label)}{why}"
            )
    if len(set(plain)) < len(plain):
        seen: set[Hashable] = set()
        twice = next(label for label in plain if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(
            f"the vocabulary has the label {shown(twice)} twice, at {plain.index(twice)}"
        )
    return plain


def labels_for(n_symbols: int, labels: Iterable[Any] | None) -> Vocabulary | None:
    """The labels of ``n_symbols`` symbols, where they have labels."""
    vocabulary = None if labels is None else as_vocabulary(labels)
    if vocabulary is not None and len(vocabulary) != n_symbols:
        raise ValueError(f"there are {len(vocabulary)} labels for {n_symbols} symbols")
    return vocabulary


def _what_is_wrong(label: Any) -> str | None:
    if isinstance(label, str):
        return None if is_unicode(label) else ", which is not Unicode text"
    if not isinstance(label, int):
        return ": give it as a string"
    return None if -(2**63) <= label < 2**64 else ", of more than 64 bits: give it as a string"


def is_unicode(text: str) -> bool:
    """Whether text can be written to a file: it has no half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def label_array(vocabulary: Vocabulary) -> np.ndarray:
    """Labels as an array, of objects where one of numbers or strings would change a label.

    >>> label_array(("a", "a\\0"))
    array(['a', 'a\\x00'], dtype=object)
    """
    array = np.array(vocabulary)
    kept = array.dtype.kind in "iuU" and array.tolist() == list(vocabulary)
    return array if kept else np.array(vocabulary, object)


def in_order(labels: Iterable[Hashable]) -> Vocabulary:
    """Labels sorted, numbers before strings: the order does not depend on the data's."""
    return tuple(sorted(labels, key=lambda label: (isinstance(label, str), label)))


def unite(left: Vocabulary, right: Vocabulary) -> Vocabulary:
    """All labels of both; the order of the left one where it has them all.

    >>> unite(("a", "c"), ("b", "a"))
    ('a', 'b', 'c')
    """
    if left == right or set(right) <= set(left):
        return left
    return in_order({*left, *right})


def codes_in(labels: Vocabulary, vocabulary: Vocabulary) -> np.ndarray:
    """The place in ``vocabulary`` of every label, -1 where it has none."""
    place = {label: code for code, label in enumerate(vocabulary)}
    return np.fromiter((place.get(label, -1) for label in labels), np.int32, len(labels))


def recode(symbols: Ints, offsets: Ints, places: Ints) -> tuple[Ints, Ints]:
    """Symbols as ``places[symbols]``, without those below 0, and where the documents end then.

    >>> recode(np.array([0, 2, -1, 1]), np.array([0, 2, 4]), np.array([5, 6, -1]))
    (array([5, 6]), array([0, 1, 2]))
    """
    codes = np.where(symbols < 0, symbols, places[symbols])
    kept = codes >= 0
    return codes[kept], np.concatenate([[0], np.cumsum(kept)])[offsets]


# -- characters -------------------------------------------------------------------------------


def distinct_characters(text: str) -> tuple[Ints, list[str]]:
    """The place of every character of a text among its distinct ones, and these, in order."""
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    table = np.zeros(int(points.max(initial=0)) + 1, np.int32)
    table[points] = 1
    distinct = np.flatnonzero(table)
    table[distinct] = np.arange(len(distinct))
    return table[points], list(map(chr, distinct))


def are_characters(vocabulary: Vocabulary) -> bool:
    """Whether all labels are single characters."""
    return all(isinstance(label, str) and len(label) == 1 for label in vocabulary)


def hint_at_unseen(label: Any, vocabulary: Vocabulary | None) -> str:
    """What to say further of a label that is not known, where its words or characters are."""
    if not isinstance(label, str) or len(label) < 2:
        return ""
    known = set(vocabulary or ())
    if len(label.split()) > 1 and set(label.split()) <= known:
        return "; a string is one label: give its words as a list, text.split()"
    if set(label) <= known:
        return "; characters=True (--characters) reads text symbol by symbol"
    return ""


def hint_at_texts(labels: Vocabulary) -> None:
    """Warn where ``labels``, none of which occurs twice, look like texts.

    These have several words, or are of a common alphabet.
    """
    some = [label for label in labels[:HINT_SAMPLE] if isinstance(label, str)]
    with_blanks = [label for label in some if len(label.split()) > 1]
    if with_blanks and 2 * len(with_blanks) >= len(some):
        strings = f"{len(labels):,} strings" if len(labels) > 1 else "one string"
        warn(
            f"{strings} with blanks, {shown(with_blanks[0])}, {'are' if len(labels) > 1 else 'is'} "
            "read as labels of one sequence: [text.split() for text in X] are sequences of words",
            TextWarning,
        )
        return
    if len(some) < 2 or min(map(len, some)) < 2 or max(map(len, some)) < HINT_LENGTH:
        return
    alphabets = list(map(set, some))
    if sum(map(len, alphabets)) >= HINT_SHARE * len(some) * len(set.union(*alphabets)):
        warn(
            f"{len(labels):,} strings, {shown(labels[0])} among them, are read as one sequence of "
            "labels, none of which occurs twice: characters=True reads them symbol by symbol",
            TextWarning,
        )


# -- words of documents -------------------------------------------------------------------------


@dataclass(frozen=True)
class Pruning:
    """What `cohmm.data.read_documents.read_documents` calls by the same names."""

    stop_words: frozenset[str] = frozenset()
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_features: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("min_df", self.min_df), ("max_df", self.max_df)):
            share = isinstance(value, (float, np.floating)) and 0 <= value <= 1
            if not (share or _is_count(value)):
                raise ValueError(
                    f"{name} must be a number of documents from 1 (a whole number), or a share "
                    f"of them from 0.0 to 1.0, not {shown(value)}"
                )
        if self.max_features is not None:
            check_whole(max_features=self.max_features)

    def places(
        self, words: list[str], symbols: Ints, offsets: Ints
    ) -> tuple[Ints, tuple[str, ...]]:
        """The new place of every word, -1 for those that go, and the words that stay, sorted."""
        frequencies = np.zeros(len(words), np.int64)
        if words:
            native.count_documents(symbols, offsets, frequencies, np.full(len(words), -1, np.int64))
        totals = np.bincount(symbols[symbols >= 0], minlength=len(words))
        kept, chosen = self.kept(words, frequencies, totals, len(offsets) - 1)
        places = np.full(len(words), -1, np.int32)
        places[chosen] = np.arange(len(chosen))
        return places, kept

    def kept(
        self, words: Sequence[str], frequencies: Ints, totals: Ints, n_documents: int
    ) -> tuple[tuple[str, ...], list[int]]:
        """The words that stay, sorted, and where they were.

        ``frequencies`` are the documents that each word is in, ``totals`` how often it occurs.
        """
        if not len(words):
            raise ValueError(
                f"there is no word in {n_documents} documents: a word is what token_pattern or "
                "the analyzer finds; by default it has two letters or digits at least"
            )
        kept = np.fromiter((word not in self.stop_words for word in words), bool, len(words))
        if not kept.any():
            raise ValueError(
                f"no word is left: stop_words drops all of them, {shown(words[0])} too"
            )
        for name, limit in (("max_df", self.max_df), ("min_df", self.min_df)):
            most = limit if _is_count(limit) else limit * n_documents
            below = frequencies <= most if name == "max_df" else frequencies >= most
            if not (kept & below).any():
                common = int(np.argmax(np.where(kept, frequencies, -1)))
                least = int(frequencies[kept].min())
                raise ValueError(
                    f"no word is left: {name}={shown(limit)} drops the last "
                    f"{np.count_nonzero(kept):,}; they are in {least:,} to "
                    f"{frequencies[common]:,} of {n_documents:,} documents, "
                    f"{shown(words[common])} in the most"
                )
            kept &= below
        chosen = sorted(np.flatnonzero(kept).tolist(), key=lambda i: words[i])
        if self.max_features is not None and len(chosen) > self.max_features:
            # Of words that are equally frequent the first by the alphabet: the same anywhere.
            most_frequent = np.argsort(-totals[chosen], kind="stable")[: self.max_features]
            chosen = [chosen[i] for i in np.sort(most_frequent)]
        return tuple(words[i] for i in chosen), chosen


def _is_count(value: Any) -> bool:
    return is_whole(value) and value >= 1


def as_stop_words(stop_words: Any) -> frozenset[str]:
    """Words to leave out, from None, the name of a language or a list."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        return _english() if stop_words == "english" else _of_language(stop_words)
    if not isinstance(stop_words, Iterable):
        raise ValueError(
            f"stop_words must be the name of a language or a list of words, not {shown(stop_words)}"
        )
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"stop_words has {shown(word)}: it is a list of words")
    return frozenset(map(str, words))


@cache
def _english() -> frozenset[str]:
    """scikit-learn's words, and contractions of them."""
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    pronouns = ("i", "you", "he", "she", "it", "we", "they", "who", "that", "there", "what")
    verbs = "is are was were has have had do does did ca could wo would should must might need"
    contracted = {f"{word}'{end}" for word in pronouns for end in ("m", "re", "ve", "ll", "d")}
    return frozenset(ENGLISH_STOP_WORDS) | contracted | {f"{verb}n't" for verb in verbs.split()}


@cache
def _of_language(name: str) -> frozenset[str]:
    """The words of the package stop-words, with the apostrophes that `cohmm.data.tokens` gives."""
    try:
        from stop_words import AVAILABLE_LANGUAGES, get_stop_words
    except ImportError:
        raise ValueError(
            f"stop_words={shown(name)}: words of other languages than English need the package "
            "stop-words: pip install 'cohmm[languages]'; or give a list of words"
        ) from None
    if name not in AVAILABLE_LANGUAGES:
        raise ValueError(
            f"stop_words must be the name of a language or a list of words, not the string "
            f"{shown(name)}; there are {', '.join(sorted(AVAILABLE_LANGUAGES))}"
        )
    return frozenset(word.replace("\u2019", "'") for word in get_stop_words(name))

"""Text read symbol by symbol: every character is one."""

from __future__ import annotations

from typing import Any

import numpy as np

from cohmm.data.encoding import column_as_list
from cohmm.data.user_warnings import warn
from cohmm.data.values import shown
from cohmm.data.vocabulary import Vocabulary
from cohmm.kernels.types import Ints

LOOKED_AT = 1000  # strings, to see whether they look like sequences
LONG = 4  # characters that one of them has at least
SHARE = 0.6  # of all characters, that a string has on average


class TextWarning(UserWarning):
    """Something about text that its owner should know."""


def encode_characters(X: Any, lengths: Any) -> tuple[Ints, Vocabulary | None, Any]:
    """Codes, their characters and the lengths: of a string, or of strings that are a sequence each.

    Strings of one character each are a column, as lists of one element each are.

    >>> codes, characters, lengths = encode_characters(["ab", "c"], None)
    >>> codes, characters, lengths
    (array([0, 1, 2], dtype=int32), ('a', 'b', 'c'), [2, 1])
    """
    texts = [X] if isinstance(X, str) else column_as_list(X)
    for s, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"item {s} of X is {shown(text)}: characters=True reads strings")
    sizes = list(map(len, texts))
    if not isinstance(X, str) and any(size != 1 for size in sizes):
        if lengths is not None:
            raise ValueError("X is a list of strings, which have their lengths: leave out lengths")
        lengths = sizes
    try:
        codes, characters = distinct_characters("".join(texts))
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the character {shown(error.object[error.start])} is not Unicode text"
        ) from None
    return codes, tuple(characters), lengths


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
    """What to say further of a label that is not known, where its characters are."""
    is_text = isinstance(label, str) and len(label) > 1
    if is_text and set(label) <= set(vocabulary or ()):
        return "; characters=True (--characters) reads text symbol by symbol"
    return ""


def hint_at_characters(labels: Vocabulary) -> None:
    """Warn where ``labels``, none of which occurs twice, look like text of a common alphabet."""
    some = [label for label in labels[:LOOKED_AT] if isinstance(label, str)]
    if len(some) < 2 or min(map(len, some)) < 2 or max(map(len, some)) < LONG:
        return
    alphabets = list(map(set, some))
    if sum(map(len, alphabets)) >= SHARE * len(some) * len(set.union(*alphabets)):
        warn(
            f"{len(labels):,} strings, {shown(labels[0])} among them, are read as one sequence of "
            "labels, none of which occurs twice: characters=True reads them symbol by symbol",
            TextWarning,
        )

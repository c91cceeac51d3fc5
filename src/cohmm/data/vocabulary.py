"""Labels of symbols: a tuple of them is a vocabulary, and a symbol's code is its place in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from cohmm.data.values import as_tuple, shown

Vocabulary = tuple[Hashable, ...]


def as_vocabulary(labels: Iterable[Any]) -> Vocabulary:
    """``labels`` as a tuple of plain Python values, each of them once.

    They are strings, or whole numbers of 64 bits: what comes back as it is from an array, from
    a column and from a file.
    """
    if isinstance(labels, str):
        raise ValueError(f"a vocabulary is a list of labels, not the string {shown(labels)}")
    given = as_tuple("a vocabulary", labels)
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in given)
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

"""Labels of symbols: a tuple of them is a vocabulary, and a symbol's code is its place in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

Vocabulary = tuple[Hashable, ...]


def as_vocabulary(labels: Iterable[Any]) -> Vocabulary:
    """``labels`` as a tuple of plain Python values, each of them once."""
    if isinstance(labels, str):
        raise ValueError(f"a vocabulary is a list of labels, not the string {labels!r}")
    plain = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if not plain:
        raise ValueError("the vocabulary is empty: it needs a label")
    for place, label in enumerate(plain):
        if not isinstance(label, (str, int)):
            raise ValueError(
                f"labels are strings or whole numbers; the one at {place} is {label!r}"
            )
    if len(set(plain)) < len(plain):
        seen: set[Hashable] = set()
        twice = next(label for label in plain if label in seen or seen.add(label))  # type: ignore[func-returns-value]
        raise ValueError(f"the vocabulary has the label {twice!r} twice, at {plain.index(twice)}")
    return plain


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

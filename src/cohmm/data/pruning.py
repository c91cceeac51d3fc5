"""Which words a vocabulary keeps: not too rare, not too common, no stop words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.values import shown
from cohmm.kernels.documents import count_documents
from cohmm.kernels.types import Ints


@dataclass(frozen=True)
class Pruning:
    """What `cohmm.data.text.read_documents` calls by the same names."""

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
        if self.max_features is not None and not _is_count(self.max_features):
            raise ValueError(
                f"max_features must be a whole number from 1, not {shown(self.max_features)}"
            )

    def places(
        self, words: list[str], symbols: Ints, offsets: Ints
    ) -> tuple[Ints, tuple[str, ...]]:
        """The new place of every word, -1 for those that go, and the words that stay, sorted."""
        frequencies = np.zeros(len(words), np.int64)
        if words:
            count_documents(symbols, offsets, frequencies, np.full(len(words), -1, np.int64))
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
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return whole and value >= 1


def as_stop_words(stop_words: Any) -> frozenset[str]:
    """Words to leave out, from None, ``"english"`` or a list."""
    if stop_words is None:
        return frozenset()
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise ValueError(
                "stop_words must be 'english' or a list of words, not the string "
                f"{shown(stop_words)}"
            )
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return frozenset(ENGLISH_STOP_WORDS)
    if not isinstance(stop_words, Iterable):
        raise ValueError(
            f"stop_words must be 'english' or a list of words, not {shown(stop_words)}"
        )
    words = list(stop_words)
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"stop_words has {shown(word)}: it is a list of words")
    return frozenset(map(str, words))

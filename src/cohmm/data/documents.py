"""Documents as streams of words: what topics are learned from, and asked about."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm._validation import (
    Value,
    as_numbers,
    as_offsets,
    as_tuple,
    check_whole,
    frozen,
    own,
    shown,
)
from cohmm.data.sequences import Sequences
from cohmm.data.vocabulary import codes_in, is_unicode, recode, unite
from cohmm.kernels.types import Ints


@dataclass(frozen=True, eq=False)
class Names(Value, Sequence[str]):
    """Where each document came from, in words for an error message.

    ``origins[which[d]]`` is a file, or a label; where ``rows[d]`` is not 0 it is followed by
    that number.  So a million lines of a file need no million strings.

    >>> Names(("news.txt, line",), np.array([0, 0]), np.array([1, 2]))[1]
    'news.txt, line 2'
    """

    origins: tuple[str, ...]
    which: Ints
    rows: Ints

    def __post_init__(self) -> None:
        which, rows = as_numbers("which", self.which), as_numbers("rows", self.rows)
        if len(which) != len(rows):
            raise ValueError(f"{len(which)} names have {len(rows)} rows")
        origins = tuple(map(str, as_tuple("origins", self.origins)))
        if len(which) and not 0 <= which.min() <= which.max() < len(origins):
            raise ValueError(f"names refer to {len(origins)} origins, from 0")
        if len(rows) and not 0 <= rows.min() <= rows.max() < 2**63:
            raise ValueError(f"rows must be from 0, not {rows.min()} to {rows.max()}")
        self._set(origins, own(which, np.int32), own(rows, np.int64))

    @classmethod
    def of(cls, names: Iterable[str]) -> Names:
        """A name a document."""
        origins = tuple(map(str, names))
        return cls(origins, np.arange(len(origins)), np.zeros(len(origins), np.int64))

    def __len__(self) -> int:
        return len(self.which)

    @overload
    def __getitem__(self, d: int) -> str: ...
    @overload
    def __getitem__(self, d: slice) -> list[str]: ...
    def __getitem__(self, d: int | slice) -> str | list[str]:
        if isinstance(d, slice):
            return [self[i] for i in range(*d.indices(len(self)))]
        origin, row = self.origins[self.which[d]], int(self.rows[d])
        return f"{origin} {row}" if row else origin

    def select(self, indices: Ints) -> Names:
        """The names of some documents."""
        return Names._trusted(self.origins, self.which[indices], self.rows[indices])


def drawn(lengths: Ints, n_words: int, among: Any = True) -> Ints:
    """`Documents.some` of documents with these lengths."""
    within = np.flatnonzero((lengths > 1) & among)
    if lengths.sum() <= n_words or not len(within):
        return np.arange(len(lengths))
    order = np.random.default_rng(0).permutation(within)
    enough = np.searchsorted(np.cumsum(lengths[order]), n_words, side="right")
    return np.sort(order[: max(int(enough), 1)])


@dataclass(frozen=True, eq=False, init=False)
class Documents(Sequences):
    """The words of documents, in their order: `Sequences` of which some may be empty.

    Parameters
    ----------
    symbols : int32 array, (T,)
        All words of all documents, as places in the vocabulary.
    offsets : int64 array, (D + 1,)
        Document d is ``symbols[offsets[d]:offsets[d + 1]]``; it may be empty.
    vocabulary : tuple of str
        The V words.
    names : Names, optional
        Where each document came from.
    n_unknown : int
        How many words were left out because they are not in a given vocabulary.

    `cohmm.data.read_documents.read_documents` makes one from text:

    >>> from cohmm.data.read_documents import read_documents
    >>> documents = read_documents(["Rain and sun.", "Sun and sun!"])
    >>> documents
    Documents(2 documents, 6 words, 3 distinct)
    >>> documents.words(1)
    ['sun', 'and', 'sun']
    """

    UNITS = ("documents", "words", "distinct")
    vocabulary: tuple[str, ...]
    names: Names | None = None
    n_unknown: int = 0

    def __init__(
        self,
        symbols: Any,
        offsets: Any,
        vocabulary: Iterable[str],
        names: Names | None = None,
        n_unknown: int = 0,
    ) -> None:
        words = as_numbers("symbols", symbols)
        offsets = as_offsets(offsets, len(words), "document", empty=True)
        vocabulary = as_tuple("the vocabulary", vocabulary)
        if len(words) and not 0 <= words.min() <= words.max() < len(vocabulary):
            raise ValueError(
                f"the words are from {words.min()} to {words.max()}: the vocabulary has "
                f"{len(vocabulary)}, from 0"
            )
        for place, word in enumerate(vocabulary):
            if not isinstance(word, str) or not is_unicode(word):
                raise ValueError(
                    f"the vocabulary must be of strings; the one at {place} is {shown(word)}"
                )
        if len(set(vocabulary)) < len(vocabulary):
            raise ValueError("the vocabulary has a word twice")
        if names is not None and len(names) != len(offsets) - 1:
            raise ValueError(f"there are {len(names)} names for {len(offsets) - 1} documents")
        check_whole(0, n_unknown=n_unknown)
        symbols = own(words, np.int32)
        self._set(symbols, offsets, len(vocabulary), vocabulary, names, n_unknown)

    @property
    def n_words(self) -> int:
        """T, the number of words in all documents."""
        return self.n_observations

    @property
    def n_empty(self) -> int:
        """How many documents have no word."""
        return int(np.count_nonzero(self.lengths == 0))

    def words(self, d: int) -> list[str]:
        """Document ``d`` as a list of words."""
        return self[d]

    def name_of(self, s: int) -> str:
        """Which document this is, in words for an error message."""
        return super().name_of(s) + ("" if self.names is None else f" ({self.names[s]})")

    def term_counts(self) -> sparse.csr_array:
        """How often every document has every word, (D, V): the order is lost.

        >>> Documents([0, 1, 0], [0, 3, 3], ("rain", "sun")).term_counts().toarray()
        array([[2, 1],
               [0, 0]])
        """
        size = np.int32 if self.n_words <= np.iinfo(np.int32).max else np.int64
        parts = (np.ones(self.n_words, np.int64), self.symbols.copy(), self.offsets.astype(size))
        counts = sparse.csr_array(parts, shape=(len(self), self.n_symbols))
        counts.sum_duplicates()
        return counts

    def select(self, indices: Any) -> Documents:
        """Some of the documents, by their numbers, in the order given.

        >>> Documents([0, 1, 0], [0, 1, 1, 3], ("rain", "sun")).select([2, 1]).lengths
        array([2, 0])
        """
        some = super().select(indices)
        if self.names is None:
            return some
        names = self.names.select(np.asarray(indices, np.int64))
        return Documents._trusted(
            some.symbols, some.offsets, self.n_symbols, self.vocabulary, names
        )

    def in_words(self, vocabulary: tuple[str, ...], n_unknown: int | None = None) -> Documents:
        """The documents in the words of ``vocabulary``; others leave no gap.

        ``n_unknown`` is how many are said to be unknown, by default those that are left out.

        >>> documents = Documents([0, 1, 0], [0, 3], ("rain", "sun")).in_words(("sun",))
        >>> list(documents), documents.n_unknown
        ([['sun']], 2)
        """
        if vocabulary == self.vocabulary:
            return self
        codes = codes_in(self.vocabulary, vocabulary)
        symbols, offsets = recode(self.symbols, self.offsets, codes)
        if n_unknown is None:
            n_unknown = self.n_unknown + len(self.symbols) - len(symbols)
        return Documents._trusted(
            symbols, offsets, len(vocabulary), vocabulary, self.names, n_unknown
        )

    def split(  # type: ignore[override]  # documents are divided, answers about them are not
        self, share: float, random_state: Any = None
    ) -> tuple[Documents, Documents]:
        """Two parts drawn at random, of which the first has ``share`` of the documents.

        Both keep the vocabulary, and the order of the documents.

        >>> train, test = Documents(range(5), range(6), tuple("abcde")).split(.8, random_state=0)
        >>> len(train), len(test)
        (4, 1)
        """
        if not 0 < share < 1:
            raise ValueError(f"share must be between 0 and 1, not {shown(share)}")
        first = round(share * len(self))
        if not 0 < first < len(self):
            raise ValueError(
                f"{len(self)} documents cannot be split at {share:g}: a part would be empty"
            )
        if isinstance(random_state, np.random.RandomState):
            random_state = random_state.randint(2**31)
        order = np.random.default_rng(random_state).permutation(len(self))
        return self.select(np.sort(order[:first])), self.select(np.sort(order[first:]))

    def some(self, n_words: int, among: Any = True) -> Ints:
        """Indices of documents with about so many words together, in their order.

        All where there are no more; else drawn, always the same, from those with two words or
        more, and of ``among``, a mask.  By number, every tenth might be empty, or a title.

        >>> Documents([0, 1, 0, 1, 0, 1], [0, 3, 3, 4, 6], ("rain", "sun")).some(4).tolist()
        [0]
        """
        return drawn(self.lengths, n_words, among)

    def as_sequences(self) -> tuple[Sequences, Ints]:
        """The documents that have a word as `Sequences`, and which ones they are."""
        filled = np.flatnonzero(self.lengths)
        offsets = np.append(self.offsets[filled], self.n_words)
        n, vocabulary = max(self.n_symbols, 1), self.vocabulary or None
        return Sequences._trusted(self.symbols, offsets, n, vocabulary), filled

    def __eq__(self, other: object) -> bool:
        """Whether words, their order and the vocabulary agree; names do not count."""
        if not isinstance(other, Documents):
            return NotImplemented
        return (
            self.vocabulary == other.vocabulary
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.symbols, other.symbols)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        also = f", {self.n_empty:,} empty" if self.n_empty else ""
        return (
            f"Documents({len(self):,} documents{also}, {self.n_words:,} words, "
            f"{self.n_symbols:,} distinct)"
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the documents to a file, whole or not at all."""
        header: dict[str, Any] = {"vocabulary": self.vocabulary, "n_unknown": self.n_unknown}
        arrays = {"symbols": self.symbols, "offsets": self.offsets}
        if self.names is not None:
            header["origins"] = self.names.origins
            arrays |= {"names.which": self.names.which, "names.rows": self.names.rows}
        storage.save(path, "documents", header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Documents:
        """Read documents that `save` wrote."""
        header, arrays = storage.load(path, "documents")
        frozen(arrays)

        def build() -> Documents:
            names = None
            if "origins" in header:
                origins = tuple(header["origins"])
                names = Names(origins, arrays["names.which"], arrays["names.rows"])
            vocabulary = tuple(header["vocabulary"])
            unknown = header["n_unknown"]
            return cls(arrays["symbols"], arrays["offsets"], vocabulary, names, unknown)

        return cast(Documents, storage.reading(path, build))


def joined(first: Documents, second: Documents) -> Documents:
    """The documents of both, whose words are the same, one after the other."""
    return Documents(
        np.concatenate([first.symbols, second.symbols]),
        np.concatenate([first.offsets, first.n_words + second.offsets[1:]]),
        first.vocabulary,
    )


def in_common_words(first: Documents, second: Documents) -> tuple[Documents, Documents]:
    """Both in the words of either.

    >>> here = Documents([0, 1], [0, 2], ("oil", "rain")), Documents([0], [0, 1], ("gas",))
    >>> [list(documents) for documents in in_common_words(*here)]
    [[['oil', 'rain']], [['gas']]]
    """
    words = cast(tuple[str, ...], unite(first.vocabulary, second.vocabulary))
    return first.in_words(words), second.in_words(words)

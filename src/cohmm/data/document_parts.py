"""Documents in parts that are elsewhere: cut into words once, and kept there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from cohmm.data.documents import Documents, drawn
from cohmm.data.elsewhere import Elsewhere
from cohmm.data.pruning import Pruning
from cohmm.data.tokens import UNKNOWN, WordCodes
from cohmm.data.vocabulary import codes_in
from cohmm.kernels.documents import count_documents, recode
from cohmm.kernels.types import Ints


class Coded(NamedTuple):
    """A part whose words have codes of its own, or those that were given."""

    number: int
    symbols: Ints
    offsets: Ints
    words: tuple[str, ...]


class DocumentPart(NamedTuple):
    """A part in the words of the whole."""

    number: int
    documents: Documents


@dataclass(frozen=True, eq=False)
class WordTable:
    """In how many documents each word is, and how often; the sum of two has the words of both."""

    words: tuple[str, ...]
    frequencies: Ints
    totals: Ints

    def __add__(self, other: WordTable) -> WordTable:
        place = {word: i for i, word in enumerate(self.words)}
        for word in other.words:
            place.setdefault(word, len(place))
        theirs = np.fromiter((place[word] for word in other.words), np.int64, len(other.words))
        both = np.zeros((2, len(place)), np.int64)
        both[:, : len(self.words)] = self.frequencies, self.totals
        both[:, theirs] += other.frequencies, other.totals
        return WordTable(tuple(place), *both)


@dataclass(frozen=True, eq=False)
class DocumentParts:
    """Documents as `Documents` are, of which only sums, and some documents, come here.

    Parameters
    ----------
    parts : Elsewhere
        Each is a `DocumentPart`.
    sizes : dict
        How many documents and words each part has, by its number.
    vocabulary : tuple of str
        The V words.
    n_unknown : int
        How many words were left out because they are not in a given vocabulary.
    """

    parts: Elsewhere
    sizes: dict[int, tuple[int, int]]
    vocabulary: tuple[str, ...]
    n_unknown: int = 0

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """The sum of ``function(documents, *broadcast)`` over all parts."""
        return self.parts.map_sum(_on_documents, function, *broadcast)

    def __len__(self) -> int:
        return sum(n for n, _ in self.sizes.values())

    @property
    def n_words(self) -> int:
        """T, the number of words in all documents."""
        return sum(n for _, n in self.sizes.values())

    @property
    def n_symbols(self) -> int:
        """V, the number of distinct words."""
        return len(self.vocabulary)

    @cached_property
    def lengths(self) -> Ints:
        """The number of words of every document, (D,); they are fetched when first asked for."""
        found = self.parts.map_sum(_lengths)
        return np.concatenate([found[number] for number in sorted(found)])

    def select(self, indices: Any) -> Documents:
        """As `Documents.select`: the documents are fetched."""
        chosen = np.asarray(indices, np.int64)
        ends = np.cumsum([self.sizes[number][0] for number in sorted(self.sizes)])
        begins = dict(zip(sorted(self.sizes), np.append(0, ends[:-1]), strict=True))
        found = self.parts.map_sum(_selected, begins, chosen)
        pieces: dict[int, Ints] = {}
        for words, offsets, places in found.values():
            pieces |= dict(zip(places.tolist(), np.split(words, offsets[1:-1]), strict=True))
        each = [pieces[place] for place in range(len(chosen))]
        offsets = np.concatenate([[0], np.cumsum([len(one) for one in each], dtype=np.int64)])
        words = np.concatenate([np.empty(0, np.int32), *each])
        return Documents._trusted(words, offsets, self.vocabulary)

    def some(self, n_words: int, among: Any = True) -> Ints:
        """As `Documents.some`."""
        return drawn(self.lengths, n_words, among)

    def __repr__(self) -> str:
        return (
            f"DocumentParts({len(self.sizes):,} parts, {len(self):,} documents, "
            f"{self.n_words:,} words, {self.n_symbols:,} distinct)"
        )


def read_parts(
    rows: Elsewhere,
    code: Callable[[list[Any]], WordCodes],
    known: tuple[str, ...] | None,
    pruning: Pruning,
) -> DocumentParts:
    """Read rows that are a text or a list of words each; see `cohmm.read_documents`.

    ``code`` gives the words of documents codes: those of the words that are known, or its own.
    One pass over the texts cuts them into words, and counts these; then words get the codes that
    they would have if all documents were here.
    """
    coded = rows.keep(_coded, code, known is None)
    n_documents, n_unknown, table = coded.map_sum(_words)
    if not n_documents:
        raise ValueError("there is no document: no part has a row")
    as_given = known is not None
    if known is None:
        kept, _ = pruning.kept(table.words, table.frequencies, table.totals, n_documents)
        known, n_unknown = kept, 0
    parts = coded.keep(_recoded, known, as_given)
    return DocumentParts(parts, parts.map_sum(_size), known, n_unknown)


def texts_of(rows: Any) -> list[Any]:
    """Rows as documents; one that is missing is empty."""
    items = rows.to_pylist() if isinstance(rows, (pa.Array, pa.ChunkedArray)) else list(rows)
    return ["" if item is None else item for item in items]


def _coded(number: int, rows: Any, code: Callable[[list[Any]], WordCodes], as_found: bool) -> Coded:
    codes = code(texts_of(rows))
    words = tuple(codes.checked()) if as_found else ()
    return Coded(number, codes.symbols.copy(), codes.offsets.copy(), words)


def _words(part: Coded) -> tuple[int, int, WordTable]:
    n = len(part.words)
    frequencies, seen = np.zeros(n, np.int64), np.full(n, -1, np.int64)
    n_unknown = int(np.count_nonzero(part.symbols == UNKNOWN))
    if not n:  # words have codes that were given
        return len(part.offsets) - 1, n_unknown, WordTable((), frequencies, frequencies)
    count_documents(part.symbols, part.offsets, frequencies, seen)
    totals = np.bincount(part.symbols, minlength=n)
    return len(part.offsets) - 1, n_unknown, WordTable(part.words, frequencies, totals)


def _recoded(number: int, part: Coded, vocabulary: tuple[str, ...], as_given: bool) -> DocumentPart:
    if as_given:  # stop words have the code behind the last, unknown words -1
        places = np.append(np.arange(len(vocabulary), dtype=np.int32), np.int32(-1))
    else:
        places = codes_in(part.words, vocabulary)
    symbols, offsets = np.array(part.symbols), np.array(part.offsets)
    left = recode(symbols, offsets, places)
    documents = Documents._trusted(symbols[:left].copy(), offsets, vocabulary)
    return DocumentPart(number, documents)


def _size(part: DocumentPart) -> dict[int, tuple[int, int]]:
    return {part.number: (len(part.documents), part.documents.n_words)}


def _on_documents(part: DocumentPart, function: Callable[..., Any], *broadcast: Any) -> Any:
    return function(part.documents, *broadcast)


def _lengths(part: DocumentPart) -> dict[int, Ints]:
    return {part.number: part.documents.lengths}


def _selected(
    part: DocumentPart, begins: dict[int, int], chosen: Ints
) -> dict[int, tuple[Ints, Ints, Ints]]:
    """Of a part the documents that were chosen, and their places among those."""
    begin = begins[part.number]
    places = np.flatnonzero((chosen >= begin) & (chosen < begin + len(part.documents)))
    if not len(places):
        return {}
    some = part.documents.select(chosen[places] - begin)
    return {part.number: (some.symbols, some.offsets, places)}

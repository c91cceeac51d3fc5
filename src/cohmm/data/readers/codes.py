"""From cells of files to symbols, and from these to codes."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm._validation import LARGEST_CODE, as_n_symbols, shown
from cohmm.data.arrow import by_appearance, decoded, is_list, is_text
from cohmm.data.encoding import MISSING
from cohmm.data.readers.source import Source, place
from cohmm.data.sequences import RARE
from cohmm.data.vocabulary import Vocabulary, distinct_characters, hint_at_unseen
from cohmm.kernels import native
from cohmm.kernels.types import Ints

Symbol = str | int | float

LONGEST = 2**20  # bytes of a symbol
WHOLE = re.compile(r"(-?)(?=[0-9])0*([0-9]*)(\.0*)?")


class Chunk(NamedTuple):
    """Symbols that follow one another in a file.

    ``symbols`` is a column of strings or numbers in which null is a missing observation,
    ``sequences`` says which sequence of the file each is in, ``rows`` in which row or line
    it stands; ``blank`` counts the rows that were skipped because they are empty.
    """

    symbols: pa.Array
    sequences: Ints
    rows: Ints
    blank: int = 0

    def starts(self, last: int) -> Ints:
        """Where sequences begin; ``last`` is the one that the symbols before are in."""
        sequences = self.sequences
        if sequences[0] == sequences[-1]:  # they only ever go up: it is one
            return np.zeros(int(sequences[0] != last), np.int64)
        begins = np.flatnonzero(sequences[1:] != sequences[:-1]) + 1
        return begins if sequences[0] == last else np.concatenate([[0], begins])


class Cells(NamedTuple):
    """Some rows of a table.

    ``columns`` has those that were asked for: "column", "group" and "order"; ``rows`` are their
    numbers from 1; ``are_symbols`` says whether a cell is read best as one symbol, rather than as
    a sequence; ``blank`` counts rows that were skipped because they are empty.
    """

    columns: dict[str, pa.Array]
    rows: Ints
    are_symbols: bool
    blank: int = 0

    def chunk(self, symbols: bool | None, characters: bool) -> Chunk:
        """The symbols; each cell is one, or as many as it has."""
        cells, blank = self.columns["column"], self.blank
        if self.are_symbols if symbols is None else symbols:
            together = np.broadcast_to(np.int64(0), len(cells))
            return Chunk(by_appearance(cells), together, self.rows, blank)
        chunk = _cell_sequences(cells, self.rows, characters)
        return chunk._replace(blank=chunk.blank + blank)


def _cell_sequences(cells: pa.Array, rows: Ints, characters: bool) -> Chunk:
    """Each cell is a sequence: a list, words or ``characters``, or one number."""
    if is_list(cells.type):
        return _lists(cells, rows)
    if characters:
        return _characters(cells, rows)
    if is_text(cells.type):
        return _words(cells, rows)
    filled = cells.is_valid()
    where = rows[filled.to_numpy(zero_copy_only=False)]
    return Chunk(cells.filter(filled), where, where, len(cells) - len(where))


def words_of(data: Ints, borders: Ints) -> tuple[pa.Array, Ints]:
    """The words of rows of UTF-8 bytes, and the row of each."""
    most = (len(data) + len(borders)) // 2 + 1
    packed = np.empty(len(data), np.uint8)
    offsets = np.empty(most + 1, np.int64)
    rows = np.empty(most, np.int32)
    n = native.split_words(data, borders, packed, offsets, rows)
    buffers = [None, pa.py_buffer(offsets[: n + 1]), pa.py_buffer(packed[: offsets[n]])]
    return pa.Array.from_buffers(pa.large_string(), n, buffers), rows[:n].copy()


def _words(cells: pa.Array, rows: Ints) -> Chunk:
    text = pc.fill_null(decoded(cells).cast(pa.large_string()), "")
    _, offsets, data = text.buffers()
    borders = np.frombuffer(offsets, np.int64)[text.offset : text.offset + len(text) + 1]
    words, where = words_of(np.frombuffer(data or b"", np.uint8), borders)
    return Chunk(words, rows[where], rows[where], len(cells) - _distinct(where))


def _characters(cells: pa.Array, rows: Ints) -> Chunk:
    text = pc.fill_null(decoded(cells).cast(pa.large_string()), "")
    sizes = pc.utf8_length(text).to_numpy()
    where = np.repeat(rows, sizes)
    return Chunk(characters_of("".join(text.to_pylist())), where, where, int((sizes == 0).sum()))


def characters_of(text: str) -> pa.Array:
    """Every character of a text."""
    codes, characters = distinct_characters(text)
    return pa.DictionaryArray.from_arrays(codes, pa.array(characters, pa.large_string()))


def _lists(cells: pa.Array, rows: Ints) -> Chunk:
    sizes = cells.value_lengths().fill_null(0).to_numpy()
    where = np.repeat(rows, sizes)
    return Chunk(by_appearance(cells.flatten()), where, where, int(np.count_nonzero(sizes == 0)))


def _distinct(ascending: Ints) -> int:
    return int(np.count_nonzero(np.diff(ascending))) + bool(len(ascending))


def _plain_numbers(array: pa.Array) -> Ints:
    """``array.to_numpy()``, of whole numbers without nulls; that one imports pandas to see it."""
    numbers = np.frombuffer(array.buffers()[1] or b"", np.dtype(str(array.type)))
    return numbers[array.offset : array.offset + len(array)]


class Coder:
    """Gives every symbol a code, and always the same one.

    Labels are those of a ``vocabulary``, in which a number matches its digits; or they are
    numbered in the order in which they appear.  With ``integers`` symbols are whole numbers,
    below ``n_symbols`` where that is given, and their own codes.
    """

    def __init__(
        self,
        vocabulary: Vocabulary | None = None,
        n_symbols: int | None = None,
        integers: bool = False,
        unseen: str = "error",
    ) -> None:
        self.integers = integers or n_symbols is not None
        self._known = vocabulary
        self._limit = None if n_symbols is None else as_n_symbols(n_symbols)
        self._unseen = unseen
        self._largest = -1
        self._labels = {str(label): code for code, label in enumerate(vocabulary or ())}
        self._codes: dict[Symbol | None, int] = {"": MISSING, None: MISSING}  # of all symbols met
        if vocabulary is not None and len(self._labels) < len(vocabulary):
            twice = next(
                label for n, label in enumerate(vocabulary) if self._labels[str(label)] != n
            )
            raise ValueError(
                f"the vocabulary has {twice} as a number and as a string: files do not tell "
                "the two apart"
            )

    @property
    def learns(self) -> bool:
        """Whether labels are numbered as they appear."""
        return self._known is None and not self.integers

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The labels by code, so far; None where symbols are their own codes."""
        return tuple(self._labels) if self.learns else self._known

    @property
    def has_rare(self) -> bool:
        """Whether one more code, `n_symbols`, stands for all that is unseen."""
        return self._unseen == RARE

    @property
    def n_symbols(self) -> int:
        """Codes given so far are smaller than this."""
        if self.integers:
            return self._largest + 1 if self._limit is None else self._limit
        return len(self._labels)

    def encode(self, chunk: Chunk, source: Source) -> Ints:
        """The codes of the symbols of a chunk.

        Only distinct symbols that are new are looked at one by one, in the order in which they
        appear; so the first that is wrong is also the first in the file.
        """
        if self.integers and pa.types.is_integer(chunk.symbols.type):
            numbers = self._whole_numbers(chunk.symbols)
            if numbers is not None:
                return numbers
        encoded = chunk.symbols.dictionary_encode()
        places = encoded.indices
        if places.null_count:  # a value to fill in is made with pandas, which takes long to import
            places = places.fill_null(len(encoded.dictionary))
        indices = _plain_numbers(places)
        symbols = [*encoded.dictionary.to_pylist(), None]
        codes: list[Any] = list(map(self._codes.get, symbols))
        for n in [n for n, code in enumerate(codes) if code is None]:
            try:
                codes[n] = self._code_of(symbols[n])
            except ValueError as error:
                row = int(chunk.rows[np.argmax(indices == n)])
                raise ValueError(f"{place(source, row)}: {error}") from None
        return np.array(codes, np.int32)[indices]

    def _code_of(self, symbol: Symbol) -> int:
        if isinstance(symbol, str):
            check_length(symbol)
        missing = isinstance(symbol, float) and math.isnan(symbol)
        code = self._codes[symbol] = MISSING if missing else self._new_code(label_of(symbol))
        return code

    def _whole_numbers(self, symbols: pa.Array) -> Ints | None:
        """All codes; None where one of them is an error, or unseen."""
        bounds = pc.min_max(symbols)
        least, most = bounds["min"].as_py(), bounds["max"].as_py()
        if most is None:
            return np.full(len(symbols), MISSING, np.int32)
        if least < 0 or most > (LARGEST_CODE if self._limit is None else self._limit - 1):
            return None
        self._largest = max(self._largest, most)
        if symbols.null_count:
            symbols = symbols.cast(pa.int64()).fill_null(MISSING)
        return np.asarray(symbols.to_numpy(), np.int32)

    def _new_code(self, label: str) -> int:
        """The code of a label that has not been met before."""
        if self.learns:
            return self._labels.setdefault(label, len(self._labels))
        if self.integers:
            code = _whole_number(label)
            if self._limit is None or code < self._limit:
                self._largest = max(self._largest, code)
                return code
            known = f"symbols are whole numbers from 0 to {self._limit - 1}"
            return self._code_of_unseen(code, known)
        if label in self._labels:
            return self._labels[label]
        assert self._known is not None
        known = f"the vocabulary has {self.n_symbols:,} labels, {shown(self._known[0])} among them"
        return self._code_of_unseen(label, known, hint_at_unseen(label, self._known))

    def _code_of_unseen(self, symbol: str | int, known: str, hint: str = "") -> int:
        if self._unseen == RARE:
            return self.n_symbols
        if self._unseen == "missing":
            return MISSING
        raise ValueError(
            f"unseen symbol {shown(symbol)}: {known}; with unseen='rare' a fitted model takes it "
            f"for a symbol that hardly ever comes, with unseen='missing' it is a missing one{hint}"
        )


def check_length(symbol: str | bytes) -> None:
    """Whether a symbol is short enough to be one; a larger one is data of another kind."""
    if len(symbol) * 4 <= LONGEST:  # bytes of a character, at most
        return
    data = symbol.encode() if isinstance(symbol, str) else symbol
    if len(data) > LONGEST:
        begin = data[:LONGEST].decode(errors="ignore")
        raise ValueError(
            f"symbol {shown(begin)} is longer than {LONGEST:,} bytes, the most that one may have; "
            "if every character is a symbol, ask for characters"
        )


def label_of(symbol: Symbol) -> str:
    """The label that a string or a whole number stands for.

    >>> label_of(3.0)
    '3'
    """
    if isinstance(symbol, float):
        if not symbol.is_integer():
            raise ValueError(
                f"symbol {shown(symbol)} is not whole: symbols are labels or whole numbers"
            )
        symbol = int(symbol)
    return str(symbol)


def _whole_number(label: str) -> int:
    match = WHOLE.fullmatch(label)
    if match is None:
        raise ValueError(f"symbol {shown(label)} is not a whole number")
    minus, digits = match[1], match[2] or "0"
    too_large = len(digits) > len(str(LARGEST_CODE)) or int(digits) > LARGEST_CODE
    if too_large or (minus and digits != "0"):
        why = "negative" if minus else "too large"
        raise ValueError(f"symbol {minus}{digits:.30} is {why}: codes are whole numbers from 0")
    return int(digits)

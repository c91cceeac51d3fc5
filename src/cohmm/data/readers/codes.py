"""From symbols as they stand in a file to codes."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm._validation import LARGEST_CODE, as_n_symbols, shown
from cohmm.data.encoding import MISSING
from cohmm.data.readers.columns import Chunk
from cohmm.data.readers.source import Source, place
from cohmm.data.sequences import RARE
from cohmm.data.vocabulary import Vocabulary, hint_at_unseen
from cohmm.kernels.types import Ints

Symbol = str | int | float

MOST_KEPT = 2**16  # symbols whose codes are looked up without Python; frequent ones come first
LONGEST = 2**20  # bytes of a symbol
WHOLE = re.compile(r"(-?)(?=[0-9])0*([0-9]*)(\.0*)?")


def _plain_numbers(array: pa.Array) -> Ints:
    """``array.to_numpy()``, of whole numbers without nulls; that one imports pandas to see it."""
    numbers = np.frombuffer(array.buffers()[1] or b"", np.dtype(str(array.type)))
    return numbers[array.offset : array.offset + len(array)]


def _are_valid(array: pa.Array) -> Ints:
    """Where a new array is not null, as flags; without pandas, too."""
    bits = array.buffers()[0]
    if bits is None:
        return np.ones(len(array), bool)
    return np.unpackbits(np.frombuffer(bits, np.uint8), 0, len(array), "little").astype(bool)


def _arrow_numbers(numbers: Ints) -> pa.Array:
    """``pa.array(numbers)``, of 64 bits each, without pandas, too."""
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


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
        self._codes: dict[Symbol, int] = {"": MISSING}
        self._kept: pa.Array | None = None
        self._kept_codes = np.empty(0, np.int32)
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
        codes = np.full(len(encoded.dictionary) + 1, MISSING, np.int32)
        places = encoded.indices
        if places.null_count:
            places = places.fill_null(len(encoded.dictionary))
        indices = _plain_numbers(places)
        others = self._look_up(encoded.dictionary, codes)
        array = encoded.dictionary.take(_arrow_numbers(others))
        symbols = array.to_pylist()
        known: list[Any] = list(map(self._codes.get, symbols))
        for n in [n for n, code in enumerate(known) if code is None]:
            try:
                known[n] = self._code_of(symbols[n])
            except ValueError as error:
                row = int(chunk.rows[np.argmax(indices == others[n])])
                raise ValueError(f"{place(source, row)}: {error}") from None
        codes[others] = known
        self._keep(array, codes[others])
        return codes[indices]

    def _look_up(self, symbols: pa.Array, codes: Ints) -> Ints:
        """Fill in the codes of symbols that are kept; the places of all others."""
        if self._kept is None:
            self._kept = symbols[:0]
        if symbols.type != self._kept.type:
            return np.arange(len(symbols))
        places = pc.index_in(symbols, self._kept)
        known = _are_valid(places)
        codes[:-1][known] = self._kept_codes[_plain_numbers(places)[known]]
        return np.flatnonzero(~known)

    def _keep(self, symbols: pa.Array, codes: Ints) -> None:
        """Symbols that have been given codes, as long as there is room for them."""
        room = MOST_KEPT - len(self._kept_codes)
        if self._kept is not None and symbols.type == self._kept.type and room > 0:
            self._kept = pa.concat_arrays([self._kept, symbols[:room]])
            self._kept_codes = np.concatenate([self._kept_codes, codes[:room]])

    def _code_of(self, symbol: Symbol) -> int:
        if symbol not in self._codes:
            if isinstance(symbol, str):
                check_length(symbol)
            missing = isinstance(symbol, float) and math.isnan(symbol)
            self._codes[symbol] = MISSING if missing else self._new_code(label_of(symbol))
        return self._codes[symbol]

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
            f"unseen symbol {shown(symbol)}: {known}; with unseen=missing it is a missing "
            f"observation{hint}"
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

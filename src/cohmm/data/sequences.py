"""One value for every shape that sequences of symbols come in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self

import numpy as np

from cohmm._validation import Value, as_floats, as_n_symbols, as_numbers, as_offsets, own, shown
from cohmm.data.encoding import (
    MISSING,
    check_many,
    encode,
    encode_characters,
    flatten,
    flatten_rows,
    offsets_of,
)
from cohmm.data.vocabulary import (
    Vocabulary,
    are_characters,
    as_vocabulary,
    codes_in,
    hint_at_texts,
    hint_at_unseen,
    labels_for,
)
from cohmm.kernels.types import Floats, Ints

LABELS = "if they are names, give them as strings, or their list as the vocabulary"
BLOCK = 2**22  # symbols at a time
Unseen = Literal["error", "missing"]
RARE = "rare"  # one more code, after all others, that stands for the symbols nobody knows
END = "<end>"  # the label of the event that a sequence ends, where that is a symbol of its own


class UnseenSymbolError(ValueError):
    """A symbol that is not in the vocabulary: what and where, and what may be wrong besides."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(f"{what}; unseen='missing' treats it as a missing observation{hint}")
        self.what, self.hint = what, hint


@dataclass(frozen=True, eq=False)
class Sequences(Value):
    """Sequences of symbols, one after the other.

    Parameters
    ----------
    symbols : int32 array, (T,)
        Codes from 0; -1 is a missing observation.
    offsets : int64 array, (S + 1,)
        Sequence s is ``symbols[offsets[s]:offsets[s + 1]]``.
    n_symbols : int
        Codes are smaller than this.
    vocabulary : tuple or None
        The label of every code; None where the codes are the user's own.

    `Sequences.of` makes one from whatever there is:

    >>> Sequences.of([[0, 1, 1], [2, None, 0]])
    Sequences(2 sequences, 6 observations, 1 missing, 3 symbols)
    >>> Sequences.of(["sun", "rain", "rain"]).vocabulary
    ('rain', 'sun')
    """

    UNITS: ClassVar = ("sequences", "observations", "symbols")  # in words
    symbols: Ints
    offsets: Ints
    n_symbols: int
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        n = as_n_symbols(self.n_symbols)
        symbols = as_numbers("symbols", self.symbols)
        if not len(symbols):
            raise ValueError("there is no data: symbols is empty")
        if not (symbols.min() >= MISSING and symbols.max() < n):
            place = int(np.argmax((symbols < MISSING) | (symbols >= n)))
            raise ValueError(
                f"symbol {symbols[place]} at position {place}: symbols are from 0 to {n - 1}, "
                "and -1 is a missing one"
            )
        offsets = as_offsets(self.offsets, len(symbols), "sequence")
        self._set(own(symbols, np.int32), offsets, n, labels_for(n, self.vocabulary))

    @classmethod
    def of(
        cls,
        X: Any,
        lengths: Iterable[int] | None = None,
        *,
        vocabulary: Iterable[Any] | None = None,
        n_symbols: int | None = None,
        unseen: Unseen = "error",
        characters: bool = False,
    ) -> Sequences:
        """Read sequences from ``X``.

        Parameters
        ----------
        X : Sequences, array, list, column
            A 1-D array or list, or hmmlearn's (n, 1) array, is one sequence, or several if
            ``lengths`` says so.  A list of lists or arrays, or a pandas, polars or pyarrow
            column of lists, is one sequence per item; so are the rows of a padded (S, n) array
            with ``lengths``.  With ``lengths`` a list of one-element lists is a column.
            Symbols are whole numbers from 0, or labels, of which a vocabulary is learned.
            None, NaN and masked elements are missing.  A column of symbols is read as a list
            is (`from_frame` groups rows by a key).
        lengths : list of int, optional
            The length of every sequence in ``X``.
        vocabulary : list of labels, optional
            Known labels, instead of a learned vocabulary; whole numbers among them may be any.
        n_symbols : int, optional
            How many symbols there are, where they are numbers; default: the largest plus one.
        unseen : "error" or "missing"
            What a symbol outside of ``vocabulary`` or ``n_symbols`` is.
        characters : bool
            Read strings symbol by symbol: ``X`` is one, or a list of them, a sequence each; a
            list of single characters is one sequence.  With a vocabulary of single characters a
            string that stands alone is read so in any case.

        >>> Sequences.of(["ACGT", "ACG"], characters=True).labels()
        [['A', 'C', 'G', 'T'], ['A', 'C', 'G']]
        """
        check_unseen(unseen)
        known = None if vocabulary is None else as_vocabulary(vocabulary)
        return cls._of_known(X, lengths, known, n_symbols, unseen, characters)

    @classmethod
    def _of_known(
        cls,
        X: Any,
        lengths: Iterable[int] | None,
        known: Vocabulary | None,
        n_symbols: int | None,
        unseen: str,
        characters: bool = False,
    ) -> Sequences:
        """As `of`, with a vocabulary that has been checked: a large one takes a while.

        Symbols outside of it may be `RARE` as well: if there are any, there is one symbol more.
        """
        if isinstance(X, Sequences):
            if lengths is not None:
                raise ValueError("Sequences know their lengths: leave out lengths")
            offsets_of(X.lengths, X.n_observations)  # documents may be empty
            return X._in_terms_of(known, n_symbols, unseen)
        if characters or (isinstance(X, str) and known and are_characters(known)):
            codes, labels, lengths = encode_characters(X, lengths)
        else:
            flat, lengths = flatten(X, lengths)
            codes, labels = encode(flat, as_labels=known is not None)
            if labels is not None and known is lengths is None and len(labels) == len(codes):
                hint_at_texts(labels)
        read = cls._of_codes(codes, labels, lengths)
        if known is None and n_symbols is None:
            size = read.n_symbols
            check_many(size, len(codes), f"{LABELS}, or n_symbols={size} if there are so many")
        return read._in_terms_of(known, n_symbols, unseen)

    @classmethod
    def _of_codes(cls, codes: Ints, labels: Vocabulary | None, lengths: Any) -> Sequences:
        size = int(codes.max(initial=MISSING)) + 1 if labels is None else len(labels)
        return cls._trusted(codes, offsets_of(lengths, len(codes)), max(size, 1), labels)

    @classmethod
    def joined(cls, parts: list[Sequences]) -> Sequences:
        """The sequences of all parts, one after the other; their symbols are the same.

        >>> Sequences.joined([Sequences.of([0, 1]), Sequences.of([[1, 1], [0]], n_symbols=2)])
        Sequences(3 sequences, 5 observations, 2 symbols)
        """
        for number, part in enumerate(parts):
            if (part.n_symbols, part.vocabulary) != (parts[0].n_symbols, parts[0].vocabulary):
                raise ValueError(f"part {number} has other symbols than the first: {part}")
        lengths = np.concatenate([part.lengths for part in parts])
        symbols = np.concatenate([part.symbols for part in parts])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Sequences._trusted(symbols, offsets, parts[0].n_symbols, parts[0].vocabulary)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        column: str | None = None,
        group: str | None = None,
        order: str | None = None,
        *,
        vocabulary: Iterable[Any] | None = None,
        n_symbols: int | None = None,
        unseen: Unseen = "error",
    ) -> Sequences:
        """Read a column of a pandas or polars frame or a pyarrow table, one symbol per row.

        Rows with the same value in ``group`` make a sequence, also where they are not next to one
        another.  Sequences come in the order in which their keys first appear, rows in that of the
        frame, or of the column ``order``; rows of equal order stay as they stand.  A column whose
        cells are lists has one sequence per row, and ``group`` then names its key.

        The value knows its rows: `keys` has the key of every sequence, `split` gives an answer
        per sequence, and `to_frame` gives the rows back with answers beside them.

        >>> import pyarrow as pa
        >>> table = pa.table({"user": ["u", "v", "u"], "page": ["home", "home", "cart"]})
        >>> data = Sequences.from_frame(table, "page", group="user")
        >>> data.labels(), data.keys.tolist()
        ([['home', 'cart'], ['home']], ['u', 'v'])
        >>> data.to_frame(place=[0, 1, 0]).to_pylist()[1]
        {'user': 'v', 'page': 'home', 'place': 0}
        """
        from cohmm.data.frames import read_frame

        options = {"vocabulary": vocabulary, "n_symbols": n_symbols, "unseen": unseen}
        return read_frame(frame, column, group, order, options)

    @property
    def keys(self) -> Any:
        """The key of every sequence, (S,), of a frame or of files that were grouped; else None."""
        return None

    def split(self, answer: Any) -> list[Any]:
        """An answer for every observation, such as states, as one part per sequence.

        >>> Sequences.of([[0, 1], [2]]).split(["sunny", "sunny", "rainy"])
        [['sunny', 'sunny'], ['rainy']]
        """
        n = len(answer) if hasattr(answer, "__len__") else None
        if n != self.n_observations:
            what = shown(answer) if n is None else f"{n:,} values"
            raise ValueError(
                f"an answer has one value per observation, {self.n_observations:,}, not {what}"
            )
        return [answer[i:j] for i, j in pairwise(self.offsets.tolist())]

    def to_frame(self, **answers: Any) -> Any:
        """The rows of the frame that `from_frame` read, in its order, with answers as columns.

        An answer has one value per observation.  Where a row is a sequence, its cell is a list of
        them.
        """
        raise ValueError("these sequences are not those of a frame: Sequences.from_frame keeps it")

    @property
    def lengths(self) -> Ints:
        """The length of every sequence, (S,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def n_observations(self) -> int:
        """T, the number of symbols, missing ones included."""
        return len(self.symbols)

    @property
    def longest(self) -> int:
        """The length of the longest sequence."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def symbol_counts(self) -> Ints:
        """How often each symbol occurs, (N,)."""
        counts = np.zeros(self.n_symbols + 1, np.int64)
        for first in range(0, len(self.symbols), BLOCK):  # they may be in a file that is mapped
            counts += np.bincount(self.symbols[first : first + BLOCK] + 1, minlength=len(counts))
        return counts[1:]

    def map_sum(self, function: Callable[..., Any], *broadcast: Any) -> Any:
        """``function(self, *broadcast)``: of what is in one place, the sum over all parts."""
        return function(self, *broadcast)

    def spans(self, first: Ints, last: Ints) -> Sequences:
        """Symbols from each place of ``first`` to before that of ``last``, or the sequence's end.

        >>> Sequences.of([[0, 1, 2], [3, 4]]).spans(np.array([1, 3]), np.array([4, 4])).labels()
        [[1, 2], [3]]
        """
        ends = self.offsets[np.searchsorted(self.offsets, first, side="right")]
        sizes = np.minimum(last, ends) - first
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
        return Sequences._trusted(self.symbols[places], offsets, self.n_symbols, self.vocabulary)

    def select(self, indices: Any) -> Self:
        """Some of the sequences, by their numbers, in the order given.

        >>> Sequences.of([[0, 1], [2], [1, 1]]).select([2, 0]).labels()
        [[1, 1], [0, 1]]
        """
        what = self.UNITS[0]
        chosen = np.asarray(indices)
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
            raise ValueError(f"{what} are selected by a list of numbers, not {shown(indices)}")
        chosen = chosen.astype(np.int64)
        wrong = (chosen < 0) | (chosen >= len(self))
        if wrong.any():
            raise ValueError(f"there is no {what[:-1]} {chosen[wrong][0]}: there are {len(self)}")
        places, offsets = self._places(chosen)
        return self._trusted(self.symbols[places], offsets, self.n_symbols, self.vocabulary)

    def _places(self, chosen: Ints) -> tuple[Ints, Ints]:
        """The places of the symbols of some sequences, and where each begins among them."""
        lengths = self.lengths[chosen]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[chosen] - offsets[:-1], lengths)
        return places, offsets

    def __getitem__(self, s: int) -> list[Any]:
        """Sequence ``s`` as a list of labels, or of numbers; None where one is missing.

        >>> Sequences.of([["a", "b"], ["b", None]])[1]
        ['b', None]
        """
        if not -len(self) <= s < len(self):
            raise IndexError(f"there is no {self.UNITS[0][:-1]} {s}: there are {len(self)}")
        s %= len(self)
        words = self.vocabulary or range(self.n_symbols)
        codes = self.symbols[self.offsets[s] : self.offsets[s + 1]].tolist()
        return [None if code < 0 else words[code] for code in codes]

    def __iter__(self) -> Iterator[list[Any]]:
        return (self[s] for s in range(len(self)))

    def __repr__(self) -> str:
        missing = int(np.count_nonzero(self.symbols == MISSING))
        also = f", {missing:,} missing" if missing else ""
        return (
            f"Sequences({len(self):,} sequences, {len(self.symbols):,} observations{also}, "
            f"{self.n_symbols:,} symbols)"
        )

    def labels(self) -> list[list[Any]]:
        """All sequences as lists of labels, or of numbers; None where one is missing."""
        return list(self)

    def checked_weights(self, weights: Any, all_zero: bool = False) -> Floats | None:
        """One weight per sequence, (S,), or None; all of them may be zero if ``all_zero``."""
        if weights is None:
            return None
        array, items = as_floats("weights", weights), self.UNITS[0]
        if array.shape != (len(self),):
            raise ValueError(
                f"weights must have one number per {items[:-1]}, ({len(self)},), not {array.shape}"
            )
        wrong = ~(np.isfinite(array) & (array >= 0))
        if wrong.any():
            s = int(np.argmax(wrong))
            raise ValueError(
                f"the weight of {self.name_of(s)} is {array[s]}: it must be finite and >= 0"
            )
        if not (all_zero or array[self.lengths > 0].any()):
            raise ValueError(
                f"the weights of all {items} are zero, but for empty ones: there is nothing to "
                "learn from"
            )
        return array

    def name_of(self, s: int) -> str:
        """Which sequence this is, in words for an error message."""
        return f"{self.UNITS[0][:-1]} {s}"

    def place_of(self, position: int) -> str:
        """Where an observation is, in words for an error message.

        >>> Sequences.of([[0, 1], [1, 0]]).place_of(3)
        'sequence 1, position 1'
        """
        s = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return f"{self.name_of(s)}, position {position - int(self.offsets[s])}"

    def _in_terms_of(
        self, vocabulary: Vocabulary | None, n_symbols: int | None, unseen: str
    ) -> Sequences:
        """The same sequences in a given vocabulary, or with a given number of symbols."""
        if vocabulary == self.vocabulary and n_symbols in (None, self.n_symbols):
            return self
        if vocabulary is not None:
            codes, size = self._codes_in(vocabulary), len(vocabulary)
            known = f"the vocabulary has {size:,} labels, {shown(vocabulary[0])} among them"
        elif n_symbols is not None:
            codes, size = self.symbols, as_n_symbols(n_symbols)
            known = f"symbols must be from 0 to {size - 1}"
            if self.vocabulary is not None:
                raise ValueError(
                    f"symbols must be whole numbers from 0 to {size - 1}, "
                    f"not labels such as {shown(self.vocabulary[0])}"
                )
            if size < self.n_symbols:
                codes = np.where(codes < size, codes, np.int32(MISSING))
        else:
            return self
        if unseen != "missing" and codes is not self.symbols:
            outside = (codes == MISSING) & (self.symbols != MISSING)
            if outside.any() and unseen == RARE:
                codes = np.where(outside, np.int32(size), codes)
                return Sequences._trusted(codes, self.offsets, size + 1, None)
            if outside.any():
                position = int(np.argmax(outside))
                code = int(self.symbols[position])
                label = self.vocabulary[code] if self.vocabulary else code
                raise UnseenSymbolError(
                    f"unseen symbol {shown(label)} ({self.place_of(position)}): {known}",
                    hint_at_unseen(label, vocabulary),
                )
        return Sequences._trusted(codes, self.offsets, size, vocabulary)

    def with_end(self) -> Sequences:
        """The same sequences, each followed by an event of its own, the last symbol: its end.

        >>> Sequences.of([["log in", "read"], ["read"]]).with_end().labels()
        [['log in', 'read', '<end>'], ['read', '<end>']]
        """
        labels = tuple(range(self.n_symbols)) if self.vocabulary is None else self.vocabulary
        if END in labels:
            raise ValueError(
                f"the symbol {END!r} stands for the end of a sequence: give that of the data "
                "another name, or leave out end=True"
            )
        symbols = np.insert(self.symbols, self.offsets[1:], np.int32(self.n_symbols))
        return self._with(
            symbols=symbols,
            offsets=self.offsets + np.arange(len(self.offsets)),
            n_symbols=self.n_symbols + 1,
            vocabulary=(*labels, END),
        )

    @property
    def ends(self) -> Ints:
        """Where ends stand among the symbols, as `with_end` has put them there; else none, (0,)."""
        if not self.vocabulary or self.vocabulary[-1] != END:
            return np.empty(0, np.int64)
        return np.asarray(np.flatnonzero(self.symbols == self.n_symbols - 1))

    def _with(self, **changes: Any) -> Self:
        """With other fields, which are right, and whose arrays are ours."""
        return self._trusted(*(changes.get(f.name, getattr(self, f.name)) for f in fields(self)))

    def _codes_in(self, vocabulary: Vocabulary) -> Ints:
        """The symbols as places in another vocabulary, -1 where it does not have them."""
        labels, codes = self.vocabulary, self.symbols
        if labels is None and self.n_symbols > len(codes):  # few of many numbers occur
            numbers, codes = np.unique(codes, return_inverse=True)
            labels = tuple(numbers.tolist())
        elif labels is None:
            labels = tuple(range(self.n_symbols))
        places = np.append(codes_in(labels, vocabulary), np.int32(MISSING))
        return np.where(self.symbols == MISSING, np.int32(MISSING), places[codes])


def row_sequences(
    rows: Any,
    vocabulary: Vocabulary | None = None,
    n_symbols: int | None = None,
    unseen: str = "error",
    characters: bool = False,
) -> tuple[Sequences | None, Ints]:
    """Rows that are a sequence each, and the length of every one; None where all are empty.

    A row is a list of symbols, or a string of words between blanks, as a line of a file is.

    >>> row_sequences(["sun rain", "", ["rain"]])
    (Sequences(2 sequences, 3 observations, 2 symbols), array([2, 0, 1]))
    """
    flat, lengths = flatten_rows(rows, characters)
    filled = lengths[lengths > 0]
    if not len(filled):
        return None, lengths
    data = Sequences._of_codes(*encode(flat, as_labels=vocabulary is not None), filled)
    return data._in_terms_of(vocabulary, n_symbols, unseen), lengths


def check_unseen(unseen: Any) -> None:
    """Refuse what a symbol that nobody knows cannot be."""
    if unseen not in ("error", "missing"):
        raise ValueError(f"unseen must be 'error' or 'missing', not {shown(unseen)}")

"""One value for every shape that sequences of symbols come in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm.evidence.vocabulary import Vocabulary, as_vocabulary, codes_in, in_order
from cohmm.kernels.compiled import Ints

MISSING = -1
LARGEST_CODE = 2**31 - 2

Unseen = Literal["error", "missing"]


@dataclass(frozen=True, eq=False)
class Sequences:
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

    symbols: Ints
    offsets: Ints
    n_symbols: int
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        for array in (self.symbols, self.offsets):
            array.setflags(write=False)

    @classmethod
    def of(
        cls,
        X: Any,
        lengths: Iterable[int] | None = None,
        *,
        vocabulary: Iterable[Any] | None = None,
        n_symbols: int | None = None,
        unseen: Unseen = "error",
    ) -> Sequences:
        """Read sequences from ``X``.

        Parameters
        ----------
        X : Sequences, array, list, column
            A 1-D array or list, or hmmlearn's (n, 1) array, is one sequence, or several
            if ``lengths`` says so; a list of lists or arrays is several.  Symbols are whole
            numbers from 0, or labels, of which a vocabulary is learned.  None, NaN and masked
            elements are missing.  A pandas, polars or pyarrow column is read as a list is
            (`from_frame` groups rows by a key).
        lengths : list of int, optional
            The length of every sequence in ``X``.
        vocabulary : list of labels, optional
            Known labels, instead of a learned vocabulary.
        n_symbols : int, optional
            How many symbols there are, where they are numbers; default: the largest plus one.
        unseen : "error" or "missing"
            What a symbol outside of ``vocabulary`` or ``n_symbols`` is.
        """
        if unseen not in ("error", "missing"):
            raise ValueError(f"unseen must be 'error' or 'missing', not {unseen!r}")
        known = None if vocabulary is None else as_vocabulary(vocabulary)
        if isinstance(X, Sequences):
            if lengths is not None:
                raise ValueError("Sequences know their lengths: leave out lengths")
            return X._in_terms_of(known, n_symbols, unseen)
        X, lengths = _pair_of_data_and_lengths(X, lengths)
        flat, lengths = _flatten(X, lengths)
        codes, labels = _encode(flat)
        offsets = _offsets(lengths, len(codes))
        if labels is None:
            size = int(codes.max(initial=-1)) + 1
            value = cls(codes, offsets, max(size, 1) if n_symbols is None else size)
        else:
            value = cls(codes, offsets, len(labels), labels)
        return value._in_terms_of(known, n_symbols, unseen)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        column: str,
        group: str | None = None,
        order: str | None = None,
        *,
        vocabulary: Iterable[Any] | None = None,
        n_symbols: int | None = None,
        unseen: Unseen = "error",
    ) -> Sequences:
        """Read a column of a pandas or polars frame or a pyarrow table, a symbol a row.

        Rows with the same ``group`` make a sequence; groups come in the order in which they
        first appear, rows in the order of the frame, or of the column ``order``.

        >>> table = pa.table({"user": ["u", "v", "u"], "page": ["home", "home", "cart"]})
        >>> Sequences.from_frame(table, "page", group="user").labels()
        [['home', 'cart'], ['home']]
        """
        table = _arrow_table(frame, [name for name in (column, group, order) if name])
        rows = np.arange(table.num_rows)
        lengths = None
        if order is not None:
            if table[order].null_count:
                raise ValueError(f"the column {order!r} has an empty cell: its row has no order")
            rows = pc.sort_indices(_ranks(_combined(table[order]))).to_numpy()
        if group is not None:
            if table[group].null_count:
                place = int(np.flatnonzero(table[group].is_null().to_numpy())[0])
                raise ValueError(f"the column {group!r} is empty in row {place}: whose row is it?")
            keys = _decoded(_combined(table[group])).dictionary_encode().indices.to_numpy()
            rows = rows[np.argsort(keys[rows], kind="stable")]
            lengths = np.bincount(keys)
        return cls.of(
            table[column].take(pa.array(rows)),
            lengths,
            vocabulary=vocabulary,
            n_symbols=n_symbols,
            unseen=unseen,
        )

    @property
    def lengths(self) -> Ints:
        """The length of every sequence, (S,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, s: int) -> list[Any]:
        """Sequence ``s`` as a list of labels, or of numbers; None where one is missing.

        >>> Sequences.of([["a", "b"], ["b", None]])[1]
        ['b', None]
        """
        if not -len(self) <= s < len(self):
            raise IndexError(f"there is no sequence {s}: there are {len(self)}")
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

    def place_of(self, position: int) -> str:
        """Where an observation is, in words for an error message.

        >>> Sequences.of([[0, 1], [1, 0]]).place_of(3)
        'sequence 1, position 1'
        """
        s = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return f"sequence {s}, position {position - int(self.offsets[s])}"

    def _in_terms_of(
        self, vocabulary: Vocabulary | None, n_symbols: int | None, unseen: Unseen
    ) -> Sequences:
        """The same sequences in a given vocabulary, or with a given number of symbols."""
        if vocabulary is None:
            if n_symbols is None:
                return self
            if not isinstance(n_symbols, (int, np.integer)) or n_symbols < 1:
                raise ValueError(f"n_symbols must be a whole number from 1, not {n_symbols!r}")
            if self.vocabulary is not None:
                raise ValueError(
                    f"symbols must be whole numbers from 0 to {n_symbols - 1}, "
                    f"not labels such as {self.vocabulary[0]!r}"
                )
            outside = self.symbols >= n_symbols
            codes = self.symbols
            name = f"symbols must be from 0 to {n_symbols - 1}"
            if outside.any():
                codes = np.where(outside, np.int32(MISSING), codes)
            size = n_symbols
        else:
            if vocabulary == self.vocabulary:
                return self
            own, codes = self.vocabulary, self.symbols
            if own is None and self.n_symbols > len(codes):  # few of many numbers occur
                numbers, codes = np.unique(codes, return_inverse=True)
                own = tuple(numbers.tolist())
            elif own is None:
                own = tuple(range(self.n_symbols))
            places = np.append(codes_in(own, vocabulary), np.int32(MISSING))
            codes = np.where(self.symbols == MISSING, np.int32(MISSING), places[codes])
            outside = (codes == MISSING) & (self.symbols != MISSING)
            name = f"the vocabulary has {len(vocabulary)} labels, {vocabulary[0]!r} among them"
            size = len(vocabulary)
        if unseen == "error" and outside.any():
            position = int(np.argmax(outside))
            code = int(self.symbols[position])
            label = self.vocabulary[code] if self.vocabulary else code
            raise ValueError(
                f"unseen symbol {label!r} ({self.place_of(position)}): {name}; "
                "unseen='missing' treats it as a missing observation"
            )
        return Sequences(codes, self.offsets, size, vocabulary)


def _pair_of_data_and_lengths(X: Any, lengths: Any) -> tuple[Any, Any]:
    """``(y, lengths)`` given as one argument."""
    if lengths is None and isinstance(X, tuple) and len(X) == 2:
        data, sizes = X
        try:
            sizes = np.asarray(sizes)
            if sizes.ndim == 1 and sizes.dtype.kind in "iu" and int(sizes.sum()) == len(data):
                return data, sizes
        except (TypeError, ValueError):
            pass
    return X, lengths


def _is_column(value: Any) -> bool:
    return type(value).__module__.split(".")[0] in ("pandas", "polars", "pyarrow")


def _is_scalar(value: Any) -> bool:
    return value is None or np.isscalar(value) or value is np.ma.masked or _is_missing(value)


def _is_missing(value: Any) -> bool:
    """None, NaN, and the missing values of pandas, whose comparisons are never true."""
    if value is None or value is np.ma.masked:
        return True
    if type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _flatten(X: Any, lengths: Any) -> tuple[Any, Any]:
    """One flat column for all sequences, and the lengths if they are known."""
    if isinstance(X, (str, bytes)):
        raise ValueError(f"{X[:20]!r} is a single string: pass list(text), or a list of labels")
    if _is_column(X):
        return _combined(_arrow_array(X)), lengths
    if hasattr(X, "tocsr"):
        raise ValueError("X is a sparse matrix; symbols are an array (n,) or (n, 1), or a list")
    if isinstance(X, np.ndarray) and X.dtype.kind == "c":
        raise ValueError("Complex data not supported: symbols are whole numbers or strings")
    if isinstance(X, np.ndarray):
        if X.ndim == 2 and X.shape[1] == 1:
            return X[:, 0], lengths
        if X.ndim == 1 and not (X.dtype == object and len(X) and not _is_scalar(X[0])):
            return X, lengths
        if X.ndim != 1:
            raise ValueError(
                f"an array of symbols has the shape (n,) or (n, 1), not {X.shape}; "
                "pass several sequences as a list, or with lengths"
            )
    items = _listed(X)
    if not items:
        raise ValueError("there is no data: X is empty")
    if all(_is_scalar(item) for item in items):
        return items, lengths
    if lengths is not None and not all(np.ndim(item) == 1 and len(item) == 1 for item in items):
        raise ValueError("X is a list of sequences, which have their lengths: leave out lengths")
    if lengths is not None:  # hmmlearn's (n, 1) as nested lists
        return [item[0] for item in items], lengths
    return _concatenate(items)


def _concatenate(items: list[Any]) -> tuple[Any, Any]:
    pieces = []
    for s, item in enumerate(items):
        if _is_scalar(item):
            raise ValueError(f"X mixes sequences and symbols: item {s} is {item!r}")
        if not hasattr(item, "__len__") or (isinstance(item, np.ndarray) and not item.ndim):
            item = _listed(item)
        piece, inner = _flatten(item, None) if len(item) else ([], None)
        if inner is not None and max(inner) > 1:
            raise ValueError(f"item {s} of X is a list of sequences itself, not one of symbols")
        pieces.append(piece.to_pylist() if isinstance(piece, pa.Array) else piece)
    lengths = [len(piece) for piece in pieces]
    if all(isinstance(piece, np.ndarray) and piece.dtype.kind in "iufb" for piece in pieces):
        masked = any(isinstance(piece, np.ma.MaskedArray) for piece in pieces)
        return (np.ma.concatenate if masked else np.concatenate)(pieces), lengths
    lists = [piece.tolist() if isinstance(piece, np.ndarray) else piece for piece in pieces]
    return [symbol for piece in lists for symbol in piece], lengths


def _listed(values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise ValueError(
            f"cannot read sequences from {type(values).__name__}: {values!r}"
        ) from None


def _offsets(lengths: Any, n: int) -> Ints:
    if n == 0:
        raise ValueError("there is no data: X has no symbols")
    if lengths is None:
        return np.array([0, n])
    sizes = np.atleast_1d(np.asarray(list(lengths) if isinstance(lengths, Iterator) else lengths))
    if sizes.ndim != 1 or sizes.dtype.kind not in "iu":
        raise ValueError(f"lengths must be a list of whole numbers, not {lengths!r}")
    if (sizes < 1).any():
        s = int(np.argmax(sizes < 1))
        what = "empty" if sizes[s] == 0 else f"of length {sizes[s]}"
        raise ValueError(f"sequence {s} is {what}: every sequence needs a symbol")
    if sizes.sum() != n:
        raise ValueError(f"lengths sum to {sizes.sum()}, but X has {n} symbols")
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _encode(flat: Any) -> tuple[Ints, Vocabulary | None]:
    """Codes of a flat column, and the vocabulary where the symbols are labels."""
    if isinstance(flat, (pa.Array, pa.ChunkedArray)):
        return _encode_arrow(_combined(flat))
    if isinstance(flat, np.ma.MaskedArray) and flat.dtype.kind in "iufb":
        missing = np.ma.getmaskarray(flat)
        if flat.dtype.kind == "f":
            missing = missing | np.isnan(flat.data)
        return _codes_of_numbers(flat.data, missing), None
    if isinstance(flat, np.ndarray) and flat.dtype.kind in "iufb":
        return _codes_of_numbers(flat, np.isnan(flat) if flat.dtype.kind == "f" else None), None
    items = flat.tolist() if isinstance(flat, np.ndarray) else list(flat)
    missing = np.fromiter((_is_missing(item) for item in items), bool, len(items))
    present = [item for item, gone in zip(items, missing, strict=True) if not gone]
    if all(isinstance(item, (int, float, np.number, np.bool_)) for item in present):
        numbers = np.zeros(len(items), np.result_type(*{type(item) for item in present}, np.int64))
        try:
            numbers[~missing] = present
        except OverflowError:
            place = next(p for p, item in enumerate(items) if abs(item or 0) > LARGEST_CODE)
            raise _wrong_number(items[place], place) from None
        return _codes_of_numbers(numbers, missing), None
    for place, item in enumerate(items):
        if not missing[place] and not isinstance(item, str):
            number = isinstance(item, (int, float, np.number, np.bool_))
            why = "a number among labels" if number else "neither number nor string"
            raise ValueError(f"symbol {item!r} at position {place} is {why}")
    return _encode_arrow(
        pa.array(
            [None if gone else str(item) for item, gone in zip(items, missing, strict=True)],
            pa.string(),
        )
    )


def _encode_arrow(column: pa.Array) -> tuple[Ints, Vocabulary | None]:
    column = _decoded(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.int64())
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        numbers = column.to_numpy(zero_copy_only=False)
        if column.null_count and not pa.types.is_floating(kind):
            filled = column.cast(pa.int64()) if pa.types.is_boolean(kind) else column
            numbers = filled.fill_null(0).to_numpy(zero_copy_only=False)
        return _codes_of_numbers(numbers, missing), None
    if not (
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    ):
        raise ValueError(f"a column of symbols holds whole numbers or strings, not {kind}")
    encoded = column.dictionary_encode()
    labels = tuple(encoded.dictionary.to_pylist())
    vocabulary = in_order(labels)
    if not vocabulary:
        raise ValueError("there is no data: every observation is missing")
    places = np.append(codes_in(labels, vocabulary), np.int32(MISSING))
    indices = encoded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    return places[indices], vocabulary


def _codes_of_numbers(numbers: np.ndarray, missing: np.ndarray | None) -> Ints:
    """int32 codes of whole numbers from 0, with -1 where missing."""
    present = numbers if missing is None else np.where(missing, 0, numbers)
    wrong = present < 0
    if numbers.dtype.kind == "f":
        wrong |= present != np.floor(present)
    wrong |= present > LARGEST_CODE
    if wrong.any():
        place = int(np.argmax(wrong))
        raise _wrong_number(numbers[place].item(), place)
    codes = present.astype(np.int32)
    if missing is not None:
        codes[missing] = MISSING
    return codes


def _wrong_number(value: Any, place: int) -> ValueError:
    why = "negative" if value < 0 else "too large" if value > LARGEST_CODE else "not whole"
    return ValueError(
        f"symbol {value!r} at position {place} is {why}: symbols are whole numbers from 0 "
        "(None, NaN or a masked array for a missing one), or strings"
    )


def _combined(column: Any) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _decoded(column: pa.Array) -> pa.Array:
    """Categories as what they stand for."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _ranks(column: pa.Array) -> pa.Array:
    """What to sort by: of ordered categories, their order."""
    if pa.types.is_dictionary(column.type) and column.type.ordered:
        return column.indices
    return _decoded(column)


def _arrow_array(column: Any) -> Any:
    """A pandas, polars or pyarrow column as a pyarrow one."""
    if isinstance(column, (pa.Array, pa.ChunkedArray)):
        return column
    if isinstance(column, pa.Table) or hasattr(column, "columns"):
        names = list(getattr(column, "column_names", None) or column.columns)
        if len(names) != 1:
            raise ValueError(
                f"a frame of {len(names)} columns: say which one by Sequences.from_frame"
            )
        return _arrow_table(column, names)[names[0]]
    if hasattr(column, "to_arrow"):
        return column.to_arrow()
    try:
        return pa.array(column, from_pandas=True)
    except pa.ArrowException as error:
        raise ValueError(f"a column holds values of one type: {error}") from None


def _arrow_table(frame: Any, names: Sequence[str]) -> pa.Table:
    columns = list(getattr(frame, "column_names", getattr(frame, "columns", ())))
    for name in names:
        if name not in columns:
            raise ValueError(
                f"there is no column {name!r}; there are {', '.join(map(str, columns)) or 'none'}"
            )
    if isinstance(frame, pa.Table):
        return frame.select(list(dict.fromkeys(names)))
    return pa.table({name: _arrow_array(frame[name]) for name in names})

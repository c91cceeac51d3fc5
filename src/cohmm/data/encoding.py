"""From whatever holds symbols to one flat array of codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cohmm._validation import LARGEST_CODE, as_numbers, shown, warn
from cohmm.data.arrow import arrow_array, combined, common, decoded, is_list, is_text, list_column
from cohmm.data.vocabulary import Vocabulary, codes_in, distinct_characters, in_order, is_unicode
from cohmm.kernels.types import Ints

MISSING = -1
NUMBERS = (int, float, np.integer, np.floating, np.bool_)
MANY_SYMBOLS = 2**20  # tables of so many symbols are small
OBSERVED = 64  # so many symbols for each observation are a mistake


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


def flatten(X: Any, lengths: Any) -> tuple[Any, Any]:
    """One flat column for all sequences, and the lengths if they are known.

    Lists and cells of columns that are lists are sequences.
    """
    if isinstance(X, (str, bytes)):
        raise ValueError(
            f"{shown(X)} is a single string: characters=True reads it symbol by symbol; or pass a "
            "list of labels, or the path of a file that exists"
        )
    if hasattr(X, "tocsr"):
        raise ValueError("X is a sparse matrix; symbols are an array (n,) or (n, 1), or a list")
    if _is_column(X):
        X = _read_column(X)
        if isinstance(X, pa.Array):
            return _checked_sizes(*_cells(X), lengths) if is_list(X.type) else (X, lengths)
    if isinstance(X, np.ndarray):
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported: symbols are whole numbers or strings")
        if X.ndim == 2 and X.shape[1] == 1:
            return X[:, 0], lengths
        if X.ndim == 1 and not (X.dtype == object and len(X) and not _is_scalar(X[0])):
            return X, lengths
        if X.ndim == 2 and lengths is not None:
            return _padded_rows(X, lengths)
        if X.ndim != 1:
            raise ValueError(
                f"an array of symbols has the shape (n,) or (n, 1), not {X.shape}; "
                "pass several sequences as a list, or with lengths"
            )
    items = _listed(X)
    if not items:
        raise ValueError("there is no data: X is empty")
    if all(map(_is_scalar, items)):
        return items, lengths
    pieces = [_one_sequence(s, item) for s, item in enumerate(items)]
    return _checked_sizes(*_joined(pieces), lengths)


def as_hmmlearns_column(X: Any) -> Any:
    """A list of several one-element lists as hmmlearn reads it, a column, with a warning.

    Everywhere else it is a list of sequences.
    """
    if not isinstance(X, (list, tuple)) or len(X) < 2:
        return X
    if not all(isinstance(x, (list, tuple)) and len(x) == 1 and _is_scalar(x[0]) for x in X):
        return X
    warn(
        f"{shown(X)} is read as hmmlearn's column, one sequence, because this model was not "
        "fitted: give an array of the shape (n, 1) for one sequence, or the lengths of several",
        UserWarning,
    )
    return [x[0] for x in X]


def _checked_sizes(flat: Any, sizes: Any, lengths: Any) -> tuple[Any, Any]:
    """Sequences of these sizes; where all are 1, ``lengths`` say what the column is."""
    if lengths is None:
        return flat, sizes
    if any(size != 1 for size in sizes) and (
        np.diff(offsets_of(lengths, sum(sizes))).tolist() != list(sizes)
    ):
        raise ValueError("X is a list of sequences, which have other lengths: leave out lengths")
    return flat, lengths


def _read_column(X: Any) -> Any:
    """A column as an Arrow array, or its cells as a list where these are lists of mixed symbols."""
    try:
        return combined(arrow_array(X))
    except ValueError:
        cells = X.tolist() if hasattr(X, "tolist") else []
        if any(isinstance(cell, (list, tuple, np.ndarray)) for cell in cells):
            return [[] if _is_missing(cell) else cell for cell in cells]
        raise


def _cells(column: pa.Array) -> tuple[Any, list[int]]:
    """The symbols in the lists of a column, and how many each has; a missing list has none."""
    flat = common(column.flatten())
    if is_list(flat.type):
        raise ValueError("a cell of X is a list of sequences itself, not one of symbols")
    if flat.null_count == len(flat):  # a part of more may have nothing else
        flat = [None] * len(flat)
    return flat, column.value_lengths().fill_null(0).to_pylist()


def _padded_rows(X: np.ndarray, lengths: Any) -> tuple[Any, Any]:
    """One sequence per row, of which so many entries count: what is after them is padding."""
    n, width = X.shape
    lengths = np.asarray(lengths)
    if lengths.shape != (n,) or lengths.dtype.kind not in "iu":
        raise ValueError(
            f"an array of {n} rows needs {n} lengths, whole numbers, not {shown(lengths.tolist())}"
        )
    wrong = (lengths < 0) | (lengths > width)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(f"row {row} has {width} entries, not {lengths[row]}")
    return X[np.arange(width) < lengths[:, None]], lengths


def _one_sequence(s: int, item: Any) -> Any:
    """The symbols of one of several sequences, which may be a column of lists of one element."""
    if _is_scalar(item):
        raise ValueError(f"X mixes sequences and symbols: item {s} is {shown(item)}")
    if not hasattr(item, "__len__") or (isinstance(item, np.ndarray) and not item.ndim):
        item = _listed(item)
    if not hasattr(item, "tocsr") and not len(item):
        return []
    symbols, sizes = flatten(item, None)
    if sizes is not None and any(size != 1 for size in sizes):
        raise ValueError(f"item {s} of X is a list of sequences itself, not one of symbols")
    return symbols.to_pylist() if isinstance(symbols, pa.Array) else symbols


def _joined(pieces: list[Any]) -> tuple[Any, list[int]]:
    """All symbols, as an array where all pieces are arrays of numbers, and the lengths."""
    lengths = [len(piece) for piece in pieces]
    if pieces and all(isinstance(p, np.ndarray) and p.dtype.kind in "iufb" for p in pieces):
        masked = any(isinstance(piece, np.ma.MaskedArray) for piece in pieces)
        return (np.ma.concatenate if masked else np.concatenate)(pieces), lengths
    lists = [piece.tolist() if isinstance(piece, np.ndarray) else piece for piece in pieces]
    return [symbol for piece in lists for symbol in piece], lengths


def flatten_rows(rows: Any, characters: bool) -> tuple[Any, Ints]:
    """The symbols of all rows, and how many each has."""
    rows = combined(rows)
    if not characters:
        rows = _as_column(rows)
    if isinstance(rows, pa.Array) and is_list(rows.type) and not characters:
        flat, sizes = _cells(rows)
        return flat, np.array(sizes, np.int64)
    if isinstance(rows, np.ndarray) and rows.ndim == 2:
        return rows.ravel(), np.full(len(rows), rows.shape[1], np.int64)
    items = rows.to_pylist() if isinstance(rows, pa.Array) else list(rows)
    lists = [_row(row, number, characters) for number, row in enumerate(items)]
    flat, sizes = _joined(lists)
    return flat, np.array(sizes, np.int64)


def _as_column(rows: Any) -> Any:
    """Rows of strings as a column of lists, which is read some times faster; else as they are."""
    if isinstance(rows, list):
        kinds = {type(row) for row in rows} - {type(None)}
        if kinds not in ({str}, {list}):
            return rows
        kind = pa.large_string() if kinds == {str} else pa.large_list(pa.large_string())
        try:
            rows = pa.array(rows, kind)
        except (pa.ArrowException, UnicodeError):  # lists of something else
            return rows
    if not (isinstance(rows, pa.Array) and is_text(rows.type)):
        return rows
    trimmed = pc.utf8_trim_whitespace(rows.cast(pa.large_string()).fill_null(""))
    filled = pc.not_equal(trimmed, "")
    words = pc.utf8_split_whitespace(trimmed.filter(filled))
    lengths = np.zeros(len(rows), np.int64)
    lengths[filled.to_numpy(zero_copy_only=False)] = words.value_lengths().to_numpy()
    return list_column(words.flatten(), lengths)


def _row(row: Any, number: int, characters: bool) -> Any:
    if isinstance(row, str):
        return row if characters else row.split()
    if row is None:
        return ()
    if not hasattr(row, "__len__") or isinstance(row, (bytes, dict, set)):
        raise ValueError(
            f"row {number} is {shown(row)}: a row is a sequence, a list or a string; where each is "
            "a symbol, say by which column they are grouped (group=)"
        )
    return row


def column_as_list(values: Any) -> list[Any]:
    """What an array, a list or a column holds, as plain values."""
    if isinstance(values, np.ndarray):
        return list(values.ravel().tolist())
    return (
        list(combined(arrow_array(values)).to_pylist()) if _is_column(values) else _listed(values)
    )


def _listed(values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise ValueError(
            f"cannot read sequences from {type(values).__name__}: {shown(values)}"
        ) from None


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


def offsets_of(lengths: Any, n: int) -> Ints:
    """Where each sequence begins, and the end, from lengths that add up to ``n``."""
    if n == 0:
        raise ValueError("there is no data: X has no symbols")
    if lengths is None:
        return np.array([0, n])
    given = list(lengths) if isinstance(lengths, Iterator) else lengths
    sizes = as_numbers("lengths", given if np.iterable(given) else [given])
    if (sizes < 1).any():
        s = int(np.argmax(sizes < 1))
        what = "empty" if sizes[s] == 0 else f"of length {sizes[s]}"
        raise ValueError(f"sequence {s} is {what}: every sequence needs a symbol")
    # A sum of doubles does not overflow, and is exact where it is as small as n.
    if sizes.sum(dtype=np.float64) != n:
        raise ValueError(f"lengths sum to {sum(sizes.tolist()):,}, but X has {n:,} symbols")
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def check_many(n_symbols: int, n_observed: int, remedy: str) -> None:
    """Refuse numbers that would make a vocabulary far larger than the data."""
    if n_symbols > max(MANY_SYMBOLS, OBSERVED * n_observed):
        raise ValueError(
            f"the largest symbol is {n_symbols - 1}, which makes {n_symbols:,} symbols of "
            f"{n_observed:,} observations: {remedy}"
        )


def encode(flat: Any, as_labels: bool = False) -> tuple[Ints, Vocabulary | None]:
    """Codes of a flat column, and the vocabulary where the symbols are labels.

    Whole numbers from 0 are their own codes.  With ``as_labels`` other whole numbers are labels,
    and so are numbers among strings.
    """
    if isinstance(flat, (pa.Array, pa.ChunkedArray)):
        return _encode_arrow(combined(flat), as_labels)
    if isinstance(flat, np.ndarray) and flat.dtype.kind in "iufb":
        missing = np.ma.getmaskarray(flat) if isinstance(flat, np.ma.MaskedArray) else None
        numbers = np.ma.getdata(flat)
        if flat.dtype.kind == "f":
            nan = np.isnan(numbers)
            missing = nan if missing is None else missing | nan
        return _encode_numbers(numbers, missing, as_labels)
    items = flat.tolist() if isinstance(flat, np.ndarray) else list(flat)
    missing = np.fromiter((_is_missing(item) for item in items), bool, len(items))
    present = [item for item, gone in zip(items, missing, strict=True) if not gone]
    kinds = set(map(type, present))
    if all(map(_is_number, kinds)) and (not as_labels or kinds <= {int, bool}):
        numbers = np.zeros(len(items), np.result_type(*kinds, np.int64))
        try:
            numbers[~missing] = np.array(present, numbers.dtype)
            return _encode_numbers(numbers, missing, as_labels)
        except OverflowError:
            if not as_labels:
                large = (isinstance(item, int) and abs(item) > LARGEST_CODE for item in items)
                place = list(large).index(True)
                raise _wrong_number(items[place], place) from None
    labels = [None if gone else item for item, gone in zip(items, missing, strict=True)]
    try:
        if kinds == {str}:
            return _encode_arrow(pa.array(labels, pa.large_string()))
    except UnicodeEncodeError:
        pass  # `_label` says where
    return _encode_labels([_label(place, label, as_labels) for place, label in enumerate(labels)])


def _is_number(kind: type) -> bool:
    return issubclass(kind, NUMBERS) and not issubclass(kind, np.timedelta64)


def _encode_labels(labels: list[str | int | None]) -> tuple[Ints, Vocabulary]:
    """Codes of labels, strings and numbers of any size among one another; None is missing."""
    vocabulary = in_order({label for label in labels if label is not None})
    places = {label: code for code, label in enumerate(vocabulary)} | {None: MISSING}
    return np.fromiter((places[label] for label in labels), np.int32, len(labels)), vocabulary


def _label(place: int, item: Any, as_labels: bool) -> str | int | None:
    """The label that an item is; a number is one ``as_labels`` only."""
    if item is None:
        return None
    if isinstance(item, str):
        if is_unicode(item):
            return str(item)
        raise ValueError(f"symbol {shown(item)} at position {place} is not Unicode text")
    is_number = _is_number(type(item))
    if not (is_number and as_labels):
        why = "a number among labels" if is_number else "neither number nor string"
        raise ValueError(f"symbol {shown(item)} at position {place} is {why}")
    if isinstance(item, (float, np.floating)) and not item.is_integer():
        raise _wrong_number(float(item), place)
    return int(item)


def _encode_arrow(column: pa.Array, as_labels: bool = False) -> tuple[Ints, Vocabulary | None]:
    column = decoded(column)
    if pa.types.is_null(column.type):
        column = column.cast(pa.int64())
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        missing = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
        numbers = column.to_numpy(zero_copy_only=False)
        if column.null_count and not pa.types.is_floating(kind):
            filled = column.cast(pa.int64()) if pa.types.is_boolean(kind) else column
            numbers = filled.fill_null(0).to_numpy(zero_copy_only=False)
        return _encode_numbers(numbers, missing, as_labels)
    if not is_text(kind):
        raise ValueError(f"a column of symbols holds whole numbers or strings, not {kind}")
    encoded = column.dictionary_encode()
    labels = tuple(encoded.dictionary.to_pylist())
    vocabulary = in_order(labels)
    if not vocabulary:
        raise ValueError("there is no data: every observation is missing")
    places = np.append(codes_in(labels, vocabulary), np.int32(MISSING))
    indices = encoded.indices.fill_null(len(labels)).to_numpy(zero_copy_only=False)
    return places[indices], vocabulary


def _encode_numbers(
    numbers: np.ndarray, missing: np.ndarray | None, as_labels: bool
) -> tuple[Ints, Vocabulary | None]:
    """int32 codes of whole numbers, with -1 where missing; labels where they are no codes."""
    if numbers.dtype in (np.float16, np.float32):  # in which the largest code is infinite, or 2**31
        numbers = numbers.astype(np.float64)
    present = numbers if missing is None else np.where(missing, 0, numbers)
    whole = numbers.dtype.kind != "f"
    labels = None
    # Extremes need no array of the size of the data; that is made only to say what is wrong.
    if not (whole and len(present) and present.min() >= 0 and present.max() <= LARGEST_CODE):
        outside = (present < 0) | (present > LARGEST_CODE)
        wrong = outside & (not as_labels)
        if not whole:
            wrong |= ~np.isfinite(present) | (present != np.floor(present))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise _wrong_number(numbers[place].item(), place)
        if outside.any():
            distinct, present = np.unique(present, return_inverse=True)
            labels = tuple(map(int, distinct.tolist()))
    codes = present.astype(np.int32)
    if missing is not None:
        codes[missing] = MISSING
    return codes, labels


def _wrong_number(value: Any, place: int) -> ValueError:
    why = "negative" if value < 0 else "too large" if value > LARGEST_CODE else "not whole"
    return ValueError(
        f"symbol {shown(value)} at position {place} is {why}: symbols are whole numbers from 0 "
        "(None, NaN or a masked array for a missing one), or strings"
    )

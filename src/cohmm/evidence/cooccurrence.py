"""Pair counts by lag: the evidence that everything is learned from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm._html import html_table, more_than
from cohmm._validation import (
    Value,
    as_amount,
    as_floats,
    as_n_symbols,
    as_numbers,
    frozen,
    is_number,
    is_whole,
    own,
    shown,
)
from cohmm.data.vocabulary import Vocabulary, codes_in, labels_for, unite
from cohmm.kernels.types import Floats, Ints

Matrix = Any
"""An (N, N) array, or a scipy CSR array for large vocabularies."""

LARGEST_DENSE = 1024
MAX_LAGS, TOP_PAIRS = 10, 4  # in a table for a notebook
LARGEST_SUM = {"i": 2.0**63, "f": np.inf}  # what a sum of counts must stay below, by type
LARGEST_LAG = 2**31  # beyond, rounding shows in powers of a transition matrix


@dataclass(frozen=True, eq=False)
class Cooccurrence(Value):
    """How often symbol a is followed by symbol b, ``lag`` places on.

    Parameters
    ----------
    counts : dict
        By lag, an (N, N) matrix: an array up to `LARGEST_DENSE` symbols, a CSR array beyond.
    symbol_counts : array, (N,)
        How often each symbol was observed.
    start_counts : array, (N,)
        How often each symbol began a sequence.
    vocabulary : tuple or None
        The labels of the symbols, where they have labels.

    Values add up, also across vocabularies, and so does the data behind them:

    >>> from cohmm import count_pairs
    >>> monday, tuesday = count_pairs(["a", "b", "a"]), count_pairs(["a", "c"])
    >>> week = monday + tuesday
    >>> week.vocabulary
    ('a', 'b', 'c')
    >>> week[1]
    array([[0, 1, 1],
           [1, 0, 0],
           [0, 0, 0]])
    """

    counts: Mapping[int, Matrix]
    symbol_counts: np.ndarray
    start_counts: np.ndarray
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        symbols = as_counts("symbol_counts", self.symbol_counts)
        starts = as_counts("start_counts", self.start_counts)
        n = as_n_symbols(len(symbols))
        if not isinstance(self.counts, Mapping) or not self.counts:
            raise ValueError(f"counts must be a dictionary by lag, not {shown(self.counts)}")
        by_lag = {checked_lag(lag): matrix for lag, matrix in self.counts.items()}
        counts = {
            lag: _checked_matrix(f"the counts of lag {lag}", by_lag[lag], n)
            for lag in sorted(by_lag)
        }
        if len(starts) != n:
            raise ValueError(f"there are {len(starts)} start counts for {n} symbols")
        self._set(counts, symbols, starts, labels_for(n, self.vocabulary))

    @classmethod
    def from_probability(
        cls,
        omega: Any,
        n_pairs: float = 10**9,
        *,
        vocabulary: Iterable[Any] | None = None,
    ) -> Cooccurrence:
        """A given pair law, as if ``n_pairs`` pairs had been counted.

        ``omega`` is an (N, N) array or sparse matrix that sums to one, or a dictionary of
        such by lag.

        >>> Cooccurrence.from_probability([[.5, .25], [.25, 0]], n_pairs=8)[1]
        array([[4., 2.],
               [2., 0.]])
        """
        amount = as_amount("n_pairs", n_pairs)
        laws = dict(omega) if isinstance(omega, Mapping) else {1: omega}
        if not laws:
            raise ValueError("omega has no lag")
        counts = {lag: _checked_law(lag, law) * amount for lag, law in laws.items()}
        sizes = {lag: matrix.shape for lag, matrix in counts.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the laws have different shapes: {shown(sizes)}")
        first = next(iter(counts.values()))
        return cls(
            {lag: frozen(_stored(matrix)) for lag, matrix in counts.items()},
            np.asarray(first.sum(axis=1)).ravel(),
            np.zeros(first.shape[0]),
            vocabulary,  # type: ignore[arg-type]
        )

    @property
    def lags(self) -> tuple[int, ...]:
        """The lags counted, ascending."""
        return tuple(self.counts)

    @property
    def n_symbols(self) -> int:
        """N, the number of symbols."""
        return len(self.symbol_counts)

    @property
    def is_sparse(self) -> bool:
        """Whether the matrices are CSR arrays."""
        return any(sparse.issparse(matrix) for matrix in self.counts.values())

    def __getitem__(self, lag: int) -> Matrix:
        """The counts of a lag."""
        try:
            return self.counts[lag]
        except KeyError:
            raise ValueError(
                f"lag {lag} was not counted; there are {', '.join(map(str, self.lags))}"
            ) from None

    def n_pairs(self, lag: int = 1) -> float:
        """How many pairs were counted at a lag."""
        return float(self[lag].sum())

    def probability(self, lag: int = 1) -> Matrix:
        """Omega, the counts of a lag scaled to sum to one."""
        total = self.n_pairs(lag)
        if total == 0:
            raise ValueError(f"no pair was counted at lag {lag}")
        return self[lag] / total

    def __add__(self, other: object) -> Cooccurrence:
        if isinstance(other, int) and other == 0:  # so that sum() works
            return self
        if not isinstance(other, Cooccurrence):
            return NotImplemented
        if self.lags != other.lags:
            raise ValueError(f"counts of lags {self.lags} and {other.lags} do not add up")
        vocabulary, n = united(self, other)
        left, right = self._spread(vocabulary, n), other._spread(vocabulary, n)
        return Cooccurrence._trusted(
            {
                lag: _stored(added(f"the counts of lag {lag}", left[lag], right[lag]))
                for lag in self.lags
            },
            added("symbol_counts", left.symbol_counts, right.symbol_counts),
            added("start_counts", left.start_counts, right.start_counts),
            vocabulary,
        )

    __radd__ = __add__

    __array_ufunc__ = None  # a NumPy number times counts is counts

    def __mul__(self, factor: object) -> Cooccurrence:
        """The same counts, each times a number; as they are where that is 1.

        >>> counts = Cooccurrence({1: [[0, 4], [2, 0]]}, [4, 2], [1, 0])
        >>> (counts * 0.5)[1]
        array([[0., 2.],
               [1., 0.]])
        """
        if not is_number(factor):
            return NotImplemented
        amount = as_amount("the factor of counts", factor)
        if amount == 1:
            return self
        return Cooccurrence._trusted(
            {lag: self[lag] * amount for lag in self.lags},
            self.symbol_counts * amount,
            self.start_counts * amount,
            self.vocabulary,
        )

    __rmul__ = __mul__

    def without(self, part: Cooccurrence) -> Cooccurrence:
        """The counts of the rest, where ``part`` are those of a part of the data.

        What weights or rounding would leave below zero is zero.

        >>> both = Cooccurrence({1: [[0, 4], [2, 0]]}, [4, 2], [1, 0])
        >>> both.without(Cooccurrence({1: [[0, 3], [0, 0]]}, [3, 0], [1, 0]))[1]
        array([[0, 1],
               [2, 0]])
        """
        if (self.lags, self.vocabulary, self.n_symbols) != (
            part.lags,
            part.vocabulary,
            part.n_symbols,
        ):
            raise ValueError(f"{part!r} is no part of {self!r}: lags and symbols must be the same")
        return Cooccurrence._trusted(
            {lag: _rest(self[lag], part[lag]) for lag in self.lags},
            np.maximum(self.symbol_counts - part.symbol_counts, 0),
            np.maximum(self.start_counts - part.start_counts, 0),
            self.vocabulary,
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Cooccurrence):
            return NotImplemented
        return (
            self.lags == other.lags
            and self.vocabulary == other.vocabulary
            and np.array_equal(self.symbol_counts, other.symbol_counts)
            and np.array_equal(self.start_counts, other.start_counts)
            and all(_equal(self[lag], other[lag]) for lag in self.lags)
        )

    __hash__ = None  # type: ignore[assignment]

    def _spread(self, vocabulary: Vocabulary | None, n: int) -> Cooccurrence:
        """The same counts among ``n`` symbols, in the places that ``vocabulary`` gives them."""
        if n == self.n_symbols and vocabulary == self.vocabulary:
            return self
        if vocabulary is None or self.vocabulary is None:
            places = np.arange(self.n_symbols, dtype=np.int32)
        else:
            places = codes_in(self.vocabulary, vocabulary)

        def vector(values: np.ndarray) -> np.ndarray:
            out = np.zeros(n, values.dtype)
            out[places] = values
            return out

        def matrix(values: Matrix) -> Matrix:
            entries = sparse.coo_array(values)
            row, column = places[entries.row], places[entries.col]
            return _stored(sparse.csr_array((entries.data, (row, column)), shape=(n, n)))

        return Cooccurrence._trusted(
            {lag: matrix(self[lag]) for lag in self.lags},
            vector(self.symbol_counts),
            vector(self.start_counts),
            vocabulary,
        )

    def __repr__(self) -> str:
        pairs = ", ".join(f"{self.n_pairs(lag):,.0f} at lag {lag}" for lag in self.lags)
        form = "sparse" if self.is_sparse else "dense"
        return f"Cooccurrence({self.n_symbols:,} symbols, {form}; pairs: {pairs})"

    def _repr_html_(self) -> str:
        rows = [self._row(lag) for lag in self.lags[:MAX_LAGS]]
        columns = ["lag", "pairs", "different ones", "most frequent"]
        return html_table(repr(self), columns, rows, more_than(len(rows), len(self.lags), "lags"))

    def _row(self, lag: int) -> tuple[int, str, str, str]:
        """A lag, its pairs, how many of them differ, and how often the most frequent occur."""
        table, labels = sparse.coo_array(self[lag]), self.vocabulary or range(self.n_symbols)
        top = np.argsort(-table.data, kind="stable")[:TOP_PAIRS]
        pairs = zip(table.row[top], table.col[top], table.data[top].tolist(), strict=True)
        frequent = "  ".join(f"{labels[a]} {labels[b]} {n:,.0f}" for a, b, n in pairs if n)
        return lag, f"{table.sum():,.0f}", f"{np.count_nonzero(table.data):,}", frequent

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        header = {"lags": self.lags, "vocabulary": self.vocabulary}
        storage.save(path, "cooccurrence", header, self.arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Cooccurrence:
        """Read counts that `save` wrote."""
        header, arrays = storage.load(path, "cooccurrence")

        def build() -> Cooccurrence:
            return cls.from_arrays(header["lags"], arrays, header["vocabulary"])

        return cast(Cooccurrence, storage.reading(path, build))

    def arrays(self) -> dict[str, np.ndarray]:
        """All numbers, as arrays by name, for a file."""
        arrays = {"symbol_counts": self.symbol_counts, "start_counts": self.start_counts}
        for lag in self.lags:
            matrix = self[lag]
            if sparse.issparse(matrix):
                for part in ("data", "indices", "indptr"):
                    arrays[f"{lag}.{part}"] = getattr(matrix, part)
            else:
                arrays[f"{lag}.counts"] = matrix
        return arrays

    @classmethod
    def from_arrays(
        cls, lags: Iterable[int], arrays: dict[str, np.ndarray], vocabulary: Any
    ) -> Cooccurrence:
        """What `arrays` gave, nobody else's by now."""
        frozen(arrays)
        n = len(arrays["symbol_counts"])

        def matrix(lag: int) -> Matrix:
            if f"{lag}.counts" in arrays:
                return arrays[f"{lag}.counts"]
            parts = tuple(arrays[f"{lag}.{part}"] for part in ("data", "indices", "indptr"))
            return sparse.csr_array(parts, shape=(n, n))

        counts = {lag: matrix(lag) for lag in lags}
        return cls(counts, arrays["symbol_counts"], arrays["start_counts"], vocabulary)


def checked_lag(lag: Any) -> int:
    """A lag, if it is one."""
    if not is_whole(lag) or lag < 1:
        raise ValueError(f"a lag is a whole number from 1, not {shown(lag)}")
    if lag > LARGEST_LAG:
        raise ValueError(f"a lag is at most {LARGEST_LAG:,}, not {shown(int(lag))}")
    return int(lag)


def _checked_matrix(name: str, matrix: Any, n: int) -> Matrix:
    """An (N, N) array of counts, or a canonical CSR array, that nobody else writes to."""
    if not sparse.issparse(matrix):
        matrix = as_counts(name, matrix, 2)
    if matrix.shape != (n, n):
        raise ValueError(f"{name} have the shape {matrix.shape}, not {(n, n)}")
    if not sparse.issparse(matrix):
        return matrix
    matrix = _checked_sparse(name, matrix)
    parts = (
        as_counts(name, matrix.data),
        *(own(a, a.dtype) for a in (matrix.indices, matrix.indptr)),
    )
    copy = sparse.csr_array(parts, shape=(n, n))
    return frozen(copy if copy.has_canonical_format else _canonical(copy.copy()))


def _checked_sparse(name: str, matrix: Any) -> Matrix:
    """A sparse matrix of any format as CSR, whose indices are within its shape."""
    if hasattr(matrix, "check_format"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise ValueError(f"{name} are no sparse matrix: {error}") from None
    return sparse.csr_array(matrix)


def _checked_law(lag: int, law: Any) -> Matrix:
    name = f"the pair law of lag {checked_lag(lag)}"
    if sparse.issparse(law):
        matrix = _checked_sparse(name, law).astype(np.float64)
        as_law(name, matrix.data)
    else:
        matrix = as_law(name, law)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square, not {matrix.shape}")
    return matrix


def _stored(matrix: Matrix) -> Matrix:
    """Dense up to `LARGEST_DENSE` symbols, canonical CSR beyond."""
    if matrix.shape[0] <= LARGEST_DENSE:
        return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    return _canonical(sparse.csr_array(matrix))


def _rest(matrix: Matrix, part: Matrix) -> Matrix:
    if not sparse.issparse(matrix):
        return np.maximum(matrix - part, 0)
    rest = sparse.csr_array(matrix - part)
    rest.data = np.maximum(rest.data, 0)
    return _stored(rest)


def _canonical(matrix: Matrix) -> Matrix:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _equal(left: Matrix, right: Matrix) -> bool:
    if left.dtype != right.dtype or sparse.issparse(left) != sparse.issparse(right):
        return False
    if not sparse.issparse(left):
        return np.array_equal(left, right)
    return all(
        np.array_equal(getattr(left, part), getattr(right, part))
        for part in ("data", "indices", "indptr")
    )


# -- counts of any kind ------------------------------------------------------------------------


def as_counts(name: str, values: Any, ndim: int = 1) -> Ints | Floats:
    """Counts, int64 or float64, that are finite, at least 0, and add up to something finite."""
    array = as_numbers(name, values, "iuf", ndim)
    if array.size and not (array.min() >= 0 and array.max() < np.inf):
        place = tuple(np.argwhere(~(np.isfinite(array) & (array >= 0)))[0].tolist())
        raise ValueError(
            f"{name} have {array[place]} at {list(place)}: a count must be finite and at least 0"
        )
    kind = np.dtype(np.float64 if array.dtype.kind == "f" else np.int64)
    if array.size:
        with np.errstate(over="ignore"):
            check_total(name, array.sum(dtype=np.float64), kind)
    return own(array, kind)


def check_total(name: str, total: float, kind: np.dtype[Any]) -> None:
    """Refuse counts whose sum is too large for their type."""
    if not total < LARGEST_SUM[kind.kind]:
        raise ValueError(f"{name} add up to {total:.3g}, more than {kind} can hold")


def added(name: str, a: Any, b: Any) -> Any:
    """``a + b``, arrays or matrices of counts, where that does not overflow."""
    total = a + b
    check_total(name, float(a.sum()) + float(b.sum()), total.dtype)
    return total


def as_law(what: str, law: Any) -> Floats:
    """Probabilities in an array of any shape, that sum to one."""
    array = as_floats(what, law)
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0].tolist())
        raise ValueError(f"{what} has the entry {array[place]} at {place}: no probability")
    with np.errstate(over="ignore"):
        total = array.sum()
    if not abs(total - 1) <= 1e-6:
        raise ValueError(f"{what} sums to {total:.6g}, not to 1")
    return array


def united(a: Any, b: Any) -> tuple[Vocabulary | None, int]:
    """The labels of a sum of counts, or None where symbols are numbers; and how many there are."""
    if (a.vocabulary is None) != (b.vocabulary is None):
        raise ValueError("counts of labels and counts of numbers do not add up")
    if a.vocabulary is None:
        return None, max(a.n_symbols, b.n_symbols)
    vocabulary = unite(a.vocabulary, cast(Vocabulary, b.vocabulary))
    return vocabulary, len(vocabulary)

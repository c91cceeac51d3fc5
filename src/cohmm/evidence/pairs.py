"""Pair counts by lag: the evidence that everything is learned from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from scipy import sparse

from cohmm import storage
from cohmm.data.vocabulary import Vocabulary, as_vocabulary, codes_in, unite
from cohmm.kernels.compiled import Floats

Matrix = Any
"""An (N, N) array, or a scipy CSR array for large vocabularies."""

LARGEST_DENSE = 1024


@dataclass(frozen=True, eq=False)
class Cooccurrence:
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
        n = len(self.symbol_counts)
        for lag, matrix in self.counts.items():
            if matrix.shape != (n, n):
                raise ValueError(
                    f"the counts of lag {lag} have the shape {matrix.shape}, not {(n, n)}"
                )
        if len(self.start_counts) != n:
            raise ValueError(f"there are {len(self.start_counts)} start counts for {n} symbols")
        if self.vocabulary is not None and len(self.vocabulary) != n:
            raise ValueError(f"there are {len(self.vocabulary)} labels for {n} symbols")

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
        if not n_pairs > 0:
            raise ValueError(f"n_pairs must be above 0, not {n_pairs}")
        laws = dict(omega) if isinstance(omega, Mapping) else {1: omega}
        counts = {
            checked_lag(lag): _checked_law(lag, law) * float(n_pairs) for lag, law in laws.items()
        }
        if not counts:
            raise ValueError("omega has no lag")
        first = next(iter(counts.values()))
        sizes = {lag: matrix.shape for lag, matrix in counts.items()}
        if len(set(sizes.values())) > 1:
            raise ValueError(f"the laws have different shapes: {sizes}")
        return cls(
            {lag: _stored(matrix) for lag, matrix in sorted(counts.items())},
            np.asarray(first.sum(axis=1)).ravel(),
            np.zeros(first.shape[0]),
            None if vocabulary is None else as_vocabulary(vocabulary),
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
        if (self.vocabulary is None) != (other.vocabulary is None):
            raise ValueError("counts of labels and counts of numbers do not add up")
        if self.vocabulary is None:
            n = max(self.n_symbols, other.n_symbols)
            vocabulary = None
        else:
            vocabulary = unite(self.vocabulary, cast(Vocabulary, other.vocabulary))
            n = len(vocabulary)
        left, right = self._spread(vocabulary, n), other._spread(vocabulary, n)
        return Cooccurrence(
            {lag: _stored(left[lag] + right[lag]) for lag in self.lags},
            left.symbol_counts + right.symbol_counts,
            left.start_counts + right.start_counts,
            vocabulary,
        )

    __radd__ = __add__

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

        return Cooccurrence(
            {lag: matrix(self[lag]) for lag in self.lags},
            vector(self.symbol_counts),
            vector(self.start_counts),
            vocabulary,
        )

    def __repr__(self) -> str:
        pairs = ", ".join(f"{self.n_pairs(lag):,.0f} at lag {lag}" for lag in self.lags)
        form = "sparse" if self.is_sparse else "dense"
        return f"Cooccurrence({self.n_symbols:,} symbols, {form}; pairs: {pairs})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the counts to a file, whole or not at all."""
        arrays = {"symbol_counts": self.symbol_counts, "start_counts": self.start_counts}
        for lag in self.lags:
            matrix = self[lag]
            if sparse.issparse(matrix):
                for part in ("data", "indices", "indptr"):
                    arrays[f"{lag}.{part}"] = getattr(matrix, part)
            else:
                arrays[f"{lag}.counts"] = matrix
        header = {"lags": self.lags, "vocabulary": self.vocabulary}
        storage.save(path, "cooccurrence", header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Cooccurrence:
        """Read counts that `save` wrote."""
        header, arrays = storage.load(path, "cooccurrence")

        def matrix(lag: int, n: int) -> Matrix:
            if f"{lag}.counts" in arrays:
                return arrays[f"{lag}.counts"]
            parts = tuple(arrays[f"{lag}.{part}"] for part in ("data", "indices", "indptr"))
            found = sparse.csr_array(parts, shape=(n, n))
            found.check_format(full_check=True)
            return found

        def build() -> Cooccurrence:
            n = len(arrays["symbol_counts"])
            labels = header["vocabulary"]
            return cls(
                {lag: matrix(lag, n) for lag in header["lags"]},
                arrays["symbol_counts"],
                arrays["start_counts"],
                None if labels is None else as_vocabulary(labels),
            )

        return cast(Cooccurrence, storage.reading(path, build))


def checked_lag(lag: Any) -> int:
    """A lag, if it is one."""
    if isinstance(lag, bool) or not isinstance(lag, (int, np.integer)) or lag < 1:
        raise ValueError(f"a lag is a whole number from 1, not {lag!r}")
    return int(lag)


def _checked_law(lag: int, law: Any) -> Matrix:
    matrix = (
        sparse.csr_array(law, dtype=np.float64)
        if sparse.issparse(law)
        else np.array(law, np.float64)
    )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"the pair law of lag {lag} must be square, not {matrix.shape}")
    values: Floats = matrix.data if sparse.issparse(matrix) else matrix  # type: ignore[assignment]
    if not np.isfinite(values).all() or (values < 0).any():
        bad = np.asarray(values)[~(np.isfinite(values) & (values >= 0))][0]
        raise ValueError(f"the pair law of lag {lag} has the entry {bad}: not a probability")
    if abs(values.sum() - 1) > 1e-6:
        raise ValueError(f"the pair law of lag {lag} sums to {values.sum():.6g}, not to 1")
    return matrix


def _stored(matrix: Matrix) -> Matrix:
    """Dense up to `LARGEST_DENSE` symbols, canonical CSR beyond."""
    if matrix.shape[0] <= LARGEST_DENSE:
        return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
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

"""Counts of windows: so many symbols before, one in the middle, as many after."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.partitioned import count_data
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.values import as_amount, as_n_symbols, as_numbers, shown
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.grams import Grams, as_grams, as_law, keys_of, merged, rows_of
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints

PART = 2**20
KEY_BITS = 62  # a window must be a number that 64 bits hold


@dataclass(frozen=True, eq=False)
class Windows(Grams):
    """The windows of 2 tau + 1 symbols that occur, and how often.

    Parameters
    ----------
    windows : int32 array, (n, 2 tau + 1)
        The distinct windows, in order.
    counts : int64 or float64 array, (n,)
        How often each occurs; whole numbers where windows were counted.
    n_symbols : int
        N, the number of symbols.
    vocabulary : tuple or None
        The labels of the symbols, where they have labels.

    >>> count_windows([0, 1, 0, 1, 0, 1]) + count_windows([1, 1, 0, 1, 0])
    Windows(2 symbols, tau=2, 3 distinct of 3 windows)
    """

    WHAT = "window"
    windows: Ints
    counts: Ints | Floats
    n_symbols: int
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        windows = as_numbers("windows", self.windows, ndim=2)
        if windows.shape[1] < 3 or windows.shape[1] % 2 == 0:
            raise ValueError(f"windows are of the shape (n, 2 tau + 1), not {windows.shape}")
        _check_size(as_n_symbols(self.n_symbols), windows.shape[1] // 2)
        self._set(*as_grams("window", windows, self.counts, self.n_symbols, self.vocabulary))

    @classmethod
    def from_probability(
        cls, law: Any, n_windows: float = 10**9, *, vocabulary: Iterable[Any] | None = None
    ) -> Windows:
        """A given law, as if ``n_windows`` windows had been counted.

        ``law`` is (N^tau, N, N^tau), as `window_probability` gives it:
        the symbols before, in the order in which they were seen, as one number of base N; the
        symbol in the middle; those after it.

        >>> law = np.zeros((4, 2, 4))
        >>> law[1, 1, 2] = 1  # always 0, 1, then 1, then 1, 0
        >>> Windows.from_probability(law, n_windows=8).windows
        array([[0, 1, 1, 1, 0]], dtype=int32)
        """
        amount = as_amount("n_windows", n_windows)
        cube, n, tau = _checked_law(law)
        keys = np.flatnonzero(cube)
        counts = cube.ravel()[keys] * amount
        return cls(rows_of(keys, n, 2 * tau + 1), counts, n, vocabulary)  # type: ignore[arg-type]

    @property
    def tau(self) -> int:
        """How many symbols are on either side of the middle."""
        return int(self.windows.shape[1] // 2)

    @property
    def n_windows(self) -> float:
        """How many windows were counted; a whole number, unless a law was given."""
        return self._total()

    @property
    def past(self) -> Ints:
        """The symbols before the middle as one number, (n,), below N^tau."""
        return keys_of(self.windows[:, : self.tau], self.n_symbols)

    @property
    def middle(self) -> Ints:
        """The symbol in the middle, (n,)."""
        return self.windows[:, self.tau]

    @property
    def future(self) -> Ints:
        """The symbols after the middle as one number, (n,), below N^tau."""
        return keys_of(self.windows[:, self.tau + 1 :], self.n_symbols)

    def __repr__(self) -> str:
        return (
            f"Windows({self.n_symbols:,} symbols, tau={self.tau}, {len(self.counts):,} distinct "
            f"of {self.n_windows:,.0f} windows)"
        )

    def _check_room(self, n: int) -> None:
        _check_size(n, self.tau)


def count_windows(
    X: Any,
    lengths: Iterable[int] | None = None,
    tau: int = 2,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Windows:
    """Count 2 tau + 1 symbols in a row, in one pass; the data as `Sequences.of` reads it.

    Windows never cross the border of two sequences, nor count where a symbol is missing.

    >>> count_windows([0, 1, 0, 1, 0, 1, 0]).windows
    array([[0, 1, 0, 1, 0],
           [1, 0, 1, 0, 1]], dtype=int32)
    """
    counts, n, longest = count_data(
        X,
        lengths,
        window_counts,
        tau,
        vocabulary=vocabulary,
        n_symbols=n_symbols,
        unseen=unseen,
        characters=characters,
    )
    if not len(counts.counts):
        raise ValueError(
            f"there is no window: {n} sequences, the longest of {longest} symbols, never have "
            f"{2 * tau + 1} observations in a row; a smaller tau needs fewer"
        )
    return counts  # type: ignore[no-any-return]


def window_counts(data: Sequences, tau: int = 2) -> Windows:
    """`count_windows` of `Sequences`, where counting no window at all is no mistake."""
    if isinstance(tau, bool) or not isinstance(tau, (int, np.integer)) or tau < 1:
        raise ValueError(f"tau must be a whole number from 1, not {shown(tau)}")
    n, width = data.n_symbols, 2 * int(tau) + 1
    _check_size(n, int(tau))
    last = len(data.symbols) - width + 1  # windows begin before this place

    def count(first: int, stop: int) -> tuple[Ints, Ints]:
        symbols = data.symbols[first : stop + width - 1]
        keys = np.zeros(stop - first, np.int64)
        missing = np.zeros(stop - first, bool)
        for i in range(width):
            here = symbols[i : i + len(keys)]
            keys = keys * n + here
            missing |= here < 0
        places = np.arange(first, stop)
        ends = data.offsets[np.searchsorted(data.offsets, places, side="right")]
        return np.unique(keys[~missing & (places + width <= ends)], return_counts=True)

    found = run(count, split(max(last, 0), -(-max(last, 0) // PART)))
    keys, counts = merged(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
    return Windows._trusted(rows_of(keys, n, width), counts, n, data.vocabulary)


def _check_size(n: int, tau: int) -> None:
    width = min(2 * tau + 1, 2 * KEY_BITS)
    if width * np.log2(max(n, 2)) > KEY_BITS:
        most = int(2 ** (KEY_BITS / width))
        raise ValueError(
            f"windows of {shown(2 * tau + 1)} among {n:,} symbols cannot be counted: "
            f"tau={shown(tau)} allows {most:,} symbols at most"
        )


def _checked_law(law: Any) -> tuple[Floats, int, int]:
    """The law, N and tau."""
    cube = as_law("the window law", law)
    n = cube.shape[1] if cube.ndim == 3 else 0
    tau = 1
    while n > 1 and n**tau < len(cube):
        tau += 1
    if n < 1 or cube.shape != (n**tau, n, n**tau):
        raise ValueError(f"a window law must be of the shape (N^tau, N, N^tau), not {cube.shape}")
    _check_size(n, tau)
    return cube, n, tau

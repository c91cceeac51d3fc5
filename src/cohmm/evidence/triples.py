"""Triple counts: how often a is followed by b and then by c."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.data.partitioned import count_data
from cohmm.data.sequences import Sequences, Unseen
from cohmm.data.values import as_amount, as_n_symbols, as_numbers
from cohmm.data.vocabulary import Vocabulary
from cohmm.evidence.grams import Grams, as_grams, as_law, merged, rows_of
from cohmm.kernels import counts as kernels
from cohmm.kernels.threads import run, split
from cohmm.kernels.types import Floats, Ints

MOST_SYMBOLS = 2_000_000  # N cubed must fit a 64-bit key
DENSE_CELLS = 2**22  # a table of all triples is used up to here
PART = 2**22


@dataclass(frozen=True, eq=False)
class Triples(Grams):
    """The triples that occur, and how often.

    Parameters
    ----------
    triples : int32 array, (n, 3)
        The distinct triples (a, b, c), in order.
    counts : int64 or float64 array, (n,)
        How often each occurs; whole numbers where triples were counted.
    n_symbols : int
        N, the number of symbols.
    vocabulary : tuple or None
        The labels of the symbols, where they have labels.

    >>> count_triples([0, 1, 0, 1, 0]) + count_triples([0, 1, 0])
    Triples(2 symbols, 2 distinct of 4 triples)
    """

    WHAT = "triple"
    triples: Ints
    counts: Ints | Floats
    n_symbols: int
    vocabulary: Vocabulary | None = None

    def __post_init__(self) -> None:
        triples = as_numbers("triples", self.triples, ndim=2)
        if triples.shape[1] != 3:
            raise ValueError(f"triples are of the shape (n, 3), not {triples.shape}")
        check_size(as_n_symbols(self.n_symbols))
        self._set(*as_grams("triple", triples, self.counts, self.n_symbols, self.vocabulary))

    @classmethod
    def from_probability(
        cls,
        law: Any,
        n_triples: float = 10**9,
        *,
        vocabulary: Iterable[Any] | None = None,
    ) -> Triples:
        """A given law of triples, (N, N, N), as if ``n_triples`` of them had been counted.

        >>> Triples.from_probability([[[.5, 0], [.25, 0]], [[0, 0], [0, .25]]], n_triples=8).counts
        array([4., 2., 2.])
        """
        amount = as_amount("n_triples", n_triples)
        cube = _checked_law(law)
        check_size(len(cube))
        keys = np.flatnonzero(cube)
        counts = cube.ravel()[keys] * amount
        return cls(rows_of(keys, len(cube), 3), counts, len(cube), vocabulary)  # type: ignore[arg-type]

    @property
    def n_triples(self) -> float:
        """How many triples were counted; a whole number, unless a law was given."""
        return self._total()

    def __repr__(self) -> str:
        return (
            f"Triples({self.n_symbols:,} symbols, {len(self.counts):,} distinct "
            f"of {self.n_triples:,.0f} triples)"
        )

    def _check_room(self, n: int) -> None:
        check_size(n)


def count_triples(
    X: Any,
    lengths: Iterable[int] | None = None,
    *,
    vocabulary: Iterable[Any] | None = None,
    n_symbols: int | None = None,
    unseen: Unseen = "error",
    characters: bool = False,
) -> Triples:
    """Count three symbols in a row, in one pass; the data as `Sequences.of` reads it.

    Triples never cross the border of two sequences, nor count where one is missing.

    >>> count_triples([0, 1, 0, 1, 0]).triples
    array([[0, 1, 0],
           [1, 0, 1]], dtype=int32)
    """
    counts, n, longest = count_data(
        X,
        lengths,
        triple_counts,
        vocabulary=vocabulary,
        n_symbols=n_symbols,
        unseen=unseen,
        characters=characters,
    )
    if not len(counts.counts):
        raise ValueError(
            f"there is no triple: {n} sequences, the longest of {longest} symbols, never have "
            "three observations in a row"
        )
    return counts  # type: ignore[no-any-return]


def triple_counts(data: Sequences) -> Triples:
    """`count_triples` of `Sequences`, where counting no triple at all is no mistake."""
    n = data.n_symbols
    check_size(n)
    parts = split(len(data.symbols), -(-len(data.symbols) // PART))

    def count(first: int, stop: int) -> tuple[Ints, Ints]:
        part = (first, stop)
        if n**3 <= DENSE_CELLS:
            table = np.zeros(n**3, np.int64)
            kernels.count_triples(data.symbols, data.offsets, part, n, table)
            distinct = np.flatnonzero(table)
            return distinct, table[distinct]
        keys = np.empty(stop - first, np.int64)
        size = kernels.triple_keys(data.symbols, data.offsets, part, n, keys)
        return np.unique(keys[:size], return_counts=True)

    found = run(count, parts)
    keys, counts = found[0]
    if len(found) > 1 and n**3 <= DENSE_CELLS:
        table = np.zeros(n**3, np.int64)
        for distinct, several in found:
            table[distinct] += several
        keys = np.flatnonzero(table)
        counts = table[keys]
    elif len(found) > 1:
        keys, counts = merged(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
    return Triples._trusted(rows_of(keys, n, 3), counts, n, data.vocabulary)


def check_size(n: int) -> None:
    """Whether triples of ``n`` symbols can be numbered."""
    if n > MOST_SYMBOLS:
        raise ValueError(f"triples of {n:,} symbols: at most {MOST_SYMBOLS:,} can be counted")


def _checked_law(law: Any) -> Floats:
    cube = as_law("the triple law", law)
    if cube.ndim != 3 or len(set(cube.shape)) > 1:
        raise ValueError(f"a triple law must be of the shape (N, N, N), not {cube.shape}")
    return cube

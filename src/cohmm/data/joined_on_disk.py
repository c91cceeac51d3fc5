"""Sequences larger than memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from cohmm.data.mapped_arrays import mapped
from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Ints

MOST = 2**26  # symbols that are held in memory, a quarter of a gigabyte


def joined_on_disk(batches: Iterable[Sequences], most: int = MOST) -> Sequences:
    """The sequences of all batches, as `Sequences.joined`; beyond ``most`` symbols in a file."""
    rest = iter(batches)
    held: list[Sequences] = []
    n = 0
    for batch in rest:
        held.append(batch)
        n += batch.n_observations
        if n > most:
            break
    else:
        return Sequences.joined(held)
    ends, last = array("q", [0]), batch

    def symbols() -> Iterator[Ints]:
        nonlocal last
        for each in chain(held, rest):
            ends.extend((each.offsets[1:] + ends[-1]).tolist())
            last = each
            yield each.symbols

    codes = mapped(symbols(), np.int32)
    return Sequences._trusted(codes, np.frombuffer(ends, np.int64), last.n_symbols, last.vocabulary)

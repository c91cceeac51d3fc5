"""Sequences larger than memory."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cohmm.data.scratch import ScratchArray
from cohmm.data.sequences import Sequences

MOST = 2**26  # symbols that are held in memory, a quarter of a gigabyte


def joined_on_disk(batches: Iterable[Sequences], most: int = MOST) -> Sequences:
    """The sequences of all batches, as `Sequences.joined`; beyond ``most`` symbols in a file."""
    codes, starts = ScratchArray(np.int32, 4 * most + 1), ScratchArray(np.int64, 8 * most)
    for batch in batches:
        starts.append(batch.offsets[:-1] + len(codes))
        codes.append(batch.symbols)
    starts.append(np.array([len(codes)]))
    fields = codes.mapped(), starts.mapped(), batch.n_symbols, batch.vocabulary
    return Sequences._trusted(*fields)

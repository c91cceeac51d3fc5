"""The recursions of chain_reference.c, compiled for one number of states, on cohmm's tables."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from cohmm import HMM
from cohmm.data.sequences import Sequences

GANG = 8
LONG_BLOCK, SHORT_BLOCK = 16384, 2048  # symbols, as in cohmm
FLAGS = ["-O3", "-march=native", "-ffast-math", "-fno-finite-math-only", "-shared", "-fPIC"]


@cache
def _library(n_components: int) -> ctypes.CDLL | None:
    """The C code, compiled for a number of states."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        return None
    path = Path(tempfile.mkdtemp()) / "chain_reference.so"
    source = Path(__file__).with_suffix(".c")
    command = [compiler, *FLAGS, f"-DK={n_components}", str(source), "-o", str(path)]
    if subprocess.run([*command, "-lm"], capture_output=True, check=False).returncode:
        return None
    return ctypes.CDLL(str(path))


class Reference:
    """Forward, expected counts and Viterbi in C; `of` gives None where there is no compiler."""

    def __init__(self, hmm: HMM, data: Sequences, library: Any):
        self.hmm, self.data, self.library = hmm, data, library
        library.forward.restype = library.expected_counts.restype = ctypes.c_double
        assert library.padded_states() == hmm._tables.width
        self.long, self.short = (_blocks(data.offsets, size) for size in (LONG_BLOCK, SHORT_BLOCK))

    @classmethod
    def of(cls, hmm: HMM, data: Sequences) -> Reference | None:
        library = _library(hmm.n_components)
        return None if library is None else cls(hmm, data, library)

    def forward(self) -> float:
        tables = self.hmm._tables
        first, last, begins, _ = self.long
        return float(
            self.library.forward(
                ctypes.c_int64(len(first)),
                *_pointers(
                    self.data.symbols, first, last, begins, tables.start, tables.trans, tables.emit
                ),
            )
        )

    def expected_counts(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The log-likelihood, expected starts, transitions and emissions."""
        tables, k = self.hmm._tables, self.hmm.n_components
        width = tables.width
        counts = np.zeros(width), np.zeros((width, width)), np.zeros_like(tables.emit)
        log_prob = self.library.expected_counts(
            ctypes.c_int64(len(self.short[0])),
            *_pointers(self.data.symbols, *self.short, *tables[1:5], *counts),
        )
        starts, transitions, emissions = counts
        return (
            log_prob,
            starts[:k],
            transitions[:k, :k] * self.hmm.transmat,
            emissions[:-1, :k].T,
        )

    def viterbi(self) -> np.ndarray:
        """The best path."""
        states = np.zeros(len(self.data.symbols), np.int32)
        self.library.viterbi(
            ctypes.c_int64(len(self.short[0])),
            *_pointers(self.data.symbols, *self.short, *self.hmm._logs[1:5], states),
        )
        return states


def _blocks(offsets: np.ndarray, longest: int) -> tuple[np.ndarray, ...]:
    """First and last places, and whether a sequence begins or ends there; a multiple of eight."""
    total = int(offsets[-1])
    size = -(-total // (GANG * -(-total // (GANG * longest))))
    rows = []
    for begin, end in pairwise(offsets.tolist()):
        cuts = [*range(begin, end, size), end]
        rows += [(a, b, a == begin, b == end) for a, b in pairwise(cuts)]
    rows.sort(key=lambda row: row[0] - row[1])
    rows += [(0, 0, True, True)] * (-len(rows) % GANG)
    table = np.array(rows)
    return (*table[:, :2].T.copy(), *table[:, 2:].T.astype(np.int32, order="C"))


def _pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
    return [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]

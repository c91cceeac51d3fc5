"""What a report about a hidden Markov model says of sequences, read once and forgotten."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.types import Floats, Ints
from cohmm.model.hmm import HMM
from cohmm.report.draw import MOST_WORDS, Draw
from cohmm.report.prepare import Reading

MARGIN = 200  # symbols on both sides of a piece, which are read and not shown
MOST_KEPT = 1_000_000  # observations, 4 MB: more are not kept, nor tested against the model


class Piece(NamedTuple):
    """A part of a sequence that is shown."""

    sequence: int
    begin: int
    """Its place in the sequence."""
    length: int
    is_whole: bool
    symbols: Ints
    """Those of the piece, with a margin on both sides where the sequence goes on."""


class _PairSum:
    """A sum in which counts are added to others of about their size.

    Adding each batch to one large sparse sum would copy that sum as often as there are batches.
    """

    def __init__(self) -> None:
        self._parts: list[tuple[int, Cooccurrence]] = []

    def add(self, part: Cooccurrence) -> None:
        n = 1
        while self._parts and self._parts[-1][0] == n:
            part = self._parts.pop()[1] + part
            n *= 2
        self._parts.append((n, part))

    def sum(self) -> Cooccurrence:
        return sum((part for _, part in self._parts[-2::-1]), self._parts[-1][1])


class Survey:
    """Sums over batches of sequences, and pieces that are drawn from them."""

    def __init__(self, hmm: HMM, n_texts: int, count: bool) -> None:
        self._hmm = hmm
        self._draw = Draw(n_texts)
        self._pairs = _PairSum() if count else None
        self._kept: list[Sequences] = []
        self.pieces: dict[int, Piece] = {}
        self.n_sequences = self.n_observations = self.n_missing = 0
        self.log_likelihood = 0.0

    @property
    def n_pieces(self) -> int:
        """How many pieces all sequences have."""
        return self._draw.n_offered

    @property
    def pairs(self) -> Cooccurrence | None:
        """The pairs at lag 1, where they were counted."""
        return None if self._pairs is None else self._pairs.sum()

    @property
    def data(self) -> Sequences | None:
        """All sequences, if they are few enough to be kept."""
        kept = self._kept
        if len(kept) < 2:
            return kept[0] if kept else None
        offsets = np.cumsum([0, *np.concatenate([part.lengths for part in kept])])
        symbols = np.concatenate([part.symbols for part in kept])
        return Sequences(symbols, offsets, self._hmm.n_symbols, self._hmm.vocabulary)

    def add(self, data: Sequences) -> None:
        """One more batch."""
        each = self._hmm.log_likelihoods(data)
        if (each == -math.inf).any():
            s = self.n_sequences + int((each == -math.inf).argmax())
            raise ValueError(
                f"sequence {s} has probability zero under the model, which cannot have produced "
                "it: leave it out, or learn with smoothing"
            )
        if self._pairs is not None:
            self._pairs.add(pair_counts(data))
        self._choose(data)
        self.log_likelihood += float(each.sum())
        self.n_sequences += len(data)
        self.n_observations += len(data.symbols)
        self.n_missing += int((data.symbols < 0).sum())
        self._kept = [*self._kept, data] if self.n_observations <= MOST_KEPT else []

    def _choose(self, data: Sequences) -> None:
        counts = np.maximum(-(-data.lengths // MOST_WORDS), 1)
        which = np.repeat(np.arange(len(data)), counts)
        part = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
        begins = MOST_WORDS * part
        lengths = np.minimum(data.lengths[which] - begins, MOST_WORDS)
        before = self.n_pieces
        chosen = self._draw.offer(lengths)
        new = {
            number: self._piece(data, *(int(a[number - before]) for a in (which, begins, lengths)))
            for number in chosen[chosen >= before].tolist()
        }
        self.pieces = {i: new[i] if i >= before else self.pieces[i] for i in chosen.tolist()}

    def _piece(self, data: Sequences, s: int, begin: int, length: int) -> Piece:
        symbols = data.symbols[data.offsets[s] : data.offsets[s + 1]]
        part = symbols[max(begin - MARGIN, 0) : begin + length + MARGIN].copy()
        return Piece(self.n_sequences + s, begin, length, length == len(symbols), part)


def read_piece(hmm: HMM, prevalence: Floats, number: int, piece: Piece) -> Reading:
    """The states of a piece: the most probable path, place by place, and without any order."""
    before = min(piece.begin, MARGIN)
    if piece.begin > before:  # what came before the margin is not known, and its end is anything
        k = hmm.n_components
        hmm = HMM(np.full(k, 1 / k), hmm.transmat, hmm.emissionprob, hmm.vocabulary)
    offsets = np.array([0, len(piece.symbols)])
    part = Sequences(piece.symbols, offsets, hmm.n_symbols, hmm.vocabulary)
    inner = slice(before, before + piece.length)
    posterior = hmm.posterior(part)[inner]
    path = hmm.decode(part)[1][inner]
    shown = piece.symbols[inner]
    bag = np.where(shown[:, None] >= 0, hmm.emissionprob.T[shown], 1.0) * prevalence
    return Reading(
        number=number,
        name=f"Sequence {piece.sequence}" + ("" if piece.is_whole else f", from {piece.begin:,}"),
        length=len(shown),
        symbols=shown,
        path=path,
        path_p=posterior[np.arange(len(shown)), path],
        best=posterior.argmax(axis=1),
        best_p=posterior.max(axis=1),
        bag=bag.argmax(axis=1),
        shares=posterior.mean(axis=0) if len(shown) else prevalence,
    )

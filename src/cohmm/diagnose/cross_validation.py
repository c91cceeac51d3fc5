"""Cross-validation of numbers of states: parts to learn from, and parts that are held out.

Where there are many sequences they are dealt out whole; a few long ones are cut into blocks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm._validation import check_whole, silenced
from cohmm.data.encoding import MISSING
from cohmm.data.sequences import Sequences
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import n_in_pairs
from cohmm.learn.pairwise import PairwiseFit, pairwise
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import match_rows, total_variation

GROUPS, MIN_GROUPS = 100, 10
MIN_BLOCK = 50  # symbols
MANY_SEQUENCES = 50  # of fewer, blocks are cut
FOLDS = 5
# Up to how many symbols so many of the folds are held out in turn; of more data one is.  Of many
# sequences a fit takes longer, since it looks for a start.
OF_BLOCKS, OF_SEQUENCES = ((20_000, 5), (200_000, 2)), ((5_000, 5),)
MIN_COUNT = 1.0  # expected: a parameter that is rarer counts as zero


class Groups(NamedTuple):
    """Pieces of the data, each of one group."""

    pieces: Sequences
    """Whole sequences, or blocks of them."""
    group: Ints
    """(S,), of every piece, from 0."""
    blocks: bool
    """Whether sequences were cut."""

    @property
    def n(self) -> int:
        """How many groups there are."""
        return int(self.group.max()) + 1

    def split(self, fold: int, folds: int) -> tuple[Sequences, Sequences, Ints]:
        """What to learn from, what is held out, and the groups of the latter's pieces.

        Neighbouring blocks that are learned from are joined again.
        """
        held = self.group % folds == fold
        first, last = self.pieces.offsets[:-1], self.pieces.offsets[1:]
        test = self.pieces.spans(first[held], last[held])
        join = _joined if self.blocks else Sequences.spans
        return join(self.pieces, first[~held], last[~held]), test, self.group[held]

    def fair_split(self, fold: int, folds: int) -> tuple[Sequences, Sequences, Ints]:
        """As `split`, but symbols that occur in what is held out alone are missing there.

        No model could have learned them: all would give that data probability zero.
        """
        train, test, group = self.split(fold, folds)
        known = np.append(train.symbol_counts > 0, True)  # a place is missing, -1, as it was
        symbols = np.where(known[test.symbols], test.symbols, np.int32(MISSING))
        return train, Sequences(symbols, test.offsets, test.n_symbols, test.vocabulary), group


def grouped(data: Sequences, random_state: int = 0) -> Groups:
    """Cut or deal ``data`` into at most a hundred groups of about the same size.

    >>> parts = grouped(Sequences.of([0, 1] * 1000))
    >>> parts.n, parts.blocks, len(parts.split(0, 5)[1].symbols)
    (40, True, 400)
    """
    total = len(data.symbols)
    n = min(GROUPS, total // MIN_BLOCK)
    if n < MIN_GROUPS:
        raise ValueError(
            f"{total:,} symbols are too few to hold some out: at least "
            f"{MIN_GROUPS * MIN_BLOCK:,} are needed"
        )
    if len(data) >= MANY_SEQUENCES:
        order = np.random.default_rng(random_state).permutation(len(data))
        ends = np.cumsum(data.lengths[order]) - data.lengths[order]
        group = np.empty(len(data), np.int64)
        group[order] = np.minimum(ends * n // max(total, 1), n - 1)
        _, group = np.unique(group, return_inverse=True)  # a long sequence may leave gaps
        return Groups(data, group, blocks=False)
    places = np.unique(np.concatenate([data.offsets, np.arange(n) * total // n]))
    whole = Sequences(data.symbols, places, data.n_symbols, data.vocabulary)
    return Groups(whole, np.minimum(places[:-1] * n // total, n - 1), blocks=True)


def _joined(pieces: Sequences, first: Ints, last: Ints) -> Sequences:
    """Pieces that touch, as one: what was one sequence, or two (a border more or less)."""
    begins = np.concatenate([[True], first[1:] != last[:-1]])
    starts = first[begins]
    stops = last[np.concatenate([begins[1:], [True]])]
    whole = Sequences(
        pieces.symbols, np.array([0, len(pieces.symbols)]), pieces.n_symbols, pieces.vocabulary
    )
    return whole.spans(starts, stops)


def splits(parts: Groups, folds: int | None, n: int) -> list[tuple[Sequences, Sequences, Ints]]:
    """What to learn from, what is held out, and the groups of the latter's pieces, time by time."""
    if folds is None:
        rule = OF_BLOCKS if parts.blocks else OF_SEQUENCES
        times = next((times for most, times in rule if n <= most), 1)
        return [parts.fair_split(fold, FOLDS) for fold in range(times)]
    check_whole(folds=folds)
    if folds > parts.n:
        raise ValueError(f"folds must be {parts.n}, the groups of this data, at most, not {folds}")
    return [parts.fair_split(fold, FOLDS if folds == 1 else folds) for fold in range(folds)]


class Scored(NamedTuple):
    """One number of states or of topics, as it did on data that was held out."""

    scores: Floats
    """Log-likelihoods of the groups that were held out, (G,)."""
    measured: dict[str, Any]
    """Other fields of its `Candidate`."""


class CrossValidation:
    """Learns and scores a number of states."""

    def __init__(
        self,
        parts: Groups,
        folds: int | None,
        lags: list[int],
        stability: bool,
        random_state: int,
        options: dict[str, Any],
    ):
        self.lags, self.seed, self.options, self.blocks = lags, random_state, options, parts.blocks
        self._splits = splits(parts, folds, len(parts.pieces.symbols))
        sizes = np.zeros(parts.n)
        for _, test, group in self._splits:
            np.add.at(sizes, np.repeat(group, test.lengths), test.symbols >= 0)
        self._held_out = sizes > 0
        self.sizes = sizes[self._held_out]
        self.halves = [parts.split(half, 2)[1] for half in range(2)] if stability else []

    def __call__(self, k: int) -> Scored:
        """Of ``k`` states."""
        scores = np.zeros(len(self._held_out))
        bic, n_parameters = float("nan"), 0
        with silenced():
            for train, test, group in self._splits:
                model = self._learned(train, k).model
                np.add.at(scores, group, model.log_likelihoods(test))
                if not n_parameters:
                    n_parameters = count_parameters(model, len(train.symbols))
                    penalty = n_parameters * np.log(len(train.symbols))
                    bic = float(penalty - 2 * model.log_likelihood(train))
            measured = {"bic": bic, "n_parameters": n_parameters, "stability": self._stability(k)}
            return Scored(scores[self._held_out], measured)

    def _learned(self, train: Sequences, k: int) -> PairwiseFit:
        """A few long sequences begin at their pairs, and no random start is tried beside them.

        Of little data one that fits better need not predict better, and takes its time.
        """
        options = {"lags": self.lags, "random_state": self.seed, **self.options}
        if self.blocks and not {"start", "known"} & set(options):
            counts = pair_counts(train, self.lags)
            if k <= n_in_pairs(counts):
                options["start"] = min_volume(counts, k, random_state=self.seed).model
        return pairwise(train, k, **options)

    def _stability(self, k: int) -> float:
        if not self.halves or k == 1:
            return 0.0 if self.halves else float("nan")
        try:
            one, other = (
                min_volume(pair_counts(half, self.lags), k, random_state=self.seed).model
                for half in self.halves
            )
        except ValueError:  # a half has fewer symbols than there are states
            return float("nan")
        order = match_rows(one.emissionprob, other.emissionprob)
        return total_variation(one.emissionprob[order], other.emissionprob)


def count_parameters(model: HMM, n: int) -> int:
    """Transitions and emissions that are expected at least once, less one for each row."""
    visits = n * prevalence_of(model)[:, None]
    kept = [(visits * p >= MIN_COUNT).sum(axis=1) for p in (model.transmat, model.emissionprob)]
    return int(sum(np.maximum(rows - 1, 0).sum() for rows in kept))

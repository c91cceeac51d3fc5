"""How many states: numbers of them compared on held-out data.

1. The data is dealt into groups: whole sequences where there are many, blocks of a few long ones.
2. From the number that the pairs show, others are tried upward and downward, in steps of about a
   half, until two beyond the best are worse; then between the best and its neighbours.
3. Each is learned from some groups and scored on the others (`quick_fit`, a few EM starts, unless
   another learner is asked for).
4. Taken is the smallest that the best does not beat by more than one standard error of their
   difference, group by group, nor by more than `TOLERANCE`.

"auto", `cohmm.select` and `cohmm.diagnose.diagnose` all go by this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from cohmm._validation import check_whole, silenced
from cohmm.data.encoding import MISSING
from cohmm.data.partitioned import Data
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import pair_counts
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import PseudoCounts
from cohmm.learn.maximize import added, m_step
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import PairEvidence, n_in_pairs
from cohmm.learn.sequences.multistart import em, random_start, subsets
from cohmm.learn.state_choice import Kind, StateChoice, Tried
from cohmm.model.hmm import HMM

GROUPS, MIN_GROUPS = 100, 10
MIN_BLOCK = 50  # symbols, where there are enough for `MIN_GROUPS` blocks of them
MIN_SYMBOLS = 200  # fewer are not held out
MANY_SEQUENCES = 50  # of fewer, blocks are cut
SAMPLE = 40_000  # symbols that "auto" looks at: of these, fits of 30 states take seconds
MAX_STATES = 128  # that are tried unless numbers are given
SYMBOLS_PER_STATE = 10  # at least: of fewer, nothing is learned
PATIENCE = 2  # numbers beyond the best
RANDOM_STARTS, FIRST_PASSES, PASSES = 4, 10, 40  # of EM
PAIR_PASSES = 60  # over the pairs, for a start
LITTLE = 4000  # symbols: of fewer the pairs lead nowhere that random starts do not
SMOOTHING = 0.1  # pseudo-observations of each symbol in each state


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
    if total < MIN_SYMBOLS:
        raise ValueError(
            f"{total:,} symbols are too few to hold some out: at least {MIN_SYMBOLS:,} are needed"
        )
    n = min(GROUPS, max(MIN_GROUPS, total // MIN_BLOCK))
    if len(data) >= MANY_SEQUENCES:
        order = np.random.default_rng(random_state).permutation(len(data))
        ends = np.cumsum(data.lengths[order]) - data.lengths[order]
        group = np.empty(len(data), np.int64)
        group[order] = np.minimum(ends * n // total, n - 1)
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


class Learned(NamedTuple):
    """What was learned of one number of states, and how it did on data that was held out."""

    scores: Floats
    """Log-likelihoods of the groups that were held out, (G,)."""
    models: tuple[HMM, ...]
    """One per fold."""


Learner = Callable[[Sequences, int, int], HMM]
"""Learns from sequences so many states, with a seed."""


class CrossValidation:
    """Learns and scores a number of states, some folds of the data held out in turn."""

    def __init__(
        self,
        parts: Groups,
        folds: int,
        times: int,
        random_state: int,
        learn: Learner | None = None,
    ):
        check_whole(folds=folds)
        if folds > parts.n:
            raise ValueError(
                f"folds must be {parts.n}, the groups of this data, at most, not {folds}"
            )
        self.splits = [parts.fair_split(fold, folds) for fold in range(times)]
        self.seed = random_state
        self._learn = learn or quick_learner([train for train, _, _ in self.splits])
        sizes = np.zeros(parts.n)
        for _, test, group in self.splits:
            np.add.at(sizes, np.repeat(group, test.lengths), test.symbols >= 0)
        self._held_out = sizes > 0
        self.sizes: Floats = sizes[self._held_out]

    def __call__(self, k: int) -> Learned:
        """Of ``k`` states."""
        scores = np.zeros(len(self._held_out))
        models = []
        with silenced():
            for train, test, group in self.splits:
                models.append(self._learn(train, k, self.seed))
                np.add.at(scores, group, models[-1].log_likelihoods(test))
        return Learned(scores[self._held_out], tuple(models))


def quick_learner(parts: list[Sequences]) -> Learner:
    """`quick_fit`, which starts at the pairs too, where those of a part show states."""
    counts = {id(part): pair_counts(part, [1]) for part in parts if len(part.symbols) >= LITTLE}
    most = {}
    for name, pairs in counts.items():
        n = PairEvidence.of(pairs).spectrum().n_detectable if pairs.n_pairs() else 1
        most[name] = min(2 * n, n_in_pairs(pairs)) if n > 1 else 1

    def learn(train: Sequences, k: int, seed: int) -> HMM:
        pairs = counts[id(train)] if 1 < k <= most.get(id(train), 1) else None
        return quick_fit(train, k, pairs, random_state=seed)

    return learn


def quick_fit(
    data: Sequences, k: int, pairs: Cooccurrence | None = None, *, random_state: int = 0
) -> HMM:
    """A model of ``k`` states that predicts about as well as the best: EM from a few starts.

    Random ones, and what ``pairs`` say.  After some passes the likeliest goes on, with a prior of a
    tenth of an observation of each symbol in each state.

    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2, 0], [0, .2, .8]])
    >>> data = Sequences.of(truth.sample(2000, random_state=0)[0])
    >>> quick_fit(data, 2).distance(truth).emission < .1
    True
    """
    rng = np.random.default_rng(random_state)
    starts = [random_start(data, k, rng) for _ in range(RANDOM_STARTS if k > 1 else 1)]
    if pairs is not None:
        starts.append(min_volume(pairs, k, max_iter=PAIR_PASSES, random_state=random_state).model)
    field = [em(start, data, FIRST_PASSES) for start in starts]
    model = max(field, key=lambda one: one.log_likelihood(data))
    frequency = data.symbol_counts / max(data.symbol_counts.sum(), 1)
    extra = SMOOTHING * np.count_nonzero(frequency) * frequency
    prior = PseudoCounts(SMOOTHING, SMOOTHING, extra)
    for _ in range(PASSES if k > 1 else 1):
        model = m_step(model, added(model.expected_counts(data)[1], prior.possible(model)))
    return model


# -- which numbers to try, and which to take -------------------------------------------------


def search(judge: Callable[[int], float], first: int, most: int, fineness: int) -> list[int]:
    """Numbers of states to try, in the order in which they were: up, down, and between.

    ``judge`` scores one, more is better.  In the end the best and its neighbours are no further
    apart than 1, or a ``fineness``-th of the best.

    >>> sorted(search(lambda k: -abs(k - 9), first=4, most=100, fineness=8))
    [1, 2, 4, 6, 7, 8, 9, 10, 11, 14, 21]
    """
    scores: dict[int, float] = {}

    def best() -> int:
        return max(scores, key=lambda k: (scores[k], -k))

    def beyond(numbers: Iterable[int]) -> None:
        """Until so many in a row are no better than what came before."""
        worse = 0
        for k in numbers:
            before = max(scores.values(), default=-np.inf)
            scores[k] = judge(k)
            worse = 0 if scores[k] > before else worse + 1
            if worse >= PATIENCE:
                return

    upward = [max(1, min(first, most))]
    while (above := max(upward[-1] + 1, round(1.5 * upward[-1]))) <= most:
        upward.append(above)
    beyond(upward)
    downward = [upward[0]]
    while (below := downward[-1] * 2 // 3) >= 1:
        downward.append(below)
    beyond(downward[1:])
    while True:
        tried, at = sorted(scores), best()
        place = tried.index(at)
        gaps = [
            (low, high)
            for low, high in pairwise(tried)
            if at in (low, high) and high - low > max(1, tried[place] // fineness)
        ]
        if not gaps:
            return list(scores)
        for low, high in gaps:
            scores[(low + high) // 2] = judge((low + high) // 2)


def difference(one: Floats, other: Floats, sizes: Floats) -> tuple[float, float]:
    """How far one is ahead of another, nats per symbol, and its standard error, by groups (G,)."""
    gains, n = one - other, len(sizes)
    mean = gains.sum() / sizes.sum()
    if not np.isfinite(mean):
        return (0.0 if np.isnan(mean) else float(mean)), 0.0
    squares = ((gains - mean * sizes) ** 2).sum()
    return float(mean), float(np.sqrt(squares * n / max(n - 1, 1)) / sizes.sum())


def chosen(
    scored: dict[int, Floats], sizes: Floats, detectable: int, kind: Kind = "state"
) -> StateChoice:
    """Which number to take, by log-likelihoods of held-out groups, (G,) each."""
    best = max(scored, key=lambda k: (scored[k].sum(), -k))
    tried = tuple(
        Tried(k, float(scores.sum() / sizes.sum()), *difference(scored[best], scores, sizes))
        for k, scores in sorted(scored.items())
    )
    enough = next(one.n_components for one in tried if one.is_enough)
    return StateChoice(enough, detectable, tried, kind)


def most_states(n_symbols: int) -> int:
    """The largest number that is tried of data of so many symbols."""
    return max(1, min(MAX_STATES, n_symbols // SYMBOLS_PER_STATE))


def choose_states(
    data: Data, detectable: int, random_state: int = 0, also: Iterable[int] = ()
) -> StateChoice:
    """How many states predict held-out data best: what ``n_components="auto"`` takes.

    One half of the data is learned from and the other scored, and the other way round.  Of long
    data a sample is looked at, and it is never fewer than the ``detectable`` that all pairs show.
    Other numbers may be tried ``also``.

    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2, 0], [0, .2, .8]])
    >>> choose_states(Sequences.of(truth.sample(2000, random_state=0)[0]), 2).n_components
    2
    """
    total = data.n_observations
    if total < MIN_SYMBOLS:
        return StateChoice(detectable, detectable)
    sampled = total > SAMPLE
    if sampled or not isinstance(data, Sequences):
        [data] = subsets(data, (min(total, SAMPLE),), np.random.default_rng(random_state))
    judge = CrossValidation(grouped(data, random_state), 2, 2, random_state)
    scored: dict[int, Floats] = {}

    def score(k: int) -> float:
        scored[k] = judge(k).scores
        return float(scored[k].sum())

    search(score, detectable, max(most_states(len(data.symbols)), detectable), fineness=4)
    for k in set(also) - set(scored):
        score(k)
    choice = chosen(scored, judge.sizes, detectable)
    if sampled and choice.n_components < detectable:
        return StateChoice(detectable, detectable, choice.tried)
    return choice

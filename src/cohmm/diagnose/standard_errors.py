"""How sure each number of a model is: standard errors and intervals, without resampling.

Every kind of evidence gives the same two matrices, from scores of its parts (`scores`,
`pair_scores`): the information H, and the variance V of the sum of the scores, which differ where
parts overlap.  One sandwich (`intervals.sandwich`) makes covariances of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from cohmm._validation import shown
from cohmm.diagnose import scores
from cohmm.diagnose.fit_summary import (
    BLOCK,
    NOTHING,
    Blocks,
    FitSummary,
    PairTerms,
    Sample,
    block_budget,
)
from cohmm.diagnose.intervals import Estimates, Interval, Tables, check_level, sandwich
from cohmm.diagnose.scores import entries, scale_of
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.model.convert import HMMTable, hmm_frame
from cohmm.model.hmm import HMM

MAX_PARAMETERS = 6000  # of transitions and emissions: the information then takes 300 MB
MIN_COUNT = 1.0  # expected; what is rarer is pinned at zero
MIN_BLOCKS = 4  # per parameter; of fewer, the model draws blocks of its own
MIN_SEQUENCES = 2  # that say where sequences begin
MIN_ROBUST = 50  # sequences, of which the sandwich is taken
MAX_WORK = 2e10  # T P K^2 of the curvature: seconds
SEED = 16
MAX_ZERO = 0.1  # what is larger is no zero, however little is known of it
PINNED = 0.5  # of a standard error, if all other entries were known: what is smaller is pinned
NAMED_SHARE = 0.2  # of the largest change of a direction: what is named
MAX_NAMED = 4  # entries of a direction
BELOW_THE_NOISE = (
    "the pairs show {} of {} states: errors hold where states were found near the truth, and those "
    "beyond may be other states altogether, off by far more"
)
ONE_SEQUENCE = "one sequence: how sequences begin is not determined"


@dataclass(frozen=True, eq=False)
class StandardErrors:
    """How sure each number of a model is.

    Parameters
    ----------
    startprob, transmat, emissionprob : arrays
        Standard errors, (K,), (K, K) and (K, N); NaN where the data does not determine an entry, 0
        where it was held, or known to be zero.  An entry that was estimated as zero has the
        distance to where the log-likelihood has fallen by half a nat.
    model : HMM
        What they are of.
    evidence : str
        What they are from.
    undetermined : tuple of str
        Changes of the model that the data says nothing about, by their states and symbols.
    notes : tuple of str
        What to know before they are relied on.
    """

    startprob: Floats
    transmat: Floats
    emissionprob: Floats
    model: HMM
    evidence: str
    undetermined: tuple[str, ...]
    notes: tuple[str, ...]
    _start: Estimates | None = field(repr=False)
    _rest: Estimates = field(repr=False)

    @classmethod
    def of(
        cls, model: HMM, start: Estimates | None, rest: Estimates, evidence: str, notes: list[str]
    ) -> StandardErrors:
        """Put together; ``start`` is None where nothing says how sequences begin."""
        first = np.full(model.n_components, np.nan) if start is None else start.errors()
        undetermined = tuple(_named(model, change) for change in rest.directions)
        tables = first, *_tables(model, rest.errors())
        return cls(*tables, model, evidence, undetermined, tuple(notes), start, rest)

    def interval(self, level: float = 0.9) -> Interval:
        """Where each probability lies, with this coverage: ``(low, high)``, three arrays each.

        Estimates near zero have one-sided intervals; what is not determined has all of [0, 1].

        >>> from cohmm.data.sequences import Sequences
        >>> coin = HMM([1.0], [[1.0]], [[.25, .75]])
        >>> throws = Sequences.of([[0, 1, 1, 1]] * 100)
        >>> low, high = sequence_errors(coin, Blocks.of(throws, 400)).interval(.9)
        """
        z = float(ndtri((1 + check_level(level)) / 2))
        k = self.model.n_components
        first = (np.zeros(k), np.ones(k)) if self._start is None else self._start.interval(z)
        ends = zip(first, self._rest.interval(z), strict=True)
        return Interval(*(Tables(start, *_tables(self.model, rest)) for start, rest in ends))

    def to_frame(self, what: HMMTable, level: float = 0.9) -> Any:
        """`HMM.to_frame` with the columns ``standard_error``, ``low`` and ``high``."""
        tables = Tables(self.startprob, self.transmat, self.emissionprob)
        return errors_frame(self.model, what, tables, self.interval(level))

    def __repr__(self) -> str:
        k, n = self.emissionprob.shape
        return f"StandardErrors({k} states, {n:,} symbols, from {self.evidence})"


def standard_errors(
    summary: FitSummary,
    counts: Cooccurrence | None,
    n_detectable: int | None = None,
    *,
    robust: bool = True,
) -> StandardErrors:
    """How sure a model is, by what its fit has kept; ``counts`` where it is from pairs.

    ``n_detectable`` states show in the pairs: where the model has more, a note says so.
    ``robust``: by the sandwich over sequences, if there are enough and no states are known.
    """
    model, held = summary.model, summary.held
    if summary.pairs is not None and counts is not None:
        errors = pair_errors(model, counts, summary.pairs, held)
    elif summary.n_triples and summary.blocks is not None:
        errors = triple_errors(model, summary.blocks, summary.n_triples, summary.starts, held)
    elif robust and (by_sequences := robust_errors(model, summary.sample, held)) is not None:
        errors = by_sequences
    else:
        assert summary.blocks is not None
        errors = sequence_errors(model, summary.blocks, summary.starts, held, summary.lengths)
    k = model.n_components
    if n_detectable is None or n_detectable >= k:
        return errors
    return replace(errors, notes=(*errors.notes, BELOW_THE_NOISE.format(n_detectable, k)))


@blas_threads(1)
def robust_errors(
    model: HMM, sample: Sample | None, held: Tables | None = None
) -> StandardErrors | None:
    """Of a model of maximum likelihood, whether or not it is right: the sandwich over sequences.

        Cov = H^+ V H^+,     H = - d2 log P,     V = sum s s' over sequences

    None where there are too few sequences: fewer than `MIN_ROBUST`, or than two per parameter.
    """
    if sample is None or len(sample.data) < MIN_ROBUST:
        return None
    k, n = model.n_components, len(sample.data)
    fixed = _held(model, held)
    starts_fixed = np.zeros(k, bool) if held is None else held.startprob
    both = np.append(fixed, starts_fixed)
    estimate = np.append(entries(model), model.startprob)
    rows = np.append(_row_numbers(model), np.full(k, 2 * k))
    pinned = scores.expected_uses(model, sample.data, sample.weights) < MIN_COUNT
    free = ~pinned & ~both
    n_free = int(free.sum()) - len(np.unique(rows[free]))
    if n < 2 * n_free:
        return None
    # The curvature costs a pass for every entry: of many sequences, some will do.
    budget = int(MAX_WORK / max(int(free.sum()) * k * k, 1))
    some = max(int(np.searchsorted(np.cumsum(sample.data.lengths), budget)), min(n, MIN_ROBUST))
    chosen = np.random.default_rng(SEED).permutation(n)[:some]
    first, last = sample.data.offsets[:-1][chosen], sample.data.offsets[1:][chosen]
    share = sample.weights.sum() / sample.weights[chosen].sum()
    information = scores.observed_information(
        model, sample.data.spans(first, last), share * sample.weights[chosen], free
    )
    variance, slope = scores.sequence_scores(model, sample.data, sample.weights)
    options: dict[str, Any] = {
        "information": information,
        "variance": variance * (n / (n - n_free)),
        "scale": scale_of(estimate),
        "slope": np.minimum(slope, 0.0),
        "pinned": pinned,
    }
    # Of entries at zero nothing was bent: what the sum of squares says of them bounds them.
    at_zero = np.flatnonzero(pinned)
    information[at_zero, at_zero] = variance[at_zero, at_zero]
    rest = sandwich(estimate, rows, held=fixed, **options)
    turned = np.roll(np.arange(len(estimate)), k)
    options = {
        name: value[np.ix_(turned, turned)] if value.ndim == 2 else value[turned]
        for name, value in options.items()
    }
    start = sandwich(estimate[turned], rows[turned], held=starts_fixed, **options)
    evidence = f"the sandwich over {n:,} sequences"
    return StandardErrors.of(model, start, rest, evidence, [])


@blas_threads(1)
def sequence_errors(
    model: HMM,
    blocks: Blocks,
    starts: Blocks | None = None,
    held: Tables | None = None,
    lengths: Ints | None = None,
) -> StandardErrors:
    """Of a model of maximum likelihood that is right, from the information in blocks of its data.

    ``starts`` are the first blocks of sequences, and ``held`` masks what was not estimated.  Where
    the data is little, the model draws blocks: of sequences of these ``lengths``, if any.
    """
    fixed = _held(model, held)
    notes = []
    size = int((~fixed).sum())
    data = blocks
    if blocks.effective < MIN_BLOCKS * size and blocks.states is None:
        n, before = block_budget(size)
        data = Blocks.simulated(model, n, float(blocks.weights.sum()), before, lengths)
        notes.append(
            f"the data has {blocks.effective:,.0f} blocks of {BLOCK} symbols for {size:,} "
            "probabilities: too few to judge by, so the information is what the model expects"
        )
    if starts is not None and starts.weights.sum() == 1:
        notes.append(
            f"one sequence: its blocks of {BLOCK} symbols, each given the {data.before} before it, "
            "take the place of sequences; how sequences begin is not determined"
        )
    seen, rows = scores.block_information(model, data), _row_numbers(model)
    pinned = seen.expected < MIN_COUNT
    n_free = int((~pinned & ~fixed).sum()) - len(np.unique(rows[~pinned & ~fixed]))
    rest = sandwich(
        entries(model),
        rows,
        information=seen.matrix,
        scale=seen.scale,
        slope=np.minimum(seen.slope + seen.slope_error, 0.0),
        pinned=pinned,
        held=fixed,
        inflation=max(data.effective - n_free - 1, 1.0) / data.effective,
    )
    whose = "that the model drew" if data is not blocks else "of the sequences"
    evidence = f"{len(data):,} block{'' if len(data) == 1 else 's'} {whose}"
    return StandardErrors.of(model, _first_blocks(model, starts, held), rest, evidence, notes)


@blas_threads(1)
def triple_errors(
    model: HMM,
    blocks: Blocks,
    n_triples: float,
    starts: Blocks | None = None,
    held: Tables | None = None,
) -> StandardErrors:
    """Of a model that maximises the likelihood of ``n_triples``, each a chain of its own.

    ``blocks`` of the data say how triples overlap: H is the mean of s s' over scores of triples, V
    that of S S' over their sums S in the blocks, per triple.
    """
    fixed, k = _held(model, held), model.n_components
    symbols = blocks.symbols
    whole = (symbols != NOTHING).all(axis=1)
    if whole.sum() >= scores.TRIPLE_WINDOWS / 2:
        symbols = symbols[whole]
    seen = scores.triple_information(model, symbols.astype(np.int64))
    rest = sandwich(
        np.append(entries(model), prevalence_of(model)),
        np.append(_row_numbers(model), np.full(k, 2 * k)),
        information=n_triples * seen.matrix,
        variance=n_triples * seen.variance,
        scale=seen.scale,
        slope=seen.slope,
        pinned=n_triples * seen.expected < MIN_COUNT,
        held=fixed,
    )
    notes = ["from triples: blocks of the data say how far those that overlap vary together"]
    first = _first_blocks(model, starts, held)
    notes += [ONE_SEQUENCE] if first is None else []
    return StandardErrors.of(model, first, rest, f"{n_triples:,.0f} triples", notes)


@blas_threads(1)
def pair_errors(
    model: HMM, counts: Cooccurrence, terms: PairTerms, held: Tables | None = None
) -> StandardErrors:
    """Of a model learned from ``counts`` in this way, from the counts alone.

        Cov = H^+ V H^+ / T,     bias = - lambda H^+ grad volume

    Entries are pinned at zero where they are below half of what 1 / sqrt(T H_jj) says.  An interval
    is as wide as the root of the variance and the squared bias.

    >>> from cohmm import count_pairs
    >>> from cohmm.learn.pairs.volume import NoVolume
    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.5, .5, 0], [0, .5, .5]])
    >>> counts = count_pairs(truth.sample(10_000, random_state=0)[0])
    >>> errors = pair_errors(truth, counts, PairTerms({1: 1.0}, 1e-9, NoVolume()))
    >>> bool(errors.transmat.max() < .02)
    True
    """
    fixed, p, k = _held(model, held), entries(model), model.n_components
    weights = {lag: weight for lag, weight in terms.weights.items() if weight > 0}
    n_pairs = float(counts[min(weights)].sum())
    laws = {lag: _law(counts, lag) for lag in weights}
    notes = [
        "from counts of pairs: right where pairs determine the model; where emissions have no "
        "zeros they do not, and the volume term chose: refine, if the sequences are at hand"
    ]
    if terms.summed:
        laws = {1: np.sum([weights[lag] * law for lag, law in laws.items()], axis=0)}
        notes.append(
            "lags were summed: transitions are not those of one step, and pairs are taken for "
            "independent of each other"
        )
    elif set(weights) != {1}:
        notes.append("several lags: how far pairs that overlap vary together is simulated")
    seen = scores.pair_information(model, {1: 1.0} if terms.summed else weights, laws)
    pinned = (p * n_pairs * seen.matrix.diagonal() < PINNED**2) & (p < MAX_ZERO)
    pull = np.zeros(len(p))
    if terms.penalty > 0:
        pull[: k * k] = terms.penalty * n_pairs * scores.volume_slope(model, terms.volume)
    else:
        # Zeros were preferred: by as much as the likelihood would still gain, estimates are off,
        # and an entry that it would let grow is no zero to build on.
        pull = n_pairs * seen.slope
        pinned &= seen.slope <= 0
    rest = sandwich(
        p,
        _row_numbers(model),
        information=n_pairs * seen.matrix,
        variance=n_pairs * (seen.matrix if terms.summed else seen.variance),
        scale=seen.scale,
        slope=n_pairs * seen.slope,
        pinned=pinned,
        held=fixed,
        pull=pull,
        # Zeros of emissions are what makes pairs determine a model: they are not in doubt.
        adapted=np.arange(len(p)) < k * k,
    )
    first = None
    if (n_starts := float(counts.start_counts.sum())) >= MIN_SEQUENCES:
        expected = model.startprob @ model.emissionprob
        score = model.emissionprob / np.where(expected > 0, expected, np.inf) - 1
        score[:, expected <= 0] = 0.0
        first = _start_errors(model, (score * counts.start_counts) @ score.T, n_starts, held)
    else:
        notes.append(ONE_SEQUENCE)
    return StandardErrors.of(model, first, rest, f"{n_pairs:,.0f} pairs", notes)


def _law(counts: Cooccurrence, lag: int) -> Floats:
    matrix: Any = counts[lag]
    dense = matrix.toarray() if sparse.issparse(matrix) else matrix
    return np.asarray(dense / dense.sum())


def _first_blocks(model: HMM, starts: Blocks | None, held: Tables | None) -> Estimates | None:
    """How sure ``startprob`` is, from the first blocks of sequences, where there are several."""
    n = 0.0 if starts is None else float(starts.weights.sum())
    if starts is None or n < MIN_SEQUENCES:
        return None
    return _start_errors(model, scores.start_information(model, starts), n, held)


def _start_errors(model: HMM, information: Floats, n: float, held: Tables | None) -> Estimates:
    """The same from what ``n`` sequences say of it, (K, K)."""
    scale = scale_of(model.startprob)
    k = model.n_components
    return sandwich(
        model.startprob,
        np.zeros(k, np.int64),
        information=scale[:, None] * information * scale,
        scale=scale,
        slope=np.zeros(k),
        pinned=n * model.startprob < MIN_COUNT,
        held=np.zeros(k, bool) if held is None else held.startprob,
    )


def _held(model: HMM, held: Tables | None) -> np.ndarray:
    """Which entries of A and M were not estimated, (P,); refuses a model that is too large."""
    size = len(entries(model))
    if size > MAX_PARAMETERS:
        raise ValueError(
            f"{model} has {size:,} transitions and emissions, and standard errors by information "
            f"are for {MAX_PARAMETERS:,} at most: use bootstrap(20, X), or prune rare symbols"
        )
    if held is None:
        return np.zeros(size, bool)
    return np.append(held.transmat, held.emissionprob)


def errors_frame(model: HMM, what: HMMTable, errors: Tables, interval: Interval) -> Any:
    """A table of a model in long form, with standard errors and intervals."""
    frame = hmm_frame(model, what)
    name = {"start": "startprob", "transitions": "transmat", "emissions": "emissionprob"}[what]
    frame["standard_error"] = getattr(errors, name).ravel()
    frame["low"] = getattr(interval.low, name).ravel()
    frame["high"] = getattr(interval.high, name).ravel()
    return frame


def _row_numbers(model: HMM) -> Ints:
    """The row of every entry of A and then of M, (K K + K N,)."""
    k, n = model.emissionprob.shape
    return np.repeat(np.arange(2 * k), np.repeat([k, n], k))


def _tables(model: HMM, flat: Any) -> tuple[Any, Any]:
    k, n = model.emissionprob.shape
    return flat[: k * k].reshape(k, k), flat[k * k :].reshape(k, n)


def _named(model: HMM, change: Floats) -> str:
    """A change of the model in words: the largest of it."""
    size = np.abs(change)
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > NAMED_SHARE * size.max()]
    transmat, emissionprob = _tables(model, np.isin(np.arange(len(change)), order[:MAX_NAMED]))
    labels = range(model.n_symbols) if model.vocabulary is None else model.vocabulary
    parts = [
        f"transitions from state {i} to {', '.join(map(str, np.flatnonzero(row)))}"
        for i, row in enumerate(transmat)
        if row.any()
    ]
    for i in np.flatnonzero(emissionprob.any(axis=1)):
        symbols = [labels[j] for j in np.flatnonzero(emissionprob[i])]
        text = ", ".join(shown(one) if isinstance(one, str) else str(one) for one in symbols)
        parts.append(f"emissions of state {i}: {text}")
    more = len(order) - MAX_NAMED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")

"""How many states: candidates side by side on data that is held out, and a recommendation.

1. The spectrum of the pairs says how many states stand out from the noise: the first candidate.
2. Each candidate is learned from a part of the data, and the rest is scored.  A prior draws states
   together that little data tells apart, so that one too many costs less than one too few.
3. One state more is tried until the best is two behind.
4. Recommended is the smallest candidate that the best does not beat by more than one standard
   error of their difference, group by group of the data.

BIC counts parameters that are not zero.  Stability is the total variation between the states that
two halves of the data give, from pairs alone, matched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from cohmm.data.sequences import Sequences
from cohmm.data.user_warnings import silenced
from cohmm.diagnose.held_out import Groups, grouped
from cohmm.evidence.counting import as_lags, pair_counts
from cohmm.evidence.pairs import Cooccurrence
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.learner import prevalence_of
from cohmm.learn.options import check_whole, is_whole
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.pair_evidence import PairEvidence, n_in_pairs
from cohmm.learn.pairwise import PairwiseFit, pairwise
from cohmm.model.hmm import HMM
from cohmm.model.hmm_frames import frame
from cohmm.model.matching import match_rows, total_variation

FOLDS = 5
# Up to how many symbols so many of the folds are held out in turn; of more data one is.  Of many
# sequences a fit takes longer, since it looks for a start.
OF_BLOCKS, OF_SEQUENCES = ((20_000, 5), (200_000, 2)), ((5_000, 5),)
MOST_MORE = 12  # states beyond those of the spectrum
PATIENCE = 2  # states beyond the best so far
SMOOTHING = 1.0  # pseudo-observations of each symbol in each state, unless others are asked for
LEAST_COUNT = 1.0  # expected: a parameter that is rarer counts as zero
STABLE = 0.25  # total variation


class Candidate(NamedTuple):
    """One number of states, or of topics."""

    n_components: int
    held_out: float
    """Log-likelihood of held-out data, nats per symbol."""
    behind: float
    """How far that is behind the best candidate, nats per symbol; 0 for the best."""
    standard_error: float
    """Of ``behind``."""
    bic: float
    """Less is better; NaN for topics."""
    n_parameters: int
    """That are not zero; 0 for topics."""
    stability: float
    """Total variation between halves of the data, or between seeds; NaN where not asked for."""
    npmi: float = float("nan")
    """Coherence of topics."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Candidates, and which of them to take.

    Parameters
    ----------
    candidates : tuple of Candidate
        By their number of states.
    recommended : int
        The smallest within a standard error of the best.
    reason : str
        Why.
    detectable : int
        How many states stand out from the noise of the pairs.
    kind : "state" or "topic"
        What is counted.
    n_groups : int
        Groups of the data by which differences are judged.
    blocks : bool
        Whether groups are blocks of few sequences, or whole sequences or documents.
    """

    candidates: tuple[Candidate, ...]
    recommended: int
    reason: str
    detectable: int
    kind: Literal["state", "topic"]
    n_groups: int
    blocks: bool = field(default=False)

    @property
    def best(self) -> int:
        """The number with the best held-out likelihood."""
        return max(self.candidates, key=lambda one: one.held_out).n_components

    def to_frame(self) -> Any:
        """A pandas data frame, one row per candidate; needs pandas."""
        return frame(
            {
                name: [getattr(one, name) for one in self.candidates]
                for name in Candidate._fields
                if self.kind == "topic" or name != "npmi"
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and texts, for JSON; NaN is None."""
        return {
            "recommended": self.recommended,
            "reason": self.reason,
            "detectable": self.detectable,
            "kind": self.kind,
            "groups": self.n_groups,
            "blocks": self.blocks,
            "candidates": [
                {name: _finite(value) for name, value in one._asdict().items()}
                for one in self.candidates
            ],
        }

    def __str__(self) -> str:
        topics = self.kind == "topic"
        scores = ("perplexity", "NPMI") if topics else ("held out", "BIC")
        lines = [f"{self.kind}s  {scores[0]:>10}  behind  (s.e.)  {scores[1]:>12}  stability"]
        for one in self.candidates:
            left = f"{np.exp(-one.held_out):10.2f}" if topics else f"{one.held_out:10.5f}"
            right = f"{one.npmi:12.3f}" if topics else f"{one.bic:12.0f}"
            mark = "<" if one.n_components == self.recommended else ""
            lines.append(
                f"{one.n_components:>6}  {left}  {one.behind:6.4f}  {one.standard_error:6.4f}  "
                f"{right}  {one.stability:9.3f} {mark}".rstrip()
            )
        return "\n".join([*lines, f"recommended: {self.recommended}, {self.reason}"])


def _finite(value: float) -> float | None:
    return None if isinstance(value, float) and not np.isfinite(value) else value


def select(
    X: Any,
    lengths: Iterable[int] | None = None,
    n_components: Iterable[int] | None = None,
    *,
    lags: Iterable[int] = (1,),
    folds: int | None = None,
    stability: bool = True,
    n_symbols: int | None = None,
    vocabulary: Iterable[Any] | None = None,
    random_state: int = 0,
    callback: Callable[[int], None] | None = None,
    **options: Any,
) -> Selection:
    """Choose the number of states on held-out data.

    Parameters
    ----------
    X, lengths, n_symbols, vocabulary
        The data, as `Sequences.of` reads it.
    n_components : several whole numbers, optional
        Candidates; default: as many as the pairs show, and upward from there.
    lags : several, optional
        Distances at which pairs are counted.
    folds : int, optional
        Parts that are held out in turn; default: 5, of which 2 are held out if there are more than
        20,000 symbols, and 1 of more than 200,000, or of 5,000 in fifty sequences or more.  1: one
        fifth is held out once.
    stability : bool
        Whether to learn from both halves of the data as well.
    random_state : int
        Seed of how sequences are dealt out, and of the learner.
    callback : function of a number of states, optional
        Called before each candidate is learned.
    **options
        Others of `cohmm.learn.pairwise`, such as ``refine`` or ``n_init``; ``smoothing`` is 1.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(10, 3, stay=.5, random_state=0)
    >>> X, _ = truth.sample(5_000, random_state=0)
    >>> select(X, n_components=[2, 3], random_state=0).recommended
    3
    """
    if isinstance(X, Cooccurrence):
        raise ValueError("select holds data out: give the data itself, not counts")
    data = Sequences.of(X, lengths, n_symbols=n_symbols, vocabulary=vocabulary)
    wanted = as_lags(lags)
    parts = grouped(data, random_state)
    splits = _splits(parts, folds, len(data.symbols))
    counts = pair_counts(data, wanted)
    evidence = PairEvidence.of(counts)
    detectable = evidence.spectrum().n_detectable
    options = {"smoothing": SMOOTHING, **options}
    judge = _Judge(parts, splits, wanted, stability, random_state, options)
    judged: dict[int, _Judged] = {}

    def try_one(k: int) -> None:
        if callback is not None:
            callback(k)
        judged[k] = judge(k)

    if n_components is not None:
        for k in candidates_of(n_components):
            try_one(k)
    else:
        best = detectable
        for k in range(detectable, min(detectable + MOST_MORE, len(evidence.seen)) + 1):
            try_one(k)
            best = max(best, k, key=lambda one: judged[one].scores.sum())
            if k - best >= PATIENCE:
                break
    return _selection(judged, judge, detectable, parts)


def candidates_of(given: Iterable[int]) -> list[int]:
    """Numbers of states, ascending, if they are some."""
    numbers = list(given) if np.iterable(given) else [given]
    for number in numbers:
        if not is_whole(number) or number < 1:
            raise ValueError(f"n_components must be whole numbers from 1, not {number!r}")
    if not numbers:
        raise ValueError("n_components is empty: give some numbers of states")
    return sorted({int(number) for number in numbers})


def _splits(parts: Groups, folds: int | None, n: int) -> list[tuple[Sequences, Sequences, Ints]]:
    """What to learn from, what is held out, and the groups of the latter's pieces, time by time."""
    if folds is None:
        rule = OF_BLOCKS if parts.blocks else OF_SEQUENCES
        times = next((times for most, times in rule if n <= most), 1)
        return [parts.fair_split(fold, FOLDS) for fold in range(times)]
    check_whole(folds=folds)
    if folds > parts.n:
        raise ValueError(f"folds must be {parts.n}, the groups of this data, at most, not {folds}")
    return [parts.fair_split(fold, FOLDS if folds == 1 else folds) for fold in range(folds)]


class _Judged(NamedTuple):
    """A candidate as it did: log-likelihoods by group (G,), and the other two figures."""

    scores: Floats
    bic: float
    n_parameters: int
    stability: float


class _Judge:
    """Learns and scores a number of states."""

    def __init__(
        self,
        parts: Groups,
        splits: list[tuple[Sequences, Sequences, Ints]],
        lags: list[int],
        stability: bool,
        random_state: int,
        options: dict[str, Any],
    ):
        self.lags, self.seed, self.options = lags, random_state, options
        self.n_groups, self.splits, self.blocks = parts.n, splits, parts.blocks
        self.sizes = np.zeros(parts.n)
        for _, test, group in self.splits:
            np.add.at(self.sizes, np.repeat(group, test.lengths), test.symbols >= 0)
        self.halves = [parts.split(half, 2)[1] for half in range(2)] if stability else []

    def __call__(self, k: int) -> _Judged:
        scores = np.zeros(self.n_groups)
        bic, n_parameters = float("nan"), 0
        with silenced():
            for train, test, group in self.splits:
                fit = self._learned(train, k)
                np.add.at(scores, group, fit.model.log_likelihoods(test))
                if not n_parameters:
                    n_parameters = _n_parameters(fit.model, len(train.symbols))
                    likelihood = fit.model.log_likelihood(train)
                    bic = -2 * likelihood + n_parameters * np.log(len(train.symbols))
            return _Judged(scores, float(bic), n_parameters, self._stability(k))

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
            models = [
                min_volume(pair_counts(half, self.lags), k, random_state=self.seed).model
                for half in self.halves
            ]
        except ValueError:  # a half has fewer symbols than there are states
            return float("nan")
        one, other = (model.emissionprob for model in models)
        return total_variation(one[match_rows(one, other)], other)

    def difference(self, one: Floats, other: Floats) -> tuple[float, float]:
        """How far one is ahead of another, nats per symbol, and its standard error."""
        used = self.sizes > 0
        gains, sizes = (one - other)[used], self.sizes[used]
        mean = gains.sum() / sizes.sum()
        if not np.isfinite(mean):
            return (0.0 if np.isnan(mean) else float(mean)), 0.0
        spread = gains - mean * sizes
        n = len(sizes)
        return float(mean), float(np.sqrt((spread**2).sum() * n / max(n - 1, 1)) / sizes.sum())


def _n_parameters(model: HMM, n: int) -> int:
    """Transitions and emissions that are expected at least once, less one for each row."""
    visits, emissions = n * prevalence_of(model)[:, None], model.emissionprob
    kept = [(visits * table >= LEAST_COUNT).sum(axis=1) for table in (model.transmat, emissions)]
    return int(sum(np.maximum(rows - 1, 0).sum() for rows in kept))


def _selection(
    judged: dict[int, _Judged], judge: _Judge, detectable: int, parts: Groups
) -> Selection:
    total = judge.sizes.sum()
    best = max(judged, key=lambda k: (judged[k].scores.sum(), -k))
    candidates = []
    for k in sorted(judged):
        behind, error = judge.difference(judged[best].scores, judged[k].scores)
        one = judged[k]
        candidates.append(
            Candidate(
                k,
                float(one.scores.sum() / total),
                behind,
                error,
                one.bic,
                one.n_parameters,
                one.stability,
            )
        )
    recommended, reason = recommend(candidates, "state", detectable)
    return Selection(
        tuple(candidates), recommended, reason, detectable, "state", parts.n, parts.blocks
    )


def recommend(
    candidates: list[Candidate], kind: Literal["state", "topic"], detectable: int
) -> tuple[int, str]:
    """The smallest candidate within one standard error of the best, and why it is taken."""
    best = max(candidates, key=lambda one: one.held_out)
    chosen = next(one for one in candidates if one.behind <= one.standard_error)
    if len(candidates) == 1:
        return chosen.n_components, "the only candidate"
    if chosen is best:
        reason = f"the best on held-out data among {candidates[0].n_components} to "
        reason += str(candidates[-1].n_components)
    else:
        reason = (
            f"the smallest that {best.n_components} {kind}s, the best on held-out data, beat by "
            "less than a standard error"
        )
    if kind == "state":
        bic = min(candidates, key=lambda one: one.bic).n_components
        reason += f"; BIC takes {bic}, and the pairs show {detectable}"
    if chosen.stability > STABLE:
        reason += f"; but its {kind}s are not stable: total variation {chosen.stability:.2f} "
        reason += "between two fits"
    return chosen.n_components, reason

"""How many states or topics: candidates side by side on held-out data, and a recommendation.

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

from cohmm._validation import check_whole, is_whole, silenced
from cohmm.data.documents import Documents
from cohmm.data.read_documents import read_documents
from cohmm.data.sequences import Sequences
from cohmm.diagnose.cross_validation import CrossValidation, Scored, grouped
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import as_lags, pair_counts
from cohmm.kernels.types import Floats
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.topics.htmm import htmm
from cohmm.model.convert import frame
from cohmm.topics.compare import Judged, part
from cohmm.topics.stability import variation_between

MAX_MORE = 12  # states beyond those of the spectrum
PATIENCE = 2  # states beyond the best so far
SMOOTHING = 1.0  # pseudo-observations of each symbol in each state, unless others are asked for
STABLE = 0.25  # total variation
HELD_OUT = 0.2  # of the documents
AROUND = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the number that the pairs show: default candidates
SEEDS = 2
TOP = 10  # words whose coherence is measured


class Candidate(NamedTuple):
    """One number of states, or of topics."""

    n_components: int
    held_out: float
    """Log-likelihood of held-out data, nats per symbol."""
    behind: float
    """How far that is behind the best candidate, nats per symbol; 0 for the best."""
    standard_error: float
    """Of ``behind``."""
    bic: float = float("nan")
    """Less is better; NaN for topics."""
    n_parameters: int = 0
    """That are not zero; 0 for topics."""
    stability: float = float("nan")
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
        """Plain numbers and texts, for JSON; what is not finite is None."""
        names = ("recommended", "reason", "detectable", "kind", "blocks")
        candidates = [
            {name: value if np.isfinite(value) else None for name, value in one._asdict().items()}
            for one in self.candidates
        ]
        plain = {name: getattr(self, name) for name in names}
        return plain | {"groups": self.n_groups, "candidates": candidates}

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
    lags = as_lags(lags)
    parts = grouped(data, random_state)
    options = {"smoothing": SMOOTHING, **options}
    judge = CrossValidation(parts, folds, lags, stability, random_state, options)
    evidence = PairEvidence.of(pair_counts(data, lags))
    detectable = best = evidence.spectrum().n_detectable
    numbers = range(detectable, min(detectable + MAX_MORE, len(evidence.seen)) + 1)
    scored: dict[int, Scored] = {}
    for k in numbers if n_components is None else candidates_of(n_components):
        if callback is not None:
            callback(k)
        scored[k] = judge(k)
        if n_components is None:
            best = max(best, k, key=lambda one: scored[one].scores.sum())
            if k - best >= PATIENCE:
                break
    return _selection(scored, judge.sizes, detectable, "state", parts.n, parts.blocks)


def select_topics(
    documents: Any,
    n_components: Iterable[int] | None = None,
    *,
    held_out: float = HELD_OUT,
    seeds: int = SEEDS,
    random_state: int | None = 0,
    callback: Callable[[int], None] | None = None,
    **options: Any,
) -> Selection:
    """Choose the number of topics on documents that are held out.

    Parameters
    ----------
    documents : Documents, or what `read_documents` reads
        The corpus.
    n_components : several whole numbers, optional
        Candidates; default: half as many as the pairs show, to twice as many.
    held_out : float
        The share of documents that is not learned from.
    seeds : int
        Fits of every candidate; the total variation between them is its stability.  1: none.
    random_state : int
        Seed of the split, and of the first fit.
    callback : function of a number of topics, optional
        Called before each candidate is learned.
    **options
        Others of `cohmm.learn.htmm`.

    >>> from cohmm.datasets.synthetic_topics import sample_htmm
    >>> sample = sample_htmm(150, n_components=3, n_words=60, random_state=0)
    >>> select_topics(sample.documents, [1, 3], seeds=1).recommended
    3
    """
    corpus = documents if isinstance(documents, Documents) else read_documents(documents)
    check_whole(seeds=seeds)
    if not (isinstance(held_out, (int, float, np.number)) and 0 < held_out < 1):
        raise ValueError(f"held_out must be a share above 0 and below 1, not {held_out!r}")
    if random_state is None:  # one that is drawn
        random_state = int(np.random.default_rng().integers(2**31))
    train, test = part(corpus, held_out, random_state)
    with silenced():
        shown = htmm(train, "auto", refine=0, max_iter=1, random_state=random_state, **options)
        detectable = shown.n_components
        around = {max(1, round(share * detectable)) for share in AROUND}
        wanted = sorted(around) if n_components is None else candidates_of(n_components)
        scored = {}
        for k in wanted:
            if callback is not None:
                callback(k)
            fits = [
                htmm(train, k, random_state=random_state + seed, **options) for seed in range(seeds)
            ]
            words = fits[0].predict(test)
            scores = np.diff(np.append(0.0, np.cumsum(words))[test.offsets])
            npmi = Judged(fits[0], train, test, "sticky").coherence("npmi", TOP)
            scored[k] = Scored(scores, {"stability": variation_between(fits), "npmi": npmi})
    return _selection(scored, test.lengths, detectable, "topic", len(test))


def candidates_of(n_components: Iterable[int]) -> list[int]:
    """Numbers of states, ascending, if they are some."""
    numbers = list(n_components) if np.iterable(n_components) else [n_components]
    for number in numbers:
        if not is_whole(number) or number < 1:
            raise ValueError(f"n_components must be whole numbers from 1, not {number!r}")
    if not numbers:
        raise ValueError("n_components is empty: give some numbers of states")
    return sorted({int(number) for number in numbers})


def _selection(
    scored: dict[int, Scored],
    sizes: Floats,
    detectable: int,
    kind: Literal["state", "topic"],
    n_groups: int,
    blocks: bool = False,
) -> Selection:
    best = max(scored, key=lambda k: (scored[k].scores.sum(), -k))
    candidates = []
    for k, (scores, measured) in sorted(scored.items()):
        behind = difference(scored[best].scores, scores, sizes)
        candidates.append(Candidate(k, float(scores.sum() / sizes.sum()), *behind, **measured))
    recommended, reason = recommend(candidates, kind, detectable)
    return Selection(tuple(candidates), recommended, reason, detectable, kind, n_groups, blocks)


def difference(one: Floats, other: Floats, sizes: Floats) -> tuple[float, float]:
    """How far one is ahead of another, nats per symbol, and its standard error, by groups (G,)."""
    gains, n = one - other, len(sizes)
    mean = gains.sum() / sizes.sum()
    if not np.isfinite(mean):
        return (0.0 if np.isnan(mean) else float(mean)), 0.0
    squares = ((gains - mean * sizes) ** 2).sum()
    return float(mean), float(np.sqrt(squares * n / max(n - 1, 1)) / sizes.sum())


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

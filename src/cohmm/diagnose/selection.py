"""How many states or topics: candidates side by side on held-out data, and a recommendation.

Of states it is the comparison that "auto" makes (`cohmm.learn.sequences.held_out`), on all of the
data and with smaller steps.  BIC counts parameters that are not zero.  Stability is the total
variation, matched, between the states that were learned from different folds, or topics of
different seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cohmm._validation import check_whole, is_whole, silenced
from cohmm.data.documents import Documents
from cohmm.data.read_documents import read_documents
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import as_lags, pair_counts
from cohmm.learn.learner import prevalence_of
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairwise import pairwise
from cohmm.learn.sequences.held_out import (
    CrossValidation,
    Groups,
    Learned,
    chosen,
    grouped,
    most_states,
    search,
)
from cohmm.learn.state_choice import Kind, StateChoice
from cohmm.learn.topics.htmm import htmm
from cohmm.model.convert import frame
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import match_rows, total_variation
from cohmm.topics.compare import MEASURES, Judged, part
from cohmm.topics.stability import variation_between

FOLDS = 5
# Up to how many symbols so many of the folds are held out in turn; of more data one is.
TIMES = ((20_000, 3), (200_000, 2))
FINENESS = 8  # steps between the best number and its neighbours: an eighth of it at most
MIN_COUNT = 1.0  # expected: a parameter that is rarer counts as zero
STABLE = 0.25  # total variation
HELD_OUT = 0.2  # of the documents
AROUND = (0.5, 0.75, 1.0, 1.5, 2.0)  # of the number that the pairs show: default candidates
SEEDS = 2


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
    rising : bool
        Whether the largest candidate is the best, so that more may be better still.
    """

    candidates: tuple[Candidate, ...]
    recommended: int
    reason: str
    detectable: int
    kind: Kind
    n_groups: int
    blocks: bool = False
    rising: bool = False

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
        names = ("recommended", "reason", "detectable", "kind", "blocks", "rising")
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
        Candidates; default: from as many as the pairs show, up and down, as long as that predicts
        better, be it beyond the number of symbols.
    lags : several, optional
        Distances at which pairs are counted.
    folds : int, optional
        Parts that are held out in turn; default: 5, of which 3 are held out, 2 if there are more
        than 20,000 symbols, and 1 of more than 200,000.  1: one fifth is held out once.
    stability : bool
        Whether to compare the states that were learned from different folds.
    random_state : int
        Seed of how sequences are dealt out, and of the learner.
    callback : function of a number of states, optional
        Called before each candidate is learned.
    **options
        Of `cohmm.learn.pairwise`, such as ``refine`` or ``n_init``, which then learns candidates;
        else a few EM starts do, which take less time and predict about as well.

    >>> from cohmm.datasets.synthetic import separable_hmm
    >>> truth = separable_hmm(10, 3, stay=.5, random_state=0)
    >>> X, _ = truth.sample(5_000, random_state=0)
    >>> select(X, n_components=[2, 3], random_state=0).recommended
    3
    """
    if isinstance(X, Cooccurrence):
        raise ValueError("select holds data out: give the data itself, not counts")
    candidates = None if n_components is None else candidates_of(n_components)
    data = Sequences.of(X, lengths, n_symbols=n_symbols, vocabulary=vocabulary)
    lags = as_lags(lags)
    parts = grouped(data, random_state)
    n = len(data.symbols)
    times = next((times for most, times in TIMES if n <= most), 1)
    learn = None
    if options or lags != [1]:

        def learn(train: Sequences, k: int, seed: int) -> HMM:
            return pairwise(train, k, **{"lags": lags, "random_state": seed, **options}).model

    judge = CrossValidation(
        parts, FOLDS if folds in (None, 1) else folds, folds or times, random_state, learn
    )
    detectable = PairEvidence.of(pair_counts(data, lags)).spectrum().n_detectable
    learned: dict[int, Learned] = {}

    def score(k: int) -> float:
        if callback is not None:
            callback(k)
        learned[k] = judge(k)
        return float(learned[k].scores.sum())

    if candidates is None:
        search(score, detectable, max(most_states(n), detectable), FINENESS)
    else:
        for k in candidates:
            score(k)
    choice = chosen({k: one.scores for k, one in learned.items()}, judge.sizes, detectable)
    train = judge.splits[0][0]
    measured = {k: _criteria(one.models, train, stability) for k, one in learned.items()}
    return _selection(choice, measured, parts)


def _criteria(models: tuple[HMM, ...], train: Sequences, stability: bool) -> dict[str, Any]:
    """Fields of a `Candidate`: BIC of the first fold's model, and how far the second's states are
    from its own."""
    model, *others = models
    n = count_parameters(model, len(train.symbols))
    bic = n * np.log(len(train.symbols)) - 2 * model.log_likelihood(train)
    variation = float("nan")
    if stability and others:
        order = match_rows(model.emissionprob, others[0].emissionprob)
        variation = total_variation(model.emissionprob[order], others[0].emissionprob)
    return {"bic": float(bic), "n_parameters": n, "stability": variation}


def count_parameters(model: HMM, n: int) -> int:
    """Transitions and emissions that are expected at least once, less one for each row."""
    visits = n * prevalence_of(model)[:, None]
    kept = [(visits * p >= MIN_COUNT).sum(axis=1) for p in (model.transmat, model.emissionprob)]
    return int(sum(np.maximum(rows - 1, 0).sum() for rows in kept))


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
        Candidates; default: half as many as the pairs of all documents show, which is what "auto"
        takes, to twice as many.
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
        quick = options | {"refine": 0, "max_iter": 1, "n_init": 1, "random_state": random_state}
        detectable = htmm(corpus, "auto", **quick).n_components
        most = len(np.unique(train.symbols))
        around = {min(max(1, round(share * detectable)), most) for share in AROUND}
        wanted = sorted(around) if n_components is None else candidates_of(n_components)
        scored, measured = {}, {}
        for k in wanted:
            if callback is not None:
                callback(k)
            fits = [
                htmm(train, k, random_state=random_state + seed, **options) for seed in range(seeds)
            ]
            words = fits[0].predict(test)
            scored[k] = np.diff(np.append(0.0, np.cumsum(words))[test.offsets])
            npmi = MEASURES["npmi"](Judged(fits[0], train, test, "sticky"))
            measured[k] = {"stability": variation_between(fits), "npmi": npmi}
    return _selection(chosen(scored, test.lengths, detectable, "topic"), measured, len(test))


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
    choice: StateChoice, measured: dict[int, dict[str, Any]], groups: Groups | int
) -> Selection:
    """Candidates with all that was measured, and the reason with what speaks against it."""
    candidates = tuple(Candidate(*one, **measured[one.n_components]) for one in choice.tried)
    recommended, kind, reason = choice.n_components, choice.kind, choice.why
    stability = measured[recommended]["stability"]
    if kind == "state" and len(candidates) > 1:
        reason += f"; BIC takes {min(candidates, key=lambda one: one.bic).n_components}"
    if stability > STABLE:
        reason += f"; but its {kind}s are not stable: total variation {stability:.2f} "
        reason += "between two fits"
    n, blocks = (groups, False) if isinstance(groups, int) else (groups.n, groups.blocks)
    return Selection(
        candidates, recommended, reason, choice.detectable, kind, n, blocks, choice.rising
    )

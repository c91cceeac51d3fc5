"""The whole recipe, from data to a model: pairs first, then maximum likelihood.

0. Check all options, before anything is counted.
1. Count pairs, in one pass over the data.
   Where the number of states is "auto", compare numbers of them on held-out data
   (`choose_states`).
2. Learn from pairs alone (`min_volume`).
3. Decide, once, whether to refine, and by what (`Refinement.decide`): if the data is at hand and
   that is worth its time.  If not, the pair estimate is the answer, without the bias of the volume
   term if zeros show (`debias_if_sparse`).
4. Choose where to start: at the pair estimate or, where a random start leads further, there
   (`best_start`).  With constraints, at a model that satisfies them; with more states than symbols,
   which pairs cannot tell apart, at what longer windows say (`overcomplete_start`).
5. Refine (`Refinement.run`): by the sequences; of long data by its triples, at a cost that does not
   depend on its length.
6. Of ``n_init`` starts, keep the model of the highest likelihood.
7. Give symbols of the vocabulary that the data does not have the probability of unseen ones, in
   every state, unless nothing is smoothed (`with_unseen`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, cast

import numpy as np

from cohmm._validation import check_choice, is_whole
from cohmm.data.partitioned import Data, Partitioned
from cohmm.data.sequences import END, Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_pairs
from cohmm.kernels.types import Floats
from cohmm.learn.constraints import Constraints, uniform_states
from cohmm.learn.learner import Callback, Fit, in_stage, keeping, learner, symbol_shares
from cohmm.learn.pairs.debias import debias_if_sparse
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.nmf import fits_with_constraints
from cohmm.learn.pairs.pair_evidence import (
    Combine,
    PairEvidence,
    States,
    n_in_pairs,
    warn_of_noise,
    warned_of_noise_later,
)
from cohmm.learn.pairs.volume import Volume, check_penalty, volume_term
from cohmm.learn.refinement import SMOOTHING, Past, Refine, Refinement, resumed
from cohmm.learn.sequences.held_out import choose_states
from cohmm.learn.sequences.likelihood import fit_of_labels, start_from_labels
from cohmm.learn.sequences.multistart import Start, best_start, overcomplete_start, random_start
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.learn.state_choice import StateChoice
from cohmm.model.answers import with_unseen
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator

logger = logging.getLogger(__name__)
PAIR_PASSES = 3000
RANDOM_STARTS = 16  # beside those from pairs, where transitions or their zeros are set


@dataclass(frozen=True)
class PairwiseFit(Fit):
    """A model, and both steps by which it was learned.

    Parameters
    ----------
    counts : Cooccurrence
        The pairs.
    pairs : Fit or None
        The estimate from pairs alone: a `PairFit`, or with constraints a `Fit`; None where none was
        needed, or pairs cannot tell so many states apart.
    refined : RefinedFit or None
        The refinement, which the model is then from.
    began : str
        Where refinement started, or what the model is from where there was none: "pairs",
        "triples", "windows", "random starts", "constraints" or "the past".
    """

    counts: Cooccurrence = field(repr=False)
    pairs: Fit | None
    refined: RefinedFit | None
    began: str = "pairs"

    @property
    def last(self) -> Fit:
        """The step that the model is from."""
        return self.refined or self.pairs or self


@learner
def pairwise(
    data: Data | Cooccurrence,
    n_components: States,
    *,
    lags: Iterable[int] | None = None,
    combine: Combine = "tied",
    volume: str | Volume = "logdet",
    penalty: float | Literal["auto"] | None = None,
    weights: Any = None,
    constraints: Constraints | None = None,
    max_iter: int | None = None,
    tol: float = 1e-3,
    n_init: int = 1,
    smoothing: float | None = None,
    refine: Refine = "auto",
    sparsity: float | Literal["auto"] = "auto",
    random_state: int | None = None,
    start: HMM | None = None,
    past: Past | None = None,
    callback: Callback | None = None,
) -> PairwiseFit:
    """Learn an HMM from pairs, and go on to maximum likelihood.

    Parameters
    ----------
    data : Sequences, Partitioned or Cooccurrence
        Counts alone cannot be refined.
    n_components : int or "auto"
        Number of states.  "auto": by held-out data (`cohmm.learn.sequences.held_out`), and as many
        as stand out from the noise of the pairs where those are all there is, or ``refine=False``.
    combine, volume, penalty, start
        As for `cohmm.learn.min_volume`.
    weights : array, (S,), optional
        How often each sequence counts, in both steps.
    constraints : Constraints, optional
        Tables to start from, zeros, labels of some observations, pseudo-counts.
    max_iter : int, optional
        Passes of each step, at most; default: 3,000 over the pairs, which are cheap, and 60 over
        the data, or up to 200 where that takes less than a minute.
    tol : float
        As for both steps.
    n_init : int
        Starts of the whole recipe: the first as by default, the others at random.  Each is refined,
        and the model of the highest likelihood is kept.  Where nothing is refined, as for
        `cohmm.learn.min_volume`.  Starts that are the same are refined once.
    lags : tuple, optional
        Distances at which pairs are counted; default: 1, or those that counts have.
    smoothing : float, optional
        As for both steps; default: .1, or none where tables are set or all states are labelled.
    refine : bool, "auto", "sequences" or "triples"
        Whether to refine, and by which likelihood.  "auto": if that is about a minute's work
        at most, or if ``sparsity`` asks for it, and the data can be read again.  Unless one is
        asked for, triples serve for more than 1e7 symbols, and sequences for less.
    sparsity : float or "auto"
        As for `cohmm.learn.refine`.  "auto" concerns pairs alone as well: if zeros show, the volume
        term is taken away at the end.
    random_state : int, optional
        Seed of both steps.
    past : Past, optional
        What is left of data that came before: its pairs are added, and a model that was refined
        goes on with the new sequences (`resumed`).
    callback : function of a `Progress`, optional
        Called with every iteration that was kept, of the stage "pairs" and then of "refinement".

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(20, 3, stay=.5, random_state=0)
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> fit = pairwise(data, 3, random_state=0)
    >>> fit.model.distance(truth).transition < fit.pairs.model.distance(truth).transition
    True
    """
    # 0. Check all options: a typo costs no pass over the data.
    if constraints is not None and not isinstance(constraints, Constraints):
        raise ValueError(f"constraints must be Constraints, not {constraints!r}")
    constraints = constraints or Constraints()
    if past is not None and not isinstance(past, Past):
        raise ValueError(f"past must be a Past, not {past!r}")
    weights = _checked_weights(data, weights)
    check_choice(("tied", "summed"), combine=combine)
    check_penalty(penalty)
    volume_term(volume)  # checks it
    refinement = Refinement(
        refine, constraints, weights, sparsity, smoothing, max_iter, tol, random_state
    )
    pair_passes = PAIR_PASSES if max_iter is None else max_iter
    pair_smoothing = SMOOTHING if smoothing is None else smoothing
    pair_callback = in_stage("pairs", pair_passes, callback)
    # 1. Count pairs, in one pass over the data.
    if isinstance(data, Cooccurrence):
        counts, sequences = data, None
    else:
        counts = count_pairs(data, lags=(1,) if lags is None else lags, weights=weights)
        sequences, lags = data, None
    if past is not None:
        counts = past.counts + counts
        past = past.among(counts)
        start = past.model
    if is_whole(n_components) and n_components >= 1:  # type: ignore[operator]
        constraints.check(int(n_components), counts.n_symbols)
    may_refine = sequences is not None and refine is not False
    choice, by_pairs = None, n_components == "auto"
    if by_pairs and may_refine and not constraints.distinguish_states:
        choice = _chosen_states(sequences, counts, combine, weights, random_state)
        n_components = choice.n_components
    # 2. Learn from pairs alone, if they can tell the states apart and no constraint does.
    from_pairs = partial(
        min_volume,
        counts,
        n_components,
        lags=lags,
        combine=combine,
        volume=volume,
        penalty=penalty,
        max_iter=pair_passes,
        tol=tol,
        smoothing=pair_smoothing,
        random_state=random_state,
        start=start,
        callback=pair_callback,
    )
    with_constraints = partial(
        fits_with_constraints,
        counts,
        constraints,
        n_components,
        max_iter=pair_passes,
        tol=tol,
        callback=pair_callback,
    )
    if constraints.distinguish_states:
        fills = bool(smoothing) and constraints.emissionprob is None
    else:
        fills = smoothing != 0
    result = partial(_result, counts, fills)
    estimate = None
    if not constraints.distinguish_states and not _exceeds_symbols(n_components, counts):
        with warned_of_noise_later():
            estimate = from_pairs(n_init=1 if may_refine else n_init)
    k = _fixed_number(n_components) if estimate is None else estimate.model.n_components
    constraints.check(k, counts.n_symbols)
    choice = choice or (StateChoice(k, k) if by_pairs else None)
    # 3. Decide, once, whether to refine, and by what.
    decision = refinement.decide(sequences, counts, k, past)
    if estimate is not None:
        warn_of_noise(estimate.spectrum, k, goes_on=decision is not None)
    if decision is None:
        if estimate is None:
            [fit] = with_constraints(alone=True, random_state=random_state)
            return result(fit, None, "constraints", choice)
        if may_refine and n_init > 1:
            with warned_of_noise_later():
                estimate = from_pairs(n_init=n_init)
        if sparsity == "auto" and combine == "tied":
            estimate = debias_if_sparse(estimate, counts, pair_smoothing, random_state)
        return result(estimate, None, "pairs", choice)
    # 4. Choose where to start, ``n_init`` times.
    if constraints.states is not None:
        labelled = fit_of_labels(decision.data, constraints, k, weights)
        if labelled is not None:  # all states are labelled: there is nothing to climb
            shares = symbol_shares(labelled.model, counts.symbol_counts)
            labelled = replace(labelled, shares=shares)
            return PairwiseFit(
                **vars(labelled), counts=counts, pairs=None, refined=None, began="constraints"
            )
    seeds, statistics = _seeds(random_state, n_init), None
    if past is not None:
        alone = None if estimate is None else estimate.model
        model, statistics = resumed(past, counts, alone, decision.data, constraints)
        starts = iter([Start(model, "pairs" if model is alone else "the past", estimate)])
    elif constraints.distinguish_states:
        starts = _starts_with_constraints(decision.data, k, refinement, with_constraints, seeds)
    elif estimate is None:
        starts = (overcomplete_start(decision.data, k, pair_smoothing, seed) for seed in seeds)
    else:
        race = start is None and weights is None and decision.evidence == "sequences"
        starts = _starts_from_pairs(estimate, decision.data, race and k > 1, seeds)
    # 5. Refine from each start; from starts that are the same, once.
    runs: list[tuple[Start, RefinedFit]] = []
    for begin in starts:
        if not any(begin.model == other.model for other, _ in runs):
            runs.append((begin, refinement.run(begin.model, decision, callback, statistics)))
    # 6. Keep the model of the highest likelihood.
    begin, refined = max(runs, key=lambda run: run[1].log_likelihood)
    refined = replace(refined, starts=tuple(fit.objective for _, fit in runs))
    return result(begin.pairs, refined, begin.began, choice)


def _chosen_states(
    data: Data | None,
    counts: Cooccurrence,
    combine: Combine,
    weights: Floats | None,
    random_state: Any,
) -> StateChoice:
    """How many states, by held-out data, and no fewer than the pairs of long data show."""
    assert data is not None
    shown = PairEvidence.of(counts, None, combine).spectrum().n_detectable
    if weights is not None and isinstance(data, Sequences):
        first, last = data.offsets[:-1], data.offsets[1:]
        data = data.spans(first[weights > 0], last[weights > 0])
    choice = choose_states(data, shown, random_state if isinstance(random_state, int) else 0)
    logger.info(choice.reason)
    return choice


def _checked_weights(data: Data | Cooccurrence, weights: Any) -> Floats | None:
    """One weight per sequence; None where all count once."""
    if not isinstance(data, (Sequences, Partitioned, Cooccurrence)):
        raise ValueError(
            "pairwise learns from Sequences or a Cooccurrence: give Sequences.of(X), not a "
            f"{type(data).__name__}"
        )
    if isinstance(data, Cooccurrence):
        if weights is not None:
            raise ValueError("weights are of sequences: counts have theirs in them already")
        return None
    weights = data.checked_weights(weights)
    return None if weights is None or (weights == 1).all() else weights


def _exceeds_symbols(n_components: States, counts: Cooccurrence) -> bool:
    """Whether there are more states than pairs of so many symbols can tell apart."""
    return is_whole(n_components) and 0 < n_in_pairs(counts) < int(n_components)


def _fixed_number(n_components: States) -> int:
    if not is_whole(n_components):
        raise ValueError(
            f"n_components={n_components!r}: tables and labels are of a number of states; give it"
        )
    return int(n_components)


def _seeds(random_state: Any, n_init: int) -> Iterator[Any]:
    """The seed of the first start, and then others: one start is the same however many follow."""
    yield random_state
    if n_init > 1:
        yield from generator(random_state).spawn(n_init - 1)


def _starts_from_pairs(pairs: Fit, data: Data, race: bool, seeds: Iterator[Any]) -> Iterator[Start]:
    """The pair estimate or, if it may ``race``, what leads further; then random starts."""
    model, k, seed = pairs.model, pairs.model.n_components, next(seeds)
    draw = partial(random_start, data, k)
    first = best_start(data, [model], draw, random_state=seed) if race else model
    yield Start(first, "pairs" if first is model else "random starts", pairs)
    for seed in seeds if k > 1 else ():
        yield Start(best_start(data, [], draw, random_state=seed), "random starts", pairs)


def _starts_with_constraints(
    data: Data,
    k: int,
    refinement: Refinement,
    fits_from_pairs: Callable[..., list[Fit]],
    seeds: Iterator[Any],
) -> Iterator[Start]:
    """Models with the tables that are set, or the labels; what these leave open is from pairs."""
    constraints, weights = refinement.constraints, refinement.weights
    for seed in seeds:
        pairs = None
        if constraints.states is not None:
            model = start_from_labels(data, constraints, k, weights, seed)
        elif constraints.n_tables == 3:
            model = constraints.over(uniform_states(k, np.ones(data.n_symbols), data.vocabulary))
        else:
            fits = fits_from_pairs(alone=False, random_state=seed)
            pairs, model = fits[0], constraints.over(fits[0].model)
            if constraints.emissionprob is None and weights is None:
                model = _raced(data, constraints, [fit.model for fit in fits], seed)
        yield Start(model, "constraints", pairs)


def _raced(data: Data, constraints: Constraints, models: list[HMM], seed: Any) -> HMM:
    """The best start of those from pairs and random ones, all within the constraints."""
    k = models[0].n_components
    start = best_start(
        data,
        [each for model in models for each in (constraints.over(model), model)],
        lambda rng: constraints.over(random_start(data, k, rng)),
        n_random=RANDOM_STARTS,
        random_state=seed,
    )
    return keeping(constraints.over(start), start, constraints.learned)


def check_ends(data: Data | Cooccurrence) -> None:
    """Refuse what does not say how sequences end: data, or counts, of which that is an event."""
    if isinstance(data, Cooccurrence):
        if END not in (data.vocabulary or ()):
            raise ValueError(
                f"end=True needs counts in which {END!r} is a symbol: "
                "count_pairs(Sequences.of(X).with_end())"
            )
    elif len(data) == 1:
        raise ValueError(
            f"end=True learns how sequences end, and there is one sequence, of "
            f"{data.n_observations - 1:,} symbols, with one end to learn from: give its lengths, "
            "or a list of sequences, or leave out end=True"
        )


def _result(
    counts: Cooccurrence,
    fills: bool,
    pairs: Fit | None,
    refined: RefinedFit | None,
    began: str,
    choice: StateChoice | None,
) -> PairwiseFit:
    """The last step's model, with both steps; if ``fills``, unseen symbols get a probability."""
    last = refined or pairs
    assert last is not None
    shares = last.shares
    if shares is None:
        shares = symbol_shares(last.model, counts.symbol_counts)
    model = with_unseen(last.model, counts.symbol_counts) if fills else last.model
    last = replace(last, model=model, choice=choice, shares=shares)
    if refined is not None:
        refined = cast(RefinedFit, last)
    else:
        pairs = last
    step = (last.model, last.converged, last.history, last.starts)
    fit = PairwiseFit(*step, counts, pairs, refined, began, choice=choice, shares=shares)
    return replace(fit, gained=last.gained)

"""The whole recipe, from data to a model: pairs first, then maximum likelihood.

0. Options are checked, before anything is counted.
1. Count pairs, in one pass over the data.
2. Learn from them alone: `min_volume`, which orders states by prevalence, and gives a symbol that
   is in no pair its frequency, in every state.
3. Decide, once, whether to refine (`Refinement.decide`): if the data is at hand and that is worth
   its time.  From the pair estimate or, where a random start leads further, from that
   (`best_start`).  Of pairs alone the volume term is taken away, if zeros show (`debias`).
4. Refine: `refine`, by the sequences; of long data by its triples, at a cost that does not depend
   on its length.

Where something is `Known` that tells states apart, a start that agrees with it takes the place of
step 2; so do triples, windows or random starts where there are more states than symbols, which
pairs cannot tell apart (`overcomplete_start`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from cohmm._validation import check_choice, is_whole
from cohmm.data.partitioned import Data, Partitioned
from cohmm.data.sequences import Sequences
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.counting import count_pairs
from cohmm.kernels.types import Floats
from cohmm.learn.constraints import Known, uniform_states
from cohmm.learn.learner import Callback, Fit, Record, in_stage, keeping, learner
from cohmm.learn.pairs.debias import debias_if_sparse
from cohmm.learn.pairs.min_volume import min_volume
from cohmm.learn.pairs.nmf import from_pairs
from cohmm.learn.pairs.pair_evidence import (
    Combine,
    PairEvidence,
    States,
    n_in_pairs,
    warn_of_noise,
    warned_of_noise_later,
)
from cohmm.learn.pairs.volume import Volume, check_penalty, volume_term
from cohmm.learn.refinement import (
    SMOOTHING,
    Decision,
    First,
    Refine,
    Refinement,
    overcomplete_start,
)
from cohmm.learn.sequences.baum_welch import random_start
from cohmm.learn.sequences.held_out import choose_states
from cohmm.learn.sequences.likelihood import from_labels
from cohmm.learn.sequences.multistart import best_start
from cohmm.learn.sequences.refine import RefinedFit
from cohmm.learn.state_choice import StateChoice
from cohmm.model.hmm import HMM

logger = logging.getLogger(__name__)
PAIR_PASSES = 3000
RANDOM_STARTS = 16  # beside those from pairs, where transitions or their zeros are known


@dataclass(frozen=True)
class PairwiseFit(Fit):
    """A model, and both steps by which it was learned.

    Parameters
    ----------
    counts : Cooccurrence
        The pairs.
    pairs : Fit or None
        What they alone say: a `PairFit`, unless something was known; None where all states were, or
        there are more of them than symbols.
    refined : RefinedFit or None
        What came after, which the model then is.
    began : str
        What refinement began from, or what the model is where there was none: "pairs", "triples",
        "windows", "random starts" or "what is known".
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
    known: Known | None = None,
    max_iter: int | None = None,
    tol: float = 1e-3,
    n_init: int = 1,
    smoothing: float | None = None,
    refine: Refine = "auto",
    sparsity: float | Literal["auto"] = "auto",
    random_state: int | None = None,
    start: HMM | None = None,
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
    combine, volume, penalty, n_init, start
        As for `cohmm.learn.min_volume`.
    weights : array, (S,), optional
        How often each sequence counts, in both steps.
    known : Known, optional
        Tables to start from, zeros, states of some observations, pseudo-counts.
    max_iter : int, optional
        Passes of each step, at most; default: 3,000 over the pairs, which are cheap, and 60 over
        the data, or up to 200 where that takes less than a minute.
    tol : float
        As for both steps.
    lags : tuple, optional
        Distances at which pairs are counted; default: 1, or those that counts have.
    smoothing : float, optional
        As for both steps; default: .1, or none where parameters or all states were given.
    refine : bool, "auto", "sequences" or "triples"
        Whether to refine, and by the likelihood of what.  "auto": if that is about a minute's work
        at most, or if ``sparsity`` asks for it, and the data can be read again.  Unless one is
        asked for, triples serve for more than 1e7 symbols, and sequences for less.
    sparsity : float or "auto"
        As for `cohmm.learn.refine`.  "auto" concerns pairs alone as well: if zeros show, the volume
        term is taken away at the end.
    random_state : int, optional
        Seed of both steps.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept, of the stage "pairs" and then of "refinement".

    >>> from cohmm.datasets.synthetic import random_hmm
    >>> truth = random_hmm(20, 3, stay=.5, random_state=0)
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> fit = pairwise(data, 3, random_state=0)
    >>> fit.model.distance(truth).transition < fit.pairs.model.distance(truth).transition
    True
    """
    # Options first: a typo costs no pass over the data.
    if known is not None and not isinstance(known, Known):
        raise ValueError(f"known must be a Known, not {known!r}")
    known = known or Known()
    weights = _checked_weights(data, weights)
    check_choice(("tied", "summed"), combine=combine)
    check_penalty(penalty)
    volume_term(volume)  # refuses what is none
    refinement = Refinement(
        refine, known, weights, sparsity, smoothing, max_iter, tol, random_state
    )
    passes = PAIR_PASSES if max_iter is None else max_iter
    pair_smoothing = SMOOTHING if smoothing is None else smoothing
    # 1. Count pairs, in one pass over the data.
    if isinstance(data, Cooccurrence):
        counts, sequences = data, None
    else:
        counts, sequences = (
            count_pairs(data, lags=(1,) if lags is None else lags, weights=weights),
            data,
        )
    if is_whole(n_components) and n_components >= 1:  # type: ignore[operator]
        known.check(int(n_components), counts.n_symbols)
    if known.decides_states:
        return _informed(sequences, counts, n_components, refinement, passes, callback)
    choice = None
    if n_components == "auto" and sequences is not None and refine is not False:
        choice = _chosen(sequences, counts, combine, weights, random_state)
        n_components = choice.n_components
    if (too_many := _beyond(n_components, counts)) is not None:
        if sequences is None or refine is False:
            raise ValueError(
                f"n_components={too_many} states cannot be learned from pairs of "
                f"{n_in_pairs(counts)} symbols: give the sequences, and leave out refine=False, or "
                "ask for fewer states"
            )
        first = overcomplete_start(
            sequences, too_many, smoothing=pair_smoothing, random_state=random_state
        )
        refined = refinement.run(first.model, Decision("sequences", sequences), callback)
        return _together(counts, None, refined, first.began, choice=choice)
    # 2. Learn from pairs alone.
    with warned_of_noise_later():
        pairs = min_volume(
            counts,
            n_components,
            lags=lags if isinstance(data, Cooccurrence) else None,
            combine=combine,
            volume=volume,
            penalty=penalty,
            max_iter=passes,
            tol=tol,
            n_init=n_init,
            smoothing=pair_smoothing,
            random_state=random_state,
            start=start,
            callback=in_stage("pairs", passes, callback),
        )
    # 3. Decide, once, whether to refine, and by what.
    k = pairs.model.n_components
    known.check(k, counts.n_symbols)
    decision = refinement.decide(sequences, counts, k)
    warn_of_noise(pairs.spectrum, k, goes_on=decision is not None)
    first = First(pairs.model, "pairs")
    if decision is None:
        if sparsity == "auto" and combine == "tied":
            pairs = debias_if_sparse(pairs, counts, pair_smoothing, random_state)
    elif start is None and weights is None and k > 1 and decision.evidence == "sequences":
        first = _better_start(pairs.model, decision.data, random_state)
    # 4. Refine.
    refined = refinement.run(first.model, decision, callback)
    choice = choice or (StateChoice(k, k) if n_components == "auto" else None)
    return _together(counts, pairs, refined, first.began, choice=choice)


def _chosen(
    sequences: Data,
    counts: Cooccurrence,
    combine: Combine,
    weights: Floats | None,
    random_state: int | None,
) -> StateChoice:
    """How many states, by held-out data, and no fewer than the pairs of long data show."""
    shown = PairEvidence.of(counts, None, combine).spectrum().n_detectable
    if weights is not None and isinstance(sequences, Sequences):
        first, last = sequences.offsets[:-1], sequences.offsets[1:]
        sequences = sequences.spans(first[weights > 0], last[weights > 0])
    choice = choose_states(sequences, shown, random_state if isinstance(random_state, int) else 0)
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


def _beyond(n_components: States, counts: Cooccurrence) -> int | None:
    """The number of states, if it is more than pairs can tell apart."""
    if not is_whole(n_components) or not 0 < n_in_pairs(counts) < int(n_components):
        return None
    return int(n_components)


def _better_start(model: HMM, sequences: Data, random_state: Any) -> First:
    """The pair estimate, or what leads further."""
    draw = partial(random_start, sequences, model.n_components)
    best = best_start(sequences, [model], draw, random_state=random_state)
    return First(best, "pairs" if best is model else "random starts")


def _informed(
    sequences: Data | None,
    counts: Cooccurrence,
    n_components: States,
    refinement: Refinement,
    passes: int,
    callback: Callback | None,
) -> PairwiseFit:
    """From a start that agrees with what is known."""
    known = refinement.known
    if not is_whole(n_components):
        raise ValueError(f"n_components={n_components!r}: what is known has a number of states")
    k = int(n_components)
    labelled: Fit | HMM | None = None
    decision = refinement.decide(sequences, counts, k)
    data = None if decision is None else decision.data
    if known.states is not None:
        if refinement.refine is False:
            raise ValueError("refine=False learns from pairs alone, which have no known states")
        if data is None:
            raise ValueError("states are of observations: give the data, not its counts")
        if not isinstance(data, Sequences):
            raise ValueError("known states are for data in memory, not for parts of it")
        labelled = from_labels(data, known, k, refinement.weights, refinement.random_state)
        if isinstance(labelled, Fit):
            return _together(counts, None, None, "what is known", labelled)
    pairs = None
    if isinstance(labelled, HMM):
        start = labelled
    elif known.n_tables == 3 and data is not None:
        start = known.over(uniform_states(k, np.ones(counts.n_symbols), counts.vocabulary))
    else:
        fits = from_pairs(
            counts,
            known,
            k,
            alone=data is None,
            max_iter=passes,
            tol=refinement.tol,
            random_state=refinement.random_state,
            record=Record(in_stage("pairs", passes, callback)),
        )
        pairs, start = fits[0], fits[0].model
        if data is not None and known.emissionprob is None and refinement.weights is None:
            start = _raced(data, known, [fit.model for fit in fits], refinement.random_state)
        elif data is not None:
            start = known.over(start)
    return _together(counts, pairs, refinement.run(start, decision, callback), "what is known")


def _raced(data: Data, known: Known, models: list[HMM], random_state: Any) -> HMM:
    """The best start of those that pairs gave and random ones, all with what is known."""
    k = models[0].n_components
    start = best_start(
        data,
        [each for model in models for each in (known.over(model), model)],
        lambda rng: known.over(random_start(data, k, rng)),
        n_random=RANDOM_STARTS,
        random_state=random_state,
    )
    return keeping(known.over(start), start, known.learned)


def _together(
    counts: Cooccurrence,
    pairs: Fit | None,
    refined: RefinedFit | None,
    began: str,
    other: Fit | None = None,
    *,
    choice: StateChoice | None = None,
) -> PairwiseFit:
    if refined is not None:
        refined = replace(refined, choice=choice)
    elif pairs is not None:
        pairs = replace(pairs, choice=choice)
    last = refined or pairs or other
    assert last is not None
    return PairwiseFit(
        model=last.model,
        converged=last.converged,
        history=last.history,
        starts=(pairs or last).starts,
        choice=choice,
        counts=counts,
        pairs=pairs,
        refined=refined,
        began=began,
    )

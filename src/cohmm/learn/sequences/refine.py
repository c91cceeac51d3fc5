"""From the pair estimate to maximum likelihood.

Pairs do not say all that sequences say.  Two stages climb from what they do say:

1. the likelihood of windows of three, whose cost does not depend on the length of the data;
2. the likelihood of the sequences themselves, in some tens of forward-backward passes.

Both by `ascent`.  Baum-Welch steps need many hundreds of passes for the same: from a good start
it is slow convergence that is in the way, not local optima.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cohmm._validation import check_choice, check_learned
from cohmm.data.partitioned import Data, Partitioned
from cohmm.data.sequences import Sequences
from cohmm.evidence.windows import MOST_SYMBOLS, Triples, triple_counts
from cohmm.kernels.types import Floats
from cohmm.learn.constraints import ALL, PseudoCounts
from cohmm.learn.learner import Callback, Fit, Record, learner, needs_sequences
from cohmm.learn.maximize import Prior, Target, ascend, n_parameters, visits
from cohmm.learn.pairs.pair_evidence import PRIOR_STARTS
from cohmm.learn.sequences.likelihood import Labels, SequenceLikelihood, encoded, log_likelihood
from cohmm.learn.sequences.shrinkage import MAX_ITER as SHRINKING
from cohmm.learn.sequences.shrinkage import shrunk
from cohmm.learn.sparsity import opened, weight_of, zeros_preferred
from cohmm.learn.sqrt_parametrization import sample_windows
from cohmm.learn.windows.window_law import TripleLaw, WindowLikelihood
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts
from cohmm.model.sampling import generator

WINDOW_PASSES = 20
WINDOW_ROUNDS = 8
WINDOW_TOL = 1e-3
PASSES = 10
MAX_ITER = 60
MAX_CHEAP = 200  # passes: from a poor start, short sequences have needed up to 150
WORTHWHILE = 4e9  # T K^2: about a minute of one core
MAX_DISTINCT = 1.0  # triples per symbol


@dataclass(frozen=True)
class RefinedFit(Fit):
    """A model taken to maximum likelihood.

    Parameters
    ----------
    before : HMM
        Where it started.
    gained : float
        Log-likelihood gained since, nats per symbol, smoothing included; of triples, per triple
        and without.
    statistics : Counts
        Expected starts, transitions and emissions of the data, by which `Past` goes on.
    log_likelihood : float
        That of the model, nats per symbol, smoothing included; of triples, per triple, without, and
        less that of their own law.
    window_passes : int
        Passes over the triples; 0 where they would have saved nothing.
    length : float
        Symbols in the data, the missing included, by weight, or triples: which the objective is
        divided by.
    evidence : "sequences" or "triples"
        What the likelihood is of.
    sparsity : float
        The weight of the prior for emissions with zeros.
    """

    before: HMM = field(repr=False)
    gained: float = field(kw_only=True)
    log_likelihood: float
    statistics: Counts = field(repr=False)
    window_passes: int
    length: float
    evidence: Literal["sequences", "triples"]
    sparsity: float


@learner
def refine(
    model: HMM,
    data: Data,
    *,
    triples: Triples | None = None,
    weights: Any = None,
    states: Any = None,
    learned: str = ALL,
    prior: PseudoCounts | None = None,
    as_given: bool = False,
    sparsity: float | Literal["auto"] = 0.0,
    smoothing: float = 0.1,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> RefinedFit:
    """Take a model to the maximum of the likelihood of ``data``.

    Parameters
    ----------
    model : HMM
        The start, such as the pair estimate; an entry that is zero stays zero.
    data : Sequences or Partitioned
        The evidence.
    triples : Triples, optional
        Its triples, where they have been counted already.
    weights : array, (S,), optional
        How often each sequence counts.
    states : array, (T,), optional
        States that are known, -1 where they are not.
    learned : str
        Letters of what is learned, "s"tart, "t"ransitions, "e"missions; the rest stays.
    prior : PseudoCounts, optional
        What is counted before the data is seen; default: ten sequences that begin anywhere.
    as_given : bool
        Whether states stay as they were, and zeros too, however much is smoothed; else states are
        ordered by their share of the data.
    sparsity : float or "auto"
        Weight of a prior for emissions with zeros, - sparsity * sum log(M + delta), delta about a
        standard error (`zeros`): 1 helps where most symbols are foreign to most states, and harms
        where they are not.  "auto": 1 if zeros show once the windows are climbed, else 0.
    smoothing : float
        Pseudo-observations of each symbol in each state, by its frequency: a prior that draws
        states together where data is little, once the maximum is reached; 0 leaves that as it is.
    max_iter : int
        Passes over the sequences, at most.
    tol : float
        Stop when less than this share of a nat is left to gain for every parameter.
    random_state : int, optional
        Seed of the sample that curvature is estimated from.
    callback : function of a `Progress`, optional
        Called with every pass over the sequences that led further.

    >>> from cohmm import count_pairs
    >>> from cohmm.datasets.synthetic import random_hmm
    >>> from cohmm.learn.pairs.min_volume import min_volume
    >>> truth = random_hmm(20, 3, stay=.5, random_state=0)
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> rough = min_volume(count_pairs(data), 3, random_state=0).model
    >>> fine = refine(rough, data, random_state=0)
    >>> fine.converged and fine.gained > 0
    True
    >>> fine.model.distance(truth).transition < rough.distance(truth).transition
    True
    """
    needs_sequences(data, "refine")
    data = encoded(model, data)
    if triples is not None and not isinstance(triples, Triples):
        raise ValueError(f"triples must be Triples, as count_triples(X) gives, not {triples!r}")
    if triples is not None and (triples.n_symbols, triples.vocabulary) != (
        model.n_symbols,
        model.vocabulary,
    ):
        raise ValueError(f"{triples} are not of the symbols of {model}: count those of the data")
    check_learned(learned)
    check_choice((True, False), as_given=as_given)
    if prior is not None and not isinstance(prior, PseudoCounts):
        raise ValueError(f"prior must be PseudoCounts, not {prior!r}")
    if isinstance(data, Partitioned) and not (states is weights is None):
        raise ValueError("weights and known states are for data in memory, not for parts of it")
    labels = None
    if states is not None and isinstance(data, Sequences):
        labels = Labels.of(data, states, model.n_components)
    weights = data.checked_weights(weights)
    rng = generator(random_state)
    record = Record(callback)
    likelihood = SequenceLikelihood(data, weights, labels)
    n = likelihood.units
    if not n > 0:
        raise ValueError("the weights of all sequences are zero: there is nothing to learn from")
    first = likelihood.expected(model)
    visited = visits(first.counts)
    frequency = data.symbol_counts.astype(np.float64)
    begin = _without_unseen(model, frequency) if "e" in learned and prior is None else model
    target = Target(
        likelihood,
        units=n,
        symbols=1.0,
        start_weight=(len(data) + PRIOR_STARTS) / n,
        prior=Prior(
            starts=PRIOR_STARTS * visited * (model.startprob > 0) if prior is None else 0.0,
            counted=prior or PseudoCounts(),
        ),
        windows=lambda: sample_windows(data, n_parameters(begin), rng),
        learned=learned,
    )
    start, window_passes = begin, 0
    if weights is None and labels is None and learned == ALL and not as_given:
        start, window_passes = _by_windows(opened(begin), visited, data, triples, target)
    weight = weight_of(sparsity, start, n) if window_passes or sparsity != "auto" else 0.0
    sparse = target.prior._replace(emissions=zeros_preferred(weight, begin, n))
    if start is not begin and log_likelihood(start, data) < n * first.log_likelihood:
        start = begin
    climbed = ascend(
        target._replace(prior=sparse),
        start,
        passes=PASSES,
        max_iter=max_iter,
        tol=tol,
        report=lambda used, objective, log_prob: record(used, objective, -log_prob),
    )
    refined = climbed.model
    if smoothing > 0:
        refined = shrunk(
            refined,
            likelihood,
            n,
            frequency,
            target.prior,
            weight=smoothing,
            max_iter=1 if weight > 0 else SHRINKING,  # more would fill the zeros again
            tol=tol,
            kept=model if as_given or learned != ALL else None,
            learned=learned,
        )
    reached, counts = likelihood.expected(refined)
    shares = visits(counts)
    order = np.arange(len(shares)) if as_given else np.argsort(-shares, kind="stable")
    return RefinedFit(
        model=refined.with_states(order),
        shares=shares[order],
        converged=climbed.converged,
        history=tuple(record.history),
        starts=(record.history[-1].objective,),
        before=model,
        gained=reached - first.log_likelihood,
        log_likelihood=reached,
        statistics=Counts(
            n * counts.starts[order],
            n * counts.transitions[np.ix_(order, order)],
            n * counts.emissions[order],
        ),
        window_passes=window_passes,
        length=n,
        evidence="sequences",
        sparsity=weight,
    )


def most_passes(n_symbols: float, n_components: int) -> int:
    """How many passes are made at most where nobody says: more where they are cheap.

    `MAX_ITER` of so many symbols that this takes about a minute, `MAX_CHEAP` where it takes less.
    """
    affordable = MAX_ITER * WORTHWHILE / (n_symbols * n_components**2)
    return int(min(max(affordable, MAX_ITER), MAX_CHEAP))


def worthwhile(n_symbols: int, n_components: int) -> bool:
    """Whether refining so much data takes about a minute at most, and so is done unasked."""
    return n_symbols * n_components**2 <= WORTHWHILE


def _without_unseen(model: HMM, frequency: Floats) -> HMM:
    """``model`` where symbols that do not occur have probability zero, as at the maximum.

    They then cost nothing.  A model with a state that emits nothing else stays as it is.
    """
    emission = np.where(frequency > 0, model.emissionprob, 0.0)
    left = emission.sum(axis=1, keepdims=True)
    if not (left > 0).all() or np.array_equal(emission, model.emissionprob):
        return model
    return HMM(model.startprob, model.transmat, emission / left, model.vocabulary)


def _by_windows(
    model: HMM,
    visited: Floats,
    data: Data,
    triples: Triples | None,
    target: Target,
) -> tuple[HMM, int]:
    """Stage 1, if the triples are few beside the symbols; the model, and the passes made."""
    if triples is None and model.n_symbols <= MOST_SYMBOLS:
        triples = data.map_sum(triple_counts)
    if triples is None or not 0 < len(triples.counts) < MAX_DISTINCT * target.units:
        return model, 0
    # No sparsity yet: zeros that are preferred too early are not left again.
    windows = target._replace(
        likelihood=WindowLikelihood(TripleLaw.of(triples)),
        symbols=3.0,
        start_weight=1.0,
        prior=Prior(),
    )
    begin = HMM(visited, model.transmat, model.emissionprob, model.vocabulary)
    climbed = ascend(
        windows,
        begin,
        passes=WINDOW_PASSES,
        max_iter=WINDOW_PASSES * WINDOW_ROUNDS,
        tol=WINDOW_TOL,
    )
    a, m = climbed.model.transmat, climbed.model.emissionprob
    return HMM(model.startprob, a, m, model.vocabulary), climbed.n_iter

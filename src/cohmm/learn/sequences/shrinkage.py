"""Maximum likelihood drawn towards what all states have in common, as far as the data is small.

EM with Dirichlet's prior: every state has seen, beside the data, some more of each symbol, as
frequent as symbols are overall (f), and of each state after it, as frequent as states are (pi):

    M[k] ~ expected emissions + w N f,    A[k] ~ expected transitions + 3 w K pi

With much data the first step, at the maximum, is all there is to it, and changes little.  With
little data, states that nothing holds apart come closer at every further step: smoothing alone,
which is the first step, cannot do that.  With very little, `posterior_mean` comes after that.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.finish import prevalence_of
from cohmm.learn.sequences.ascent import Prior, n_parameters
from cohmm.learn.sequences.em_step import ALL, PseudoCounts, maximised, tables
from cohmm.learn.sequences.likelihood import Likelihood, SequenceLikelihood, visits
from cohmm.learn.sequences.posterior_mean import posterior_mean
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

MAX_ITER = 40
MUCH = 100_000  # symbols, from which one step is made
VERY_LITTLE = 40_000  # symbols times K^2, up to which the mean is taken
MEAN = 2.0  # times w: Dirichlet's parameters for the mean, of emissions and of transitions
SHARE = 0.6  # of the mean: it alone is behind on sticky chains of 200 symbols (small_data.py)
TRANSITIONS = 3.0  # times w, by `benchmarks/small_data.py`; 10 is as good there, and harms sessions


def shrunk(
    model: HMM,
    likelihood: Likelihood,
    n: float,
    frequency: Floats,
    before: Prior,
    *,
    weight: float,
    max_iter: int = MAX_ITER,
    tol: float = 1e-3,
    kept: HMM | None = None,
    learned: str = ALL,
) -> HMM:
    """``model``, at the maximum of a likelihood, taken to that with the prior.

    Parameters
    ----------
    n : float
        How many symbols the likelihood is of.
    frequency : array, (N,)
        How often each symbol occurs; one that does not gets nothing.
    before : Prior
        What was counted beside the data on the way to that maximum, and still is.
    weight : float
        w, the pseudo-observations of each symbol in each state.
    max_iter : int
        Steps, at most.
    tol : float
        Stop when a step gains less than this share of a nat for every parameter.
    kept : HMM, optional
        A model whose zeros stay; else none does where a symbol, or a state, occurs.
    learned : str
        Letters of the tables that may move.
    """
    seen = np.count_nonzero(frequency) * frequency / frequency.sum()
    counts = likelihood.expected(model).counts
    pi = visits(counts)
    prior = PseudoCounts(
        before.starts,
        before.counted.transition + TRANSITIONS * weight * len(pi) * pi,
        before.counted.emission + weight * seen,
    )
    prior = prior._replace(start=prior.start + before.counted.start)
    best = -np.inf
    for left in reversed(range(max_iter if n < MUCH else 1)):
        extra = prior if kept is None else prior.possible(kept)
        counts = Counts(*(n * c + p for c, p in zip(counts, extra, strict=True)))
        model = maximised(model, counts, learned)
        if not left:
            break
        log_likelihood, counts = likelihood.expected(model)
        objective = n * log_likelihood + prior.log_density(model)
        if objective - best < tol * n_parameters(model):
            break
        best = objective
    asked = np.any([np.any(pseudo) for pseudo in before.counted])
    if kept is not None or learned != ALL or asked or max_iter == 1:
        return model
    return _mean_if_little(model, likelihood, before.starts, MEAN * weight, seen)


def _mean_if_little(
    model: HMM, likelihood: Likelihood, starts: Floats | float, weight: float, seen: Floats
) -> HMM:
    """Halfway to the mean of the models near this one, if the data is so little that it helps."""
    if not isinstance(likelihood, SequenceLikelihood):
        return model
    data = likelihood.data
    little = data.n_observations * model.n_components**2 <= VERY_LITTLE
    if not little or likelihood.weights is not None or likelihood.labels is not None:
        return model
    order = np.argsort(-prevalence_of(model), kind="stable")
    prior = PseudoCounts(np.broadcast_to(starts, len(order))[order], weight, weight * seen)
    ends = np.cumsum(data.lengths)
    model = model.with_states(order)
    mean = posterior_mean(model, data.spans(ends - data.lengths, ends), prior)
    both = zip(tables(mean), tables(model), strict=True)
    start, transmat, emission = (SHARE * one + (1 - SHARE) * other for one, other in both)
    return HMM(start, transmat, emission, model.vocabulary)

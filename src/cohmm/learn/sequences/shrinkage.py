"""Maximum likelihood drawn towards what all states have in common, as far as the data is small.

EM with Dirichlet's prior: every state has seen, beside the data, some more of each symbol, as
frequent as symbols are overall (f), and of each state after it, as frequent as states are (pi):

    M[k] ~ expected emissions + w N f,    A[k] ~ expected transitions + 3 w K pi

With much data the first step, at the maximum, is all there is to it, and changes little.  With
little data, states that nothing holds apart come closer at every further step: smoothing alone,
which is the first step, cannot do that.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.learn.sequences.ascent import Prior, n_parameters
from cohmm.learn.sequences.em_step import ALL, PseudoCounts, maximised
from cohmm.learn.sequences.likelihood import Likelihood, visits
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

MAX_ITER = 40
MUCH = 100_000  # symbols, from which one step is made
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
    return model

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

from cohmm.data.sequences import Sequences
from cohmm.kernels import native
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.constraints import ALL, PseudoCounts, tables
from cohmm.learn.learner import prevalence_of
from cohmm.learn.maximize import Likelihood, Prior, m_step, n_parameters, visits
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

MAX_ITER = 40
MUCH = 100_000  # symbols, from which one step is made
VERY_LITTLE = 40_000  # symbols times K^2, up to which the mean is taken
MEAN = 2.0  # times w: Dirichlet's parameters for the mean, of emissions and of transitions
SHARE = 0.6  # of the mean: it alone is behind on sticky chains of 200 symbols (small_data.py)
TRANSITIONS = 3.0  # times w, by `benchmarks/small_data.py`; 10 is as good there, and harms sessions
SWEEPS, FORGOTTEN = 300, 20  # models that are drawn, after some that are left out
ROW_FLOOR = 1e-100  # so that a row of a table is not all zero


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
        model = m_step(model, counts, learned)
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


def posterior_mean(model: HMM, data: Sequences, prior: PseudoCounts) -> HMM:
    """The mean of the models that ``data`` and ``prior`` allow, near ``model``.

    The seed is fixed, and the order of the symbols has no say: the same data gives the same model.

    Parameters
    ----------
    model : HMM
        Where to begin: the most probable model.
    data : Sequences
        In the symbols of the model.
    prior : PseudoCounts
        The parameters of Dirichlet's law; a symbol that has none in a state has to be drawn there.

    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2], [.2, .8]])
    >>> data = Sequences.of(truth.sample(300, random_state=0)[0])
    >>> posterior_mean(truth, data, PseudoCounts(.5, .5, .5)).distance(truth).emission < .1
    True
    """
    rng = np.random.default_rng(0)
    seen, codes = _by_appearance(data.symbols)
    start, transmat, emission = tables(model)
    at = [start, transmat, np.ascontiguousarray(emission[:, seen])]
    before = [np.broadcast_to(p, t.shape) for p, t in zip(prior, tables(model), strict=True)]
    before[2] = before[2][:, seen]
    firsts = data.offsets[:-1][data.lengths > 0]
    seconds = np.setdiff1d(np.arange(1, len(codes)), firsts)
    there = codes >= 0
    states: Ints = np.zeros(len(codes), np.int32)
    agreement = np.zeros((len(codes), model.n_components))
    total = [np.zeros(table.shape) for table in at]
    for sweep in range(FORGOTTEN + SWEEPS):
        uniforms = rng.random(len(codes))
        native.draw_states(codes, data.offsets, at[0], at[1], at[2], uniforms, states)
        states = _named_alike(states, agreement)
        agreement[np.arange(len(codes)), states] += 1
        counts = [
            before[0] + _counted(before[0].shape, states[firsts]),
            before[1] + _counted(before[1].shape, states[seconds - 1], states[seconds]),
            before[2] + _counted(before[2].shape, states[there], codes[there]),
        ]
        if sweep >= FORGOTTEN:
            total = [t + _rows(c) for t, c in zip(total, counts, strict=True)]
        at = [_rows(rng.standard_gamma(c)) for c in counts]
    mean = [_rows(table) for table in total]
    if len(seen):
        emission = np.zeros(emission.shape)
        emission[:, seen] = mean[2]
    return HMM(mean[0], mean[1], emission, model.vocabulary)


def _by_appearance(symbols: Ints) -> tuple[Ints, Ints]:
    """The symbols that occur, the first to appear first, and which of them is at each place."""
    values, first, inverse = np.unique(symbols, return_index=True, return_inverse=True)
    missing = np.count_nonzero(values < 0)
    order = np.argsort(np.where(values < 0, -1, first), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - missing
    return values[order][missing:], np.where(symbols < 0, -1, rank[inverse]).astype(np.int32)


def _named_alike(states: Ints, agreement: Floats) -> Ints:
    """The states by the names with which they agree best with those drawn before."""
    from scipy.optimize import linear_sum_assignment  # takes its time to import

    k = agreement.shape[1]
    shared = np.zeros((k, k))
    for state in range(k):
        shared[state] = agreement[states == state].sum(axis=0)
    return np.asarray(linear_sum_assignment(-shared)[1], np.int32)[states]


def _counted(shape: tuple[int, ...], *index: Ints) -> Floats:
    """How often each entry of a table of that shape is named."""
    flat = np.ravel_multi_index(index, shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


def _rows(table: Floats) -> Floats:
    """Each row scaled to sum to one."""
    table = np.maximum(table, ROW_FLOOR)
    return np.asarray(table / table.sum(axis=-1, keepdims=True))

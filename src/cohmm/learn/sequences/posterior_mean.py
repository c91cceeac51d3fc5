"""The mean of all models that little data allows, in place of the one that is most probable.

The most probable model fits what is chance in its data.  Models that are drawn from their law given
the data, with Dirichlet's prior, differ in what is chance, and agree in what is not; so their mean
predicts better (`benchmarks/small_data.py`).  Gibbs' sampler, from the most probable one:

1. draw the states given model and data;
2. give them the names by which they agree best with those drawn before: a model is the same
   whatever its states are called, a mean is not;
3. count, with the prior: the mean of the models that have such counts is known, and is added up;
4. draw one of these models.
"""

from __future__ import annotations

import numpy as np

from cohmm._native import draw_states
from cohmm.data.sequences import Sequences
from cohmm.kernels.types import Floats, Ints
from cohmm.learn.sequences.em_step import PseudoCounts, tables
from cohmm.model.hmm import HMM

SWEEPS, FORGOTTEN = 300, 20  # models that are drawn, after some that are left out
LEAST = 1e-100  # so that a row of a table is not all zero


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
        draw_states(codes, data.offsets, at[0], at[1], at[2], uniforms, states)
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
    table = np.maximum(table, LEAST)
    return np.asarray(table / table.sum(axis=-1, keepdims=True))

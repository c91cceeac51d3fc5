"""A move from one optimum of the likelihood towards another: a state is split, another given up.

EM cannot move a state from one part of a chain to another: on the way it would explain less.  So a
state that is seldom visited is taken away, and takes over half of one that is visited often; EM
then tells whether the two find something to be different in.
"""

from __future__ import annotations

import numpy as np

from cohmm.kernels.types import Floats
from cohmm.learn.sequences.em_step import tables
from cohmm.model.hmm import HMM

RARE = 0.02  # share of all places: rarer states are given up about equally often
OPENING = 1e-3  # share of a uniform row: EM leaves a zero slowly


def can_split(model: HMM) -> bool:
    """Whether there are two states, and no zeros but for symbols that never occur."""
    start, transmat, emission = tables(model)
    never = (emission == 0).all(axis=0)
    return (
        model.n_components > 1
        and bool((start > 0).all() and (transmat > 0).all())
        and bool((emission[:, ~never] > 0).all())
    )


def with_split_state(model: HMM, visited: Floats, rng: np.random.Generator) -> HMM:
    """``model`` with a state in another place: see above.

    Parameters
    ----------
    visited : array, (K,)
        The share of all places that each state is expected to be at: the rarer, the sooner a
        state is given up; the more frequent, the sooner it is split.

    >>> model = HMM([.5, .5], [[.9, .1], [.2, .8]], [[.8, .2], [.3, .7]])
    >>> with_split_state(model, np.array([.7, .3]), np.random.default_rng(0))
    HMM(2 states, 2 symbols)
    """
    k = model.n_components
    rare = 1 / (visited + RARE)
    gone = rng.choice(k, p=rare / rare.sum())
    frequent = np.where(np.arange(k) == gone, 0.0, visited + RARE / k)
    split = rng.choice(k, p=frequent / frequent.sum())
    start, transmat, emission = (table.copy() for table in tables(model))
    start[gone], transmat[:, gone] = 0.0, 0.0
    transmat += OPENING / k
    transmat[gone], emission[gone] = transmat[split], emission[split]
    for into in (start, *transmat):  # what led to one now leads to both
        share = rng.uniform(0.2, 0.8)
        into[gone], into[split] = (1 - share) * into[split], share * into[split]
    for state in (gone, split):
        transmat[state] *= rng.exponential(size=k)
        emission[state] *= rng.exponential(size=model.n_symbols)
    return HMM(
        start / start.sum(),
        transmat / transmat.sum(axis=1, keepdims=True),
        emission / emission.sum(axis=1, keepdims=True),
        model.vocabulary,
    )

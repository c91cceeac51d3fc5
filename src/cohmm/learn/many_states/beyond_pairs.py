"""A first model where there are more states than symbols, which pairs cannot tell apart.

1. From triples, `overcomplete`, for up to N^2 / 16 states; else from windows, `grouped`, that are
   as long as so many states need.  Either has a number for each triple or window that is possible:
   they must not be too many, and the data must have as many symbols.
2. A race of that model with random starts: `best_start`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cohmm.data.partitioned import Partitioned
from cohmm.data.sequences import Sequences
from cohmm.evidence.windows import triple_counts, window_counts
from cohmm.learn.fit import Fit
from cohmm.learn.many_states.grouped import grouped
from cohmm.learn.many_states.overcomplete import overcomplete
from cohmm.learn.sequences.baum_welch import random_start
from cohmm.learn.sequences.starts import best_start
from cohmm.model.hmm import HMM

ROOM = 2**16  # numbers: decompositions of so many take seconds


class First(NamedTuple):
    """A model to refine."""

    model: HMM
    began: str
    """What it is from: "pairs", "triples", "windows" or "random starts"."""


def beyond_pairs(
    data: Sequences | Partitioned,
    n_components: int,
    *,
    smoothing: float = 0.1,
    random_state: Any = None,
) -> First:
    """The best first model of ``n_components`` states that the data bears.

    >>> transmat = [[.8, .2, 0], [0, .8, .2], [.2, 0, .8]]
    >>> truth = HMM([1, 0, 0], transmat, [[.9, .1], [.5, .5], [.1, .9]])
    >>> data = Sequences.of(truth.sample(20_000, random_state=0)[0])
    >>> beyond_pairs(data, 3, random_state=0).began
    'windows'
    """
    began, fit = _from_windows(data, n_components, smoothing, random_state)
    model = best_start(
        data,
        [] if fit is None else [fit.model],
        partial(random_start, data, n_components),
        random_state=random_state,
    )
    if fit is not None and model is fit.model:
        return First(model, began)
    return First(model, "random starts")


def _from_windows(
    data: Sequences | Partitioned, k: int, smoothing: float, random_state: Any
) -> tuple[str, Fit | None]:
    """What triples or windows say, if the data has enough of them."""
    n = int(np.count_nonzero(data.symbol_counts))
    tau = 1 if k <= n * n // 16 else 2
    while tau > 1 and 1 < n**tau < k:
        tau += 1
    began = "triples" if tau == 1 else "windows"
    if n < 2 or n ** (2 * tau + 1) > min(ROOM, data.n_observations):
        return began, None
    try:
        if tau == 1:
            learn = partial(overcomplete, data.map_sum(triple_counts))
        else:
            learn = partial(grouped, data.map_sum(window_counts, tau))
        return began, learn(k, smoothing=smoothing, random_state=random_state)
    except ValueError:  # sequences are too short, or too much alike, for so many states
        return began, None

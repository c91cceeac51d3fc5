"""Non-negative matrix factorisation: an HMM from pair counts, without a volume term.

    minimise    - sum Omega log(M Theta M')
    subject to  M >= 0, 1'M = 1';   Theta >= 0, Theta 1 = Theta'1, 1'Theta 1 = 1

Vanluyten, Willems and De Moor (2008), the paper's baseline: multiplicative updates from
random starts.  Many M and Theta give the same Omega, and nothing here prefers the true ones.
"""

from __future__ import annotations

import numpy as np

from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.learn.fit import Callback, Fit
from cohmm.learn.pairs.min_volume import EXACT, Problem, algorithm_1
from cohmm.learn.pairs.pair_evidence import (
    PairEvidence,
    States,
    number_of_states,
    warn_of_unseen,
)
from cohmm.learn.pairs.pair_fit import as_hmm
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.start import starts
from cohmm.learn.pairs.volume import NoVolume
from cohmm.learn.run import learner
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator
from cohmm.model.stationary import stationary_distribution


@learner
def nmf(
    counts: Cooccurrence,
    n_components: States,
    *,
    max_iter: int = 3000,
    tol: float = 1e-3,
    n_init: int = 5,
    smoothing: float = 0.1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from pair counts; of several lags, the shortest is used.

    Parameters
    ----------
    counts : Cooccurrence
        The evidence.
    n_components : int or "auto"
        Number of states; "auto": as many as stand out from the noise.
    max_iter : int
        Passes over the evidence, at most, from each start.
    tol : float
        Stop when a step gains less log-likelihood than this, summed over all pairs.
    n_init : int
        Starts; the best objective is kept.
    smoothing : float
        As in `cohmm.learn.min_volume`; an exact pair law gets none.
    random_state : int, optional
        Seed.
    start : HMM, optional
        The first of the starts; the others are random.
    callback : function of a `Progress`, optional
        Called with every iteration that was kept.

    >>> truth = HMM([.5, .5], [[.8, .2], [.2, .8]], [[.5, .5, 0], [0, .5, .5]])
    >>> exact = Cooccurrence.from_probability(truth.pair_probability())
    >>> fit = nmf(exact, 2, random_state=0)
    >>> fit.divergence < 1e-8
    True
    """
    evidence = PairEvidence.of(counts, counts.lags[:1])
    warn_of_unseen(counts, evidence.observed)
    k = number_of_states(n_components, evidence, evidence.spectrum())
    points = [random_point(evidence, k, rng) for rng in generator(random_state).spawn(n_init)]
    if start is not None:
        points[:1] = starts(evidence, k, 1, None, start)
    problem = Problem(evidence.laws, evidence.weights, NoVolume(), 0.0)
    runs = [
        algorithm_1(problem, point, tol / evidence.n_pairs, max_iter, callback) for point in points
    ]
    best = min(runs, key=lambda run: run.end.objective)
    return Fit(
        model=as_hmm(best.end.point, evidence, 0.0 if best.end.divergence < EXACT else smoothing),
        converged=best.converged,
        history=best.history,
        starts=tuple(run.end.objective for run in runs),
    )


def random_point(evidence: PairEvidence, k: int, rng: np.random.Generator) -> Point:
    """Exponential parameters: emissions about the frequencies, transitions about even."""
    m = evidence.frequency[:, None] * rng.exponential(size=(len(evidence.frequency), k))
    transmat = rng.dirichlet(np.ones(k), k)
    theta = stationary_distribution(transmat)[:, None] * transmat
    return Point(m / m.sum(axis=0), theta)

"""The Baum-Welch algorithm: maximum likelihood by EM on the sequences themselves.

    E  expected starts, transitions and emissions, by forward-backward
    M  each in proportion to its expected count, and the prior's pseudo-counts

O(K^2 T) per iteration, threaded over and within sequences; memory does not grow with T.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from cohmm._validation import check_amounts, check_whole
from cohmm.data.sequences import Sequences
from cohmm.learn.constraints import PseudoCounts
from cohmm.learn.learner import Callback, Fit, Record, by_prevalence, learner, needs_sequences
from cohmm.learn.maximize import added, m_step
from cohmm.learn.sequences.multistart import random_start
from cohmm.model.hmm import HMM
from cohmm.model.sampling import generator


@learner
def baum_welch(
    X: Any,
    n_components: int | None = None,
    lengths: Iterable[int] | None = None,
    *,
    prior: PseudoCounts = PseudoCounts(),  # noqa: B008  (a value)
    max_iter: int = 500,
    tol: float = 1e-2,
    n_init: int = 1,
    random_state: int | None = None,
    start: HMM | None = None,
    callback: Callback | None = None,
) -> Fit:
    """Learn an HMM from sequences.

    Parameters
    ----------
    X, lengths
        The sequences, as `Sequences.of` reads them.
    n_components : int
        Number of states; that of ``start``, where it is given.
    prior : PseudoCounts
        Added to the expected counts.
    max_iter : int
        Passes over the data, at most, from each start.
    tol : float
        Stop when an iteration gains less log-likelihood than this, over all the data.
    n_init : int
        Random starts; the best objective is kept.
    random_state : int, optional
        Seed.
    start : HMM, optional
        Where to start, instead of at random; what is zero there stays zero.
    callback : function of a `Progress`, optional
        Called with every iteration.

    >>> truth = HMM([.5, .5], [[.9, .1], [.1, .9]], [[.8, .2, 0], [0, .2, .8]])
    >>> y, _ = truth.sample(5000, random_state=0)
    >>> baum_welch(y, 2, random_state=0).model.distance(truth).emission < 0.05
    True
    """
    needs_sequences(X, "baum_welch")
    if not isinstance(prior, PseudoCounts):
        raise ValueError(f"prior must be PseudoCounts, not {prior!r}")
    check_amounts(**{f"prior.{name}": value for name, value in prior._asdict().items()})
    if start is not None:
        if n_components not in (None, start.n_components):
            raise ValueError(f"start has {start.n_components} states, n_components={n_components}")
        data, begins = start.encode(X, lengths), [start]
    else:
        if n_components is None:
            raise ValueError("n_components is missing: how many states, where no start is given?")
        check_whole(n_components=n_components)
        data = Sequences.of(X, lengths)
        rngs = generator(random_state).spawn(n_init)
        begins = [random_start(data, n_components, rng) for rng in rngs]
    runs = [_run(data, begin, prior, max_iter, tol, callback) for begin in begins]
    best = min(runs, key=lambda fit: fit.objective)
    return replace(
        best, model=by_prevalence(best.model), starts=tuple(fit.objective for fit in runs)
    )


def _run(
    data: Sequences,
    model: HMM,
    prior: PseudoCounts,
    max_iter: int,
    tol: float,
    callback: Callback | None,
) -> Fit:
    n = len(data.symbols)
    record = Record(callback)
    best = model
    for n_iter in range(1, max_iter + 1):
        log_prob, counts = model.expected_counts(data)
        objective = -(log_prob + prior.log_density(model)) / n
        gain = record.gain(objective)
        if gain >= 0:  # it falls short of that by rounding alone, at the end
            best = model
            record(n_iter, objective, -log_prob / n)
        converged = gain * n < tol or gain <= 0
        if converged:
            break
        model = m_step(model, added(counts, prior.possible(model)))
    return Fit(best, converged, tuple(record.history), (record.history[-1].objective,))

"""Maximum likelihood of windows, in the parameters of the chain itself: M and A.

    minimise    - sum P(window) log p(window; M, A, pi = pi A)  +  w sum log(A + delta)

by Gauss-Newton, which is Fisher scoring here.  Steps are made in the square roots of pi M and
pi A: there, the information in windows whose states are known is a multiple of the identity,
and what conjugate gradients have to undo is only what the states being hidden takes away.
EM, with or without extrapolation, had not arrived after 3,000 passes where this takes some
tens of steps.  The last term, if any, prefers zeros among the transitions; its straight
upper bound at the point stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.learn.fit import Callback, Fit, Progress
from cohmm.learn.many_states.gauss_newton import Local, descend
from cohmm.learn.many_states.window_law import WindowLaw, joined, sides
from cohmm.learn.many_states.window_tangent import Chain, Roots, Tangent
from cohmm.learn.pairs.min_volume import EXACT
from cohmm.learn.run import Record

SOFTNESS = 0.1  # delta, times K
MIXED_IN = 1e-2  # of all symbols and states in a start: steps leave a zero slowly
PATIENCE = 3
INNER = 100
TINY = 1e-300
ROUNDING = 1e-15  # nats per window
NO_NOISE = 1e12  # as many windows tell as much as their law


@dataclass(frozen=True, eq=False)
class Likelihood:
    """Minus the log-likelihood of windows, less its best value, as a `Problem`.

    Parameters
    ----------
    law : WindowLaw
        The evidence.
    sparsity : float
        The weight w of log(A + delta), with delta = `SOFTNESS` / K.
    """

    law: WindowLaw
    sparsity: float = 0.0

    def expected(self, point: Chain) -> Floats:
        """p(window), (n^tau n, n^tau)."""
        past, future = sides(*point, self.law.tau)
        return joined(past[-1], point.m, future[-1])

    def divergence(self, point: Chain) -> float:
        """The objective without the last term."""
        return self.law.divergence(self.expected(point))

    def penalty(self, point: Chain) -> float:
        """w sum log(1 + A / delta), zero where no transition is possible."""
        delta = SOFTNESS / len(point.pi)
        return self.sparsity * float(np.log1p(point.a / delta).sum())

    def objective(self, point: Chain) -> float:
        """Nats per window."""
        return self.divergence(point) + self.penalty(point)

    def local(self, point: Chain) -> Local:
        """Gradient and Fisher information, in roots."""
        tangent = Tangent.at(point, self.law.tau)
        expected = np.maximum(tangent.expected, TINY)
        observed = self.law.probability.reshape(expected.shape)
        by_m, by_a = tangent.back(-observed / expected)
        by_a += self.sparsity / (point.a + SOFTNESS / len(point.pi))
        roots = Roots(point)
        gradient = roots.back(by_m, by_a)
        # Where a root is near zero the model is flat in it, and the objective is not: without
        # its own curvature, zeros would be approached ever more slowly.
        own = roots.at_zero(by_m, by_a)

        def curvature(x: Floats) -> Floats:
            along = tangent.along(*roots.along(x))
            return roots.back(*tangent.back(along / expected)) + own * x

        def preconditioner(damping: float) -> Callable[[Floats], Floats]:
            inverse = 1 / (1 + own + damping)
            return lambda r: inverse * r

        return Local(gradient, curvature, preconditioner, 1.0)

    def moved(self, point: Chain, step: Floats) -> Chain:
        """The point after a step of the roots."""
        return Roots(point).moved(step)


def maximised(
    law: WindowLaw,
    starts: Iterable[Chain],
    *,
    sparsity: float,
    max_iter: int,
    tol: float,
    smoothing: float,
    callback: Callback | None,
) -> Fit:
    """The best of the chains that are reached from ``starts``.

    A start that explains the law to rounding is the answer as it is, zeros and all.
    """
    problem = Likelihood(law, sparsity / law.n_windows)
    runs = []
    for start in starts:
        runs.append(_run(problem, start, max_iter, tol, callback))
        if runs[-1][2][-1].divergence < EXACT:
            break
    chain, converged, history = min(runs, key=lambda run: run[2][-1].objective)
    return Fit(
        model=law.model(chain.m, chain.a, smoothing),
        converged=converged,
        history=tuple(history),
        starts=tuple(run[2][-1].objective for run in runs),
    )


def _run(
    problem: Likelihood,
    start: Chain,
    max_iter: int,
    tol: float,
    callback: Callback | None,
) -> tuple[Chain, bool, list[Progress]]:
    record = Record(callback)
    steps = 0

    def report(point: Chain, objective: float, n_iter: int) -> None:
        record(steps + n_iter + 1, objective, objective - problem.penalty(point))

    exact = problem.divergence(start)
    if exact < EXACT:
        report(start, exact + problem.penalty(start), 0)
        return start, True, record.history
    options: dict[str, Any] = {
        "max_iter": max_iter,
        "tol": tol / min(problem.law.n_windows, NO_NOISE),
        "patience": PATIENCE,
        "enough": ROUNDING,
        "inner": INNER,
    }
    begin = Chain.of(start.m, start.a, MIXED_IN)
    if problem.sparsity > 0:  # zeros that are settled before all else is would be the wrong ones
        begin, _, _, steps = descend(Likelihood(problem.law), begin, **options)
    chain, _, converged, _ = descend(problem, begin, report=report, **options)
    return chain, converged, record.history

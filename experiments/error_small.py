"""The supplement's figure of errors, where Baum-Welch is possible: N=16, K=4, T from 1e3 to 1e5."""

from __future__ import annotations

from functools import partial

from cohmm.datasets.synthetic import separable_hmm

from .experiment import Experiment, Plan, Step
from .methods import SMALL_METHODS
from .recovery import Size, draw_errors, error_tables, steps, summary

FULL = Size(
    separable_hmm,
    n_symbols=16,
    n_components=4,
    lengths=(1000, 2154, 4642, 10_000, 21_544, 46_416, 100_000),
    instances=10,
    methods=SMALL_METHODS,
)
QUICK = Size(
    separable_hmm,
    n_symbols=16,
    n_components=4,
    lengths=(1000, 20_000),
    instances=2,
    methods=SMALL_METHODS,
)


def error_steps(plan: Plan) -> list[Step]:
    return steps(QUICK if plan.quick else FULL, plan)


EXPERIMENT = Experiment(
    name="error-small",
    title="errors against T, N=16, K=4, with Baum-Welch among the rivals",
    steps=error_steps,
    summary=summary,
    tables=error_tables,
    draw=partial(draw_errors, SMALL_METHODS),
)

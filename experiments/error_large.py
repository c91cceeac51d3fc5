"""The paper's figure of errors on synthetic data: N=100, K=20, T from 1e6 to 1e8."""

from __future__ import annotations

from functools import partial

from cohmm.datasets.synthetic import random_hmm

from .experiment import Experiment, Plan, Step
from .methods import METHODS
from .recovery import Size, draw_errors, error_tables, steps, summary

FULL = Size(
    random_hmm,
    n_symbols=100,
    n_components=20,
    lengths=(10**6, 3_162_278, 10**7, 31_622_777, 10**8),
    instances=3,
    methods=METHODS,
)
QUICK = Size(
    random_hmm,
    n_symbols=24,
    n_components=5,
    lengths=(30_000, 400_000),
    instances=2,
    methods=METHODS,
)


def error_steps(plan: Plan) -> list[Step]:
    return steps(QUICK if plan.quick else FULL, plan)


EXPERIMENT = Experiment(
    name="error-large",
    title="errors against T, N=100, K=20: the method and its rivals",
    steps=error_steps,
    summary=summary,
    tables=error_tables,
    draw=partial(draw_errors, METHODS),
)

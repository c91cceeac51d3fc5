"""What every learner does around its algorithm: checks, one BLAS thread, records, warnings."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from cohmm.data import user_warnings
from cohmm.kernels.threads import blas_threads
from cohmm.learn.fit import Callback, Progress
from cohmm.learn.options import check_option, needs

P = ParamSpec("P")
R = TypeVar("R")


class EvidenceWarning(UserWarning):
    """The evidence is weaker than what is asked of it."""


def learner(function: Callable[P, R]) -> Callable[P, R]:
    """A learner: evidence and the options that all share are checked, and BLAS has one thread.

    Work is shared among threads by our own kernels, in parts that depend on the data alone;
    BLAS would add up in another order for every number of threads.
    """
    parameters = signature(function).parameters
    evidence = next(iter(parameters.values())).annotation
    keywords = {
        name: option for name, option in parameters.items() if option.kind is Parameter.KEYWORD_ONLY
    }

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> R:
        if args:
            needs(evidence, args[0], function.__name__)
        for name, value in options.items():
            if name in keywords and value is not keywords[name].default:
                check_option(name, value, keywords[name].annotation)
        with blas_threads(1):
            return function(*args, **options)

    return run


class Record:
    """The history of a run: every iteration that was kept is told to the callback as well."""

    def __init__(self, callback: Callback | None):
        self.history: list[Progress] = []
        self._callback = callback
        self._began = time.perf_counter()

    def __call__(
        self,
        n_iter: int,
        objective: float,
        divergence: float | None = None,
        volume: float = 0.0,
        step: float = 1.0,
    ) -> None:
        """Keep an iteration; the divergence is the objective where nothing was added to it."""
        if divergence is None:
            divergence = objective
        self.history.append(Progress(n_iter, objective, divergence, volume, step, self.seconds))
        if self._callback is not None:
            self._callback(self.history[-1])

    @property
    def seconds(self) -> float:
        """Wall time since the run began."""
        return time.perf_counter() - self._began

    def gain(self, objective: float) -> float:
        """How far an objective is below the last one that was kept."""
        return self.history[-1].objective - objective if self.history else float("inf")


def warn(message: str, category: type[Warning] = EvidenceWarning) -> None:
    """A warning of the evidence, if no other kind is named, that points at the user's line."""
    user_warnings.warn(message, category)

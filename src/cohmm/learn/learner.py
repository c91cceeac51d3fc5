"""What every learner does around its algorithm.

Before: options and evidence are checked, and BLAS gets one thread.  On the way: every iteration is
recorded, and reported to a callback.  After: smoothing, and the order of the states.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, signature
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from cohmm import _validation
from cohmm._validation import (
    check_amounts,
    check_functions,
    check_seed,
    check_weights_of_priors,
    check_whole,
    shown,
)
from cohmm.data.documents import Documents
from cohmm.data.partitioned import Partitioned
from cohmm.evidence.cooccurrence import Cooccurrence
from cohmm.evidence.windows import Triples, Windows
from cohmm.kernels.threads import blas_threads
from cohmm.kernels.types import Floats
from cohmm.learn.state_choice import StateChoice
from cohmm.model.hmm import HMM
from cohmm.model.markov_chain import stationary_distribution
from cohmm.model.state_table import states_as_html

P = ParamSpec("P")
R = TypeVar("R")
LOGGER = logging.getLogger("cohmm")
DEAD = 1e-9  # prevalence: a state that is rarer explains nothing
SHARE_STEPS = 200  # of EM
LEAK = 1e-12  # of all transitions, so that a chain in several parts has one stationary distribution


class Progress(NamedTuple):
    """One iteration that was kept."""

    n_iter: int
    """Passes over the evidence so far."""
    objective: float
    """What is minimised: the divergence, and a penalty where there is one."""
    divergence: float
    """How far the evidence is from the model: the Kullback-Leibler divergence, in nats per pair
    or triple, or, for a learner that reads sequences, minus the log-likelihood per symbol."""
    volume: float = 0.0
    """The volume term, before it is multiplied by its weight."""
    step: float = 1.0
    """How far the extrapolation went; 1 is the plain update."""
    seconds: float = 0.0
    """Wall time since the learner began."""
    stage: str = ""
    """The step of a recipe, such as "pairs" or "refinement", as a callback is told it."""
    max_iter: int | None = None
    """The most passes that the stage may take, as a callback is told it."""


Callback = Callable[[Progress], None]


def in_stage(stage: str, max_iter: int, callback: Callback | None) -> Callback | None:
    """A callback that is told of every iteration which stage it is of, and how many it may take."""
    if callback is None:
        return None
    return lambda step: callback(step._replace(stage=stage, max_iter=max_iter))


def progress_log(verbose: bool) -> Callback | None:
    """The callback of ``verbose=True``: a line to the logger "cohmm" for every iteration.

    Standard error shows them, unless logging was configured.
    """
    if not verbose:
        return None
    if not LOGGER.hasHandlers():
        LOGGER.addHandler(_StandardError())
        LOGGER.setLevel(logging.INFO)
    return _log_progress


def _log_progress(step: Progress) -> None:
    line = "%s: pass %5d  objective %.9f  divergence %.9f  %.1f s"
    stage = step.stage or "learning"
    LOGGER.info(line, stage, step.n_iter, step.objective, step.divergence, step.seconds)


class _StandardError(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to what is standard error at the time, which tests and notebooks replace."""

    def emit(self, record: logging.LogRecord) -> None:
        self.setStream(sys.stderr)
        super().emit(record)


@dataclass(frozen=True)
class Fit:
    """A learned model, and how it was learned.

    Parameters
    ----------
    model : HMM
        States ordered by prevalence, the most frequent first.
    converged : bool
        Whether the stop rule was met before the iterations ran out.
    history : tuple of Progress
        Every iteration that was kept; the objective never rises.
    starts : tuple of float
        The objective that each start ended with, the best of which was kept.
    gained : float
        Log-likelihood that refinement added, nats per symbol; 0 where there was none.
    choice : StateChoice or None
        How the number of states was chosen; None where it was given.
    shares : array, (K,), or None
        The share of the data's places in each state, which is not the stationary distribution where
        sequences are short; None where a learner has no use for it.
    """

    model: HMM
    converged: bool
    history: tuple[Progress, ...] = field(repr=False)
    starts: tuple[float, ...]
    gained: float = field(default=0.0, repr=False, kw_only=True)
    choice: StateChoice | None = field(default=None, kw_only=True, repr=False)
    shares: Floats | None = field(default=None, kw_only=True, repr=False)

    @property
    def objective(self) -> float:
        """The last of ``history``, before the model was smoothed."""
        return self.history[-1].objective

    @property
    def divergence(self) -> float:
        """The last of ``history``, before the model was smoothed."""
        return self.history[-1].divergence

    @property
    def n_iter(self) -> int:
        """Passes over the evidence."""
        return self.history[-1].n_iter

    def _repr_html_(self) -> str:
        passes = f"{self.n_iter:,} pass{'' if self.n_iter == 1 else 'es'}"
        ended = "converged" if self.converged else "not converged"
        title = f"{type(self).__name__}: {passes}, {ended}; objective {self.objective:.6f}"
        return states_as_html(self.model, title, self.shares)


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
    _validation.warn(message, category)


def prevalence_of(model: HMM) -> Floats:
    """The stationary distribution; of a chain that falls into parts, as if it leaked a little."""
    k = model.n_components
    return stationary_distribution((1 - LEAK) * model.transmat + LEAK / k)


def symbol_shares(model: HMM, counts: Any) -> Floats:
    """The share of each state among places with these symbols (N,), by maximum likelihood.

    Not that of the chain: where sequences begin and end depends on the state.  It is found by EM
    from the stationary distribution on.

    >>> model = HMM([.5, .5], [[.5, .5], [.5, .5]], [[.9, .1], [.1, .9]])
    >>> symbol_shares(model, [74, 26]).round(3)
    array([0.8, 0.2])
    """
    share, m = np.maximum(prevalence_of(model), DEAD), model.emissionprob
    for _ in range(SHARE_STEPS):
        expected = share @ m
        ratio = np.divide(counts, expected, out=np.zeros(len(expected)), where=expected > 0)
        share = share * (m @ ratio)
        share = share / share.sum()
    return np.asarray(share)


def by_prevalence(model: HMM, prevalence: Floats | None = None) -> HMM:
    """``model`` with its states in order, the most frequent first."""
    if prevalence is None:
        prevalence = prevalence_of(model)
    return model.with_states(np.argsort(-prevalence, kind="stable"))


def smoothed(
    model: HMM, n: float, frequency: Any, smoothing: float, visited: Floats | None = None
) -> HMM:
    """A stationary model, as if every state had seen so much more of each symbol.

    ``n`` is how many symbols were seen, and ``frequency`` (N,) how often each was, in proportion
    to which symbols are added to a state, and states to those that follow it.  ``visited`` (K,)
    is how often each state was, where that is not the stationary distribution.
    """
    prevalence = np.maximum(prevalence_of(model) if visited is None else visited, DEAD)
    extra = smoothing * np.count_nonzero(frequency)
    share = (extra / (extra + n * prevalence))[:, None]
    transmat = (1 - share) * model.transmat + share * prevalence / prevalence.sum()
    emission = (1 - share) * model.emissionprob + share * frequency / frequency.sum()
    return HMM(stationary_distribution(transmat), transmat, emission, model.vocabulary)


def keeping(before: HMM, after: HMM, learned: str = "ste") -> HMM:
    """``after`` with the zeros of ``before``, and with its tables that were not ``learned``."""

    def one(letter: str, old: Floats, new: Floats) -> Floats:
        if letter not in learned:
            return old
        new = np.where(old > 0, new, 0.0)
        total = new.sum(axis=-1, keepdims=True)
        return np.where(total > 0, new / np.where(total > 0, total, 1.0), old)

    return HMM(
        one("s", before.startprob, after.startprob),
        one("t", before.transmat, after.transmat),
        one("e", before.emissionprob, after.emissionprob),
        after.vocabulary,
    )


# -- checks ----------------------------------------------------------------------------------

_EVIDENCE: dict[str, tuple[Any, str, str]] = {
    "Cooccurrence": (Cooccurrence, "counts of pairs, a Cooccurrence", "count_pairs(X)"),
    "Triples": (Triples, "counts of triples, a Triples", "count_triples(X)"),
    "Windows": (Windows, "counts of windows, a Windows", "count_windows(X, tau=2)"),
    "Documents": (Documents, "Documents", "read_documents(texts)"),
    "Documents | Partitioned": (
        (Documents, Partitioned),
        "Documents",
        "read_documents(texts)",
    ),
    "HMM": (HMM, "a model, an HMM", "PairwiseHMM(...).fit(X).model_"),
}


def check_option(name: str, value: Any, annotation: str) -> None:
    """An option that learners share, by its name; a start by what it is said to be, too."""
    if name == "start" and not annotation.startswith("HMM"):
        return
    if isinstance(value, str) and value == "auto" and "'auto'" in annotation:
        return
    if name in _CHECKS:
        _CHECKS[name](**{name: value})


def check_models(**options: Any) -> None:
    """An HMM."""
    for name, value in options.items():
        if not isinstance(value, HMM):
            raise ValueError(f"{name} must be an HMM, not {shown(value)}")


def needs(kind: str, given: object, learner: str) -> None:
    """Refuse evidence that is not of the ``kind`` a learner needs, and say how to get it."""
    if kind in _EVIDENCE and not isinstance(given, _EVIDENCE[kind][0]):
        _, what, how = _EVIDENCE[kind]
        raise ValueError(f"{learner} learns from {what}: give {how}, not a {type(given).__name__}")


def needs_sequences(given: object, learner: str) -> None:
    """Refuse counts where a learner has to read the sequences themselves."""
    if isinstance(given, (Cooccurrence, Triples, Windows)):
        raise ValueError(
            f"{learner} reads sequences, of which a {type(given).__name__} says too little: "
            "give the data that was counted"
        )


_CHECKS: dict[str, Callable[..., None]] = {
    "max_iter": check_whole,
    "n_init": check_whole,
    "workers": check_whole,
    "min_documents": check_whole,
    "tol": check_amounts,
    "smoothing": check_amounts,
    "sparsity": check_weights_of_priors,
    "random_state": check_seed,
    "start": check_models,
    "callback": check_functions,
}

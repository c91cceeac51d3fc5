"""What a learner returns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from cohmm.model.hmm import HMM


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


Callback = Callable[[Progress], None]


def print_progress(step: Progress) -> None:
    """The callback of ``verbose=True``: one line to standard error."""
    print(
        f"pass {step.n_iter:5d}  objective {step.objective:.9f}  "
        f"divergence {step.divergence:.9f}  {step.seconds:.1f} s",
        file=sys.stderr,
    )


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
    """

    model: HMM
    converged: bool
    history: tuple[Progress, ...] = field(repr=False)
    starts: tuple[float, ...]

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

"""The M step of Baum-Welch, and Dirichlet's prior: each probability in proportion to its count."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cohmm.kernels.compiled import Floats
from cohmm.model.hmm import HMM
from cohmm.model.inference import Counts

ALL = "ste"  # start, transitions, emissions: hmmlearn's letters


class PseudoCounts(NamedTuple):
    """What every start, transition and emission is counted before the data is seen.

    Dirichlet's density with parameters one larger, so that none is maximum likelihood.  Numbers,
    or arrays of the shape of what they are counted for; where a probability is zero, nothing is
    counted.  Below zero, they are taken away from what is counted, as far as there is any.
    """

    start: Floats | float = 0.0
    transition: Floats | float = 0.0
    emission: Floats | float = 0.0

    def possible(self, model: HMM) -> Counts:
        """The counts as arrays, 0 where the model has a zero."""
        return Counts(
            np.asarray(self.start * (model.startprob > 0)),
            np.asarray(self.transition * (model.transmat > 0)),
            np.asarray(self.emission * (model.emissionprob > 0)),
        )

    def log_density(self, model: HMM) -> float:
        """Up to a constant; counts below zero, for which it has no bound, are left out."""
        return float(
            sum(
                np.sum(np.maximum(pseudo, 0.0) * np.log(np.where(table > 0, table, 1.0)))
                for pseudo, table in zip(self, tables(model), strict=True)
                if np.any(pseudo)
            )
        )


def tables(model: HMM) -> tuple[Floats, Floats, Floats]:
    """Starts, transitions and emissions."""
    return model.startprob, model.transmat, model.emissionprob


def maximised(model: HMM, counts: Counts, learned: str = ALL) -> HMM:
    """The M step, of what is ``learned``.  A state that was never visited keeps what it had."""

    def one(letter: str, count: Floats, table: Floats) -> Floats:
        if letter not in learned:
            return table
        count = np.maximum(count, 0.0)
        total = count.sum(axis=-1, keepdims=True)
        return np.asarray(np.where(total > 0, count / np.where(total > 0, total, 1.0), table))

    return HMM(
        one("s", counts.starts, model.startprob),
        one("t", counts.transitions, model.transmat),
        one("e", counts.emissions, model.emissionprob),
        model.vocabulary,
    )

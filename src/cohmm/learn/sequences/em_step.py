"""The M step of Baum-Welch, and Dirichlet's prior: each probability in proportion to its count."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cohmm.kernels.types import Floats
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

    @classmethod
    def of_priors(
        cls, startprob_prior: Any, transmat_prior: Any, emissionprob_prior: Any
    ) -> PseudoCounts | None:
        """Dirichlet's parameters less one; 1 where one is None, and None where all are.

        >>> PseudoCounts.of_priors(None, None, [3.0, 1.5]).emission
        array([2. , 0.5])
        """
        priors = {
            "startprob_prior": startprob_prior,
            "transmat_prior": transmat_prior,
            "emissionprob_prior": emissionprob_prior,
        }
        if all(prior is None for prior in priors.values()):
            return None
        counts = []
        for name, prior in priors.items():
            array = np.asarray(1.0 if prior is None else prior, np.float64)
            wrong = ~(array >= 0) | ~np.isfinite(array)
            if wrong.any():
                place = [int(i) for i in np.argwhere(wrong)[0]]
                raise ValueError(
                    f"{name}{place or ''} is {array[tuple(place)]}: Dirichlet's parameters are "
                    "finite and not below 0"
                )
            counts.append(array - 1.0)
        return cls(*counts)

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


def added(counts: Counts, more: Counts) -> Counts:
    """The sum of two sets of counts."""
    return Counts(*(one + other for one, other in zip(counts, more, strict=True)))

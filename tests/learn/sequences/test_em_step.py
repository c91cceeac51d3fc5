"""The M step: what is learned, what stays, and what is counted before the data."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM
from cohmm.learn.sequences.em_step import PseudoCounts, added, maximised
from cohmm.model.inference import Counts

MODEL = HMM([0.5, 0.5], [[0.5, 0.5], [0, 1]], [[0.2, 0.8], [0.6, 0.4]])
COUNTS = Counts(np.array([3.0, 1.0]), np.array([[1.0, 3.0], [0.0, 0.0]]), np.eye(2))


def test_in_proportion_to_the_counts() -> None:
    model = maximised(MODEL, COUNTS)
    assert model.startprob.tolist() == [0.75, 0.25]
    assert model.transmat.tolist() == [[0.25, 0.75], [0, 1]]  # a row never visited stays
    assert model.emissionprob.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("learned", ["", "s", "t", "e", "se"])
def test_what_is_not_learned_stays(learned: str) -> None:
    model, free = maximised(MODEL, COUNTS, learned), maximised(MODEL, COUNTS)
    for letter, name in zip("ste", ("startprob", "transmat", "emissionprob"), strict=True):
        source = free if letter in learned else MODEL
        assert getattr(model, name).tolist() == getattr(source, name).tolist()


def test_pseudo_counts_leave_zeros_alone() -> None:
    pseudo = PseudoCounts(1.0, 2.0, np.array([[1.0, 0.0], [0.0, 3.0]]))
    total = added(COUNTS, pseudo.possible(MODEL))
    assert total.starts.tolist() == [4, 2]
    assert total.transitions.tolist() == [[3, 5], [0, 2]]
    assert total.emissions.tolist() == [[2, 0], [0, 4]]
    expected = np.log(0.5) * 2 + 2 * np.log([0.5, 0.5, 1]).sum() + np.log(0.2) + 3 * np.log(0.4)
    assert pseudo.log_density(MODEL) == pytest.approx(expected)


def test_what_is_taken_away_leaves_nothing_below_zero() -> None:
    total = added(COUNTS, PseudoCounts(-2.0, 0.0, 0.0).possible(MODEL))
    assert maximised(MODEL, total).startprob.tolist() == [1, 0]
    assert PseudoCounts(-2.0).log_density(MODEL) == 0

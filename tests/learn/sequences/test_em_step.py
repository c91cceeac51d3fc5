"""The M step: proportions of counts, priors, what stays."""

from __future__ import annotations

import numpy as np

from cohmm import HMM
from cohmm.learn.sequences.em_step import PseudoCounts, maximised
from cohmm.model.inference import Counts

MODEL = HMM([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[0.25, 0.75], [0.5, 0.5]])
COUNTS = Counts(np.array([2.0, 0.0]), np.array([[1.0, 3.0], [0.0, 0.0]]), np.eye(2) * 4)


def test_each_in_proportion_to_its_count() -> None:
    model = maximised(MODEL, COUNTS)
    assert model.transmat.tolist() == [[0.25, 0.75], [0.0, 1.0]]  # the second was never left
    assert model.emissionprob.tolist() == [[1, 0], [0, 1]]
    fixed = maximised(MODEL, COUNTS, "s")
    assert np.array_equal(fixed.transmat, MODEL.transmat)
    assert np.array_equal(fixed.emissionprob, MODEL.emissionprob)


def test_nothing_is_counted_for_what_cannot_be() -> None:
    starts, transitions, emissions = PseudoCounts(1.0, 2.0, np.array([3.0, 4.0])).possible(MODEL)
    assert starts.tolist() == [1, 0]
    assert transitions.tolist() == [[2, 2], [0, 2]]
    assert emissions.tolist() == [[3, 4], [3, 4]]
    assert np.isclose(PseudoCounts(transition=2.0).log_density(MODEL), 4 * np.log(0.5))

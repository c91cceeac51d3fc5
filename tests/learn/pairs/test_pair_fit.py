"""From factors to a model."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import count_pairs
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_fit import as_hmm, start_probability
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.run import EvidenceWarning


def test_a_state_that_dies_is_told() -> None:
    point = Point(np.full((3, 2), 1 / 3), np.array([[1 - 2e-10, 5e-11], [5e-11, 1e-10]]))
    counts = count_pairs([0, 1, 2, 0, 2, 1, 0] * 30)
    evidence = PairEvidence.of(counts)
    with pytest.warns(EvidenceWarning, match="1 of 2 states died out"):
        model = as_hmm(point, evidence, 0.0)
    assert np.isfinite(model.transmat).all()


def test_start_probability_by_first_symbols() -> None:
    m = np.array([[0.9, 0.0], [0.1, 0.1], [0.0, 0.9]])
    even = np.array([0.5, 0.5])
    assert start_probability(m, np.zeros(3), even).tolist() == [0.5, 0.5]
    many = start_probability(m, np.array([9000.0, 1000.0, 0.0]), even)
    assert many[0] > 0.99
    single = start_probability(m, np.array([1.0, 0.0, 0.0]), even)
    assert 0.5 < single[0] < 0.6


def test_a_symbol_in_no_pair_is_as_frequent_in_every_state() -> None:
    counts = count_pairs([[0, 1, 0, 1, 1], [2], [2]], n_symbols=4)
    evidence = PairEvidence.of(counts)
    point = Point(np.array([[0.9, 0.2], [0.1, 0.8]]), np.array([[0.2, 0.2], [0.2, 0.4]]))
    model = as_hmm(point, evidence, 0.0)
    np.testing.assert_allclose(model.emissionprob[:, 2], 2 / 7)
    np.testing.assert_allclose(model.emissionprob[:, 3], 0)
    np.testing.assert_allclose(model.emissionprob[:, :2], [[1 / 7, 4 / 7], [9 / 14, 1 / 14]])
    np.testing.assert_allclose(model.transmat, [[2 / 3, 1 / 3], [0.5, 0.5]])

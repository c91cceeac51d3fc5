"""Pairs made ready for a learner."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import Cooccurrence, count_pairs
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.pairs.pair_evidence import PairEvidence, as_hmm, lag_weights, start_probability
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.pairs.spectrum import Spectrum
from tests.learn.pairs.test_min_volume import counts_of, quiet


def test_lags_without_signal_get_no_weight() -> None:
    truth = random_hmm(100, 20, random_state=5)
    fit = quiet(counts_of(truth, 10**6, (1, 2, 5)), 20, max_iter=5, random_state=0)
    assert fit.lag_weights[5] == 0
    assert fit.lag_weights[1] > 0.8
    assert sum(fit.lag_weights.values()) == pytest.approx(1)
    shown = Spectrum(np.array([1.0, 0.9, 0.5, 0.1]), 0.2)
    assert lag_weights({1: shown, 2: Spectrum(shown.values**2, 0.2)}, 4) == {1: 0.5, 2: 0.5}


def test_symbols_in_no_pair_take_no_part() -> None:
    counts = count_pairs([[0, 3, 0], [2]], n_symbols=5)
    evidence = PairEvidence.of(counts)
    assert evidence.seen.tolist() == [0, 3]
    assert evidence.observed.tolist() == [0, 2, 3]
    assert evidence.n_pairs == 2
    np.testing.assert_allclose(evidence.laws[1].omega, [[0, 0.5], [0.5, 0]])
    np.testing.assert_allclose(evidence.frequency, [0.5, 0.5])


def test_summed_lags_are_one_law() -> None:
    counts = count_pairs([0, 1, 1, 0, 1], lags=(1, 2))
    tied, summed = (PairEvidence.of(counts, None, how) for how in ("tied", "summed"))
    assert (sorted(tied.laws), tied.weights) == ([1, 2], {1: 0.5, 2: 0.5})
    assert summed.weights == {1: 1.0}
    laws = [tied.laws[lag].omega for lag in (1, 2)]
    np.testing.assert_allclose(summed.laws[1].omega, (laws[0] + laws[1]) / 2)
    assert sorted(PairEvidence.of(counts, [2]).laws) == [2]


def test_other_counts_of_the_same_symbols() -> None:
    counts = count_pairs([0, 1, 1, 0, 1], n_symbols=3)
    evidence = PairEvidence.of(counts)
    other = evidence.with_laws({1: np.array([[3, 1], [0, 0]])}, 4.0)
    np.testing.assert_allclose(other.laws[1].omega, [[0.75, 0.25], [0, 0]])
    assert (other.n_pairs, other.seen.tolist()) == (4.0, [0, 1])


def test_a_lag_without_a_pair() -> None:
    nothing = Cooccurrence({1: np.zeros((2, 2), int)}, np.zeros(2, int), np.zeros(2, int))
    with pytest.raises(ValueError, match="no pair was counted at lag 1"):
        PairEvidence.of(nothing)


def test_every_lag_has_the_noise_of_its_own_pairs() -> None:
    """Of sequences of ten symbols lag 5 has 300 pairs where lag 1 has 540."""
    found = []
    for seed in range(20):
        independent = np.random.default_rng(seed).integers(0, 8, (60, 10)).tolist()
        shown = PairEvidence.of(count_pairs(independent, lags=(1, 4, 5))).spectra()
        found.append([spectrum.n_detectable for spectrum in shown.values()])
        floors = {lag: spectrum.floor for lag, spectrum in shown.items()}
        assert floors[5] > floors[4] > floors[1]
    assert (np.array(found) > 1).mean() < 0.15


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

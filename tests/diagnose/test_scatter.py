"""Sufficient scatter, against an enumeration of all corners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.diagnose.scatter import log10_volume_ratio, scatter
from cohmm.plots.scatter import scatter_of
from tests.oracles import is_scattered

seeds = st.integers(0, 10**6)


def refutes(x, emissionprob):
    m = emissionprob.T
    return (m @ x >= -1e-9).all() and abs(x.sum() - 1) < 1e-9 and x @ x > 1 - 1e-6


@given(seeds, st.sampled_from([3, 4]), st.sampled_from([0.0, 0.3, 0.5, 0.6]))
def test_verdicts_are_those_of_the_enumeration(seed, k, zeros):
    emissionprob = random_hmm(3 * k, k, zeros, random_state=seed).emissionprob
    result = scatter(emissionprob)
    assert result.verdict != "not refuted"  # few symbols: it is decided
    assert result.refuted != is_scattered(emissionprob)
    assert result.direction is None or refutes(result.direction, emissionprob)


@given(seeds)
def test_three_states_are_as_the_picture_says(seed):
    emissionprob = random_hmm(9, 3, 0.5, random_state=seed).emissionprob
    assert scatter(emissionprob).refuted != scatter_of(emissionprob).scattered


@pytest.mark.parametrize("seed", range(3))
def test_linear_programs_find_what_the_enumeration_finds(seed, monkeypatch):
    monkeypatch.setattr("cohmm.diagnose.scatter.MAX_CORNERS", 0)
    for zeros in (0.0, 0.4, 0.6):
        emissionprob = random_hmm(15, 4, zeros, random_state=seed).emissionprob
        result = scatter(emissionprob)
        assert result.refuted != is_scattered(emissionprob)
        assert result.direction is None or refutes(result.direction, emissionprob)
        assert result.refuted or result.tries >= 60 or result.verdict == "separable"


def test_separable_models_are_proved_by_their_anchors():
    result = scatter(separable_hmm(50, 10, random_state=0).emissionprob)
    assert result.verdict == "separable"
    assert [own.tolist() for own in result.anchors] == [[k] for k in range(10)]


def test_dense_models_are_refuted():
    emissionprob = random_hmm(50, 10, 0.0, random_state=0).emissionprob
    result = scatter(emissionprob)
    assert result.refuted
    assert refutes(result.direction, emissionprob)
    assert result.direction @ result.direction == pytest.approx(result.length)
    assert "too few zeros in states 0, 1, 2, 3, 4 ..." in str(result)


def test_twin_states_are_refuted():
    emissionprob = separable_hmm(30, 8, random_state=0).emissionprob
    result = scatter(np.vstack([emissionprob, emissionprob[:1]]))
    assert result.refuted
    assert result.direction @ result.direction > 1


@given(seeds)
def test_states_and_symbols_may_change_places(seed):
    rng = np.random.default_rng(seed)
    emissionprob = random_hmm(12, 3, 0.5, random_state=seed).emissionprob
    states, symbols = rng.permutation(3), rng.permutation(12)
    one, other = scatter(emissionprob), scatter(emissionprob[states][:, symbols])
    assert one.verdict == other.verdict
    assert one.zeros[states].tolist() == other.zeros.tolist()
    assert one.ranks[states].tolist() == other.ranks.tolist()


def test_what_is_below_a_threshold_is_zero():
    emissionprob = 0.97 * separable_hmm(12, 3, random_state=0).emissionprob + 0.03 / 12
    assert scatter(emissionprob).refuted
    found = scatter(emissionprob, thresholds=np.full((3, 12), 0.003))
    assert found.verdict == "separable"
    assert str(found).startswith("not refuted: with zeros as found, separable")


def test_a_state_all_of_which_is_noise_keeps_a_symbol():
    emissionprob = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
    thresholds = np.array([[0.1, 0.1, 0.1], [0.9, 0.9, 0.9]])
    assert scatter(emissionprob, thresholds=thresholds).anchors[1].tolist() == [2]


def test_one_state_is_scattered():
    assert scatter([[0.2, 0.8]]).verdict == "separable"


def test_the_volume_ratio_is_that_of_proposition_2():
    assert 10 ** log10_volume_ratio(2) == pytest.approx(1)
    rng = np.random.default_rng(0)
    points = rng.dirichlet(np.ones(4), size=200_000)
    share = ((points**2).sum(axis=1) <= 1 / 3).mean()
    assert 10 ** log10_volume_ratio(4) == pytest.approx(share, rel=0.05)


@pytest.mark.parametrize(
    ("emissions", "said"),
    [
        ([[0.5, 0.6]], "state 0 sum to 1.1"),
        ([0.5, 0.5], r"shape \(2,\)"),
        ([[1.5, -0.5]], "probabilities"),
    ],
)
def test_bad_emissions_are_named(emissions, said):
    with pytest.raises(ValueError, match=said):
        scatter(emissions)

"""Zeros of emissions: whether they show, the prior that prefers them, and the way out of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import pairwise, refine
from cohmm.learn.sparsity import (
    AT_ZERO,
    _log_density,
    opened,
    weight_of,
    zeros_preferred,
    zeros_show,
)


def noisy(truth: HMM, noise: float, seed: int = 0) -> HMM:
    """An estimate of ``truth``: off by so much of an average emission, and never negative."""
    size = noise / truth.n_symbols
    off = np.random.default_rng(seed).normal(0, size, truth.emissionprob.shape)
    emission = np.maximum(truth.emissionprob + off, 0)
    return HMM(truth.startprob, truth.transmat, emission / emission.sum(axis=1, keepdims=True))


def test_the_floor_is_a_standard_error_once_that_is_small() -> None:
    model = random_hmm(100, 20, random_state=0)
    floors = {n: zeros_preferred(2.0, model, n).floor for n in (1e3, 1e5, 1e7, 1e9)}
    assert floors[1e3] == floors[1e5] == pytest.approx(0.3 / 100)
    assert floors[1e7] == pytest.approx(3 / 1e7**0.5, rel=0.01)
    assert floors[1e9] == pytest.approx(floors[1e7] / 10)
    assert zeros_preferred(2.0, model, 1e7).weight == 2.0


def test_opened_keeps_what_is_impossible() -> None:
    model = HMM([1.0], [[1.0]], [[0.9999, 0.0001, 0.0]])
    np.testing.assert_allclose(opened(model).emissionprob, [[0.994901, 0.005099, 0]], atol=1e-6)


@given(
    st.floats(0.02, 0.5),
    st.floats(1.0, 8.0),
    st.sampled_from([0.0, 0.3, 0.8]),
    st.floats(0.0, 4.0),
)
def test_the_density_is_that_of_a_spike_and_an_exponential_with_noise(
    error: float, noise: float, spike: float, y: float
) -> None:
    mean, sd = 1 / (1 - spike), noise * error

    def density(at: float) -> float:
        slab, _ = quad(
            lambda x: np.exp(-x / mean) / mean * norm.pdf(at, x, sd),
            max(at - 10 * sd, 0),
            max(at + 10 * sd, 0),
        )
        return float(spike * norm.pdf(at, 0, sd) + (1 - spike) * slab)

    cut = AT_ZERO * error
    found = np.exp(_log_density(np.array([y]), np.array([error]), spike, noise))
    expected = density(y) if y >= cut else quad(density, -12 * sd, cut, limit=200)[0]
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "k", "length"), [(50, 4, 1e5), (100, 20, 1e7), (300, 5, 1e6)])
def test_zeros_show_where_they_are(n: int, k: int, length: float, seed: int) -> None:
    for noise in (0.05, 0.2):
        for zeros in (0.5, 0.0):
            truth = random_hmm(n, k, zeros, random_state=seed)
            assert zeros_show(noisy(truth, noise, seed), length) == (zeros > 0)


def test_zeros_do_not_show_in_noise_or_next_to_nothing() -> None:
    truth = random_hmm(100, 20, random_state=0)
    assert zeros_show(noisy(truth, 0.2), 1e7)
    assert not zeros_show(noisy(truth, 1.5), 1e7)
    assert not zeros_show(noisy(truth, 0.2), 100)  # not one emission has been seen
    assert not zeros_show(noisy(truth, 0.2), 1e7, free=0.6)
    assert not zeros_show(HMM([1.0], [[1.0]], [[1.0]]), 100)
    dead = HMM([1, 0], [[1, 0], [1, 0]], [[0.5, 0.5], [1, 0]])
    assert not zeros_show(dead, 1e4)


def test_weights_are_what_was_said_or_what_shows() -> None:
    sparse, dense = (noisy(random_hmm(50, 4, z, random_state=0), 0.1) for z in (0.5, 0.0))
    assert weight_of(0.7, sparse, 1e6) == weight_of(0.7, dense, 1e6) == 0.7
    assert weight_of("auto", sparse, 1e6) == 1.0
    assert weight_of("auto", dense, 1e6) == 0.0


@pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")
@pytest.mark.parametrize(("zeros", "weight"), [(0.5, 1.0), (0.0, 0.0)])
@pytest.mark.parametrize("by", ["sequences", "triples"])
def test_auto_is_one_or_the_other(zeros: float, weight: float, by: str) -> None:
    truth = random_hmm(16, 4, zeros, stay=0.2, random_state=1)
    data = Sequences.of(truth.sample(100_000, random_state=1)[0], n_symbols=16)
    auto, told, other = (
        pairwise(data, 4, refine=by, sparsity=s, random_state=0)  # type: ignore[arg-type]
        for s in ("auto", weight, 1 - weight)
    )
    assert auto.refined is not None
    assert auto.refined.sparsity == weight
    assert auto.model == told.model != other.model
    assert auto.model.distance(truth).emission < other.model.distance(truth).emission
    assert pairwise(data, 4, refine=by, random_state=0).model == auto.model  # type: ignore[arg-type]


def test_no_zeros_show_where_no_window_was_climbed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cohmm.learn.sequences.refine.MAX_DISTINCT", 0.0)
    truth = random_hmm(16, 4, random_state=1)
    y, _ = truth.sample(20_000, random_state=1)
    assert refine(opened(truth), Sequences.of(y), sparsity="auto").sparsity == 0.0

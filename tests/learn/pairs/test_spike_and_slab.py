"""The posterior of a pair estimate: each step against integrals and differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.pairs.pair_law import PairJacobian, pair_law
from cohmm.learn.pairs.spike_and_slab import (
    Factors,
    Quadratic,
    around,
    posterior,
    propagated,
    with_prior,
)
from cohmm.model.hmm import HMM


@pytest.mark.parametrize("zero", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("x", [-0.5, -0.02, 0.0, 0.03, 0.4])
@pytest.mark.parametrize("mean", [0.01, 0.1, 10.0])
def test_one_entry_is_as_integrals_say(zero: float, x: float, mean: float) -> None:
    sd = 0.02

    def density(value: float) -> float:
        return float(stats.norm.pdf(x, value, sd) * stats.expon.pdf(value, scale=mean))

    def integral(power: int, stop: float = 1.0) -> float:
        likely = [point for point in (sd**2 / abs(x - sd**2 / mean), x, x - sd**2 / mean) if point]
        inside = sorted(point for point in likely if 0 < point < stop)
        return integrate.quad(
            lambda v: v**power * density(v), 0, stop, points=inside or None, epsabs=0, limit=500
        )[0]

    spike = zero * stats.norm.pdf(x, 0, sd)
    total = spike + (1 - zero) * integral(0)
    moments = [(1 - zero) * integral(power) / total for power in (1, 2)]
    found = with_prior(*(np.array([value]) for value in (x, sd**2, zero, mean)))
    assert found.zero[0] == pytest.approx(spike / total, abs=1e-7)
    assert found.mean[0] == pytest.approx(moments[0], rel=1e-5, abs=1e-12)
    assert found.variance[0] == pytest.approx(moments[1] - moments[0] ** 2, rel=1e-4, abs=1e-12)
    median = float(found.median()[0])
    if spike / total > 0.5:
        assert median == 0
    else:
        assert median > 0
        half = spike / total + (1 - zero) * integral(0, median) / total
        assert half == pytest.approx(0.5, abs=1e-5)


def test_far_below_zero_nothing_is_lost_to_rounding() -> None:
    """There an entry that is not zero is exponential, by the slope of the normal."""
    x = -np.array([29.0, 31.0, 100.0, 1e4, 1e6])
    found = with_prior(x, np.ones(5), np.zeros(5), np.full(5, 1e9))
    np.testing.assert_allclose(found.mean, -1 / x, rtol=3e-3)
    np.testing.assert_allclose(found.variance, 1 / x**2, rtol=1e-2)


@pytest.mark.parametrize("lag", [1, 2])
def test_slope_and_curvature_are_those_of_poisson_counts(lag: int) -> None:
    model, other = (random_hmm(4, 2, 0.0, random_state=seed) for seed in (0, 1))
    omega, n_pairs, step = other.pair_probability(lag), 100.0, 1e-4
    found = around(model, {lag: pair_law(omega)}, {lag: 1.0}, n_pairs)

    def law(move: np.ndarray) -> np.ndarray:
        """For entries that need not sum to one; pi by its derivative, which is linear in A."""
        entries = np.concatenate([model.transmat.ravel(), model.emissionprob.ravel()]) + move
        a, m = entries[:4].reshape(2, 2), entries[4:].reshape(2, 4)
        pi = model.stationary()
        z = np.linalg.inv(np.eye(2) - model.transmat + pi)
        pi = pi + pi @ (a - model.transmat) @ z
        return m.T @ np.diag(pi) @ np.linalg.matrix_power(a, lag) @ m

    slopes = []
    for place in range(12):
        move = np.zeros(12)
        move[place] = step
        slopes.append((law(move) - law(-move)) / (2 * step))
    p = law(np.zeros(12))
    slope = [n_pairs * float(((omega / p - 1) * d).sum()) for d in slopes]
    np.testing.assert_allclose(found.slope, slope, rtol=1e-6, atol=1e-6)
    curvature = np.array([[n_pairs * float((c * d / p).sum()) for c in slopes] for d in slopes])
    rows = np.repeat(np.arange(4), [2, 2, 4, 4])
    stiff = found.precision - curvature
    apart = rows[:, None] != rows
    np.testing.assert_allclose(stiff[apart], 0, atol=1e-5)
    np.testing.assert_allclose(stiff[~apart], stiff[0, 0], rtol=1e-5)
    np.testing.assert_allclose(PairJacobian.of(model, lag).p, p)


def test_entries_apart_are_exact_and_entries_together_nearly_so() -> None:
    at, mean = np.array([0.03, 0.01]), np.array([0.05, 0.05])
    nothing = Factors(np.zeros(2), np.zeros(2))
    for correlation, tolerance in ((0.0, 1e-9), (0.5, 0.02), (-0.5, 0.02)):
        covariance = 0.02**2 * np.array([[1, correlation], [correlation, 1]])
        precision = np.linalg.inv(covariance)
        quadratic = Quadratic(at, np.zeros(2), precision)
        found, _, _ = propagated(quadratic, nothing, np.full(2, 0.5), mean)
        exact = _on_a_grid(at, covariance, mean)
        np.testing.assert_allclose(found.zero, exact[:, 0], atol=max(tolerance, 2e-3))
        np.testing.assert_allclose(found.mean, exact[:, 1], atol=max(tolerance, 2e-3) * 0.05)


def _on_a_grid(at: np.ndarray, covariance: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """The probability of a zero and the mean of two entries, by sums over all values."""
    step = 2e-4
    values = np.arange(1, 1500) * step - step / 2
    x = np.concatenate([[0.0], values])
    prior = [
        np.concatenate([[0.5], 0.5 * step * np.exp(-values / scale) / scale]) for scale in mean
    ]
    both = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1)
    joint = stats.multivariate_normal(at, covariance).pdf(both) * np.outer(*prior)
    joint /= joint.sum()
    sides = joint.sum(axis=1), joint.sum(axis=0)
    return np.array([[side[0], side @ x] for side in sides])


def test_zeros_are_found_and_every_symbol_that_occurs_is_kept() -> None:
    truth = random_hmm(20, 3, 0.5, stay=0.3, random_state=3)
    rare = truth.emissionprob.copy()
    rare[:, 7] = 1e-9
    truth = HMM(truth.stationary(), truth.transmat, rare / rare.sum(axis=1, keepdims=True))
    blurred = 0.98 * truth.emissionprob + 0.02 / 20
    start = HMM(truth.startprob, truth.transmat, blurred)
    laws = {lag: pair_law(truth.pair_probability(lag)) for lag in (1, 2)}
    model, settled, steps = posterior(start, laws, {1: 0.5, 2: 0.5}, 1e6, 0.002)
    assert settled
    assert steps > 2
    assert max(model.distance(truth)) < 0.01
    true_zeros = truth.emissionprob == 0
    assert (model.emissionprob[true_zeros] == 0).all()
    assert (model.emissionprob.sum(axis=0) > 0).all()
    np.testing.assert_allclose(model.startprob, model.stationary())

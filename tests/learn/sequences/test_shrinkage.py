"""Maximum likelihood with a prior that draws states together."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import gammaln

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import baum_welch, refine
from cohmm.learn.constraints import PseudoCounts
from cohmm.learn.maximize import Prior, visits
from cohmm.learn.sequences import shrinkage
from cohmm.learn.sequences import shrinkage as module
from cohmm.learn.sequences.likelihood import SequenceLikelihood
from cohmm.learn.sequences.shrinkage import TRANSITIONS, posterior_mean, shrunk

SYMBOLS = [0, 0, 1, 0, 2, 2, 2, 1]
PRIOR = PseudoCounts(
    np.array([2.0, 1.0]), np.array([[3.0, 0.5], [1.0, 4.0]]), np.array([[4, 1, 0.5], [0.5, 1, 4]])
)


def maximum(n_states: int, length: int) -> tuple[HMM, Sequences, np.ndarray]:
    truth = random_hmm(8, n_states, zeros=0.3, stay=0.5, random_state=0)
    data = Sequences.of(truth.sample(length, random_state=0)[0], n_symbols=8)
    model = baum_welch(data, start=truth, tol=1e-6).model
    return model, data, np.bincount(data.symbols, minlength=8).astype(float)


def test_it_ends_at_the_maximum_with_the_prior(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinkage, "VERY_LITTLE", 0)
    model, data, frequency = maximum(2, 300)
    likelihood = SequenceLikelihood(data)
    pi = visits(likelihood.expected(model).counts)
    prior = PseudoCounts(pi, TRANSITIONS * 2 * pi, 8 * frequency / frequency.sum())

    def density(other: HMM) -> float:
        return other.log_likelihood(data) + prior.log_density(other)

    end = shrunk(
        model, likelihood, 300, frequency, Prior(starts=pi), weight=1.0, max_iter=2000, tol=1e-9
    )
    for seed in range(20):  # no step from there leads up
        rng = np.random.default_rng(seed)

        def shaken(table: np.ndarray, rng: np.random.Generator = rng) -> np.ndarray:
            table = table * np.exp(0.02 * rng.normal(size=table.shape))
            return table / table.sum(axis=-1, keepdims=True)

        other = HMM(shaken(end.startprob), shaken(end.transmat), shaken(end.emissionprob))
        assert density(other) < density(end)


@pytest.mark.parametrize("length", [300, 30_000])
def test_states_come_closer_as_far_as_the_data_is_small(length: int) -> None:
    model, data, frequency = maximum(3, length)
    starts = np.ones(3)
    likelihood = SequenceLikelihood(data)
    models = [model] + [
        shrunk(model, likelihood, length, frequency, Prior(starts=starts), weight=weight)
        for weight in (0.1, 1.0, 10.0)
    ]
    overall = frequency / frequency.sum()
    apart = [np.abs(other.emissionprob - overall).sum() for other in models]
    assert apart == sorted(apart, reverse=True)
    assert (models[1].emissionprob[:, frequency > 0] > 0).all()
    assert (models[1].emissionprob[:, frequency == 0] == 0).all()
    if length == 30_000:
        assert models[1].distance(model).emission < 1e-3


def test_of_much_data_one_step_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shrinkage, "MUCH", 100)
    model, data, frequency = maximum(2, 300)
    passes = []

    class Counted(SequenceLikelihood):
        def expected(self, model: HMM) -> object:  # type: ignore[override]
            passes.append(model)
            return super().expected(model)

    shrunk(model, Counted(data), 300, frequency, Prior(starts=np.ones(2)), weight=0.1)
    assert len(passes) == 1


def weighed_paths() -> tuple[float, list[np.ndarray]]:
    """The means of the three tables, by a sum over all paths of states."""
    total, tables = 0.0, [np.zeros(np.shape(pseudo)) for pseudo in PRIOR]
    for path in product((0, 1), repeat=len(SYMBOLS)):
        counts = [np.array(pseudo, float) for pseudo in PRIOR]
        counts[0][path[0]] += 1
        for i, j in pairwise(path):
            counts[1][i, j] += 1
        for state, symbol in zip(path, SYMBOLS, strict=True):
            counts[2][state, symbol] += 1
        log_weight = sum((gammaln(c).sum(axis=-1) - gammaln(c.sum(axis=-1))).sum() for c in counts)
        weight = float(np.exp(log_weight))
        total += weight
        for table, count in zip(tables, counts, strict=True):
            table += weight * count / count.sum(axis=-1, keepdims=True)
    return total, tables


def test_it_is_the_mean_over_all_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    # A prior that tells the states apart: no names are exchanged.
    monkeypatch.setattr(module, "SWEEPS", 4000)
    total, (start, transmat, emission) = weighed_paths()
    model = HMM([0.5, 0.5], [[0.8, 0.2], [0.2, 0.8]], [[0.6, 0.2, 0.2], [0.2, 0.2, 0.6]])
    mean = posterior_mean(model, Sequences.of(SYMBOLS, n_symbols=3), PRIOR)
    np.testing.assert_allclose(mean.startprob, start / total, atol=0.03)
    np.testing.assert_allclose(mean.transmat, transmat / total, atol=0.03)
    np.testing.assert_allclose(mean.emissionprob, emission / total, atol=0.03)


def test_missing_symbols_and_symbols_that_never_occur_change_nothing() -> None:
    truth = random_hmm(4, 2, stay=0.7, random_state=0)
    y = truth.sample(60, random_state=0)[0]
    wide = HMM(truth.startprob, truth.transmat, np.insert(truth.emissionprob, 1, 0.0, axis=1))
    plain = posterior_mean(truth, Sequences.of(y, n_symbols=4), PseudoCounts(1, 0.3, 0.3))
    other = posterior_mean(
        wide, Sequences.of(np.where(y > 0, y + 1, 0), n_symbols=5), PseudoCounts(1, 0.3, 0.3)
    )
    np.testing.assert_array_equal(other.emissionprob[:, 1], 0.0)
    np.testing.assert_allclose(np.delete(other.emissionprob, 1, axis=1), plain.emissionprob)
    hidden = Sequences(np.where(np.arange(60) % 3 == 0, -1, y), np.array([0, 30, 60]), 4)
    partly = posterior_mean(truth, hidden, PseudoCounts(1, 0.3, 0.3))
    assert 0 < partly.distance(plain).emission < 0.5
    nothing = Sequences(np.full(5, -1), np.array([0, 5]), 4)
    assert posterior_mean(truth, nothing, PseudoCounts(1, 1, 1)).n_components == 2


def test_on_little_data_it_predicts_better_than_the_most_probable_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def held_out() -> float:
        scores = []
        for seed in range(6):
            truth = random_hmm(6, 2, zeros=0.0, random_state=seed)
            y, test = (truth.sample(n, random_state=n + seed)[0] for n in (200, 5000))
            model = refine(truth, Sequences.of(y, n_symbols=6), random_state=0).model
            test = Sequences(np.where(np.isin(test, y), test, -1), np.array([0, 5000]), 6)
            scores.append(model.log_likelihood(test) / 5000)
        return float(np.mean(scores))

    mean = held_out()
    monkeypatch.setattr("cohmm.learn.sequences.shrinkage.VERY_LITTLE", 0)
    assert mean > held_out() + 0.002

"""Maximum likelihood with a prior that draws states together."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import baum_welch
from cohmm.learn.sequences import shrinkage
from cohmm.learn.sequences.ascent import Prior
from cohmm.learn.sequences.em_step import PseudoCounts
from cohmm.learn.sequences.likelihood import SequenceLikelihood, visits
from cohmm.learn.sequences.shrinkage import TRANSITIONS, shrunk


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

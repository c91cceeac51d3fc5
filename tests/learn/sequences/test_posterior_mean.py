"""The mean of the models that little data allows."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy.special import gammaln

from cohmm import HMM, Sequences
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import refine
from cohmm.learn.sequences import posterior_mean as module
from cohmm.learn.sequences.em_step import PseudoCounts
from cohmm.learn.sequences.posterior_mean import posterior_mean

SYMBOLS = [0, 0, 1, 0, 2, 2, 2, 1]
PRIOR = PseudoCounts(
    np.array([2.0, 1.0]), np.array([[3.0, 0.5], [1.0, 4.0]]), np.array([[4, 1, 0.5], [0.5, 1, 4]])
)


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

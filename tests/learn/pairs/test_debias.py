"""Pairs without the volume term: the likelihood against differences, and what is gained."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from cohmm import Cooccurrence, count_pairs
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn import min_volume, pairwise
from cohmm.learn.pairs.debias import PairLikelihood, debias
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import pair_law
from tests.strategies import random_model

OPTIONS = {"sparsity": 1.0, "smoothing": 0.1, "random_state": 0}


@pytest.mark.parametrize("as_law", [np.asarray, sparse.csr_array])
def test_expected_counts_are_the_gradient(as_law: type) -> None:
    rng = np.random.default_rng(0)
    omegas = {lag: rng.dirichlet(np.ones(16)).reshape(4, 4) for lag in (1, 3)}
    weights = {1: 0.7, 3: 0.3}
    model = random_model(2, 4, seed=1)
    likelihood = PairLikelihood({lag: pair_law(as_law(o)) for lag, o in omegas.items()}, weights)

    def log_likelihood(pi: np.ndarray, a: np.ndarray, m: np.ndarray) -> float:
        """By a sum over all pairs of states, for parameters that need not sum to one."""
        total = 0.0
        for lag, omega in omegas.items():
            theta = np.diag(pi) @ np.linalg.matrix_power(a, lag)
            total += weights[lag] * float((omega * np.log(m.T @ theta @ m)).sum())
        return total

    found = likelihood.expected(model)
    tables = [model.startprob, model.transmat, model.emissionprob]
    assert found.log_likelihood == pytest.approx(log_likelihood(*tables), rel=1e-6)
    for i, count in enumerate(found.counts):
        for place in np.ndindex(tables[i].shape):
            step = 1e-5
            moved = [table.copy() for table in tables]
            moved[i][place] += step
            up = log_likelihood(*moved)
            moved[i][place] -= 2 * step
            slope = (up - log_likelihood(*moved)) / (2 * step)
            assert count[place] == pytest.approx(tables[i][place] * slope, rel=1e-4)


def test_it_is_closer_where_pairs_are_many_and_emissions_have_zeros() -> None:
    for seed in (2, 4, 5):
        truth = random_hmm(20, 4, random_state=seed)
        counts = count_pairs(truth.sample(1_000_000, random_state=seed)[0])
        with_it = min_volume(counts, 4, random_state=0)
        without = debias(with_it, PairEvidence.of(counts), **OPTIONS)
        pairs = zip(without.model.distance(truth), with_it.model.distance(truth), strict=True)
        assert all(better < worse for better, worse in pairs)
        assert without.converged
        assert without.passes_without_volume > 1
        assert without.history == with_it.history


def test_labels_starts_and_lonely_symbols_are_as_with_the_term() -> None:
    truth = random_hmm(5, 2, stay=0.5, random_state=1)
    y = np.array(list("abcde"))[truth.sample(20_000, random_state=0)[0]].tolist()
    counts = count_pairs([y, ["z"], ["z", None, "a"]], vocabulary=[*"abcdez"])
    fit = min_volume(counts, 2, random_state=0)
    model = debias(fit, PairEvidence.of(counts), **OPTIONS).model
    assert model.vocabulary == (*"abcdez",)
    np.testing.assert_allclose(model.emissionprob[:, 5], fit.model.emissionprob[:, 5])
    assert model.emissionprob[0, 5] > 0
    np.testing.assert_allclose(model.startprob, fit.model.startprob, atol=0.05)


@pytest.mark.parametrize(("zeros", "shown"), [(0.5, True), (0.0, False)])
@pytest.mark.parametrize("lags", [(1,), (1, 2)])
def test_the_recipe_does_so_if_zeros_show(zeros: float, shown: bool, lags: tuple[int, ...]) -> None:
    truth = random_hmm(20, 4, zeros, stay=0.2, random_state=2)
    counts = count_pairs(truth.sample(500_000, random_state=2)[0], lags=lags)
    options = {"max_iter": 500, "random_state": 0}
    fit = pairwise(counts, 4, **options)
    term = min_volume(counts, 4, **options)
    assert (fit.pairs.passes_without_volume > 0) is shown
    assert (fit.model == term.model) is not shown
    assert pairwise(counts, 4, sparsity=0.0, **options).model == term.model
    if shown:
        assert fit.model.distance(truth).emission < term.model.distance(truth).emission


def test_exact_laws_and_large_ones_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = random_hmm(20, 4, stay=0.2, random_state=2)
    exact = Cooccurrence.from_probability(truth.pair_probability())
    assert pairwise(exact, 4, random_state=0).pairs.passes_without_volume == 0
    counts = count_pairs(truth.sample(500_000, random_state=2)[0])
    assert pairwise(counts, 4, random_state=0).pairs.passes_without_volume > 0
    monkeypatch.setattr("cohmm.learn.pairs.debias.WORTHWHILE", 20 * 20 * 4 - 1)
    assert pairwise(counts, 4, random_state=0).pairs.passes_without_volume == 0


def test_the_posterior_is_closer_than_the_climb_and_is_not_trusted_blindly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    by_bayes, by_climb = [], []
    for seed in (1, 2):
        truth = random_hmm(30, 4, 0.7, random_state=seed)
        counts = count_pairs(truth.sample(300_000, random_state=seed)[0])
        fit = min_volume(counts, 4, random_state=0)
        evidence = PairEvidence.of(counts)
        by_bayes.append(debias(fit, evidence, **OPTIONS).model.distance(truth))
        with monkeypatch.context() as patch:
            patch.setattr("cohmm.learn.pairs.debias.MAX_PARAMETERS", 0)
            climbed = debias(fit, evidence, **OPTIONS).model
        by_climb.append(climbed.distance(truth))
    assert (np.mean(by_bayes, axis=0) < np.mean(by_climb, axis=0)).all()
    lags = PairEvidence.of(count_pairs(truth.sample(50_000, random_state=0)[0], lags=(1, 2)))
    several = debias(fit, lags, **OPTIONS).model
    monkeypatch.setattr("cohmm.learn.pairs.debias.MAX_MOVED", 0.0)
    assert debias(fit, lags, **OPTIONS).model == several
    assert debias(fit, evidence, **OPTIONS).model == climbed

"""Tensor decomposition: exact laws, noisy ones, its laws and its complaints."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cohmm import HMM, Triples, count_triples
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.windows.tensor import _least_squares, _mixture, _pencil, onto_simplex, tensor
from tests import laws
from tests.strategies import random_model

quiet = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


def exact(truth: HMM) -> Triples:
    return Triples.from_probability(truth.triple_probability())


def counted(truth: HMM, length: int, seed: int = 1) -> Triples:
    return count_triples(truth.sample(length, random_state=seed)[0], n_symbols=truth.n_symbols)


@quiet
@pytest.mark.parametrize(("n", "k", "seeds"), [(20, 5, 20), (100, 20, 3), (12, 1, 1)])
def test_exact_triples_give_the_model_back(n, k, seeds):
    for seed in range(seeds):
        truth = random_hmm(n, k, random_state=seed)
        fit = tensor(exact(truth), k, random_state=seed)
        assert max(fit.model.distance(truth)) < 1e-9
        laws.close(fit.model.startprob, np.sort(truth.stationary())[::-1], 1e-9)
        assert fit.converged


@quiet
def test_so_does_a_single_pencil():
    truth = random_hmm(20, 5, random_state=0)
    fit = tensor(exact(truth), 5, n_pencils=1, max_iter=1, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-9
    assert fit.n_iter == 1
    assert len(fit.starts) == 1


def test_no_scattering_is_needed():
    # All emissions are far from zero: pairs alone cannot tell what they are.
    truth = random_model(3, 8, seed=0, concentration=5.0)
    fit = tensor(exact(truth), 3, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-8


@quiet
@pytest.mark.parametrize(
    ("truth", "length", "limits"),
    [
        (random_hmm(100, 20, stay=0.5, random_state=1), 10**6, (0.055, 0.066)),
        (separable_hmm(16, 4, random_state=0), 10**5, (0.10, 0.10)),
        (random_hmm(30, 5, stay=0.3, random_state=0), 10**6, (0.02, 0.02)),
    ],
)
def test_errors_on_real_chains(truth, length, limits):
    triples = counted(truth, length)
    k = truth.n_components
    fit = tensor(triples, k, random_state=0)
    distance = fit.model.distance(truth)
    assert distance.emission < limits[0]
    assert distance.transition < limits[1]
    # The textbook's method, one pencil, is far worse, and so the paper found it.
    alone = tensor(triples, k, n_pencils=1, max_iter=1, random_state=0)
    assert alone.model.distance(truth).emission > 2 * distance.emission
    assert alone.objective > 10 * fit.objective


@quiet
@pytest.mark.parametrize("n_pencils", [1, 4])
def test_the_objective_falls_and_the_best_pencil_is_kept(n_pencils):
    triples = counted(random_hmm(20, 5, random_state=3), 20_000)
    seen = []
    fit = tensor(triples, 5, n_pencils=n_pencils, random_state=0, callback=seen.append)
    objectives = [step.objective for step in fit.history]
    assert all(after <= before for before, after in pairwise(objectives))
    assert all(a.n_iter < b.n_iter for a, b in pairwise(fit.history))
    assert len(fit.starts) == n_pencils
    assert fit.objective == min(fit.starts)
    assert fit.history[-1] in seen
    assert len(seen) >= len(fit.history)


@quiet
def test_more_pencils_and_more_sweeps_are_better():
    triples = counted(separable_hmm(16, 4, random_state=3), 10**5, seed=103)
    options = {"random_state": 0, "tol": 1e-3}
    one = tensor(triples, 4, n_pencils=1, **options)
    assert tensor(triples, 4, n_pencils=6, **options).objective < 0.8 * one.objective
    short = tensor(triples, 4, max_iter=10, random_state=0)
    assert not short.converged
    assert short.n_iter <= 10
    assert tensor(triples, 4, random_state=0, tol=0.1).n_iter < fit_length(triples)


def fit_length(triples: Triples) -> int:
    return tensor(triples, 4, random_state=0, tol=1e-7).n_iter


def test_labels_and_symbols_never_seen():
    truth = random_hmm(6, 2, stay=0.8, random_state=0)
    words = np.array(list("fedcba"))[truth.sample(20_000, random_state=0)[0]]
    triples = count_triples(words.tolist(), vocabulary=list("abcdefgh"))
    with pytest.warns(EvidenceWarning, match="2 of 8 symbols never occur"):
        fit = tensor(triples, 2, random_state=0)
    assert fit.model.vocabulary == tuple("abcdefgh")
    assert (fit.model.emissionprob[:, 6:] == 0).all()
    # What was seen is possible, even where the decomposition said never.
    assert (fit.model.emissionprob[:, :6] > 0).all()
    with pytest.warns(EvidenceWarning):
        rough = tensor(triples, 2, random_state=0, smoothing=500.0)
    assert rough.model.distance(fit.model).emission > 0.01


@quiet
def test_many_symbols_of_which_some_are_rare(monkeypatch):
    # Symbols too rare for the basis get their emissions by least squares all the same.
    truth = random_hmm(1100, 3, stay=0.7, random_state=0)
    triples = counted(truth, 300_000)
    assert triples.n_symbols > 1024  # sparse pairs
    monkeypatch.setattr("cohmm.learn.pairs.spectrum.MAX_SYMBOLS", 600)
    fit = tensor(triples, 3, random_state=0)
    assert max(fit.model.distance(truth)) < 0.09


def test_as_many_states_as_stand_out():
    truth = random_hmm(20, 4, stay=0.6, random_state=0)
    assert tensor(counted(truth, 10**5), "auto", random_state=0).model.n_components == 4


def test_a_chain_in_two_parts():
    rng = np.random.default_rng(0)
    triples = count_triples([rng.integers(0, 3, 9000), rng.integers(3, 6, 3000)])
    for smoothing in (0.0, 0.1):
        fit = tensor(triples, 2, smoothing=smoothing, random_state=0)
        laws.close(fit.model.transmat, np.eye(2), 1e-6 if smoothing == 0 else 1e-3)
        laws.close(fit.model.startprob, fit.model.stationary())
        assert (fit.model.startprob > 0).all()


# -- where it cannot be done ----------------------------------------------------------------


@quiet
def test_states_that_cannot_be_told_apart():
    truth = random_hmm(12, 3, random_state=0)
    with pytest.raises(ValueError, match=r"n_components=5 states cannot .* has the rank 3"):
        tensor(exact(truth), 5)
    twins = HMM(truth.startprob, truth.transmat, truth.emissionprob[[0, 1, 1]])
    with pytest.raises(ValueError, match=r"n_components=3 states cannot .* has the rank 2"):
        tensor(exact(twins), 3)
    followed = HMM(truth.startprob, truth.transmat[[0, 1, 1]], truth.emissionprob)
    with pytest.raises(ValueError, match=r"n_components=3 states cannot .* has the rank 2"):
        tensor(exact(followed), 3)
    assert max(tensor(exact(twins), 2).model.stationary()) > 0


def test_more_states_than_symbols():
    with pytest.raises(
        ValueError, match="n_components=30 states cannot be learned from pairs of 3"
    ):
        tensor(count_triples([0, 1, 2, 0, 1]), 30)


def model_or_none(triples: Triples, k: int, seed: int):
    try:
        return tensor(triples, k, random_state=seed)
    except ValueError as error:
        if "cannot be" not in str(error):
            raise
        return None


@quiet
@given(
    st.lists(st.integers(0, 4), min_size=3, max_size=60),
    st.integers(1, 5),
    st.integers(0, 9),
)
def test_whatever_the_data_the_answer_is_a_model_or_an_error(y, k, seed):
    triples = count_triples(y, n_symbols=5)
    fit = model_or_none(triples, k, seed)
    if fit is None:
        return
    laws.rows_are_distributions(fit.model.transmat)
    laws.rows_are_distributions(fit.model.emissionprob)
    assert fit.model.n_components == k
    assert fit.model.log_likelihood(y) > -np.inf


# -- its parts ------------------------------------------------------------------------------


def test_complex_pairs_of_eigenvectors_become_real():
    found = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cube, whole = rng.normal(size=(4, 4, 4)), rng.normal(size=4)
        mixture = np.random.default_rng(seed).normal(size=4)
        for axis in (0, 2):
            slices = np.moveaxis(cube, axis, 2)
            ratio = (slices @ mixture) @ np.linalg.inv(slices @ whole)
            found += np.iscomplexobj(np.linalg.eigvals(ratio))
            begin = _pencil(cube, whole, axis, np.random.default_rng(seed))
            first = begin.middle if axis == 0 else begin.before
            # They span what the complex ones do: an invariant space of the pencil.
            assert np.linalg.matrix_rank(first) == 4
            for factor in begin:
                assert factor.dtype == np.float64
                assert np.isfinite(factor).all()
            _, _, history = _least_squares(cube, begin, 1e-9, 100, None)
            assert history[-1].objective < history[0].objective
    assert found > 10


values = st.floats(-2, 2).map(lambda x: round(x, 3))


@given(arrays(np.float64, (4, 3), elements=values), arrays(np.float64, 4, elements=values))
def test_the_best_mixture(parts, whole):
    x = _mixture(parts, whole)
    laws.rows_are_distributions(x)
    # No mixture is nearer: towards no part does the distance fall.
    slope = parts.T @ (parts @ x - whole)
    assert slope.min() >= x @ slope - 1e-7


@given(arrays(np.float64, (5, 2), elements=values))
def test_the_nearest_distribution(columns):
    frequency = np.array([0.1, 0.2, 0.3, 0.2, 0.2])
    found = onto_simplex(columns, frequency)
    laws.rows_are_distributions(found.T)
    for column, x in zip(columns.T, found.T, strict=True):
        total = column.sum()
        if not column.any():
            np.testing.assert_allclose(x, frequency)
        elif abs(total) > 0.1 * np.abs(column).sum():  # an ordinary column
            slope = x - column / total
            assert slope.min() >= x @ slope - 1e-9

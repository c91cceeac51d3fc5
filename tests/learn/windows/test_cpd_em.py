"""Tensor decomposition by EM: against a dense step, its laws and its complaints."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, Triples, count_triples
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.pairs.pair_law import Point
from cohmm.learn.windows.cpd_em import cpd_em, evaluate
from cohmm.learn.windows.tensor import tensor
from cohmm.learn.windows.window_law import Factors, TripleLaw, implied
from tests import laws
from tests.strategies import random_model

quiet = pytest.mark.filterwarnings("ignore::cohmm.EvidenceWarning")


def exact(truth: HMM) -> Triples:
    return Triples.from_probability(truth.triple_probability())


def counted(truth: HMM, length: int, seed: int = 1) -> Triples:
    return count_triples(truth.sample(length, random_state=seed)[0], n_symbols=truth.n_symbols)


def random_factors(n: int, k: int, seed: int) -> Factors:
    rng = np.random.default_rng(seed)
    return Factors(rng.dirichlet(np.ones(k)), *(rng.dirichlet(np.ones(n), k).T for _ in range(3)))


def dense_step(cube: np.ndarray, factors: Factors) -> tuple[float, Factors]:
    """The divergence and one step of EM, every state of every triple by itself."""
    joint = np.einsum("k,ak,bk,ck->abck", *factors)
    model = joint.sum(axis=-1)
    seen = cube > 0
    divergence = float(np.sum(cube[seen] * np.log(cube[seen] / model[seen])))
    counts = cube[..., None] * joint / model[..., None]  # expected, of triple and state
    sums = [counts.sum(axis=axes) for axes in ((1, 2), (0, 2), (0, 1))]
    return divergence, Factors(counts.sum(axis=(0, 1, 2)), *(s / s.sum(axis=0) for s in sums))


@quiet
@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(1, 3), st.integers(0, 99))
def test_a_step_is_that_of_the_dense_sum(y, k, seed):
    triples = count_triples(y, n_symbols=max(y) + 1)
    law = TripleLaw.of(triples)
    cube = np.zeros((triples.n_symbols,) * 3)
    cube[tuple(triples.triples.T)] = triples.counts / triples.n_triples
    factors = random_factors(len(law.pairs.seen), k, seed)
    state = evaluate(law, factors)
    divergence, target = dense_step(cube[np.ix_(*[law.pairs.seen] * 3)], factors)
    laws.close(state.divergence, divergence)
    laws.close(law.divergence(factors), divergence)
    for found, true in zip(state.target, target, strict=True):
        laws.close(found, true)
        laws.close(found.sum(axis=0), np.ones(found.shape[1:]))
    assert evaluate(law, state.target).divergence <= divergence + 1e-12


@quiet
def test_the_truth_is_a_fixed_point_and_its_factors_are_implied():
    truth = random_hmm(12, 3, random_state=0)  # not reversible: L and R differ
    theta = truth.stationary()[:, None] * truth.transmat
    factors = implied(Point(truth.emissionprob.T, theta))
    law = TripleLaw.of(exact(truth))
    laws.close(np.einsum("k,ak,bk,ck->abc", *factors), truth.triple_probability())
    state = evaluate(law, factors)
    assert abs(state.divergence) < 1e-12
    for found, true in zip(state.target, factors, strict=True):
        laws.close(found, true)


@quiet
@pytest.mark.parametrize(("n", "k"), [(20, 5), (8, 3)])
def test_exact_triples_give_the_model_back(n, k):
    for seed in range(4):
        truth = random_hmm(n, k, random_state=seed)
        fit = cpd_em(exact(truth), k, random_state=0)
        assert max(fit.model.distance(truth)) < 1e-8
        assert fit.converged
        assert fit.divergence < 1e-10


@pytest.mark.parametrize(
    ("truth", "length", "limits"),
    [
        (separable_hmm(16, 4, random_state=0), 10**5, (0.075, 0.075)),
        (random_hmm(30, 5, stay=0.3, random_state=0), 10**5, (0.035, 0.025)),
    ],
)
def test_errors_on_real_chains(truth, length, limits):
    triples = counted(truth, length)
    fit = cpd_em(triples, truth.n_components, random_state=0)
    distance = fit.model.distance(truth)
    assert distance.emission < limits[0]
    assert distance.transition < limits[1]
    begin = tensor(triples, truth.n_components, random_state=0)
    assert distance.emission < begin.model.distance(truth).emission
    assert fit.converged


@quiet
@pytest.mark.parametrize("max_iter", [1, 2, 3, 40, 2000])
def test_the_divergence_falls_and_passes_are_counted(max_iter):
    triples = counted(random_hmm(20, 5, random_state=3), 20_000)
    seen = []
    fit = cpd_em(triples, 5, random_state=0, max_iter=max_iter, callback=seen.append)
    divergences = [step.divergence for step in fit.history]
    assert all(after <= before for before, after in pairwise(divergences))
    assert fit.n_iter <= max_iter
    assert fit.converged == (max_iter == 2000)
    assert tuple(seen) == fit.history
    assert fit.starts == (fit.objective,)
    if max_iter == 2000:  # extrapolation does something
        assert max(step.step for step in fit.history) > 2
        rough = cpd_em(triples, 5, random_state=0, max_iter=max_iter, tol=10.0)
        assert rough.n_iter < fit.n_iter


@quiet
def test_a_start_is_started_from():
    truth = random_hmm(20, 5, stay=0.5, random_state=3)
    triples = counted(truth, 50_000)
    near = cpd_em(triples, 5, start=truth, max_iter=1, smoothing=0.0)
    assert max(near.model.distance(truth)) < 0.02  # the start, with zeros filled
    other = cpd_em(triples, 5, start=random_model(5, 20, seed=9), max_iter=1)
    assert max(other.model.distance(truth)) > 0.3
    assert other.divergence > near.divergence
    # It needs no rank, and so takes data that the tensor's start does not.
    twins = HMM(truth.startprob[:3] / truth.startprob[:3].sum(), np.full((3, 3), 1 / 3), np.eye(3))
    fit = cpd_em(exact(twins), 3, start=random_model(3, 3, seed=0))
    assert fit.divergence < 1e-6
    with pytest.raises(ValueError, match="cannot be told apart"):
        cpd_em(exact(twins), 3)


@quiet
def test_labels_and_smoothing():
    truth = random_hmm(6, 2, stay=0.5, random_state=0)
    words = np.array(list("fedcba"))[truth.sample(5000, random_state=0)[0]].tolist()
    triples = count_triples(words, vocabulary=list("abcdefg"))
    model = cpd_em(triples, 2, random_state=0).model
    assert model.vocabulary == tuple("abcdefg")
    assert (model.emissionprob[:, 6] == 0).all()
    assert (model.emissionprob[:, :6] > 0).all()
    assert model.log_likelihood(words) > -np.inf
    rough = cpd_em(triples, 2, random_state=0, smoothing=300.0)
    assert rough.model.distance(model).emission > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": 4}, "n_components=4 states cannot be learned from pairs of 3 symbols"),
        ({"start": random_model(2, 4)}, r"cannot start from HMM\(2 states, 4 symbols\)"),
    ],
)
def test_wrong_arguments(options, message):
    arguments = {"n_components": 2, **options}
    with pytest.raises(ValueError, match=message):
        cpd_em(count_triples([0, 1, 2, 0, 1] * 20), **arguments)


def test_one_warning_of_symbols_never_seen():
    triples = counted(random_hmm(6, 2, stay=0.8, random_state=0), 20_000)
    more = Triples(triples.triples, triples.counts, 8)
    with pytest.warns(EvidenceWarning, match="2 of 8 symbols never occur") as caught:
        cpd_em(more, 2, random_state=0)
    assert len(caught) == 1

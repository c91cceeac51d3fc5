"""The law of windows against all paths, its derivatives against differences."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, EvidenceWarning, Triples, count_triples
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.many_states import window_law
from cohmm.learn.many_states.window_law import WindowLaw, window_probability
from cohmm.learn.many_states.window_likelihood import Likelihood, maximised
from cohmm.learn.many_states.window_tangent import Chain, Roots, Tangent
from tests import laws, oracles
from tests.learn.many_states.test_overcomplete import sparse_model
from tests.strategies import random_model


def chain_of(model: HMM) -> Chain:
    return Chain.of(model.emissionprob.T, model.transmat)


def law_of(model: HMM, tau: int) -> WindowLaw:
    return WindowLaw.of(Windows.from_probability(window_probability(model, tau)))


@pytest.mark.parametrize(("k", "n", "tau"), [(2, 3, 1), (4, 2, 2), (3, 2, 3)])
def test_the_law_is_that_of_all_paths(k, n, tau):
    model = random_model(k, n)
    settled = HMM(model.stationary(), model.transmat, model.emissionprob)
    cells = window_probability(model, tau).ravel()
    expected = [oracles.likelihood(settled, y) for y in product(range(n), repeat=2 * tau + 1)]
    np.testing.assert_allclose(cells, expected, atol=1e-14)


def test_the_law_of_tau_1_is_that_of_triples():
    model = random_model(5, 4)
    np.testing.assert_allclose(window_probability(model, 1), model.triple_probability(), atol=1e-15)
    with pytest.raises(ValueError, match="tau must be a whole number from 1, not 0"):
        window_probability(model, 0)
    with pytest.raises(ValueError, match=r"4 symbols make [\d,]+ windows of 27"):
        window_probability(model, 13)


@given(st.integers(0, 10**6), st.sampled_from([1, 2]), st.sampled_from([0.0, 0.02]))
def test_derivatives_are_differences(seed, tau, sparsity):
    rng = np.random.default_rng(seed)
    problem = Likelihood(law_of(random_model(3, 2, seed), tau), sparsity)
    point = chain_of(random_model(3, 2, seed + 1))
    roots, local = Roots(point), problem.local(point)
    step = rng.normal(size=local.gradient.shape)
    h = 1e-5
    ahead, behind = roots.moved(h * step), roots.moved(-h * step)
    slope = (problem.objective(ahead) - problem.objective(behind)) / (2 * h)
    assert local.gradient @ step == pytest.approx(slope, abs=1e-6 * (1 + abs(slope)))
    change = (problem.expected(ahead) - problem.expected(behind)) / (2 * h)
    tangent = Tangent.at(point, tau)
    along = tangent.along(*roots.along(step))
    np.testing.assert_allclose(along, change, atol=1e-6)
    # The transpose, and a curvature that is symmetric and nowhere negative.
    weights = rng.normal(size=along.shape)
    assert roots.back(*tangent.back(weights)) @ step == pytest.approx(np.vdot(weights, along))
    other = rng.normal(size=step.shape)
    assert local.curvature(step) @ other == pytest.approx(local.curvature(other) @ step)
    assert local.curvature(step) @ step > -1e-9


def test_at_the_truth_the_curvature_is_that_of_the_objective():
    model = random_model(3, 4, seed=1)
    problem, point = Likelihood(law_of(model, 1)), chain_of(model)
    local = problem.local(point)
    np.testing.assert_allclose(local.gradient, 0, atol=1e-9)
    step = np.random.default_rng(0).normal(size=local.gradient.shape)
    h = 1e-3
    values = [problem.objective(Roots(point).moved(sign * h * step)) for sign in (1, -1)]
    assert step @ local.curvature(step) == pytest.approx(sum(values) / h**2, rel=1e-3)


def test_every_chain_is_one():
    roots = Roots(chain_of(random_model(4, 3)))
    size = roots.back(*(np.zeros(x.shape) for x in roots.values)).size
    for scale in (0.1, 10.0):
        m, a, pi = roots.moved(scale * np.random.default_rng(0).normal(size=size))
        for rows in (m.T, a, pi):
            laws.rows_are_distributions(rows)
        np.testing.assert_allclose(pi @ a, pi, atol=1e-12)


OPTIONS = {"sparsity": 0.0, "max_iter": 100, "tol": 1e-3, "smoothing": 0.1, "callback": None}


def test_maximum_likelihood_beats_the_truth_and_never_gets_worse():
    truth = random_model(3, 4, seed=2)
    y, _ = truth.sample(20_000, random_state=0)
    law = WindowLaw.of(count_triples(y))
    begin = [chain_of(random_model(3, 4, seed)) for seed in (5, 6)]
    steps = []
    fit = maximised(law, begin, **OPTIONS | {"callback": steps.append})
    assert fit.converged
    assert fit.objective < Likelihood(law).objective(chain_of(truth))
    assert fit.objective == min(fit.starts)
    assert len(fit.starts) == 2
    objectives = [step.objective for step in fit.history]
    assert all(after <= before for before, after in pairwise(objectives))
    assert set(fit.history) < set(steps)  # of both starts
    np.testing.assert_allclose(fit.model.stationary(), np.sort(fit.model.stationary())[::-1])


def test_sparsity_makes_zeros():
    truth = HMM(
        [1, 0, 0],
        [[0.4, 0.6, 0], [0, 0.4, 0.6], [0.6, 0, 0.4]],
        [[0.7, 0.1, 0.1, 0.1], [0.1, 0.7, 0.1, 0.1], [0.1, 0.1, 0.4, 0.4]],
    )
    y, _ = truth.sample(5_000, random_state=1)
    law = WindowLaw.of(count_triples(y))
    options = OPTIONS | {"smoothing": 0.0}
    plain, sparse = (
        maximised(law, [chain_of(truth)], **options | {"sparsity": w}) for w in (0.0, 3.0)
    )
    zeros = truth.transmat == 0
    small = [fit.model.align_to(truth).transmat[zeros].max() for fit in (plain, sparse)]
    assert small[1] < 1e-6 < small[0]
    assert plain.divergence < sparse.divergence
    # The preference comes after plain maximum likelihood: its first step is not the first.
    assert plain.history[0].n_iter == 1 < plain.n_iter <= sparse.history[0].n_iter


def test_curvature_at_zero_saves_steps(monkeypatch):
    truth = sparse_model(4, 6, 2, seed=3)
    law = WindowLaw.of(count_windows(truth.sample(200_000, random_state=0)[0]))
    options = OPTIONS | {"sparsity": 3.0, "tol": 1e-2, "max_iter": 500}
    fast = maximised(law, [chain_of(truth)], **options)
    monkeypatch.setattr(Roots, "at_zero", lambda roots, by_m, by_a: 0.0)
    slow = maximised(law, [chain_of(truth)], **options)
    assert fast.n_iter < 0.7 * slow.n_iter
    assert fast.objective < slow.objective


def test_smoothing_leaves_nothing_seen_impossible():
    truth = HMM([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1, 0, 0], [0, 0.99, 0.01]])
    y, _ = truth.sample(2_000, random_state=0)
    law = WindowLaw.of(count_triples(y))
    hard, soft = (
        maximised(law, [chain_of(truth)], **OPTIONS | {"smoothing": s}).model for s in (0.0, 1.0)
    )
    assert soft.emissionprob.min() > 1e-5 > hard.emissionprob.min()


def test_symbols_never_seen_get_nothing():
    y = [0, 2, 2, 0, 2, 0, 0, 2] * 5
    with pytest.warns(EvidenceWarning, match=r"1 of 3 symbols never occur \(1 among them\)"):
        law = WindowLaw.of(count_triples(y))
    model = law.model(np.array([[0.5], [0.5]]), np.eye(1), 0.1)
    assert model.emissionprob[0, 1] == 0
    laws.rows_are_distributions(model.emissionprob)
    with pytest.warns(EvidenceWarning, match="'b' among them"):
        labels = WindowLaw.of(count_windows(list("acaccaca") * 3, vocabulary=["a", "b", "c"]))
    assert labels.model(np.array([[0.5], [0.5]]), np.eye(1), 0.1).vocabulary == ("a", "b", "c")


def test_what_is_too_large_or_empty(monkeypatch):
    empty = Triples(np.zeros((0, 3), np.int32), np.zeros(0, np.int64), 2)
    with pytest.raises(ValueError, match="nothing to learn from: Triples"):
        WindowLaw.of(empty)
    monkeypatch.setattr(window_law, "MOST_CELLS", 20)
    with pytest.raises(ValueError, match=r"3 symbols make 27 windows of 3, .* use a smaller tau"):
        WindowLaw.of(count_triples([0, 1, 2, 0]))

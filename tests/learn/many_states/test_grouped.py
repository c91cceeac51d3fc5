"""More states than symbols, from windows."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.many_states.grouped import grouped
from cohmm.learn.many_states.window_law import window_probability
from cohmm.model.stationary import stationary_distribution
from tests import laws
from tests.learn.many_states.test_overcomplete import sparse_model
from tests.strategies import random_model


def exact(model: HMM, tau: int = 2) -> Windows:
    return Windows.from_probability(window_probability(model, tau))


@pytest.mark.parametrize(
    ("n", "k", "nonzeros", "tau"),
    [(6, 10, 3, 2), (6, 10, 10, 2), (6, 20, 3, 2), (3, 9, 9, 2), (2, 4, 4, 2), (2, 7, 4, 3)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_more_states_than_symbols(n, k, nonzeros, tau, seed):
    truth = sparse_model(n, k, nonzeros, seed)
    fit = grouped(exact(truth, tau), k, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-6
    assert fit.converged
    assert fit.divergence < 1e-10
    laws.rows_are_distributions(fit.model.transmat)
    laws.rows_are_distributions(fit.model.emissionprob)


def test_windows_of_tau_1_are_enough_for_as_many_states_as_symbols():
    truth = random_model(4, 5, seed=3)
    assert max(grouped(exact(truth, 1), 4, random_state=0).model.distance(truth)) < 1e-8


def test_counted_windows():
    truth = HMM(
        [0.25] * 4,
        [[0.1, 0.9, 0, 0], [0, 0.1, 0.9, 0], [0, 0, 0.1, 0.9], [0.9, 0, 0, 0.1]],
        [[0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.05, 0.95]],
    )
    y, _ = truth.sample(200_000, random_state=0)
    counts = count_windows(y)
    fit = grouped(counts, 4, random_state=0)
    sparse = grouped(counts, 4, sparsity=3.0, random_state=0)
    assert max(fit.model.distance(truth)) < 0.05
    assert sparse.model.distance(truth).transition < fit.model.distance(truth).transition
    assert len(fit.starts) == 3
    assert fit.objective == min(fit.starts)
    assert fit.divergence <= sparse.divergence


def test_parts_of_the_data_are_as_good_as_the_whole():
    y, _ = random_model(3, 3).sample(3_000, random_state=0)
    parts = [y[:1000], y[1000:]]
    added = sum(count_windows(part, n_symbols=3) for part in parts)
    whole = count_windows(parts, n_symbols=3)
    options = {"n_init": 1, "max_iter": 3, "random_state": 0}
    assert grouped(added, 3, **options).model == grouped(whole, 3, **options).model


def test_labels_and_one_state():
    labels = count_windows(list("abbabaabbbabab"))
    model = grouped(labels, 1).model
    assert model.vocabulary == ("a", "b")
    np.testing.assert_allclose(model.transmat, 1)
    constant = grouped(count_windows([0] * 9), 1).model
    assert constant.emissionprob.tolist() == [[1.0]]


def test_states_that_no_window_tells_apart():
    a = np.array([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.6, 0.4, 0]])
    truth = HMM(stationary_distribution(a), a, np.random.default_rng(0).dirichlet(np.ones(4), 3))
    with pytest.raises(ValueError, match=r"n_components=3 .* tau=2, has the rank 2; .* tau=3"):
        grouped(exact(truth), 3)


@pytest.mark.parametrize(
    ("evidence", "options", "message"),
    [
        (None, {"n_components": 5}, r"5 states .* 2 symbols with tau=2, but 4 .* tau=3\)"),
        (None, {"n_components": 9}, r"tau=4\)"),
        (count_windows([0] * 9), {"n_components": 2}, "1 symbols .* more than one symbol"),
    ],
)
def test_wrong_input(evidence, options, message):
    if evidence is None:
        evidence = count_windows([0, 1, 1, 0, 1, 0, 0])
    with pytest.raises(ValueError, match=message):
        grouped(evidence, **{"n_components": 2} | options)

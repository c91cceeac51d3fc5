"""More states than symbols, from triples: the paper's last theorem."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from cohmm import HMM, EvidenceWarning, Triples, count_triples
from cohmm.evidence.windows import Windows, count_windows
from cohmm.learn.windows.overcomplete import grouped, overcomplete
from cohmm.learn.windows.window_law import window_probability
from cohmm.model.markov_chain import stationary_distribution
from tests import laws
from tests.strategies import random_model


def sparse_model(n: int, k: int, nonzeros: int, seed: int) -> HMM:
    """Dense random emissions, and ``nonzeros`` random transitions a state, cond(A) < 1e4."""
    rng = np.random.default_rng(seed)
    while True:
        a = np.zeros((k, k))
        for row in a:
            row[rng.choice(k, nonzeros, replace=False)] = rng.dirichlet(np.ones(nonzeros))
        try:
            pi = stationary_distribution(a)
        except ValueError:
            continue
        if pi.min() > 0 and np.linalg.cond(a) < 1e4:
            return HMM(pi, a, rng.dirichlet(np.ones(n), k))


def exact(model: HMM) -> Triples:
    return Triples.from_probability(model.triple_probability())


# -- the learner ------------------------------------------------------------------------------
@pytest.mark.parametrize(("nonzeros", "seed"), [(3, 0), (4, 1), (5, 2), (10, 3)])
def test_20_symbols_show_25_states(nonzeros, seed):
    """K = N^2 / 16, and no more than N / 2 successors."""
    truth = sparse_model(20, 25, nonzeros, seed)
    fit = overcomplete(exact(truth), 25, random_state=0)
    distance = fit.model.distance(truth)
    assert distance.emission < 1e-6
    assert distance.transition < 1e-6
    assert fit.converged
    assert fit.divergence < 1e-10
    laws.rows_are_distributions(fit.model.transmat)
    laws.rows_are_distributions(fit.model.emissionprob)


def test_rare_states_are_found_by_drawing_some_terms_again():
    """A state of probability 4e-5, which a random start misses."""
    rng = np.random.default_rng(3)  # as first met: no care for conditioning
    while True:
        a = np.zeros((25, 25))
        for k in range(25):
            chosen = rng.choice(25, 3, replace=False)
            a[k, chosen] = rng.dirichlet(np.ones(3))
        try:
            pi = stationary_distribution(a)
        except ValueError:
            continue
        if pi.min() > 0:
            break
    truth = HMM(pi, a, rng.dirichlet(np.ones(20), 25))
    assert pi.min() < 1e-4
    fit = overcomplete(exact(truth), 25, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-6
    assert fit.starts[0] > 1e-12 > min(fit.starts) == fit.starts[-1]
    with pytest.warns(EvidenceWarning, match="not unique, .* or was missed"):
        once = overcomplete(exact(truth), 25, n_init=1, max_iter=1, random_state=0)
    assert len(once.starts) == 1
    assert not once.converged


def test_as_many_states_as_symbols_or_fewer():
    truth = sparse_model(6, 6, 4, 0)
    fit = overcomplete(exact(truth), 6, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-7
    with pytest.warns(EvidenceWarning, match="gives a model of 1 states: .* nats per triple"):
        one = overcomplete(exact(truth), 1, random_state=0)
    np.testing.assert_allclose(
        one.model.emissionprob[0], truth.stationary() @ truth.emissionprob, atol=1e-6
    )


def test_counted_triples():
    truth = sparse_model(8, 6, 2, 4)
    y, _ = truth.sample(300_000, random_state=0)
    fit = overcomplete(count_triples(y), 6, random_state=0)
    plain = overcomplete(count_triples(y), 6, sparsity=0, random_state=0)
    assert max(fit.model.distance(truth)) < 0.05
    assert fit.model.distance(truth).transition < plain.model.distance(truth).transition
    assert plain.divergence < fit.divergence


@pytest.mark.parametrize(
    "y", [[0] * 9, [0, 1] * 9, [0, 1, 2], [2, 0, 1, 1, 0, 2, 2], list(range(5)) * 4]
)
def test_little_data_gives_a_model_all_the_same(y):
    for k in range(1, len(set(y)) + 1):
        fit = overcomplete(count_triples(y), k, max_iter=20, random_state=0)
        laws.rows_are_distributions(fit.model.transmat)
        laws.rows_are_distributions(fit.model.emissionprob)
        assert np.isfinite(fit.objective)


def test_labels_and_the_order_of_states():
    truth = sparse_model(5, 4, 3, 0)
    labelled = Triples.from_probability(truth.triple_probability(), vocabulary=list("vwxyz"))
    model = overcomplete(labelled, 4, random_state=0).model
    assert model.vocabulary == tuple("vwxyz")
    assert (np.diff(model.stationary()) <= 1e-12).all()


def test_it_says_where_the_transitions_are_not_determined():
    rng = np.random.default_rng(0)
    a = rng.dirichlet(np.ones(20), 20)
    truth = HMM(stationary_distribution(a), a, rng.dirichlet(np.ones(18), 20))
    with pytest.warns(EvidenceWarning, match="do not determine the transitions, only the emiss"):
        fit = overcomplete(exact(truth), 20, random_state=0)
    assert fit.model.distance(truth).emission < 1e-6
    assert fit.model.distance(truth).transition > 1e-3
    assert fit.divergence < 1e-10


def test_it_says_where_transitions_are_dependent():
    a = np.array([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5], [0.6, 0.4, 0]])
    truth = HMM(stationary_distribution(a), a, np.random.default_rng(0).dirichlet(np.ones(4), 3))
    with pytest.warns(EvidenceWarning, match="linearly dependent"):
        fit = overcomplete(exact(truth), 3, random_state=0)
    assert fit.divergence < 1e-9


@pytest.mark.parametrize(
    ("evidence", "options", "message"),
    [
        ("triples", {}, "not a str"),
        (None, {"n_components": 5}, r"5 states .* 4 symbols, but 4 at .* tau=2\).*learn.grouped"),
        (None, {"n_components": 17}, r"tau=3\)"),
    ],
)
def test_wrong_input(evidence, options, message):
    if evidence is None:
        evidence = count_triples([0, 1, 2, 3, 0, 2, 1, 3])
    with pytest.raises(ValueError, match=message):
        overcomplete(evidence, **{"n_components": 2} | options)


def test_the_bound_is_that_of_the_theorem():
    counts = count_triples(np.arange(20).repeat(3))
    with pytest.raises(ValueError, match=r"26 states .* 20 symbols, but 25 at most"):
        overcomplete(counts, 26)


@pytest.fixture(autouse=True)
def _no_warning_goes_unseen():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def exact_grouped(model: HMM, tau: int = 2) -> Windows:
    return Windows.from_probability(window_probability(model, tau))


@pytest.mark.parametrize(
    ("n", "k", "nonzeros", "tau"),
    [(6, 10, 3, 2), (6, 10, 10, 2), (6, 20, 3, 2), (3, 9, 9, 2), (2, 4, 4, 2), (2, 7, 4, 3)],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_more_states_than_symbols(n, k, nonzeros, tau, seed):
    truth = sparse_model(n, k, nonzeros, seed)
    fit = grouped(exact_grouped(truth, tau), k, random_state=0)
    assert max(fit.model.distance(truth)) < 1e-6
    assert fit.converged
    assert fit.divergence < 1e-10
    laws.rows_are_distributions(fit.model.transmat)
    laws.rows_are_distributions(fit.model.emissionprob)


def test_windows_of_tau_1_are_enough_for_as_many_states_as_symbols():
    truth = random_model(4, 5, seed=3)
    assert max(grouped(exact_grouped(truth, 1), 4, random_state=0).model.distance(truth)) < 1e-8


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
        grouped(exact_grouped(truth), 3)


@pytest.mark.parametrize(
    ("evidence", "options", "message"),
    [
        (None, {"n_components": 5}, r"5 states .* 2 symbols with tau=2, but 4 .* tau=3\)"),
        (None, {"n_components": 9}, r"tau=4\)"),
        (count_windows([0] * 9), {"n_components": 2}, "1 symbols .* more than one symbol"),
    ],
)
def test_wrong_input_grouped(evidence, options, message):
    if evidence is None:
        evidence = count_windows([0, 1, 1, 0, 1, 0, 0])
    with pytest.raises(ValueError, match=message):
        grouped(evidence, **{"n_components": 2} | options)

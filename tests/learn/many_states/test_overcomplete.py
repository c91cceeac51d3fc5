"""More states than symbols, from triples: the paper's last theorem."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.linalg import khatri_rao
from scipy.optimize import nnls

from cohmm import HMM, EvidenceWarning, Triples, count_pairs, count_triples, threads
from cohmm.evidence.windows import count_windows
from cohmm.learn.many_states import polyadic
from cohmm.learn.many_states.joint_transitions import joint_transitions, undetermined
from cohmm.learn.many_states.overcomplete import overcomplete
from cohmm.model.stationary import stationary_distribution
from tests import laws


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


def test_symbols_may_be_relabelled():
    truth = sparse_model(5, 5, 3, 1)
    order = np.array([3, 1, 4, 0, 2])
    other = HMM(truth.startprob, truth.transmat, truth.emissionprob[:, order])
    fit = overcomplete(exact(other), 5, random_state=0)
    assert max(fit.model.distance(other)) < 1e-7


def test_the_same_seed_is_the_same_model_on_any_number_of_threads():
    counts = count_triples(sparse_model(5, 4, 3, 0).sample(5_000, random_state=0)[0])
    models = []
    for n in (1, 2):
        with threads(n):
            models.append(overcomplete(counts, 4, max_iter=5, random_state=7).model)
    assert models[0] == models[1]
    assert models[0] != overcomplete(counts, 4, max_iter=5, random_state=8).model


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
        (
            count_pairs([0, 1, 0]),
            {},
            r"learns from counts of triples.*count_triples\(X\), not a Coo",
        ),
        (count_windows([0, 1, 0, 1, 0]), {}, "not a Windows"),
        ("triples", {}, "not a str"),
        (None, {"n_components": 5}, r"5 states .* 4 symbols, but 4 at .* tau=2\).*learn.grouped"),
        (None, {"n_components": 17}, r"tau=3\)"),
        (None, {"n_components": 0}, "n_components must be a whole number from 1, not 0"),
        (None, {"n_components": 2.0}, "not 2.0"),
        (None, {"n_components": True}, "not True"),
        (None, {"sparsity": -1.0}, "finite and at least 0, not -1.0"),
        (None, {"n_init": 0}, "n_init must be a whole number from 1, not 0"),
        (None, {"max_iter": 0}, "max_iter must be a whole number from 1"),
        (None, {"tol": -1}, "tol must be finite"),
        (None, {"smoothing": -1}, "smoothing must be finite"),
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


# -- the decomposition ------------------------------------------------------------------------


def random_cube(shape: tuple[int, int, int], k: int, seed: int):
    rng = np.random.default_rng(seed)
    factors = tuple(rng.exponential(size=(n, k)) for n in shape)
    return np.einsum("ik,jk,lk->ijl", *factors), factors


def test_terms_are_found_though_no_factor_has_full_rank():
    cube, (u, v, w) = random_cube((6, 7, 8), 10, 0)
    found = polyadic.decompose(cube, 10, np.random.default_rng(0), 20)
    assert found.misfit < polyadic.EXACT
    np.testing.assert_allclose(np.einsum("ik,jk,lk->ijl", *found.factors), cube, atol=1e-9)
    true = khatri_rao(khatri_rao(u, v), w)
    mine = khatri_rao(khatri_rao(*found.factors[:2]), found.factors[2])
    order = [int(np.abs(mine - column[:, None]).sum(axis=0).argmin()) for column in true.T]
    assert sorted(order) == list(range(10))
    np.testing.assert_allclose(mine[:, order], true, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("squares", [True, False])
def test_derivatives_of_the_misfit_are_differences(squares):
    cube, _ = random_cube((3, 4, 2), 3, 0)
    _, point = random_cube((3, 4, 2), 3, 1)
    point = polyadic.balanced(point)
    problem = polyadic.Misfit(cube, squares)
    local = problem.local(point)
    rng = np.random.default_rng(0)
    step, other = rng.normal(size=(2, local.gradient.size))
    h = 1e-6
    values = [problem.objective(problem.moved(point, sign * h * step)) for sign in (1, -1)]
    assert local.gradient @ step == pytest.approx((values[0] - values[1]) / (2 * h), rel=1e-6)
    assert local.curvature(step) @ other == pytest.approx(local.curvature(other) @ step)
    # J'J, with J from differences of the model itself.
    nothing = polyadic.Misfit(np.zeros_like(cube), squares)

    def model(x):
        return np.einsum("ik,jk,lk->ijl", *nothing.moved(point, x))

    along = (model(h * step) - model(-h * step)) / (2 * h)
    assert step @ local.curvature(step) == pytest.approx(np.vdot(along, along), rel=1e-6)
    assert other @ local.preconditioner(0.1)(other) > 0


def test_refined_terms_fit_better():
    cube, factors = random_cube((4, 3, 4), 4, 0)
    near = tuple(u + 0.05 for u in factors)
    found = polyadic.refined(cube, near)
    np.testing.assert_allclose(np.einsum("ik,jk,lk->ijl", *found), cube, atol=1e-9)


# -- transitions ------------------------------------------------------------------------------


def sides(model: HMM):
    m, pi = model.emissionprob.T, model.stationary()
    theta = pi[:, None] * model.transmat
    return m, m @ theta, m @ theta.T, theta


def test_non_negative_least_squares_are_scipys():
    rng = np.random.default_rng(0)
    m, before, after = rng.random((3, 4, 6))
    found = joint_transitions(m, before, after)
    eye = np.eye(6)
    rows = np.vstack([np.kron(m, eye), np.kron(eye, m)])
    target = np.concatenate([before.ravel(), after.T.ravel()])
    _, least = nnls(rows, target)
    assert (found >= 0).all()
    assert np.linalg.norm(rows @ found.ravel() - target) == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize(("nonzeros", "determined"), [(3, True), (6, True), (10, False)])
def test_zeros_determine_the_transitions(nonzeros, determined):
    """(K - N)^2 = 9 unknowns are free, and are settled by about twice as many zeros."""
    *given, theta = sides(sparse_model(7, 10, nonzeros, 0))
    error = np.abs(joint_transitions(*given) - theta).sum() / 2
    apart = undetermined(*given, np.random.default_rng(0))
    assert (error < 1e-8) == determined
    assert (apart < 1e-4) == determined


def test_one_side_alone_would_not_do():
    """The paper's equations, row by row: all solutions have one sum, and zeros are too few."""
    m, before, after, theta = sides(sparse_model(8, 15, 6, 0))
    rows = np.array([nnls(m, column)[0] for column in after.T])
    np.testing.assert_allclose(m @ rows.T, after, atol=1e-12)
    np.testing.assert_allclose(rows.sum(axis=1), theta.sum(axis=1), atol=1e-12)
    assert np.abs(rows - theta).sum() / 2 > 0.1
    assert np.abs(joint_transitions(m, before, after) - theta).sum() / 2 < 1e-8


@pytest.fixture(autouse=True)
def _no_warning_goes_unseen():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield

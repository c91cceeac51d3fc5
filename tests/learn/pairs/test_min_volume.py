"""The pairwise learner: exact laws, noisy ones, its laws and its complaints."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse

from cohmm import HMM, Cooccurrence, count_pairs
from cohmm.datasets.synthetic import random_hmm, separable_hmm
from cohmm.evidence.cooccurrence import LARGEST_LAG
from cohmm.learn.learner import EvidenceWarning
from cohmm.learn.pairs import min_volume as module
from cohmm.learn.pairs.anchor_free import anchor_free
from cohmm.learn.pairs.min_volume import KEPT_SHARE, Jump, Problem, min_volume
from cohmm.learn.pairs.pair_evidence import PairEvidence
from cohmm.learn.pairs.pair_law import Point, pair_law
from cohmm.learn.pairs.spectrum import whitened_basis
from cohmm.learn.pairs.volume import LogDet, Terms, theta_update


def quiet(*args: object, **options: object) -> module.Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EvidenceWarning)
        return min_volume(*args, **options)  # type: ignore[arg-type]


def counts_of(truth: HMM, length: int, lags: tuple[int, ...] = (1,), seed: int = 1) -> Cooccurrence:
    y, _ = truth.sample(length, random_state=seed)
    return count_pairs(y, lags=lags, n_symbols=truth.n_symbols)


@pytest.mark.parametrize(("n", "k"), [(100, 10), (100, 20), (1000, 10), (1000, 20)])
def test_exact_pairs_give_the_model_back(n: int, k: int) -> None:
    # A model that is not sufficiently scattered is no counterexample.  AnchorFree's own answer
    # is the proof: M X >= 0 with columns X that sum to one and |det X| > 1, hence one of them
    # longer than one, outside of the cone of the definition.
    recovered, seed = 0, 0
    wanted = 20 if n == 100 else 3
    while recovered < wanted:
        truth = random_hmm(n, k, random_state=seed)
        law = truth.pair_probability()
        fit = quiet(Cooccurrence.from_probability(law), k, max_iter=1, random_state=0)
        if max(fit.model.distance(truth)) < 1e-6:
            recovered += 1
        else:
            m = truth.emissionprob.T
            pairs = pair_law(law)
            basis, _ = whitened_basis([pairs], [1.0], 1e9, k)
            x = np.linalg.pinv(m) @ anchor_free(basis, pairs.frequency)
            assert (m @ x > -1e-8).all()
            assert np.linalg.slogdet(x)[1] > 1e-6
        seed += 1
    assert seed <= 2 * wanted


def test_sparse_evidence_gives_the_model_that_dense_gives() -> None:
    truth = random_hmm(300, 5, stay=0.5, random_state=0)
    counts = counts_of(truth, 10**6)
    as_sparse = Cooccurrence(
        {1: sparse.csr_array(counts[1])}, counts.symbol_counts, counts.start_counts
    )
    dense, thin = (quiet(c, 5, random_state=0) for c in (counts, as_sparse))
    # float32 cannot see the last small gains, so that it stops a little sooner.
    assert thin.objective == pytest.approx(dense.objective, abs=5e-6)
    assert max(thin.model.distance(dense.model)) < 6e-3
    assert max(dense.model.distance(truth)) < 0.1


def test_nothing_of_size_n_by_n_is_formed_for_sparse_evidence() -> None:
    import tracemalloc

    n = 30_000  # an N x N array of doubles would be 7 GB
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.integers(0, n // 2, 150_000), rng.integers(n // 2, n, 150_000)])
    counts = count_pairs(y.astype(np.int32), n_symbols=n)
    tracemalloc.start()
    quiet(counts, 2, max_iter=10, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200e6


@pytest.mark.parametrize(
    ("truth", "length", "lags", "limits"),
    [
        (random_hmm(100, 20, random_state=0), 10**6, (1,), (0.26, 0.30)),
        (separable_hmm(16, 4, random_state=0), 10**5, (1,), (0.09, 0.09)),
        (random_hmm(100, 20, stay=0.5, random_state=1), 10**6, (1, 2, 3), (0.075, 0.09)),
        (random_hmm(100, 20, stay=0.8, random_state=2), 10**6, (1, 2, 3), (0.045, 0.05)),
    ],
)
def test_errors_on_real_chains(
    truth: HMM, length: int, lags: tuple[int, ...], limits: tuple[float, float]
) -> None:
    fit = quiet(counts_of(truth, length, lags), truth.n_components, random_state=0)
    distance = fit.model.distance(truth)
    assert distance.emission < limits[0]
    assert distance.transition < limits[1]


def test_the_penalty_helps_and_no_volume_is_an_option() -> None:
    truth = random_hmm(100, 20, random_state=3)
    counts = counts_of(truth, 10**6)
    plain = quiet(counts, 20, volume="none", random_state=0)
    default = quiet(counts, 20, random_state=0)
    assert default.penalty == pytest.approx(module.PENALTY / np.sqrt(10**6 - 1))
    assert default.model.distance(truth).transition < plain.model.distance(truth).transition


def test_the_papers_determinant_adds_nothing() -> None:
    truth = random_hmm(60, 12, random_state=0)
    counts = counts_of(truth, 10**5)
    plain = quiet(counts, 12, volume="none", max_iter=60, random_state=0)
    det = quiet(counts, 12, volume="det", penalty=1.0, max_iter=60, random_state=0)
    assert max(det.model.distance(plain.model)) < 1e-6


def test_a_large_determinant_penalty_is_searched_along_the_line() -> None:
    # With two states the determinant is felt, and its linear model is no bound.
    truth = random_hmm(20, 2, stay=0.7, random_state=1)
    counts = counts_of(truth, 10**5)
    fit = quiet(counts, 2, volume="det", penalty=5.0, random_state=0)
    plain = quiet(counts, 2, volume="none", random_state=0)
    assert fit.history[-1].volume < plain_volume(plain) * 0.9


def plain_volume(fit: module.Fit) -> float:
    joint = fit.model.stationary()[:, None] * fit.model.transmat
    return float(abs(np.linalg.det(joint)))


@pytest.mark.parametrize("lag", [1, 2, 3, 8, 13, 64])
def test_the_transitions_on_the_way_are_those_of_every_step(lag: int) -> None:
    rng = np.random.default_rng(lag)
    b, weighted = rng.dirichlet(np.ones(3), 3).T, rng.random((3, 3))
    power = np.linalg.matrix_power
    expected = sum(power(b, s) @ weighted @ power(b, lag - 1 - s) for s in range(lag))
    np.testing.assert_allclose(module._on_the_way(b, weighted, lag), expected, rtol=1e-12)


def test_the_longest_lag_takes_no_longer_than_another() -> None:
    # In as many steps as the lag has, this would not end.
    short = counts_of(random_hmm(6, 2, stay=0.5, random_state=0), 2000, lags=(1, 2))
    counts = Cooccurrence(
        {1: short[1], LARGEST_LAG: short[2]}, short.symbol_counts, short.start_counts
    )
    fit = quiet(counts, 2, max_iter=20, random_state=0)
    assert np.isfinite(fit.model.transmat).all()


def test_tied_lags_agree_with_the_chain() -> None:
    # On exact laws of three lags the truth is stationary: one map leaves it where it is.
    truth = random_hmm(40, 4, stay=0.4, random_state=0)
    counts = Cooccurrence.from_probability({lag: truth.pair_probability(lag) for lag in (1, 2, 3)})
    evidence = PairEvidence.of(counts)
    problem = Problem(evidence.laws, evidence.weights, LogDet(), 0.0)
    point = Point(truth.emissionprob.T.copy(), truth.stationary()[:, None] * truth.transmat)
    state = problem.evaluate(point)
    assert abs(state.divergence) < 1e-12
    np.testing.assert_allclose(state.target.m, point.m, atol=1e-12)
    np.testing.assert_allclose(state.target.theta, point.theta, atol=1e-10)


@pytest.mark.parametrize("lags", [(1,), (2,), (1, 3), (1, 2, 4)])
def test_the_majoriser_of_tied_lags_has_the_slope_of_the_divergence(
    lags: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Far from the truth, where a wrong pairing of the powers of A would show.
    truth = random_hmm(12, 3, stay=0.3, random_state=0)
    laws = {lag: pair_law(truth.pair_probability(lag)) for lag in lags}
    weights = {lag: (i + 1) / sum(range(1, len(lags) + 1)) for i, lag in enumerate(lags)}
    problem = Problem(laws, weights, LogDet(), 0.0)
    rng = np.random.default_rng(1)
    m = rng.dirichlet(np.ones(12), 3).T
    here, there = (
        theta_update(np.full((3, 3), 1 / 9), Terms(rng.dirichlet(np.ones(9)).reshape(3, 3)))
        for _ in range(2)
    )
    seen: list[Terms] = []

    def spy(theta: np.ndarray, terms: Terms) -> np.ndarray:
        seen.append(terms)
        return theta

    monkeypatch.setattr(module, "theta_update", spy)
    problem.evaluate(Point(m, here))
    direction = there - here  # both are feasible, and so is the way between them
    slope = float(np.sum((seen[0].linear - seen[0].log / here) * direction))
    step = 1e-5
    ahead, behind = (
        problem.evaluate(Point(m, here + sign * step * direction)).divergence for sign in (1, -1)
    )
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-5)


def test_the_papers_update_with_one_lag() -> None:
    # C = Theta * (M'~Omega M), element by element, and the closed form of M.
    truth = random_hmm(30, 3, random_state=1)
    counts = counts_of(truth, 10**4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evidence = PairEvidence.of(counts)
    omega = counts.probability()
    rng = np.random.default_rng(0)
    m = rng.dirichlet(np.ones(30), 3).T
    theta = np.full((3, 3), 1 / 9)
    state = Problem(evidence.laws, evidence.weights, LogDet(), 0.0).evaluate(Point(m, theta))
    ratio = omega / (m @ theta @ m.T)
    updated = m * (ratio @ m @ theta.T + ratio.T @ m @ theta)
    np.testing.assert_allclose(state.target.m, updated / updated.sum(axis=0), atol=1e-12)
    c = theta * (m.T @ ratio @ m)
    # At the minimum the gradient is d_0 + d_i - d_j, so that it and its transpose add to 2 d_0.
    gradient = -c / state.target.theta
    np.testing.assert_allclose(gradient + gradient.T, 2 * gradient[0, 0], atol=1e-6)


def test_summed_lags_fit_the_sum() -> None:
    truth = random_hmm(60, 4, stay=0.6, random_state=2)
    counts = counts_of(truth, 3 * 10**5, (1, 2, 3))
    fit = quiet(counts, 4, combine="summed", random_state=0)
    assert fit.lag_weights == {1: 1.0}
    assert fit.model.distance(truth).emission < 0.06


def test_restarts_are_recorded_and_the_best_is_kept() -> None:
    truth = random_hmm(60, 8, random_state=0)
    counts = counts_of(truth, 10**5)
    one = quiet(counts, 8, max_iter=100, random_state=0)
    three = quiet(counts, 8, n_init=3, max_iter=100, random_state=0)
    assert len(three.starts) == 3
    assert len(set(three.starts)) == 3
    assert three.objective == min(three.starts)
    assert three.starts[0] == one.objective


def test_symbols_never_seen_are_told_and_get_probability_zero() -> None:
    counts = count_pairs([0, 1, 0, 2, 1, 0, 2, 2, 1, 0] * 50, n_symbols=5)
    with pytest.warns(EvidenceWarning, match=r"2 of 5 symbols never occur \(3 among"):
        fit = min_volume(counts, 1, random_state=0)
    assert fit.model.emissionprob[:, 3:].sum() == 0
    labelled = count_pairs(["a", "b"] * 9, vocabulary=["a", "b", "z"])
    with pytest.warns(EvidenceWarning, match="'z' among them"):
        min_volume(labelled, 1, random_state=0)


def test_more_states_than_the_data_can_show() -> None:
    rng = np.random.default_rng(0)
    counts = count_pairs(rng.integers(0, 30, 20_000))
    with pytest.warns(EvidenceWarning, match="can show 1 state; n_components=4 asks for more"):
        fit = min_volume(counts, 4, max_iter=200, random_state=0)
    assert np.isfinite(fit.model.emissionprob).all()


def test_more_states_than_symbols() -> None:
    counts = count_pairs([0, 1, 2, 1, 0])
    with pytest.raises(
        ValueError, match=r"n_components=4 states cannot be learned .* of 3 symbols"
    ):
        min_volume(counts, 4)


def test_no_pairs() -> None:
    empty = Cooccurrence({1: np.zeros((3, 3), int)}, np.zeros(3, int), np.zeros(3, int))
    with pytest.raises(ValueError, match="no pair was counted at lag 1"):
        min_volume(empty, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": -1.0}, "at least 0, not -1.0"),
        ({"penalty": np.nan}, "finite and at least 0"),
        ({"penalty": "much"}, "penalty must be a number, 'auto' or None, not 'much'"),
        ({"combine": "both"}, "combine must be one of 'tied', 'summed', not 'both'"),
        ({"lags": ()}, "lags is empty"),
        ({"lags": (2,)}, "lag 2 was not counted"),
    ],
)
def test_bad_arguments(options: dict[str, object], message: str) -> None:
    counts = count_pairs([0, 1, 0, 0, 1, 1, 0] * 30)
    with pytest.raises(ValueError, match=message):
        quiet(counts, 1, **options)


def test_a_chain_in_two_parts() -> None:
    # Two components that never meet: no NaN, and each state lives in one of them.
    y = np.random.default_rng(0).integers(0, 3, 4000)
    counts = count_pairs([y.tolist(), (y + 3).tolist()])
    fit = quiet(counts, 2, random_state=0)
    assert np.isfinite(fit.model.transmat).all()
    inside = fit.model.emissionprob[:, :3].sum(axis=1)
    np.testing.assert_allclose(sorted(inside), [0, 1], atol=1e-3)


def test_one_state_is_the_frequencies() -> None:
    counts = count_pairs(np.random.default_rng(1).integers(0, 4, 10_000))
    fit = min_volume(counts, 1, random_state=0)
    law = counts.probability()
    np.testing.assert_allclose(
        fit.model.emissionprob[0], (law.sum(axis=0) + law.sum(axis=1)) / 2, atol=1e-6
    )
    assert fit.converged


def test_a_periodic_chain() -> None:
    # a b a b ...: two singular values of one, of which only one is that of the frequencies.
    counts = count_pairs(["a", "b", "a"]) + count_pairs(["b", "c", "b"])
    assert min_volume(counts, 1, random_state=0).converged
    two = quiet(count_pairs([0, 1] * 500), 2, smoothing=0.0, random_state=0)
    np.testing.assert_allclose(np.sort(two.model.emissionprob, axis=0), [[0, 0], [1, 1]], atol=1e-6)
    np.testing.assert_allclose(two.model.transmat, [[0, 1], [1, 0]], atol=1e-6)


def test_converged_only_when_it_did() -> None:
    truth = random_hmm(100, 20, random_state=8)
    counts = counts_of(truth, 10**5)
    short = quiet(counts, 20, max_iter=10, random_state=0)
    assert not short.converged
    assert short.n_iter <= 12
    assert quiet(counts, 20, tol=1e4, random_state=0).converged


def test_smoothing_leaves_nothing_impossible() -> None:
    # States that never share a symbol, of a chain that never turns back.
    counts = count_pairs([0, 1, 2] * 300)
    hard, soft = (quiet(counts, 3, smoothing=s, random_state=0).model for s in (0.0, 0.1))
    assert hard.emissionprob.min() < 1e-6
    assert hard.transmat.min() < 1e-6
    assert soft.emissionprob.min() > 1e-5
    assert soft.transmat.min() > 1e-5
    assert max(soft.distance(hard)) < 1e-2
    assert np.isfinite(soft.log_likelihood([2, 1, 0]))
    assert soft.log_likelihood([2, 1, 0]) > hard.log_likelihood([2, 1, 0])


def test_a_linear_map_of_one_pace_is_jumped_to_its_end() -> None:
    end = (np.array([0.5, 0.3, 0.2]), np.array([[1.0, 2.0]]))
    x = (np.array([0.2, 0.2, 0.6]), np.array([[3.0, 1.0]]))

    def step(point: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        return tuple(a + 0.1 * (b - a) for a, b in zip(point, end, strict=True))

    x1 = step(x)
    jump = Jump.through(x, x1, step(x1), [1 / a for a in x])
    assert jump.length == pytest.approx(10)
    for found, true in zip(jump.at(jump.length), end, strict=True):
        np.testing.assert_allclose(found, true)
    for found, true in zip(jump.at(1.0), step(x1), strict=True):  # the map's own second step
        np.testing.assert_allclose(found, true)


def test_what_does_not_bend_has_no_end() -> None:
    x = (np.array([1.0, 2.0]),)
    line = [(x[0] + n,) for n in range(3)]
    assert Jump.through(*line, [np.ones(2)]).length == np.inf


def test_nothing_becomes_negative() -> None:
    jump = Jump.through((np.array([1.0, 4.0]),), (np.array([0.5, 3.0]),), (np.array([0.2, 2.5]),),
                        [np.ones(2)])  # fmt: skip
    kept = jump.kept_positive(np.array([-3.0, 2.0]), 0)
    np.testing.assert_allclose(kept, [KEPT_SHARE * 0.2, 2.0])

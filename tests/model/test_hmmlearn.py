"""Side by side with hmmlearn: random models at length, and the examples of its documentation.

The examples are the weather of Wikipedia's articles on hidden Markov models and on Viterbi's
algorithm, which hmmlearn's own tests use, and the dishonest casino of its gallery.
"""

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM

from cohmm import HMM, Sequences
from tests import laws, oracles
from tests.laws import close
from tests.strategies import random_model

T = 100_000


# -- random models --------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(3, 10), (9, 30), (20, 100), (70, 100)])
def test_random_models_at_length(k, n):
    model = random_model(k, n, seed=k)
    theirs = model.to_hmmlearn()
    y, _ = model.sample(T, random_state=k)
    X = y[:, None]

    log_prob, posterior = theirs.score_samples(X)
    close(model.log_likelihood(y), log_prob, 1e-9)
    close(model.expected_counts(y)[0], log_prob, 1e-9)
    found = model.posterior(y)
    laws.rows_are_distributions(found)
    np.testing.assert_allclose(found, posterior, rtol=0, atol=1e-9)

    best, path = model.decode(y)
    _, their_path = theirs.decode(X, algorithm="viterbi")
    close(oracles.path_log_probability(model, y, path), best, 1e-12)
    close(oracles.path_log_probability(model, y, their_path), best, 1e-9)


def test_random_models_of_several_sequences():
    model = random_model(9, 12, concentration=0.3)
    theirs = model.to_hmmlearn()
    lengths = np.random.default_rng(0).integers(1, 40, 60)
    y, _ = model.sample(lengths.sum(), random_state=0)
    # A sample is one sequence; cut into pieces, some may start where the model cannot.
    assert np.isfinite(model.log_likelihoods(y, lengths)).all()
    close(model.log_likelihood(y, lengths), theirs.score(y[:, None], lengths), 1e-9)
    np.testing.assert_allclose(
        model.posterior(y, lengths), theirs.predict_proba(y[:, None], lengths), atol=1e-9
    )
    close(model.decode(y, lengths)[0], theirs.decode(y[:, None], lengths)[0], 1e-9)


# -- documented examples --------------------------------------------------------------------


def set_up(start, trans, emission, implementation="scaling", **options) -> CategoricalHMM:
    model = CategoricalHMM(len(start), implementation=implementation, **options)
    model.startprob_, model.transmat_ = np.array(start), np.array(trans)
    model.emissionprob_ = np.array(emission)
    model.n_features = model.emissionprob_.shape[1]
    return model


def weather(implementation: str) -> CategoricalHMM:
    """Rainy or sunny; walk, shop, clean."""
    return set_up(
        [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]], implementation
    )


def casino(**options) -> CategoricalHMM:
    """A fair die, and one that shows a six half of the time."""
    return set_up(
        [1.0, 0.0], [[0.95, 0.05], [0.1, 0.9]], [[1 / 6] * 6, [1 / 10] * 5 + [1 / 2]], **options
    )


def assert_every_answer_agrees(theirs: CategoricalHMM, X: np.ndarray, lengths=None) -> HMM:
    ours = HMM.from_hmmlearn(theirs)
    log_prob, posterior = theirs.score_samples(X, lengths)
    close(ours.log_likelihood(X, lengths), log_prob, 1e-9)
    close(ours.log_likelihood(X, lengths), theirs.score(X, lengths), 1e-9)
    np.testing.assert_allclose(ours.posterior(X, lengths), posterior, atol=1e-9)
    np.testing.assert_allclose(
        ours.posterior(X, lengths), theirs.predict_proba(X, lengths), atol=1e-9
    )
    codes = np.asarray(X)[:, 0]
    cuts = np.cumsum(lengths)[:-1] if lengths is not None else []

    def log_probability(states) -> float:
        pieces = zip(np.split(codes, cuts), np.split(states, cuts), strict=True)
        return sum(oracles.path_log_probability(ours, y, path) for y, path in pieces)

    # Of two paths that are as good as each other either may be found.
    best, states = ours.decode(X, lengths)
    their_best, their_states = theirs.decode(X, lengths)
    close(best, their_best, 1e-9)
    close(best, log_probability(states), 1e-12)
    close(best, log_probability(their_states), 1e-9)
    close(best, log_probability(theirs.predict(X, lengths)), 1e-9)
    # Posterior decoding: the same states; hmmlearn's log_prob is a sum of probabilities.
    by_map, states = ours.decode(X, lengths, algorithm="map")
    their_states = theirs.decode(X, lengths, algorithm="map")[1]
    places = np.arange(len(codes))
    close(posterior[places, states], posterior[places, their_states], 1e-9)
    np.testing.assert_allclose(by_map, log_probability(states), rtol=1e-12)
    laws.viterbi_is_at_least(ours, Sequences.of(codes, lengths, n_symbols=ours.n_symbols), by_map)
    return ours


@pytest.mark.parametrize("implementation", ["log", "scaling"])
def test_walk_shop_clean(implementation):
    X = np.array([[0], [1], [2]])
    ours = assert_every_answer_agrees(weather(implementation), X)
    log_prob, states = ours.decode(X)
    assert round(np.exp(log_prob), 5) == 0.01344
    assert states.tolist() == [1, 0, 0]
    assert ours.decode(X, algorithm="map")[1].tolist() == [1, 0, 0]
    expected = [[0.23170303, 0.76829697], [0.62406281, 0.37593719], [0.86397706, 0.13602294]]
    np.testing.assert_allclose(ours.posterior(X), expected, atol=1e-6)
    named = HMM.from_hmmlearn(weather(implementation), vocabulary=["walk", "shop", "clean"])
    assert named.decode(["walk", "shop", "clean"])[1].tolist() == [1, 0, 0]


@pytest.mark.parametrize("implementation", ["log", "scaling"])
def test_what_bob_says(implementation):
    bob_says = np.array([[0, 2, 1, 1, 2, 0]]).T
    assert_every_answer_agrees(weather(implementation), bob_says)
    assert_every_answer_agrees(weather(implementation), bob_says, [1, 3, 2])


def test_the_dishonest_casino():
    theirs = casino(random_state=99)
    rolls, states = theirs.sample(30_000)
    ours = assert_every_answer_agrees(theirs, rolls)
    half = len(rolls) // 2
    for part in (rolls[:half], rolls[half:]):
        close(ours.log_likelihood(part), theirs.score(part), 1e-9)
    assert_every_answer_agrees(theirs, rolls, [10_000, 1, 19_999])
    assert (ours.decode(rolls)[1] == states).mean() > 0.7


def test_the_casinos_law_by_either_sampler():
    theirs = casino(random_state=3)
    n = 60_000
    mine, _ = HMM.from_hmmlearn(theirs).sample(n, random_state=3)
    rolls, _ = theirs.sample(n)
    frequency = [np.bincount(y.ravel(), minlength=6) / n for y in (mine, rolls)]
    np.testing.assert_allclose(frequency[0], frequency[1], atol=0.02)
    assert frequency[0][5] > 0.25


def test_a_model_that_hmmlearn_has_fitted():
    rolls, _ = casino(random_state=1).sample(2000)
    fitted = CategoricalHMM(2, n_iter=5, tol=0, random_state=0, implementation="scaling")
    assert_every_answer_agrees(fitted.fit(rolls, [1000, 1000]), rolls, [1000, 1000])


# -- its defects, which we do not share -----------------------------------------------------


def test_a_negative_symbol_does_not_wrap_round():
    ours = HMM.from_hmmlearn(weather("scaling"))
    X = np.array([[0], [-1]])
    for ask in (ours.log_likelihood, ours.posterior, ours.decode):
        with pytest.raises(ValueError, match="symbol -1 at position 1 is negative"):
            ask(X)


def test_an_unseen_symbol_is_named():
    ours = HMM.from_hmmlearn(weather("scaling"))
    for ask in (ours.log_likelihood, ours.posterior, ours.decode):
        with pytest.raises(ValueError, match=r"unseen symbol 3 .sequence 0, position 1"):
            ask(np.array([[0], [3]]))
        with pytest.raises(ValueError, match=r"unseen symbol 3 .sequence 1, position 0"):
            ask(np.array([[0], [3]]), [1, 1])


def test_map_returns_a_log_probability():
    theirs, X = weather("scaling"), np.array([[0], [1], [2]])
    ours = HMM.from_hmmlearn(theirs)
    log_prob, states = ours.decode(X, algorithm="map")
    assert log_prob < 0
    close(np.exp(log_prob), oracles.path_probability(ours, [0, 1, 2], states.tolist()))

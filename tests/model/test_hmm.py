"""The model as a value: validated once, frozen, compared, matched, kept in files."""

import copy
import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, Cooccurrence, Sequences, StorageError, count_pairs
from tests import laws, oracles
from tests.laws import close
from tests.strategies import models, random_model

START, TRANS, EMISSION = [0.6, 0.4], [[0.7, 0.3], [0.4, 0.6]], [[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
WORDS = ["walk", "shop", "clean"]


@pytest.fixture
def weather() -> HMM:
    return HMM(START, TRANS, EMISSION)


# -- a value that cannot be wrong -----------------------------------------------------------


def test_what_it_holds(weather):
    assert weather.n_components == 2
    assert weather.n_symbols == 3
    assert weather.vocabulary is None
    assert repr(weather) == "HMM(2 states, 3 symbols)"
    for array, given_ in (
        (weather.startprob, START),
        (weather.transmat, TRANS),
        (weather.emissionprob, EMISSION),
    ):
        assert array.dtype == np.float64
        assert array.flags.c_contiguous
        np.testing.assert_array_equal(array, given_)


def test_it_is_frozen_and_shares_nothing():
    start, trans, emission = np.array(START), np.array(TRANS), np.asfortranarray(EMISSION)
    model = HMM(start, trans, emission)
    for mine in (start, trans, emission):
        mine[:] = 7
    np.testing.assert_array_equal(model.transmat, TRANS)
    for array in (model.startprob, model.transmat, model.emissionprob):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    for name in ("startprob", "transmat", "emissionprob", "vocabulary", "anything"):
        with pytest.raises(AttributeError):
            setattr(model, name, None)
    with pytest.raises(AttributeError):
        del model.startprob


@pytest.mark.parametrize(
    ("position", "wrong", "message"),
    [
        (0, [0.5, 0.6], "startprob sums to 1.1, not to 1"),
        (0, [1.5, -0.5], r"startprob\[1\] is -0.5: not a probability"),
        (0, [np.nan, 1], r"startprob\[0\] is nan: not a probability"),
        (0, [np.inf, 0], r"startprob\[0\] is inf: not a probability"),
        (0, [[0.5, 0.5]], r"startprob must have 1 dimension.*\(1, 2\)"),
        (0, [], r"startprob must have 1 dimension.*\(0,\)"),
        (0, "half", "startprob must be an array of numbers, not 'half'"),
        (0, [0.2, 0.3, 0.5], r"transmat must be \(3, 3\), as startprob has 3, not \(2, 2\)"),
        (1, [[0.7, 0.3], [0.4, 0.5]], "row 1 of transmat sums to 0.9, not to 1"),
        (1, [[0.7, 0.3], [0.4, 0.6001]], "row 1 of transmat sums to 1.0001, not to 1"),
        (1, [[1.1, -0.1], [0.4, 0.6]], r"transmat\[0, 1\] is -0.1"),
        (1, [[0.7, 0.3], [np.nan, 0.6]], r"transmat\[1, 0\] is nan"),
        (1, [0.7, 0.3], r"transmat must have 2 dimension"),
        (1, [[0.7, 0.3], [1.0]], "transmat must be an array of numbers"),
        (1, [[1.0, 0, 0]] * 2, r"transmat must be \(2, 2\), as startprob has 2, not \(2, 3\)"),
        (1, [[0.0, 0.0], [0.4, 0.6]], "row 0 of transmat sums to 0, not to 1"),
        (2, [[0.1, 0.4, 0.5], [0.6, 0.3, 0.2]], "row 1 of emissionprob sums to 1.1"),
        (2, [[0.1, 0.4, 0.5], [0.6, None, 0.4]], r"emissionprob\[1, 1\] is nan"),
        (2, [[1.0]], "emissionprob must have 2 rows, as startprob, not 1"),
        (2, [[], []], "emissionprob must have 2 dimension"),
    ],
)
def test_wrong_parameters_are_named_with_their_place(position, wrong, message):
    parameters = [START, TRANS, EMISSION]
    parameters[position] = wrong
    with pytest.raises(ValueError, match=message):
        HMM(*parameters)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["walk", "shop"], "2 labels for 3 columns"),
        (["walk", "shop", "walk"], "label 'walk' twice"),
        ("abc", "not the string 'abc'"),
        (["walk", "shop", None], "at 2 is None"),
    ],
)
def test_wrong_vocabularies(labels, message):
    with pytest.raises(ValueError, match=message):
        HMM(START, TRANS, EMISSION, vocabulary=labels)


def test_rows_that_nearly_sum_to_one_are_made_to():
    thirds = [0.3333333, 0.3333333, 0.3333333]
    model = HMM([1.0], [[1.0]], [thirds])
    laws.rows_are_distributions(model.emissionprob)
    close(model.emissionprob, [[1 / 3] * 3])
    assert HMM(model.startprob, model.transmat, model.emissionprob) == model


def test_equality_is_of_all_bits(weather):
    assert weather == HMM(START, TRANS, EMISSION)
    assert weather != HMM(START, TRANS, EMISSION, vocabulary=WORDS)
    assert weather != HMM([0.4, 0.6], TRANS, EMISSION)
    assert weather != HMM(START, np.eye(2), EMISSION)
    assert weather != HMM(START, TRANS, [[0.1, 0.4, 0.5], [0.6, 0.3 + 1e-15, 0.1]])
    assert weather != "weather"
    with pytest.raises(TypeError, match="unhashable"):
        hash(weather)


@pytest.mark.parametrize(
    "make", [copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_copies_are_frozen_too(make):
    model = random_model(3, 1000)
    size = len(pickle.dumps(model))
    model.decode([0, 1])  # makes the tables
    assert len(pickle.dumps(model)) == size
    again = make(model)
    assert again == model
    assert not again.emissionprob.flags.writeable


# -- reading data ---------------------------------------------------------------------------

ASKED = ["log_likelihoods", "log_likelihood", "filter", "posterior", "expected_counts", "decode",
         "decode_each", "forecast"]  # fmt: skip


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize(
    ("y", "lengths", "message"),
    [
        ([0, -1], None, "symbol -1 at position 1 is negative"),
        ([0, 0.5], None, r"symbol 0\.5 at position 1 is not whole"),
        ([0, 3], None, r"unseen symbol 3 .sequence 0, position 1.*from 0 to 2"),
        ([[0, 1], [2, 9]], None, r"unseen symbol 9 .sequence 1, position 1"),
        (["walk"], None, r"whole numbers from 0 to 2, not labels such as 'walk'"),
        ([0, 1, 2], [2], "lengths sum to 2, but X has 3"),
        ([0, 1, 2], [3, 0], "sequence 1 is empty"),
        ([], None, "no data"),
        ([[0], []], None, "sequence 1 is empty"),
    ],
)
def test_wrong_data(weather, asked, y, lengths, message):
    with pytest.raises(ValueError, match=message):
        getattr(weather, asked)(y, lengths)


@pytest.mark.parametrize("asked", ASKED)
def test_labels_outside_of_the_vocabulary(asked):
    model = HMM(START, TRANS, EMISSION, vocabulary=WORDS)
    ask = getattr(model, asked)
    with pytest.raises(ValueError, match=r"unseen symbol 'swim' .sequence 0, position 1.*3 labels"):
        ask(["walk", "swim"])
    with pytest.raises(ValueError, match=r"unseen symbol 0 .sequence 0, position 0"):
        ask([0, 1])
    with np.printoptions(precision=17):
        found = repr(ask(["walk", "swim", "shop"], unseen="missing"))
        assert found == repr(ask(["walk", None, "shop"]))
        assert found != repr(ask(["walk", "walk", "shop"]))


@pytest.mark.parametrize("asked", ASKED)
def test_a_sequence_of_one_symbol(weather, asked):
    getattr(weather, asked)([1])


def test_one_symbol_is_bayes_rule(weather):
    joint = weather.startprob * weather.emissionprob[:, 1]
    close(weather.log_likelihood([1]), np.log(joint.sum()))
    close(weather.posterior([1]), [joint / joint.sum()])
    close(weather.filter([None]), [weather.startprob])
    assert weather.decode([1])[1].tolist() == [0]


def test_one_value_in_many_shapes(weather):
    y, lengths = [0, 1, 2, 1, 0], [3, 2]
    expected = weather.log_likelihood(y, lengths)
    for data in (
        [y[:3], y[3:]],
        (y[:3], y[3:]),
        Sequences.of(y, lengths),
        Sequences.of(y, lengths, n_symbols=3),
    ):
        assert weather.log_likelihood(data) == expected
    assert weather.log_likelihood(np.array(y)[:, None], lengths) == expected
    named = HMM(START, TRANS, EMISSION, vocabulary=WORDS)
    assert named.log_likelihood([WORDS[code] for code in y], lengths) == expected
    numbered = HMM(START, TRANS, EMISSION, vocabulary=[10, 20, 30])
    assert numbered.log_likelihood([10, 20, 30, 20, 10], lengths) == expected


def test_shapes_of_answers(weather):
    y, lengths = [0, 1, 2, 1, 0], [3, 2]
    assert weather.log_likelihoods(y, lengths).shape == (2,)
    assert weather.filter(y, lengths).shape == weather.posterior(y, lengths).shape == (5, 2)
    log_prob, states = weather.decode(y, lengths)
    assert isinstance(log_prob, float)
    assert states.shape == (5,)
    assert weather.decode_each(y, lengths)[0].shape == (2,)
    assert weather.forecast(y).shape == (1, 3)
    assert weather.forecast(y, steps=4).shape == (4, 3)
    assert weather.forecast(y, [5], steps=4).shape == (1, 4, 3)
    assert weather.forecast(y, lengths, steps=4).shape == (2, 4, 3)
    assert weather.forecast([y[:3], y[3:]]).shape == (2, 1, 3)
    _, counts = weather.expected_counts(y, lengths)
    assert [array.shape for array in counts] == [(2,), (2, 2), (2, 3)]


@pytest.mark.parametrize("steps", [0, -1, 1.5, True, "2", None])
def test_wrong_steps(weather, steps):
    with pytest.raises(ValueError, match=f"steps must be a whole number from 1, not {steps!r}"):
        weather.forecast([0], steps=steps)


def test_wrong_algorithm(weather):
    with pytest.raises(ValueError, match="'viterbi' or 'map', not 'greedy'"):
        weather.decode([0], algorithm="greedy")


# -- matching -------------------------------------------------------------------------------


@given(models(most_states=4, most_symbols=4), st.randoms(use_true_random=False))
def test_order_of_states_can_be_undone(model, random):
    order = list(range(model.n_components))
    random.shuffle(order)
    turned = model.with_states(order)
    for i, state in enumerate(order):
        assert turned.startprob[i] == model.startprob[state]
        for j, other in enumerate(order):
            assert turned.transmat[i, j] == model.transmat[state, other]
    assert turned.with_states(np.argsort(order)) == model


@pytest.mark.parametrize("order", [[0, 0], [0], [0, 1, 2], [1, 2], [-1, 0], [0.5, 1]])
def test_wrong_orders(weather, order):
    with pytest.raises(ValueError, match="each of the 2 states once"):
        weather.with_states(order)


@pytest.mark.parametrize("seed", range(5))
def test_a_permuted_copy_is_at_no_distance(seed):
    model = random_model(6, 10, seed)
    other = model.with_states(np.random.default_rng(seed).permutation(6))
    assert other.align_to(model) == model
    assert model.distance(other) == other.distance(model) == (0.0, 0.0)


def test_distance_is_the_papers(weather):
    other = HMM([0, 1], [[0.5, 0.5], [0.2, 0.8]], [[0.6, 0.3, 0.1], [0.2, 0.4, 0.4]])
    found = weather.distance(other)
    # Its second state is our first: 0.1 of emission is elsewhere, half of it a state.
    close(found.emission, 0.05)
    close(found.transition, (abs(0.6 - 0.5) + abs(0.7 - 0.8)) / 2)
    assert found == (found.emission, found.transition)
    assert weather.align_to(other).startprob.tolist() == [0.4, 0.6]


def test_what_cannot_be_matched(weather):
    with pytest.raises(ValueError, match=r"HMM\(2 states, 3 symbols\) and HMM\(3 states, 3 symb"):
        weather.distance(random_model(3, 3))
    with pytest.raises(ValueError, match="different vocabularies"):
        weather.align_to(HMM(START, TRANS, EMISSION, vocabulary=WORDS))


# -- pairs ----------------------------------------------------------------------------------


@given(models(), st.integers(1, 3))
def test_pair_probability_is_the_sum_over_all_states(model, lag):
    try:
        stationary = model.stationary()
    except ValueError:
        return
    found = model.pair_probability(lag)
    close(found, oracles.pair_probability(model, stationary, lag))
    close(found.sum(), 1.0)
    assert Cooccurrence.from_probability(found).n_symbols == model.n_symbols


@pytest.mark.parametrize("lag", [1, 2, 5])
def test_pair_probability_is_that_of_a_long_sample(lag):
    model = random_model(3, 4, seed=2, concentration=0.5)
    n = 400_000
    y, _ = model.sample(n, random_state=0)
    found = count_pairs(y, lags=lag, n_symbols=4).probability(lag)
    np.testing.assert_allclose(found, model.pair_probability(lag), rtol=0, atol=4 / np.sqrt(n))


@pytest.mark.parametrize("leaving", [0.3, 1e-6, 1e-12])
@pytest.mark.parametrize("lag", [1, 7, 2**20 + 3, 2**40, 2**70])
def test_pair_probability_at_any_lag(lag, leaving):
    """A chain of two states has a closed form: it forgets by the factor 1 - a - b a step."""
    a, b = leaving, leaving / 3
    model = HMM([0.5, 0.5], [[1 - a, a], [b, 1 - b]], np.eye(2))
    pi = np.array([b, a]) / (a + b)
    left = np.exp(lag * np.log1p(-(a + b)))
    law = pi[:, None] * (pi + left * (np.eye(2) - pi))
    np.testing.assert_allclose(model.pair_probability(lag), law, rtol=1e-9, atol=1e-13)


def test_pair_probability_of_a_cycle_never_wears_off():
    model = HMM([1, 0, 0], np.roll(np.eye(3), 1, axis=1), np.eye(3))
    for lag in (2**40, 2**40 + 1, 3**30):
        expected = np.linalg.matrix_power(np.roll(np.eye(3), 1, axis=1), lag % 3) / 3
        np.testing.assert_allclose(model.pair_probability(lag), expected, atol=1e-15)


@pytest.mark.parametrize("lag", [0, -1, 1.0, True, None])
def test_wrong_lags(weather, lag):
    with pytest.raises(ValueError, match=f"a lag is a whole number from 1, not {lag!r}"):
        weather.pair_probability(lag)


@given(models())
def test_triple_probability_is_the_sum_over_all_paths(model):
    try:
        stationary = model.stationary()
    except ValueError:
        return
    found = model.triple_probability()
    chain = HMM(stationary, model.transmat, model.emissionprob)
    for triple in np.ndindex(found.shape):
        close(found[triple], oracles.likelihood(chain, triple))
    close(found.sum(axis=2), model.pair_probability())
    close(found.sum(axis=0), model.pair_probability())
    close(found.sum(axis=1), model.pair_probability(lag=2))


# -- files ----------------------------------------------------------------------------------


@given(models(), st.sampled_from([None, "names", "numbers"]))
def test_save_and_load_keep_every_bit(tmp_path_factory, model, labels):
    vocabulary = {
        None: None,
        "names": [f"zeichen «{n}»" for n in range(model.n_symbols)],
        "numbers": [10 - n for n in range(model.n_symbols)],
    }[labels]
    model = HMM(model.startprob, model.transmat, model.emissionprob, vocabulary)
    path = tmp_path_factory.mktemp("models") / "model.cohmm"
    model.save(path)
    again = HMM.load(str(path))
    assert again == model
    assert again.vocabulary == model.vocabulary
    assert not again.transmat.flags.writeable
    for name in ("startprob", "transmat", "emissionprob"):
        assert getattr(again, name).tobytes() == getattr(model, name).tobytes()


def test_odd_numbers_are_kept(tmp_path):
    model = HMM([1.0], [[1.0]], [[5e-324, 1e-310, 1 / 3, 2 / 3]])
    model.save(tmp_path / "model.cohmm")
    assert HMM.load(tmp_path / "model.cohmm").emissionprob.tobytes() == model.emissionprob.tobytes()


def test_a_file_of_another_kind_of_value(tmp_path, weather):
    path = tmp_path / "value.cohmm"
    count_pairs([0, 1]).save(path)
    with pytest.raises(StorageError, match=r"value\.cohmm holds a cooccurrence, not a HMM"):
        HMM.load(path)
    weather.save(path)
    with pytest.raises(StorageError, match=r"value\.cohmm holds a HMM, not a cooccurrence"):
        Cooccurrence.load(path)


def test_a_model_file_with_wrong_contents(tmp_path):
    from cohmm import storage

    path = tmp_path / "model.cohmm"
    arrays = {
        "startprob": np.array(START),
        "transmat": np.array(TRANS),
        "emissionprob": np.array(EMISSION),
    }
    for header, change, message in (
        ({"vocabulary": None}, {"startprob": np.array([0.5, 0.6])}, "damaged: startprob sums"),
        ({"vocabulary": None}, {"transmat": np.array([[np.nan, 1], [0, 1]])}, "damaged: transmat"),
        ({"vocabulary": ["a"]}, {}, "damaged: 1 labels for 3 columns"),
        ({"vocabulary": 5}, {}, "damaged"),
        ({}, {}, "damaged: 'vocabulary'"),
    ):
        storage.save(path, "HMM", header, arrays | change)
        with pytest.raises(StorageError, match=message):
            HMM.load(path)
    storage.save(path, "HMM", {"vocabulary": None}, {"startprob": np.array(START)})
    with pytest.raises(StorageError, match="damaged: 'transmat'"):
        HMM.load(path)


# -- hmmlearn -------------------------------------------------------------------------------


def test_to_hmmlearn_and_back(weather):
    other = weather.to_hmmlearn()
    assert HMM.from_hmmlearn(other) == weather
    assert HMM.from_hmmlearn(other, vocabulary=WORDS).vocabulary == tuple(WORDS)
    other.transmat_[:] = 0.5  # its own copy
    assert weather.transmat[0, 0] == 0.7


def test_what_is_no_categorical_model():
    from hmmlearn.hmm import CategoricalHMM, GaussianHMM, MultinomialHMM

    with pytest.raises(ValueError, match="CategoricalHMM has no startprob_: fit or set it"):
        HMM.from_hmmlearn(CategoricalHMM(2))
    gaussian = GaussianHMM(2)
    gaussian.startprob_, gaussian.transmat_ = np.array(START), np.array(TRANS)
    with pytest.raises(ValueError, match="GaussianHMM has no emissionprob_"):
        HMM.from_hmmlearn(gaussian)
    counts = MultinomialHMM(2, n_trials=5)
    counts.startprob_, counts.transmat_, counts.emissionprob_ = map(
        np.array, (START, TRANS, EMISSION)
    )
    with pytest.raises(ValueError, match="MultinomialHMM emits counts"):
        HMM.from_hmmlearn(counts)


def test_hmmlearn_may_be_absent(weather, monkeypatch):
    monkeypatch.setitem(sys.modules, "hmmlearn.hmm", None)
    with pytest.raises(ImportError, match=r"pip install 'cohmm\[compare\]'"):
        weather.to_hmmlearn()


def test_left_right_chains_with_tiny_probabilities_warn_of_nothing():
    emissions = np.array(
        [
            [0.79, 1e-288, 2e-4, 1e-17, 0.2],
            [1e-43, 1e-304, 4e-269, 1e-28, 1],
            [7e-20, 0.025, 0.085, 0.89, 1e-39],
            [0.32, 1e-10, 0.11, 0.1, 0.47],
        ]
    )
    emissions /= emissions.sum(axis=1, keepdims=True)
    chain = [[0.8, 0.2, 0, 0], [0, 1, 1e-33, 0], [0, 0, 0.87, 0.13], [0, 0, 0, 1]]
    laws.expected_counts_add_up(
        HMM([1, 0, 0, 0], chain, emissions), [[3, 1, 3, 3, 3, 2, 3, 3, 0, 4, 0, 0]]
    )

"""Every answer against the enumeration of all paths, and the laws of inference."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm import HMM, ImpossibleObservation, Sequences, threads
from tests import laws, oracles
from tests.laws import close
from tests.strategies import models_and_data, random_model, with_gaps

ASKED = {
    "filter": HMM.filter,
    "posterior": HMM.posterior,
    "expected_counts": HMM.expected_counts,
    "forecast": HMM.forecast,
    "decode": HMM.decode,
    "decode each": HMM.decode_each,
    "decode map": lambda model, *data: model.decode(*data, algorithm="map"),
}


@st.composite
def possible_data(draw):
    """A model with zeros and ties, and sequences that it can produce."""
    model, _ = drawn = draw(models_and_data())
    possible = [y for y in drawn[1] if oracles.likelihood(model, y) > 0]
    return model, possible or [[-1]]


# -- against all paths ----------------------------------------------------------------------


@given(models_and_data())
def test_log_likelihoods_are_those_of_all_paths(drawn):
    model, sequences = drawn
    found = model.log_likelihoods(with_gaps(sequences))
    probabilities = [oracles.likelihood(model, y) for y in sequences]
    for log_prob, probability in zip(found, probabilities, strict=True):
        if probability == 0:
            assert log_prob == -np.inf
        else:
            close(log_prob, np.log(probability))
    total = model.log_likelihood(with_gaps(sequences))
    assert isinstance(total, float)
    if 0 in probabilities:
        assert total == -np.inf
    else:
        close(total, np.log(probabilities).sum())


@given(models_and_data())
def test_impossible_data_is_refused_by_name_and_place(drawn):
    model, sequences = drawn
    for s, y in enumerate(sequences):
        for t in range(len(y)):
            if oracles.likelihood(model, y[: t + 1]) == 0:
                for ask in ASKED.values():
                    message = f"symbol {y[t]} at sequence {s}, position {t} has probability zero"
                    with pytest.raises(ImpossibleObservation, match=message):
                        ask(model, with_gaps(sequences))
                return
    for ask in ASKED.values():
        ask(model, with_gaps(sequences))


@given(possible_data())
def test_posterior_and_filter_are_those_of_all_paths(drawn):
    model, sequences = drawn
    data = with_gaps(sequences)
    posterior, filtered = model.posterior(data), model.filter(data)
    laws.rows_are_distributions(posterior)
    laws.rows_are_distributions(filtered)
    close(posterior, np.concatenate([oracles.posterior(model, y) for y in sequences]))
    close(filtered, np.concatenate([oracles.filtered(model, y) for y in sequences]))


@given(possible_data())
def test_expected_counts_are_those_of_all_paths(drawn):
    model, sequences = drawn
    log_prob, counts = model.expected_counts(with_gaps(sequences))
    close(log_prob, sum(np.log(oracles.likelihood(model, y)) for y in sequences))
    each = [oracles.expected_counts(model, y) for y in sequences]
    for found, expected in zip(counts, zip(*each, strict=True), strict=True):
        close(found, sum(expected))


@given(possible_data())
def test_the_best_path_is_the_best_of_all_paths(drawn):
    model, sequences = drawn
    data = with_gaps(sequences)
    log_probs, states = model.decode_each(data)
    log_prob, same = model.decode(data)
    assert states.dtype == np.int32
    np.testing.assert_array_equal(same, states)
    close(log_prob, log_probs.sum())
    pieces = np.split(states, np.cumsum([len(y) for y in sequences])[:-1])
    for y, path, found in zip(sequences, pieces, log_probs, strict=True):
        close(found, np.log(oracles.best_probability(model, y)))
        close(found, np.log(oracles.path_probability(model, y, path.tolist())))


@given(possible_data())
def test_map_takes_the_most_probable_state_and_a_real_log_probability(drawn):
    model, sequences = drawn
    log_probs, states = model.decode_each(with_gaps(sequences), algorithm="map")
    pieces = np.split(states, np.cumsum([len(y) for y in sequences])[:-1])
    for y, path, found in zip(sequences, pieces, log_probs, strict=True):
        posterior = oracles.posterior(model, y)
        close(posterior[np.arange(len(y)), path], posterior.max(axis=1))
        probability = oracles.path_probability(model, y, path.tolist())
        if probability == 0:
            assert found == -np.inf
        else:
            close(found, np.log(probability))


@given(possible_data(), st.integers(1, 3))
def test_forecasts_are_those_of_all_paths(drawn, steps):
    model, sequences = drawn
    expected = np.array([oracles.forecast(model, y, steps) for y in sequences])
    flat = [symbol for y in with_gaps(sequences) for symbol in y]
    lengths = [len(y) for y in sequences]
    with_lengths = model.forecast(flat, lengths, steps=steps)
    close(with_lengths, expected)
    laws.rows_are_distributions(with_lengths)
    found = model.forecast(with_gaps(sequences), steps=steps)
    close(found, expected if len(sequences) > 1 else expected[0])


# -- laws -----------------------------------------------------------------------------------


@given(possible_data())
def test_laws_of_two_passes(drawn):
    model, sequences = drawn
    data = with_gaps(sequences)
    laws.forward_is_forward_backward(model, data)
    laws.last_posterior_is_filter(model, data)
    laws.filter_is_causal(model, data)
    laws.expected_counts_add_up(model, data)
    laws.sequences_are_independent(model, data)


@given(possible_data(), st.randoms(use_true_random=False))
def test_names_of_states_and_symbols_do_not_matter(drawn, random):
    model, sequences = drawn
    states, symbols = list(range(model.n_components)), list(range(model.n_symbols))
    random.shuffle(states)
    random.shuffle(symbols)
    laws.states_may_be_permuted(model, with_gaps(sequences), states)
    laws.symbols_may_be_relabelled(model, with_gaps(sequences), symbols)


@pytest.mark.parametrize("seed", range(5))
def test_no_sampled_path_beats_viterbis(seed):
    model = random_model(4, 6, seed, concentration=0.3)
    y, states = model.sample(500, random_state=seed)
    laws.viterbi_is_at_least(model, y, oracles.path_log_probability(model, y, states))
    for algorithm in ("viterbi", "map"):
        log_prob, path = model.decode(y, algorithm=algorithm)
        close(log_prob, oracles.path_log_probability(model, y, path))
        laws.viterbi_is_at_least(model, y, log_prob)


def test_many_sequences_of_many_lengths():
    model = random_model(3, 4, concentration=0.5)
    rng = np.random.default_rng(0)
    lengths = rng.integers(1, 60, 300)
    y = np.ma.array(rng.integers(0, 4, lengths.sum()), mask=rng.random(lengths.sum()) < 0.2)
    codes = np.split(y.filled(-1), np.cumsum(lengths)[:-1])
    close(
        model.log_likelihoods(y, lengths), [oracles.log_likelihood(model, piece) for piece in codes]
    )
    close(
        model.posterior(y, lengths)[:2000],
        np.concatenate([oracles.log_posterior(model, piece) for piece in codes])[:2000],
    )
    starts, transitions, emissions = zip(
        *(oracles.log_expected_counts(model, piece) for piece in codes), strict=True
    )
    counts = model.expected_counts(y, lengths)[1]
    close(counts.starts, sum(starts))
    close(counts.transitions, sum(transitions))
    close(counts.emissions, sum(emissions))


def test_viterbi_of_sequences_of_many_lengths():
    """Blocks of a gang are of different lengths, and a gang is not always full."""
    model = random_model(3, 4)
    lengths = [1, 5, 30, 2, 2, 40, 1, 7, 1, 33, 8]
    y, _ = model.sample(sum(lengths), random_state=0)
    log_probs, states = model.decode_each(y, lengths)
    for piece, log_prob, path in zip(
        np.split(y, np.cumsum(lengths)[:-1]),
        log_probs,
        np.split(states, np.cumsum(lengths)[:-1]),
        strict=True,
    ):
        alone, same = model.decode(piece)
        assert log_prob == alone
        np.testing.assert_array_equal(path, same)
    impossible = HMM([1], [[1]], [[1, 0]])
    data = [[0] * 5, [0] * 5, [0, 1, 0], [0] * 5]
    with pytest.raises(ImpossibleObservation, match="symbol 1 at sequence 2, position 1"):
        impossible.decode(data)


# -- impossible observations ----------------------------------------------------------------


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("place", [0, 1, 700, 1999])
def test_the_impossible_symbol_is_named(asked, place):
    model = HMM(
        [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [[1, 0, 0], [0, 1, 0]], vocabulary=["x", "y", "z"]
    )
    rng = np.random.default_rng(place)
    bad = rng.choice(["x", "y"], 2000)
    bad[place] = "z"
    good = rng.choice(["x", "y"], 50)
    with pytest.raises(
        ImpossibleObservation, match=f"symbol 'z' at sequence 1, position {place} has prob"
    ):
        ASKED[asked](model, [good, bad, good])
    assert issubclass(ImpossibleObservation, ValueError)


def test_the_first_impossible_place_counts_and_others_are_not_touched():
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0], [0, 1]])  # only 0 1 0 1 ...
    good, bad, worse = [0, 1, 0], [0, 1, 1, 0, 0], [1]
    found = model.log_likelihoods([good, bad, worse, good, [0, None, None, 1]])
    assert found.tolist() == [0, -np.inf, -np.inf, 0, 0]
    assert model.log_likelihood([good, bad]) == -np.inf
    with pytest.raises(ImpossibleObservation, match="symbol 1 at sequence 1, position 2"):
        model.posterior([good, bad, worse])
    with pytest.raises(ImpossibleObservation, match="symbol 1 at sequence 0, position 0"):
        model.decode([worse, bad])


def test_a_gap_may_hide_what_would_be_impossible():
    model = HMM([1, 0], [[0, 1], [1, 0]], [[1, 0], [0, 1]])
    assert model.log_likelihood([0, None, 0]) == 0
    assert model.log_likelihood([0, None, 1]) == -np.inf
    with pytest.raises(ImpossibleObservation, match="symbol 1 at sequence 0, position 2"):
        model.filter([0, None, 1])


# -- threads and memory ---------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("kind", ["forgets", "never forgets"])
def test_any_number_of_threads_answers_the_same(n, kind):
    model = random_model(4, 6, seed=3)
    if kind == "never forgets":
        model = HMM(model.startprob, np.eye(4), model.emissionprob)
    rng = np.random.default_rng(0)
    lengths = [70_000, 1, 20, 3000, 40_000, 17_000]
    X = Sequences.of(rng.integers(0, 6, sum(lengths)), lengths)

    def answers():
        total, counts = model.expected_counts(X)
        yield from (np.array(total), *counts, *model.decode_each(X))
        yield from (model.log_likelihoods(X), model.filter(X), model.posterior(X))
        yield from (model.forecast(X, steps=2), *model.decode_each(X, algorithm="map"))

    with threads(1):
        one = list(answers())
    with threads(n):
        several = list(answers())
    for single, parallel in zip(one, several, strict=True):
        np.testing.assert_array_equal(parallel, single)


@pytest.mark.parametrize("chain", ["forgets", "left to right", "impossible at the end"])
def test_scoring_takes_no_memory_that_grows_with_the_data(chain):
    """T x K doubles would be 160 MB, or 64; scores, forecasts and counts need none of it."""
    k, length = 20 if chain == "forgets" else 8, 1_000_000
    model = random_model(k, 100)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 99, length).astype(np.int32)
    if chain == "left to right":
        trans = (np.eye(k) + np.eye(k, k=1)) / 2
        trans[-1, -1] = 1
        model = HMM(np.eye(k)[0], trans, model.emissionprob)
    if chain == "impossible at the end":
        emission = model.emissionprob.copy()
        emission[:, 98] += emission[:, 99]
        emission[:, 99] = 0
        model = HMM(model.startprob, model.transmat, emission)
        y[-1] = 99
    data = Sequences.of(y, n_symbols=100)
    asked = [model.log_likelihood]
    if chain == "forgets":
        asked += [model.expected_counts, model.forecast]
    for ask in asked:
        ask(y[:5000])  # compiled, and the tables made
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        log_prob, *_ = [ask(data) for ask in asked]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - before < 50e6
    assert (log_prob == -np.inf) == (chain == "impossible at the end")

"""Where a double underflows: the answer is that of logarithms, and never NaN."""

import numpy as np
import pytest

from cohmm import HMM
from cohmm.kernels import blocks
from cohmm.model import inference
from tests import laws, oracles
from tests.laws import close
from tests.strategies import random_model

TWO = np.kron(np.eye(2), [[0.9, 0.1], [0.2, 0.8]])  # two components that never meet
# Symbols 0 and 1 by both, much rather by the first component; symbol 2 by the second alone.
EMISSION = [[0.5, 0.5, 0], [0.6, 0.4, 0], [0.1, 0.2, 0.7], [0.2, 0.1, 0.7]]


def assert_as_logarithms(model: HMM, y: list[int], tolerance: float = laws.EXACT) -> None:
    data = [[None if code < 0 else code for code in y]]
    true = oracles.log_likelihood(model, y)
    assert np.isfinite(true)
    close(model.log_likelihood(data), true, tolerance)
    close(model.log_likelihoods([*data, [0, 0], *data])[[0, 2]], [true, true], tolerance)
    close(model.filter(data), oracles.log_filtered(model, y), tolerance)
    close(model.posterior(data), oracles.log_posterior(model, y), tolerance)
    total, counts = model.expected_counts(data)
    close(total, true, tolerance)
    for found, expected in zip(counts, oracles.log_expected_counts(model, y), strict=True):
        close(found, expected, tolerance)
    ahead = oracles.log_filtered(model, y)[-1:] @ model.transmat @ model.emissionprob
    close(model.forecast(data), ahead, tolerance)
    for algorithm in ("viterbi", "map"):
        log_prob, states = model.decode(data, algorithm=algorithm)
        path = oracles.path_log_probability(model, y, states)
        np.testing.assert_allclose(log_prob, path, rtol=tolerance)  # by map, -inf is possible
        laws.viterbi_is_at_least(model, data, log_prob)


@pytest.mark.parametrize("after", [[2], [2, 0, 1, 0], [-1, 2, -1, 0], [0, 2] * 300])
def test_a_lost_component_is_needed_in_the_end(after):
    """The component that explains 3000 symbols cannot have produced the last."""
    model = HMM([0.45, 0.45, 0.05, 0.05], TWO, EMISSION)
    rng = np.random.default_rng(0)
    assert_as_logarithms(model, [*rng.integers(0, 2, 3000).tolist(), *after])


def test_a_lost_component_wins_without_being_needed():
    """No symbol is impossible anywhere, so nothing but the sum tells that a state was lost."""
    rows = [[0.9, 0.1], [0.1, 0.9]]
    for coupling in (0.0, 1e-120):
        trans = np.eye(2) * (1 - coupling) + (1 - np.eye(2)) * coupling
        model = HMM([0.5, 0.5], trans, rows)
        assert_as_logarithms(model, [0] * 500 + [1] * 700)
        assert_as_logarithms(model, [0] * 500 + [1] * 500)
        assert_as_logarithms(model, [0] * 600 + [-1] * 50 + [1] * 500 + [0] * 30)


def test_a_lost_component_wins_for_a_while():
    """In the end it is right to have lost it, but not for the filter in between."""
    model = HMM([0.5, 0.5], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    y = [0] * 500 + [1] * 520 + [0] * 400
    assert_as_logarithms(model, y)
    assert model.filter(y)[1010, 1] > 0.99


def test_a_component_lost_in_both_directions_wins():
    """It underflows forward, and backward as well: no backward value grows beyond bounds."""
    model = HMM([0.5, 0.5], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    y = [0] * 400 + [1] * 800 + [0] * 390
    assert_as_logarithms(model, y)
    assert model.log_likelihood(y) == pytest.approx(-1904.0237831718)
    periodic = HMM([0.5, 0.5], [[0, 1], [1, 0]], [[0.9, 0.1], [0.1, 0.9]])
    assert_as_logarithms(periodic, [0, 1] * 200 + [1, 0] * 400 + [0, 1] * 190)
    blocks_that_never_meet = np.kron(np.eye(2), [[0.5, 0.5], [0.5, 0.5]])
    rows = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.2, 0.8]]
    assert_as_logarithms(HMM([0.25] * 4, blocks_that_never_meet, rows), y)


def test_impossible_states_do_not_overflow():
    """What is impossible, but would explain the rest by far the best, is no reason for NaN."""
    model = HMM([0.5, 0.25, 0.25], np.eye(3), [[0.97, 0, 0.03], [0.76, 0.22, 0.02], [1, 0, 0]])
    data = [[0] * 1500 + [1] + [0] * 1500] * 10
    close(model.posterior(data), np.tile([0.0, 1.0, 0.0], (30010, 1)))
    close(model.expected_counts(data)[1].starts, [0, 10, 0])
    assert (model.decode(data, algorithm="map")[1] == 1).all()


def test_no_observation_gets_lost():
    """Sequences turn out to be hard in the second pass, beside other neighbours."""
    model = HMM([1], [[1]], [[1e-76, 1]])
    data = [[1] * 3000 + [0] * 8 + [1] * 2000, [1] * 3007 + [0] * 4 + [1] * 4000]
    close(model.expected_counts(data)[1].emissions, [[12, 12007]])
    model = HMM([0.5, 0.5], [[0.5, 0.5], [1, 0]], [[1e-112, 1], [0.5, 0.5]])
    rows = model.posterior([[0] * 12] * 1000)
    close(rows.sum(axis=1), np.ones(12000))
    close(rows[:12], oracles.log_posterior(model, [0] * 12))


def test_probabilities_below_the_smallest_normal_number():
    model = HMM([0.5, 0.5], np.eye(2), [[1e-299, 1, 0], [1.5e-323, 0.5, 0.5]])
    smallest = model.emissionprob[1, 0]
    close(model.log_likelihood([0, 2]), 2 * np.log(0.5) + np.log(smallest))


def test_a_lost_component_across_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "LONG_BLOCK", 97)
    monkeypatch.setattr(blocks, "SHORT_BLOCK", 61)
    model = HMM([0.5, 0.5], np.eye(2), [[0.9, 0.1], [0.1, 0.9]])
    assert_as_logarithms(model, [0] * 500 + [1] * 700)
    model = HMM([0.45, 0.45, 0.05, 0.05], TWO, EMISSION)
    y = np.random.default_rng(0).integers(0, 2, 1500).tolist()
    assert_as_logarithms(model, [*y, 2, *y[:300]])


def test_states_that_were_left_are_no_reason_for_logarithms(monkeypatch):
    """A left-to-right chain leaves its states behind for good: the scaled pass stays right."""
    model = HMM(
        [1, 0, 0],
        [[0.9, 0.1, 0], [0, 0.9, 0.1], [0, 0, 1]],
        [[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]],
    )
    y = np.random.default_rng(0).integers(0, 2, 6000).tolist()
    true = oracles.log_likelihood(model, y)

    def fail(*args):
        raise AssertionError("went through logarithms")

    monkeypatch.setattr(inference, "_log_filter", fail)
    close(model.log_likelihood(y), true)
    close(model.expected_counts(y)[0], true)


@pytest.mark.parametrize("tiny", [1e-200, 1e-310, 5e-324])
def test_tiny_emissions(tiny):
    """A symbol of probability 1e-310: scaling by its reciprocal would overflow."""
    rare = HMM([0.5, 0.5], [[0.5, 0.5], [0.3, 0.7]], [[1, tiny, 0], [0.5, tiny / 2, 0.5]])
    exact = 1e-10 if tiny > 1e-300 else 1e-4  # so few digits are left of tiny itself
    for y in ([1], [1, 1], [0, 1, 0], [1, 0, 2, 1, 1, -1, 1], [0] * 50 + [1] * 50 + [2, 1, 0]):
        true = oracles.log_likelihood(rare, y)
        if true == -np.inf:  # half of the smallest double is zero
            assert rare.log_likelihood([[None if c < 0 else c for c in y]]) == -np.inf
        else:
            assert_as_logarithms(rare, y, exact)


@pytest.mark.parametrize("tiny", [1e-200, 1e-310])
def test_tiny_transitions_and_starts(tiny):
    model = HMM([1, tiny], [[1, tiny], [tiny, 1]], [[1, 0], [0.5, 0.5]])
    for y in ([1], [0, 1], [1, 0, 1], [0] * 30 + [1] * 30, [1, 1, 0, 0, -1, 1]):
        assert_as_logarithms(model, y, 1e-10 if tiny > 1e-300 else 1e-4)
    chain = HMM([1, 0, 0], [[1, tiny, 0], [0, 1, tiny], [0, 0, 1]], np.eye(3))
    assert_as_logarithms(chain, [0, 0, 1, 1, 2], 1e-10 if tiny > 1e-300 else 1e-4)


def test_a_hard_sequence_leaves_its_neighbours_alone():
    model = HMM([0.45, 0.45, 0.05, 0.05], TWO, EMISSION)
    rng = np.random.default_rng(0)
    easy = [rng.integers(0, 2, 40).tolist() for _ in range(3)]
    hard = [*rng.integers(0, 2, 3000).tolist(), 2]
    data = [easy[0], hard, easy[1], hard[::-1], easy[2]]
    laws.sequences_are_independent(model, data)
    laws.expected_counts_add_up(model, data)
    close(model.log_likelihoods(data), [oracles.log_likelihood(model, y) for y in data])


def test_impossible_after_underflow_is_still_impossible():
    model = HMM([0.45, 0.45, 0.05, 0.05], TWO, [[*row, 0] for row in EMISSION])
    y = [*np.random.default_rng(0).integers(0, 2, 3000).tolist(), 2, 3]
    assert model.log_likelihood(y) == -np.inf
    for ask in (model.filter, model.posterior, model.decode, model.expected_counts, model.forecast):
        with pytest.raises(ValueError, match="symbol 3 at sequence 0, position 3001"):
            ask(y)


def test_improbable_data_of_a_dense_model_is_finite():
    """The model says one thing and the data another, for 20 000 symbols."""
    model = random_model(5, 50, concentration=0.05)
    y = np.random.default_rng(1).integers(0, 50, 20_000)
    for answer in (model.filter(y), model.posterior(y), *model.expected_counts(y)[1]):
        assert np.isfinite(answer).all()
    close(model.log_likelihood(y), oracles.log_likelihood(model, y))


@pytest.mark.parametrize("rare", [1e-12, 1e-40, 1e-90, 1e-160])
def test_symbols_so_rare_that_a_few_in_a_row_underflow(rare):
    """Rows are scaled after every fourth step: what is lost in between is noticed."""
    model = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[1 - rare, rare], [1 - 3 * rare, 3 * rare]])
    y = np.repeat([0, 1, 0, 1, 0, 1, 0], [5, 1, 3, 4, 40, 9, 2]).tolist()
    assert_as_logarithms(model, y)


@pytest.mark.parametrize("place", [0, 1, 3, 4, 6, 31, 32, 33, 36])
def test_the_first_impossible_symbol_is_named_wherever_it_is(place):
    model = HMM([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5, 0], [0.9, 0.1, 0]])
    y = [0, 1] * 20
    y[place] = 2
    for ask in (model.filter, model.posterior, model.decode, model.expected_counts):
        with pytest.raises(ValueError, match=f"symbol 2 at sequence 1, position {place}"):
            ask([[0, 1, 0], y, [1] * 50])

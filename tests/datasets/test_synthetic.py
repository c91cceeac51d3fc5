"""The two generators of the paper."""

import numpy as np
import pytest

from cohmm.datasets.synthetic import (
    KINDS,
    LONGEST,
    SHORTEST,
    random_hmm,
    random_sessions,
    separable_hmm,
)


def test_the_defaults_are_the_sizes_of_the_paper():
    assert random_hmm(random_state=0).emissionprob.shape == (20, 100)
    assert separable_hmm(random_state=0).emissionprob.shape == (4, 16)


@pytest.mark.parametrize("make", [random_hmm, separable_hmm])
def test_the_start_is_stationary(make):
    hmm = make(random_state=1)
    np.testing.assert_allclose(hmm.startprob @ hmm.transmat, hmm.startprob, atol=1e-14)


@pytest.mark.parametrize("make", [random_hmm, separable_hmm])
def test_the_seed_decides(make):
    assert make(random_state=3) == make(random_state=3)
    assert make(random_state=3) != make(random_state=4)


@pytest.mark.parametrize("zeros", [0.0, 0.5, 0.8])
def test_about_the_asked_share_of_emissions_is_zero(zeros):
    emission = random_hmm(1000, 20, zeros=zeros, random_state=0).emissionprob
    assert np.mean(emission == 0) == pytest.approx(zeros, abs=0.02)


@pytest.mark.parametrize(("n", "k"), [(3, 40), (40, 3)])
def test_no_state_and_no_symbol_is_left_without_the_other(n, k):
    for seed in range(20):
        emission = random_hmm(n, k, zeros=0.97, random_state=seed).emissionprob
        assert (emission > 0).any(axis=0).all()
        assert (emission > 0).any(axis=1).all()


def test_emissions_that_are_not_zero_are_exponential_up_to_their_sum():
    """Their coefficient of variation is one; of uniform ones it would be 0.58."""
    emission = random_hmm(4000, 5, random_state=0).emissionprob
    for row in emission:
        positive = row[row > 0]
        assert positive.std() / positive.mean() == pytest.approx(1, abs=0.08)


@pytest.mark.parametrize("make", [random_hmm, separable_hmm])
def test_staying_is_added_to_the_same_transitions(make):
    loose = make(random_state=2).transmat
    sticky = make(stay=0.75, random_state=2).transmat
    np.testing.assert_allclose(sticky, 0.75 * np.eye(len(loose)) + 0.25 * loose)


def test_each_separable_state_has_one_symbol_of_its_own():
    emission = separable_hmm(10, 4, random_state=0).emissionprob
    own = emission[:, :4]
    assert np.count_nonzero(own) == 4
    assert (own.diagonal() > 0).all()
    assert (emission[:, 4:] > 0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_hmm(zeros=1.0), "zeros must be a share from 0 to below 1, not 1.0"),
        (lambda: random_hmm(stay=1.0), "stay must be a probability below 1, not 1.0"),
        (lambda: random_hmm(0), "n_symbols must be at least 1, not 0"),
        (lambda: random_hmm(5, 0), "n_components must be at least 1, not 0"),
        (
            lambda: separable_hmm(3, 4),
            "4 states need as many symbols of their own, and there are 3",
        ),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("seed", range(5))
def test_sessions_are_short_and_end_where_nothing_else_does(seed: int) -> None:
    data = random_sessions(300, 14, random_state=seed)
    assert len(data) == 300
    assert SHORTEST <= data.lengths.min() <= data.lengths.max() <= LONGEST
    is_end = data.symbols >= 14 - KINDS
    assert np.flatnonzero(is_end).tolist() == (data.offsets[1:] - 1).tolist()


def test_more_sessions_begin_with_the_same() -> None:
    few, many = random_sessions(20, random_state=1), random_sessions(50, random_state=1)
    assert list(many)[:20] == list(few)
    assert list(random_sessions(20, random_state=2)) != list(few)


def test_order_says_more_than_frequency() -> None:
    """What comes next is far less open than what is frequent."""
    data = random_sessions(500, random_state=0)
    within = np.ones(len(data.symbols) - 1, bool)
    within[data.offsets[1:-1] - 1] = False
    pairs = np.zeros((14, 14))
    np.add.at(pairs, (data.symbols[:-1][within], data.symbols[1:][within]), 1)
    pairs /= pairs.sum()
    expected = np.outer(pairs.sum(axis=1), pairs.sum(axis=0))
    seen = pairs > 0
    assert np.sum(pairs[seen] * np.log(pairs[seen] / expected[seen])) > 0.5  # nats


@pytest.mark.parametrize(("name", "value"), [("n_sessions", 0), ("n_symbols", 5)])
def test_sizes_that_are_too_small(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be at least .*{value}"):
        random_sessions(**{name: value})

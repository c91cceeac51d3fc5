"""The stationary distribution, also of chains that hardly move or leave states for good."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.model.markov_chain import stationary_distribution
from tests.laws import close
from tests.strategies import distributions


@st.composite
def chains(draw):
    k = draw(st.integers(1, 6))
    return np.array([draw(distributions(k)) for _ in range(k)])


def closed_classes(trans: np.ndarray) -> list[set[int]]:
    """Sets of states that reach each other and nothing else."""
    k = len(trans)
    reach = np.linalg.matrix_power(np.eye(k) + (trans > 0), k) > 0
    classes = {frozenset(np.flatnonzero(reach[i] & reach[:, i]).tolist()) for i in range(k)}
    return [set(c) for c in classes if all(set(np.flatnonzero(reach[i])) <= c for i in c)]


@given(chains())
def test_it_is_kept_by_the_chain(trans):
    closed = closed_classes(trans)
    if len(closed) > 1:
        with pytest.raises(ValueError, match="no single stationary distribution"):
            stationary_distribution(trans)
        return
    pi = stationary_distribution(trans)
    close(pi @ trans, pi, 1e-14)
    close(pi.sum(), 1.0, 1e-14)
    assert set(np.flatnonzero(pi)) == closed[0]


@pytest.mark.parametrize("rate", [1e-3, 1e-14, 1e-200])
def test_a_chain_that_hardly_moves(rate):
    """Subtracting from one would leave no digit of these."""
    pi = stationary_distribution(np.array([[1 - 3 * rate, 3 * rate], [rate, 1 - rate]]))
    np.testing.assert_allclose(pi, [0.25, 0.75], rtol=1e-13)


def test_a_birth_and_death_chain_to_the_last_digit():
    """Detailed balance gives ratios of 1e-3 a state, down to 1e-27."""
    k, up, down = 10, 1e-4, 1e-1
    trans = np.diag(np.full(k - 1, up), 1) + np.diag(np.full(k - 1, down), -1)
    trans += np.diag(1 - trans.sum(axis=1))
    pi = stationary_distribution(trans)
    np.testing.assert_allclose(pi[1:] / pi[:-1], up / down, rtol=1e-12)


def test_periodic_transient_and_absorbing_chains():
    close(stationary_distribution(np.roll(np.eye(4), 1, axis=1)), np.full(4, 0.25))
    assert stationary_distribution(np.array([[1.0]])).tolist() == [1.0]
    leaving = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
    close(stationary_distribution(leaving), [0, 1 / 3, 1 / 3, 1 / 3])
    assert stationary_distribution(np.array([[0.5, 0.5], [0, 1]])).tolist() == [0, 1]


def test_the_error_names_the_classes():
    trans = np.array([[0.5, 0.25, 0.25], [0, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match=r"in the states \[[12]\] or in \[[12]\]"):
        stationary_distribution(trans)

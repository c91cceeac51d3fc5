"""Matching of states, against all permutations."""

from itertools import permutations

import numpy as np
import pytest

from cohmm.model.markov_chain import match_rows, total_variation
from tests.laws import close
from tests.strategies import random_model


@pytest.mark.parametrize("seed", range(8))
def test_no_permutation_is_better(seed):
    left = random_model(4, 5, seed, concentration=0.5).emissionprob
    right = random_model(4, 5, seed + 100, concentration=0.5).emissionprob
    order = match_rows(left, right)
    assert sorted(order) == [0, 1, 2, 3]
    best = min(total_variation(left[list(p)], right) for p in permutations(range(4)))
    close(total_variation(left[order], right), best)


def test_total_variation_is_half_the_sum_of_differences_a_row():
    left, right = np.array([[1.0, 0.0], [0.5, 0.5]]), np.array([[0.0, 1.0], [0.25, 0.75]])
    assert total_variation(left, right) == (1 + 0.25) / 2
    assert total_variation(left, left) == 0

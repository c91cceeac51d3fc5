"""A state is split and another given up."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm import HMM
from cohmm.datasets.synthetic import random_hmm
from cohmm.learn.sequences.split_states import can_split, with_split_state
from tests.laws import rows_are_distributions

MODEL = random_hmm(6, 4, zeros=0.0, random_state=0)


@pytest.mark.parametrize("seed", range(5))
def test_the_rarest_takes_over_part_of_the_most_frequent(seed: int) -> None:
    visited = np.array([1 - 2e-9, 1e-9, 1e-9, 0.0])
    moved = with_split_state(MODEL, visited, np.random.default_rng(seed))
    for table in (moved.transmat, moved.emissionprob, moved.startprob[None]):
        rows_are_distributions(table)
    changed = [k for k in range(4) if not np.allclose(moved.emissionprob[k], MODEL.emissionprob[k])]
    assert len(changed) == 2
    assert 0 in changed  # what is frequent is split
    gone = changed[1]
    kept = [k for k in range(4) if k not in changed]
    # What led to the one leads to the two, and what led to the other is gone.
    before = MODEL.transmat[kept] / (1 - MODEL.transmat[kept, gone])[:, None]
    after = moved.transmat[kept]
    np.testing.assert_allclose(after[:, 0] + after[:, gone], before[:, 0], atol=2e-3)
    assert (after > 0).all()


def test_zeros_are_not_lost() -> None:
    assert can_split(MODEL)
    never = np.append(MODEL.emissionprob, np.zeros((4, 1)), axis=1)
    assert can_split(HMM(MODEL.startprob, MODEL.transmat, never))
    left_right = HMM([0.5, 0.5], [[0.5, 0.5], [0.0, 1.0]], [[0.5, 0.5], [0.2, 0.8]])
    assert not can_split(left_right)
    assert not can_split(random_hmm(20, 4, zeros=0.5, random_state=0))
    assert not can_split(HMM([1.0], [[1.0]], [[0.5, 0.5]]))

"""Random sessions: their lengths, their ends, their order."""

from __future__ import annotations

import numpy as np
import pytest

from cohmm.datasets.synthetic_sessions import KINDS, LONGEST, SHORTEST, random_sessions


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

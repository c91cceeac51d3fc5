"""Which texts are shown: the smallest random keys within the caps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.report.prepare import MAX_TOTAL_WORDS, MAX_WORDS, sample_texts


@given(
    st.integers(1, 400), st.integers(0, 450), st.integers(0, 3 * MAX_WORDS), st.integers(0, 2**31)
)
def test_so_many_within_the_cap_whatever_comes_after_them(n, wanted, longest, seed):
    lengths = np.random.default_rng(seed).integers(0, longest + 1, size=n)
    chosen = sample_texts(lengths, wanted)
    order = np.argsort(np.random.default_rng(0).random(n))[:wanted]
    words = np.cumsum(np.minimum(lengths[order], MAX_WORDS))
    assert chosen.tolist() == sorted(order[words <= MAX_TOTAL_WORDS].tolist())


def test_there_is_a_cap_on_all_words():
    n = 3 * MAX_TOTAL_WORDS // MAX_WORDS
    chosen = sample_texts(np.full(n, 10 * MAX_WORDS), n)
    assert len(chosen) == MAX_TOTAL_WORDS // MAX_WORDS


@pytest.mark.parametrize("wanted", [-1, 1.5, True, "all"])
def test_a_number_of_documents_that_is_none(wanted):
    with pytest.raises(ValueError, match="must be from 0"):
        sample_texts(np.ones(3, int), wanted)

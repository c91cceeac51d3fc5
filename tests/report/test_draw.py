"""Which texts are shown: the smallest keys within the caps, however the texts are offered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.report.prepare import MAX_TOTAL_WORDS, MAX_WORDS, Draw


def by_one_sort(lengths, wanted):
    """The same draw, as it reads on paper."""
    order = np.argsort(np.random.default_rng(0).random(len(lengths)))[:wanted]
    words = np.cumsum(np.minimum(np.asarray(lengths)[order], MAX_WORDS))
    return sorted(order[words <= MAX_TOTAL_WORDS].tolist())


@given(
    st.integers(1, 400), st.integers(0, 450), st.integers(0, 3 * MAX_WORDS), st.integers(0, 2**31)
)
def test_the_draw_does_not_depend_on_how_texts_are_offered(n, wanted, longest, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, longest + 1, size=n)
    draw = Draw(wanted)
    for part in np.split(lengths, np.sort(rng.integers(0, n + 1, size=3))):
        chosen = draw.offer(part)
    assert draw.n_offered == n
    assert chosen.tolist() == by_one_sort(lengths, wanted)


def test_there_is_a_cap_on_all_words():
    n = 3 * MAX_TOTAL_WORDS // MAX_WORDS
    chosen = Draw(n).offer(np.full(n, 10 * MAX_WORDS))
    assert len(chosen) == MAX_TOTAL_WORDS // MAX_WORDS


@pytest.mark.parametrize("wanted", [-1, 1.5, True, "all"])
def test_a_number_of_documents_that_is_none(wanted):
    with pytest.raises(ValueError, match="must be from 0"):
        Draw(wanted)

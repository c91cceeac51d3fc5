"""How long a topic lasts."""

from itertools import groupby

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.topics.runs import count_runs


@given(st.lists(st.lists(st.integers(0, 3), max_size=9), max_size=9))
def test_runs_are_those_of_every_document(documents):
    number, words = np.zeros(4), np.zeros(4)
    for topics in documents:
        for topic, run in groupby(topics):
            number[topic] += 1
            words[topic] += len(list(run))
    flat = np.array([topic for topics in documents for topic in topics], np.int32)
    found = count_runs(flat, np.cumsum([0, *map(len, documents)]), 4)
    assert found.number.tolist() == number.tolist()
    assert found.words.tolist() == words.tolist()
    assert found.mean == words.sum() / max(number.sum(), 1)
    assert np.array_equal(found.means, words / np.maximum(number, 1))

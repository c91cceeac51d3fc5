"""Passes over documents, against the obvious."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.vocabulary import recode
from cohmm.kernels import native

DOCUMENTS = st.lists(st.lists(st.integers(-1, 4), max_size=6), max_size=5)


def packed(documents):
    symbols = np.array([code for document in documents for code in document], np.int32)
    return symbols, np.cumsum([0] + [len(document) for document in documents])


@given(DOCUMENTS)
def test_document_frequencies(documents):
    frequencies = np.zeros(5, np.int64)
    native.count_documents(*packed(documents), frequencies, np.full(5, -1))
    assert frequencies.tolist() == [sum(w in document for document in documents) for w in range(5)]


@given(DOCUMENTS, st.lists(st.integers(-1, 9), min_size=5, max_size=5))
def test_recoding(documents, places):
    symbols, offsets = packed(documents)
    symbols, offsets = recode(symbols, offsets, np.array(places, np.int32))
    kept = [[places[w] for w in document if w >= 0 and places[w] >= 0] for document in documents]
    expected, ends = packed(kept)
    assert symbols.dtype == np.int32
    assert symbols.tolist() == expected.tolist()
    assert offsets.tolist() == ends.tolist()

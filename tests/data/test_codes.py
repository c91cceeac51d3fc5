"""Codes of labels."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.readers.codes import Chunk, Coder
from cohmm.data.readers.source import Source

SOURCE = Source(Path("words.txt"), "text")
WORDS = st.lists(st.lists(st.sampled_from(["a", "b", "é", "", "10", None]), min_size=1), min_size=1)


def chunk(symbols, kind):
    rows = np.arange(1, len(symbols) + 1)
    return Chunk(pa.array(symbols, kind), np.zeros(len(symbols), np.int64), rows)


@given(WORDS, st.sampled_from([pa.string(), pa.large_string()]))
def test_labels_are_numbered_as_they_appear(chunks, kind):
    order = {}
    coder = Coder()
    for symbols in chunks:
        expected = [order.setdefault(s, len(order)) if s else -1 for s in symbols]
        assert coder.encode(chunk(symbols, kind), SOURCE).tolist() == expected
    assert coder.vocabulary == tuple(order)


def test_columns_of_other_types_are_coded_as_the_first():
    coder = Coder()
    for symbols, kind in ((["7", "x"], pa.string()), ([7, 8], pa.int64()), (["8"], pa.string())):
        found = coder.encode(chunk(symbols, kind), SOURCE).tolist()
    assert found == [2]
    assert coder.vocabulary == ("7", "x", "8")


def test_the_first_unknown_label_is_named_with_its_row():
    coder = Coder(("a", "b"))
    coder.encode(chunk(["b", "a"], pa.string()), SOURCE)
    with pytest.raises(ValueError, match=r"line 2.*'c'"):
        coder.encode(chunk(["a", "c", "d"], pa.string()), SOURCE)

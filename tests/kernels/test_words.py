"""Cutting text into words, against Python's own split."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.evidence.readers.cells import words_of

ROWS = st.lists(st.text(alphabet="ab é\t\r\v\f\u00a0\u3000", max_size=8), max_size=8)


@given(ROWS)
def test_words_are_those_of_python_split_of_bytes(rows):
    encoded = [row.encode() for row in rows]
    borders = np.cumsum([0] + [len(row) for row in encoded])
    words, where = words_of(np.frombuffer(b"".join(encoded), np.uint8), borders)
    words.validate(full=True)
    found = list(zip(where.tolist(), words.to_pylist(), strict=True))
    assert found == [(r, word.decode()) for r, row in enumerate(encoded) for word in row.split()]

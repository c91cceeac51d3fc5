"""Words against Python's own split, and quotes in CSV against the rules written out."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.data.readers.codes import words_of
from cohmm.kernels import native
from cohmm.kernels.text import BEGIN, CLOSED, PLAIN, QUOTED

ROWS = st.lists(st.text(alphabet="ab é\t\r\v\f\u00a0\u3000", max_size=8), max_size=8)


@given(ROWS)
def test_words_are_those_of_python_split_of_bytes(rows):
    encoded = [row.encode() for row in rows]
    borders = np.cumsum([0] + [len(row) for row in encoded])
    words, where = words_of(np.frombuffer(b"".join(encoded), np.uint8), borders)
    words.validate(full=True)
    found = list(zip(where.tolist(), words.to_pylist(), strict=True))
    assert found == [(r, word.decode()) for r, row in enumerate(encoded) for word in row.split()]


TEXTS = st.lists(st.text(alphabet="ab_ 1é\u0301中\U00010400\ud800-", max_size=8), max_size=6)


@given(TEXTS, st.integers(1, 3))
def test_words_are_runs_of_word_characters(texts, least):
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    borders = np.cumsum([0] + [len(row) for row in encoded])
    in_words = np.zeros(0x110000, np.bool_)
    in_words[[ord(c) for c in "ab_1é中\U00010400"]] = True
    packed, offsets = np.empty(len(data), np.uint8), np.empty(len(data) + 1, np.int64)
    lengths = np.empty(len(texts), np.int64)
    n = native.split_text(data, borders, in_words, least, packed, offsets, lengths)
    expected = [re.findall(rf"\w{{{least},}}", text) for text in texts]
    assert lengths.tolist() == [len(words) for words in expected]
    found = [bytes(packed[offsets[w] : offsets[w + 1]]).decode() for w in range(n)]
    assert found == [word for words in expected for word in words]


def follow(data: bytes, place: int, line: int, opened: int) -> tuple[bool, list[int]]:
    """Whether the quotes are valid, and the state behind the last byte that is."""
    for byte in data.decode():
        if place == QUOTED:
            place = CLOSED if byte == '"' else QUOTED
        elif byte in ",\n\r":
            place = BEGIN
        elif byte == '"' and place == CLOSED:  # the second of two, which is meant
            place = QUOTED
        elif byte == '"' and place == BEGIN:
            place, opened = QUOTED, line
        elif place == CLOSED and opened != line and byte not in " \t":
            return False, [place, line, opened]
        else:
            place = PLAIN
        line += byte == "\n"
    return True, [place, line, opened]


@given(st.text(alphabet='a,"\n\r \t', max_size=12), st.integers(0, 12))
def test_quotes_are_followed_from_call_to_call(text, cut):
    state = np.array([BEGIN, 1, 0])
    valid = True
    for data in (text[:cut].encode(), text[cut:].encode()):
        valid = valid and native.follow_quotes(np.frombuffer(data, np.uint8), ord(","), state)
    assert (valid, state.tolist()) == follow(text.encode(), BEGIN, 1, 0)

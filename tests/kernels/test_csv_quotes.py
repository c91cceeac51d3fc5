"""Quotes in CSV, against the rules written out, in any division of the bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cohmm.kernels.csv_quotes import BEGIN, CLOSED, PLAIN, QUOTED, follow_quotes


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
        valid = valid and follow_quotes(np.frombuffer(data, np.uint8), ord(","), state)
    assert (valid, state.tolist()) == follow(text.encode(), BEGIN, 1, 0)

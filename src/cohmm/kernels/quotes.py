"""Quotes in CSV: where they open, and whether they close."""

from __future__ import annotations

from cohmm.kernels.compiled import Ints, kernel

BEGIN, PLAIN, QUOTED, CLOSED = 0, 1, 2, 3  # where in a cell a byte may be

_NEWLINE, _RETURN, _SPACE, _TAB, _QUOTE = 10, 13, 32, 9, 34


@kernel
def follow_quotes(data: Ints, delimiter: int, state: Ints) -> bool:
    """Follow the cells of CSV through ``data``; whether no quote closes in the midst of a cell.

    ``state`` is (where in a cell, line, line of the last opening quote), and goes on from one
    call to the next.  A quote opens at the beginning of a cell alone, and two of them in a
    quoted cell are one that is meant.  That text follows a closing quote is tolerated, except
    where the quote opened in another line: it was then not meant to close here.
    """
    where, line, opened = state
    for i in range(len(data)):
        byte = data[i]
        if where == QUOTED:
            if byte == _QUOTE:
                where = CLOSED
        elif byte in (delimiter, _NEWLINE, _RETURN):
            where = BEGIN
        elif byte == _QUOTE and where == CLOSED:
            where = QUOTED
        elif byte == _QUOTE and where == BEGIN:
            where, opened = QUOTED, line
        else:
            if where == CLOSED and opened != line and byte != _SPACE and byte != _TAB:
                state[:] = where, line, opened
                return False
            where = PLAIN
        if byte == _NEWLINE:
            line += 1
    state[:] = where, line, opened
    return True

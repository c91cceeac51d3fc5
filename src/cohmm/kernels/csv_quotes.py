"""Quotes in CSV: where they open, and whether they close.

``follow_quotes`` follows the cells through some bytes, and keeps in ``state`` (place in a cell,
line, line of the last opening quote) how to go on.  It is False where a quote closes amid a cell.
"""

from cohmm._native import follow_quotes as follow_quotes

BEGIN, PLAIN, QUOTED, CLOSED = 0, 1, 2, 3  # where in a cell a byte may be

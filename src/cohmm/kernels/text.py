"""Where in a cell of CSV a byte may be: the ``state`` of `native.follow_quotes`."""

BEGIN, PLAIN, QUOTED, CLOSED = 0, 1, 2, 3

"""Bytes of text: words in rows of UTF-8, and quotes in CSV.

Row r is ``data[borders[r]:borders[r + 1]]``.  `split_words` cuts at ASCII blanks, as
``bytes.split``; `split_text` finds runs of the characters that ``in_words`` marks, as
``re.findall`` does.  Words go to ``packed`` one after the other, and word w ends there at
``offsets[w + 1]``.

`follow_quotes` follows the cells of CSV through some bytes, and keeps in ``state`` (place in a
cell, line, line of the last opening quote) how to go on.  It is False where a quote closes in the
middle of a cell.
"""

from cohmm._native import follow_quotes as follow_quotes
from cohmm._native import split_text as split_text
from cohmm._native import split_words as split_words

BEGIN, PLAIN, QUOTED, CLOSED = 0, 1, 2, 3  # where in a cell a byte may be

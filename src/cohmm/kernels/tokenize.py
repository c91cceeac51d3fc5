"""Cutting rows of UTF-8 into words.

Row r is ``data[borders[r]:borders[r + 1]]``.  ``split_words`` cuts at ASCII blanks, as
``bytes.split``; ``split_text`` finds runs of the characters that ``in_words`` marks, as
``re.findall`` does.  Words go to ``packed`` one behind the other, and word w ends there at
``offsets[w + 1]``.
"""

from cohmm._native import split_text as split_text
from cohmm._native import split_words as split_words
